"""What every command prints and writes is what its text says: see __main__.py."""

import re
from collections.abc import Iterator

import pytest

from tests.net import api
from tests.net.__main__ import API, CORPUS, changes, found, kept, placed
from tests.net.texts import COMMAND, Place, names

REFUSAL = re.compile("! goldrush: .+(; | expected )")
MAKE = "if that is right: python -m tests.net --make"


@pytest.fixture(scope="session")
def corpus() -> Iterator[tuple[Place, str]]:
    with placed() as made:
        yield made


@pytest.mark.parametrize("name", names())
def test_commands_do_what_the_text_says(name: str, corpus: tuple[Place, str]) -> None:
    place, _ = corpus
    changed = changes(name, found(name, place))

    assert not changed, f"{changed}\n{MAKE} {name}"


def test_commands_that_record_do_what_the_text_says(corpus: tuple[Place, str]) -> None:
    _, made = corpus
    changed = changes(CORPUS, made)

    assert not changed, f"{changed}\n{MAKE} {CORPUS}"


def test_python_users_find_the_names_that_the_text_says() -> None:
    changed = changes(API, api.text())

    assert not changed, f"{changed}\n{MAKE} {API}"


def test_what_is_refused_is_told_in_one_line_that_says_what_to_do() -> None:
    """Nothing stands on stdout then. A line of its own says that a server is waited for."""
    for name in names():
        for block in kept(name).split(COMMAND)[1:]:
            command, *lines = block.splitlines()
            told = [line for line in lines if line.startswith("! ") and " waits: " not in line]
            if "exit 2" in lines and not any(line.startswith("  ") for line in lines):
                assert [True] == [bool(REFUSAL.match(line)) for line in told], command
