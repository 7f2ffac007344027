"""The reference: every example in a docstring runs, and the public face says what it takes, gives
and raises.
"""

from __future__ import annotations

import doctest
import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from inspect import get_annotations
from pathlib import Path
from typing import Any

import msgspec
import pytest

import goldrush
from goldrush.kernel.records import Record

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("kernel", "agents", "replay", "cli")
SECTION = re.compile(r"^(?:Args|Returns|Raises|Attributes):\n((?:    .*\n|\n)*)", re.MULTILINE)


def modules() -> Iterator[Any]:
    yield goldrush
    for room in ROOMS:
        package = import_module(f"goldrush.{room}")
        for found in pkgutil.walk_packages(package.__path__, f"goldrush.{room}."):
            yield import_module(found.name)


def test_every_example_of_a_docstring_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tried = 0
    for module in modules():
        result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
        tried += result.attempted

        assert result.failed == 0, module.__name__
    assert tried > 20


def test_help_tells_what_every_record_is_made_of() -> None:
    """Also where a type is imported for type checkers alone."""
    records = {
        cls
        for module in modules()
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if issubclass(cls, msgspec.Struct) and cls.__module__.startswith("goldrush.")
    }
    assert len(records) > 100
    for cls in records:
        told = inspect.signature(cls).parameters
        assert told.keys() == {*cls.__struct_fields__}
        if issubclass(cls, Record):
            hints = {k: v for base in cls.__mro__[::-1] for k, v in get_annotations(base).items()}
            assert {name: each.annotation for name, each in told.items()} == hints


def functions_of(face: Any) -> Iterator[tuple[str, Any]]:
    """The public functions and methods that the names of a module stand for."""
    for name in face.__all__:
        one = getattr(face, name)
        if not inspect.isclass(one):
            yield name, one
            continue
        for method, function in inspect.getmembers(one, inspect.isroutine):
            is_its_own = (getattr(function, "__module__", None) or "").startswith("goldrush")
            if not method.startswith("_") and is_its_own and callable(function):
                yield f"{name}.{method}", function


@pytest.mark.parametrize(("name", "function"), list(functions_of(goldrush)))
def test_the_face_says_what_it_takes(name: str, function: Any) -> None:
    text = inspect.getdoc(function)
    assert text
    parameters = [name for name in inspect.signature(function).parameters if name != "self"]

    if len(parameters) > 2 and "`Run." not in text:  # where they are described
        sections = "".join(SECTION.findall(f"{text}\n"))
        described = re.findall(r"^    \**(\w+):", sections, re.MULTILINE)
        named = {*described, *re.findall(r"`(\w+)`", text)}
        assert [] == [parameter for parameter in parameters if parameter not in named]
