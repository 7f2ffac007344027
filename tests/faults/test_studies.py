"""A disk that fails, or loses its power, while a study is carried out: the same command ends it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kernel import files
from replay.study import carry_out
from tests.faults.conftest import Counted
from tests.faults.studies import students
from tests.faults.tries import Found, crashes, failures

EVERY = 9  # its calls are many and alike


@pytest.mark.parametrize("name", students())
@pytest.mark.parametrize(
    ("law", "kind"), [(failures, "calls that failed"), (crashes, "losses of power")]
)
def test_a_study_goes_on_to_the_same_folder_whatever_call_fails(
    law: Callable[..., Found], kind: str, name: str, tmp_path: Path, counted: Counted
) -> None:
    found = law(students()[name], tmp_path, EVERY)
    counted(f"{kind} while a study was carried out", found.cases)

    assert [] == found.says


@pytest.mark.parametrize(
    ("broken", "part"), [(carry_out, "_sync"), (files, "sync_folder"), (files, "sync_file")]
)
def test_a_study_that_promises_too_much_is_found_out_when_the_power_goes(
    broken: object, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broken, part, lambda *given: None)

    assert crashes(students()["study"], tmp_path, 1000).kinds["things lost"] > 0
