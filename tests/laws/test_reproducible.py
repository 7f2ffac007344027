"""Same inputs, same bytes: in any process, folder, locale, hash seed and version of CPython.

Every treatment, and configurations picked at random with floats that round at every step, are
recorded here once and then again by processes that differ in one thing each. Interpreters are
looked for on PATH; name others in GOLDRUSH_PYTHONS (paths, separated as
PATH is), such as those of virtual environments that have the kernel's three dependencies.
"""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from goldrush.agents.worlds.mining.roster import POLICIES
from goldrush.kernel.worlds.mining.treatments import TREATMENTS
from tests import playing as season
from tests.mining import record
from tests.seasons import kept

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "journals" / "golden"
VERSIONS = ("3.11", "3.12", "3.13")
OTHERS = [version for version in VERSIONS if not sys.version.startswith(f"{version}.")]
AT_RANDOM = 20 if settings.default.max_examples <= 100 else 1_000

Run = tuple[dict[str, Any], str | None, str]  # settings, roster, treatment

# What a process of its own runs: every run of the list on its standard input, into its folder.
RECORD = """
import json, sys
from tests.mining import record
for name, (settings, roster, treatment) in json.load(sys.stdin).items():
    record(name, settings, roster, treatment)
"""


def runs() -> dict[str, Run]:
    """Every treatment as its golden journal has it, a few rosters, and what a keyed die gives."""
    listed: dict[str, Run] = {
        f"{name}.journal": ({"seed": 0, "rounds": 20}, None, name) for name in TREATMENTS
    }
    listed |= {
        f"all-{name}.journal": ({"seed": 2**53 - 1, "rounds": 10, "truce": 0}, name, "scarce")
        for name in POLICIES
    }
    return listed | {f"random-{i}.journal": run_at_random(i) for i in range(AT_RANDOM)}


def run_at_random(key: int) -> Run:
    die = random.Random(key)  # in the test only: the list is the same on every interpreter
    rows, cols, agents = die.randint(1, 5), die.randint(1, 5), die.randint(1, 8)
    floats = (0.1, 1 / 3, 2 / 3, 1e9, 999_999_999.9, 5e-324, 1e-9, 0.0, 1.0, 3.3)
    chosen = {
        "seed": die.randrange(2**53),
        "rounds": 6,
        "rows": rows,
        "cols": cols,
        "stamina_by_agent": [die.randint(0, 14) for _ in range(agents)],
        "mining_cap": die.randint(1, 7),
        "alpha_by_plot": [die.choice(floats) for _ in range(rows * cols)],
        "truce": die.randint(0, 3),
        "defense": die.choice(("absolute", "pointwise")),
        "visibility": die.choice((1, 3, "all")),
        "communication": die.random() < 0.5,
        "authority": die.choice(("none", "adjudicate", "punish")),
        "detection": die.choice((die.random(), 1.0, 0.0, 1e-19, 1 - 2**-53)),
        "fine": die.choice((0.1, 5e-324, 2.5, 1e9)),
    }
    mix = ",".join(f"{die.choice(tuple(POLICIES))}*1" for _ in range(agents))
    return chosen, mix, "baseline"


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The journals' bytes as this process makes them."""
    folder = tmp_path_factory.mktemp("here")
    for name, (chosen, roster, treatment) in runs().items():
        record(folder / name, chosen, roster, treatment)
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def said_by(
    python: str, code: str, *arguments: object, given: str = "", folder: Path = ROOT, **others: str
) -> str:
    """What another process prints that runs this code, with other environment variables."""
    done = subprocess.run(
        [python, "-c", code, *map(str, arguments)],
        input=given,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **others},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "") == (done.returncode, done.stderr)
    return done.stdout


def recorded_by(python: str, folder: Path, **environment: str) -> dict[str, bytes]:
    """The same journals' bytes as another process makes them, with `folder` as its own."""
    folder.mkdir(parents=True)
    said_by(python, RECORD, given=json.dumps(runs()), folder=folder, **environment)
    return contents(folder)


def differing(expected: Mapping[str, bytes], found: Mapping[str, bytes]) -> list[str]:
    """The names under which the two hold different bytes, or one holds nothing."""
    names = sorted({*expected, *found})
    return [name for name in names if expected.get(name) != found.get(name)]


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "0", "TZ": "Pacific/Chatham", "LC_ALL": "C", "PYTHONUTF8": "0"},
        {"PYTHONHASHSEED": "1", "PYTHONOPTIMIZE": "2", "MSGPACK_PUREPYTHON": "1"},
    ],
    ids=lambda environment: ",".join(f"{k}={v}" for k, v in environment.items()),
)
def test_no_hash_seed_locale_clock_or_switch_changes_a_byte(
    expected: dict[str, bytes], tmp_path: Path, environment: dict[str, str]
) -> None:
    found = recorded_by(sys.executable, tmp_path / "there", **environment)

    assert [] == differing(expected, found)


def test_the_working_directory_changes_no_byte(
    expected: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / "Ünïcode and spaces" / "deeper"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    for name in ("baseline", "communication"):
        record(f"{name}.journal", *runs()[f"{name}.journal"])

        assert expected[f"{name}.journal"] == (deep / f"{name}.journal").read_bytes()


def test_threads_of_one_process_do_not_touch_each_other(
    expected: dict[str, bytes], tmp_path: Path
) -> None:
    def recorded(name: str) -> None:
        record(tmp_path / name, *runs()[name])

    names = [f"{name}.journal" for name in TREATMENTS]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(recorded, names))

    assert [] == differing({name: expected[name] for name in names}, contents(tmp_path))


@pytest.mark.parametrize("version", OTHERS)
def test_every_version_of_cpython_makes_the_same_bytes(
    expected: dict[str, bytes], tmp_path: Path, version: str
) -> None:
    python = interpreter(version)

    assert [] == differing(expected, recorded_by(python, tmp_path / "there"))


PROMPT = """
import sys
from pathlib import Path

from goldrush.agents.llm.parts import quoted
from goldrush.agents.worlds.mining.prompts.prompt import PlanPrompts
from goldrush.agents.llm.question import digest
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.verify import verify

for path in sorted(Path(sys.argv[1]).glob("*.journal")):
    for round in (0, 1, 5):
        state = rebuild(path, round).state
        asked = PlanPrompts(state)
        each = (digest(asked.messages(agent), asked.schema(agent)) for agent in range(3))
        print(path.stem, round, *each)
every = "".join(map(chr, range(0x110000)))
print(digest([{"role": "all of Unicode", "content": quoted(every, 10**9)}], {}))
print(verify(sys.argv[2]).level, verify(sys.argv[2]).holds)
"""


@pytest.mark.parametrize("version", OTHERS)
def test_every_version_of_cpython_writes_the_same_prompts(version: str) -> None:
    python, worded = interpreter(version), GOLDEN / "worded" / "mining.journal"

    here, there = (said_by(each, PROMPT, GOLDEN, worded) for each in (sys.executable, python))

    assert here.endswith("\n4 True\n")
    assert here == there


# A season recorded; then one with every event verified, its cast asked and its claims tested by
# this interpreter, and one with a model, what it was sent and has answered read again.
SEASONS = """
import logging, sys
import goldrush
from goldrush.replay.journal.verify import verify

logging.disable()  # of what an arena remarks
for name, arena in (("nk", "nk"), ("mining", "mining[agents=5;rounds=8;seeds=2]")):
    there = f"{sys.argv[1]}-{name}"
    goldrush.record(there, world="competition", seed=7, assignments=6, arena=arena)
for path in sys.argv[2:]:
    verdict = verify(path)
    print(verdict.level, verdict.holds)
"""


@pytest.mark.parametrize(("version", "hash_seed"), [*zip(VERSIONS, "012", strict=True)])
def test_every_version_of_cpython_plays_the_same_season(
    version: str, hash_seed: str, tmp_path: Path
) -> None:
    python = interpreter(version)
    for name, arena in (("nk", "nk"), ("mining", "mining[agents=5;rounds=8;seeds=2]")):
        season.record(tmp_path / f"here-{name}", {"seed": 7, "assignments": 6, "arena": arena})
    played = kept("rich"), kept("asked")

    said = said_by(python, SEASONS, tmp_path / "there", *played, PYTHONHASHSEED=hash_seed)

    assert "4 True\n4 True\n" == said
    for name in ("nk", "mining"):
        here, there = (tmp_path / f"{where}-{name}" for where in ("here", "there"))

        assert here.read_bytes() == there.read_bytes()


def test_every_golden_journal_is_recorded_again_byte_for_byte(expected: dict[str, bytes]) -> None:
    names = [f"{treatment}.journal" for treatment in TREATMENTS]
    golden = {name: (GOLDEN / name).read_bytes() for name in names}

    assert [] == differing(golden, {name: expected[name] for name in names})


def interpreter(version: str) -> str:
    """A CPython of this version that has what the kernel needs; without one the test is skipped."""
    asked = (
        "import attrs, msgpack, msgspec, xxhash, sys; print(sys.implementation.name, sys.version)"
    )
    for candidate in candidates(version):
        with suppress(OSError, AssertionError):
            if said_by(candidate, asked).startswith(f"cpython {version}."):
                return candidate
    pytest.skip(f"no CPython {version} with the kernel's packages on PATH or in GOLDRUSH_PYTHONS")


def candidates(version: str) -> Iterator[str]:
    yield sys.executable
    yield from filter(None, os.environ.get("GOLDRUSH_PYTHONS", "").split(os.pathsep))
    if on_path := shutil.which(f"python{version}"):
        yield on_path
