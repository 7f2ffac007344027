"""What the gallery judges: the packages of `packages.toml` and their subjects."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

HERE: Final = Path(__file__).resolve().parent
DATA: Final = HERE / "packages.toml"
STEPS: Final = 100
MAKERS: Final = "makers/"  # targets that begin with it are files beside this one


@attrs.frozen
class Subject:
    """A model or an environment.

    Attributes:
        name: in the table.
        target: as `goldrush repeats` takes it.
        settings: of the target.
        steps: how many are compared.
    """

    name: str
    target: str
    settings: Mapping[str, Any] = attrs.field(factory=dict)
    steps: int = STEPS

    def arguments(self) -> list[str]:
        """What follows `goldrush repeats`."""
        target = self.target
        if target.startswith(MAKERS):
            target = str(HERE / target)
        settings = (f"--set={name}={value}" for name, value in self.settings.items())
        return [target, f"--steps={self.steps}", *settings]


@attrs.frozen
class Package:
    """A package of a registry, and where its subjects are.

    Attributes:
        name: in the table; unique.
        install: what pip is given, by version.
        distribution: whose version is shown.
        python: the interpreter, such as `3.12`; empty: the one that runs the gallery.
        steps: of each subject.
        subjects: its models and environments.
    """

    name: str
    install: Sequence[str]
    distribution: str
    python: str = ""
    steps: int = STEPS
    subjects: Sequence[Subject] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Package:
        """The package of an entry. Raises TypeError for a key that it cannot have."""
        fields = dict(given)
        steps = fields.get("steps", STEPS)
        subjects = tuple(Subject(**{"steps": steps, **one}) for one in fields.pop("subjects", ()))
        distribution = fields.pop("distribution", fields["name"])
        return cls(**fields, distribution=distribution, subjects=subjects)


@attrs.frozen
class Gallery:
    """The data file. `left_out`: packages that are not tried, and why."""

    packages: Sequence[Package]
    left_out: Mapping[str, str]


def gallery(path: Path = DATA) -> Gallery:
    """What the data file lists."""
    given = tomllib.loads(path.read_text())
    packages = tuple(map(Package.of, given["package"]))
    assert len({package.name for package in packages}) == len(packages)
    return Gallery(packages, given.get("left_out", {}))
