"""A disk that fails, or loses its power, while something is written that follows from journals: an
index, tables, a report, a season's folder. What stands there is old or new, and whole.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.conftest import Counted
from tests.faults.exporters import exporters
from tests.faults.sampling import step
from tests.faults.tries import Found, crashes, failures

# Of their calls, which are many and alike, one of so many is tried.
STEPS = {"season folder": 97}


@pytest.mark.turns
@pytest.mark.parametrize("name", exporters())
@pytest.mark.parametrize(
    ("law", "kind"), [(failures, "calls that failed"), (crashes, "losses of power")]
)
def test_what_is_written_is_old_or_new_and_whole_whatever_call_fails(
    law: Callable[..., Found], kind: str, name: str, tmp_path: Path, counted: Counted
) -> None:
    found = law(exporters()[name], tmp_path, step(STEPS.get(name, 17)))
    counted(f"{kind} while something that follows from journals was written", found.cases)

    assert [] == found.says
