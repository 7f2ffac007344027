"""The frozen list of mutations: reading it, and what is wrong with an entry."""

import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import attrs

ROOT = Path(__file__).parents[2]
LISTS = sorted(Path(__file__).parent.glob("*.toml"))


@attrs.frozen
class Mutation:
    """A change of one line of behaviour.

    `old` occurs once in `file` and becomes `new`; `tests` are expected to notice.
    """

    id: str
    room: str
    rule: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def key(self) -> tuple[str, str]:
        """The module and the rule, which stay where another entry goes; numbers do not."""
        return self.id.rpartition(".")[0], self.rule


def mutations() -> Iterator[Mutation]:
    """All mutations: `[[in]]` has a file, its tests, and a row (rule, old, new) for each."""
    numbers: Counter[str] = Counter()
    for path in LISTS:
        for group in tomllib.loads(path.read_text())["in"]:
            name = Path(group["file"]).with_suffix("").as_posix().replace("/", ".")
            for rule, old, new, *tests in group["rows"]:
                numbers[name] += 1
                id = f"{name}.{numbers[name]}"
                listed = tests or group["tests"]
                kills = tuple(f"tests/{test}" for test in listed)
                yield Mutation(id, path.stem, rule, group["file"], old, new, kills)


def faults(root: Path = ROOT) -> Iterator[str]:
    """What does not apply: an `old` that is not there once, a change that is none."""
    texts: dict[str, str] = {}
    counts = Counter(mutation.key for mutation in mutations())
    for mutation in mutations():
        if counts[mutation.key] > 1:
            yield f"{mutation.id}: {mutation.file} has another with the same rule"
        if mutation.file not in texts:
            texts[mutation.file] = _text_below(root / mutation.file)
        count = texts[mutation.file].count(mutation.old)
        if count != 1:
            yield f"{mutation.id}: {mutation.old!r} occurs {count} times in {mutation.file}"
        if mutation.old == mutation.new:
            yield f"{mutation.id}: changes nothing"
        for test in mutation.tests:
            name, _, function = test.partition("::")
            if name not in texts:
                texts[name] = _text_below(root / name)
            if f"def {function.partition('[')[0]}" not in texts[name]:
                yield f"{mutation.id}: {test} does not exist"


def _text_below(path: Path) -> str:
    """The text of a file, or of all Python files of a folder; empty if there is none."""
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    return "".join(file.read_text() for file in files)
