"""The fixtures `assert_repeats` and `goldrush_tape`, in every suite where goldrush is installed.

    def test_the_model_repeats(assert_repeats):
        assert_repeats(Model, steps=50, settings={"agents": 20})

Every suite imports this module, so it imports nothing of goldrush before a fixture is called.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def assert_repeats() -> Callable[..., None]:
    """Asserts that a model, an environment, a world or a function repeats from its seed. It takes
    what `goldrush.repeats` takes, and raises BadInput as it does.
    """

    def check(target: str | type | Callable[..., object], **options: Any) -> None:
        __tracebackhide__ = True
        import goldrush

        verdict = goldrush.repeats(target, **options)
        if not verdict.repeats:
            pytest.fail(str(verdict), pytrace=False)

    return check


@pytest.fixture
def goldrush_tape(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a test asks the servers of models is recorded in `tapes/TEST.journal` beside it, once;
    later it is served from there, and the test fails if it asks for something else. See
    `goldrush.tape`.
    """
    from goldrush.taping import tape

    name = request.node.nodeid.partition("::")[2]
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]  # `a b` is not `a-b`
    stem = f"{request.node.path.stem}-{re.sub(r'[^A-Za-z0-9_.-]+', '-', name)[:99]}"
    folder = request.node.path.parent / "tapes"
    folder.mkdir(exist_ok=True)
    with tape(folder / f"{stem}-{digest}.journal"):
        yield
