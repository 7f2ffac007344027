import gc
from collections.abc import Iterator

import pytest

from goldrush.kernel.collector import CollectorPaused


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    yield
    gc.enable()


def failing(seen: list[bool]) -> None:
    with CollectorPaused(), CollectorPaused():
        seen.append(gc.isenabled())
        raise ZeroDivisionError


def test_collector_is_off_inside_and_on_again_after_an_error() -> None:
    seen: list[bool] = []

    with pytest.raises(ZeroDivisionError):
        failing(seen)

    assert ([False], True) == (seen, gc.isenabled())


def test_collector_that_the_program_has_off_stays_off() -> None:
    gc.disable()

    with CollectorPaused():
        pass

    assert not gc.isenabled()


def test_collector_is_on_after_pauses_that_overlap() -> None:
    one, other = CollectorPaused(), CollectorPaused()  # of two threads

    one.__enter__()
    other.__enter__()
    one.__exit__()
    other.__exit__()

    assert gc.isenabled()
