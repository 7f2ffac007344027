"""Tests of conducts: what a run is in each arena, and that each is made once, by whomever."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from goldrush.agents.pool import WorkerDied
from goldrush.agents.roster import Roster
from goldrush.agents.worlds.competition import bench
from goldrush.agents.worlds.competition.arenas import (
    arena_record,
    bench_of,
    opened_tests,
    rules_of,
)
from goldrush.agents.worlds.competition.bench import ALONE, PROCESSES, Bench, Request
from goldrush.agents.worlds.competition.benches.mining import atlas, conducts, played, setting_of
from goldrush.agents.worlds.mining.roster import POLICIES
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.kernel.worlds.competition.arena import DOWN, UP, Arena, Conduct
from goldrush.kernel.worlds.competition.arenas import mining
from goldrush.kernel.worlds.competition.arenas.mining import MiningConduct, MiningOptions
from goldrush.kernel.worlds.mining.treatments import TREATMENTS
from tests.atlas import PATH, SEEDS, screened, written
from tests.cli.helpers import ROOT
from tests.mining import record
from tests.waiting import HANGS, marked, until, until_gone

# From 3.12 on Python warns of a fork beside threads, which the test runner has.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

SMALL = "mining[agents=5;rounds=12;seeds=2]"


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    bench._kept.clear()
    yield
    bench._kept.clear()


# Tests


@attrs.define
class Counting:
    """A bench whose runs are counted; the value of a run is its seed."""

    runs: list[tuple[Any, ...]] = attrs.field(factory=list)
    values: Mapping[int, float | None] = attrs.field(factory=dict)

    def __call__(self, conduct: Conduct, treatment: str, objective: str, seed: int) -> bench.Run:
        self.runs.append((conduct, treatment, objective, seed))
        return self.values.get(seed, float(seed)), seed

    def tests(self, jobs: int = 1, arena: str = "nk", **how: Any) -> bench.Tests:
        made = Bench(self, lambda conduct, treatment, draws: conduct, **how)
        return bench.Tests(arena_record(arena), lambda: made, jobs)


def test_a_value_is_the_mean_of_the_runs_added_up_in_their_order() -> None:
    values = {1: 1e16, 2: 1.0, 3: -1e16}

    assert 0.0 == Counting(values=values).tests().value("a", "t", "o", (1, 2, 3))[0]
    assert (1 / 3, ((1, 1), (3, 3), (2, 2))) == Counting(values=values).tests().value(
        "a", "t", "o", (1, 3, 2)
    )


@pytest.mark.parametrize("values", [{2: None}, {1: 1e308, 2: 1e308}])
def test_where_a_run_has_no_value_there_is_none(values: Mapping[int, float | None]) -> None:
    value, runs = Counting(values=values).tests().value("a", "t", "o", (1, 2))

    assert value is None
    assert ((1, 1), (2, 2)) == runs


def test_equal_runs_are_made_once_also_in_another_season() -> None:
    counting = Counting()
    tests = counting.tests()
    tests.values([Request("a", "t", "o", (1, 2)), Request("a", "t", "o", (2, 3))])
    tests.value("a", "t", "o", (3, 4))
    counting.tests().value("a", "t", "o", (4, 1))

    assert [1, 2, 3, 4] == [seed for *_, seed in counting.runs]


def test_whatever_differs_is_another_run_and_programs_that_change_their_minds_run_again() -> None:
    counting = Counting()
    asked = [("a", "t", "o"), ("a", "t", "p"), ("a", "u", "o"), (1, "t", "o"), (1.0, "t", "o")]
    for conduct, treatment, objective in asked:
        counting.tests().value(conduct, treatment, objective, (1,))
    for arena in ("nk", "nk[noise=1]"):
        counting.tests(arena=arena).value("a", "t", "o", (1,))
    for _ in range(2):
        counting.tests(deterministic=False).value("a", "t", "o", (1,))

    first, *others = ((*each, 1) for each in asked)
    assert [first, *others, first, first, first] == counting.runs


def test_the_runs_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "RUNS_MAX", 3)
    counting = Counting()
    tests = counting.tests()
    for seed in (1, 2, 3, 1, 4, 2, 1):
        tests.value("a", "t", "o", (seed,))

    assert [1, 2, 3, 4, 1] == [seed for *_, seed in counting.runs]
    assert 3 == len(bench._kept)


def test_what_takes_microseconds_is_not_kept() -> None:
    counting = Counting()
    counting.tests(at_once=ALONE).value("a", "t", "o", (1, 1))

    assert [1, 1] == [seed for *_, seed in counting.runs]


def test_one_run_gives_all_objectives_where_the_bench_can() -> None:
    counting = Counting()

    def together(conduct: Conduct, treatment: str, seed: int) -> tuple[dict[str, float], int]:
        counting(conduct, treatment, "", seed)
        return {"o": 1.0, "p": 2.0}, seed

    tests = counting.tests(together=together, as_tested=lambda conduct, treatment: "a")
    asked = [Request(c, "t", o, (1, 2)) for c in "ab" for o in ("o", "p")]

    assert [1.0, 2.0, 1.0, 2.0] == [value for value, _ in tests.values(asked)]
    assert 2 == len(counting.runs)


def _opened(arena: Arena) -> Bench:
    return attrs.evolve(bench_of(arena), test=_here, at_once=PROCESSES)


def _here(conduct: Conduct, treatment: str, objective: str, seed: int) -> bench.Run:
    if conduct == "ends":
        os.kill(os.getpid(), signal.SIGKILL)
    if conduct == "fails":
        raise BadInput("a conduct fails", "give another one")
    return float(os.getpid()), seed


def test_processes_make_runs_elsewhere_and_in_their_order() -> None:
    arena = arena_record("nk")
    with bench.Tests(arena, partial(_opened, arena), 2) as tests:
        [(value, runs)] = tests.values([Request("a", "0.0", "value", range(40))])
        with pytest.raises(BadInput, match="a conduct fails"):
            tests.values([Request("fails", "0.0", "value", (1, 2))])
        with pytest.raises(WorkerDied):
            tests.values([Request("ends", "0.0", "value", (1, 2))])
        assert tests.value("a", "0.0", "value", (50, 51))[0] is not None

    assert value != os.getpid()
    assert [(seed, seed) for seed in range(40)] == list(runs)


# Neighbours


def test_every_conduct_has_canonical_neighbours_from_which_all_can_be_reached() -> None:
    arena = arena_record("mining")
    rules, tested, treatment = rules_of(arena), bench_of(arena), arena.subjects[0].treatment
    reached, found = set(), {rules.bar(arena.subjects[0])}
    while found:
        reached |= found
        near = {
            (conduct, tested.vary(conduct, treatment, Draws(str(conduct), k)))
            for conduct in found
            for k in range(20)
        }
        for conduct, other in near:
            alone = (conduct[1] is None) != (other[1] is None)
            assert rules.is_canonical(other, treatment)
            assert (2 if alone else 1) == rules.distance(conduct, other)
        found = {other for _, other in near} - reached

    assert reached == set(tested.conducts(treatment) or ())


def test_a_neighbour_of_bits_has_any_one_of_them_flipped() -> None:
    near = {bench_of(arena_record("nk")).vary("0" * 12, "0.0", Draws(k)) for k in range(200)}

    assert {f"{1 << place:012b}" for place in range(12)} == near


# mining

CONDUCTS: list[tuple[MiningConduct, str]] = [
    (("greedy-mine", None, 0, "scarce"), "scarce"),
    (("random", "defend", 5, "authority-punish"), "authority-adjudicate"),
    (("tit-for-tat-raid", "raid", 2, "stamina-mixed"), "stamina-mixed"),
]
OPTIONS = MiningOptions(agents=5, rounds=12, seeds=2)


@pytest.mark.parametrize(("conduct", "treatment"), CONDUCTS)
def test_a_run_is_the_one_that_would_be_recorded(
    conduct: MiningConduct, treatment: str, tmp_path: Path
) -> None:
    pytest.importorskip("scipy")
    from goldrush.replay.data.run_data import measured_at

    journal = tmp_path / "run.journal"
    config, entries = setting_of(OPTIONS, conduct, treatment, 7)
    record(journal, config.as_dict(), Roster(tuple(entries)))
    with JournalReader(journal) as reader:
        digests = [commit.digest for commit in reader if commit.kind == UNIT]
    measured = measured_at(journal)
    values, digest = played(OPTIONS, conduct, treatment, 7)

    assert digests[-1] == digest
    assert {objective: measured.of(objective) for objective in mining.OBJECTIVES} == values


def test_a_run_is_played_by_the_rules_of_mining_that_the_arena_began_with() -> None:
    """Newer rules would give other values to the conducts of seasons that are recorded."""
    random = CONDUCTS[1]  # the conduct that rules 1 and 2 play differently
    _, digest = played(OPTIONS, *random, 7)

    assert 13545028240493318390 == digest


@pytest.mark.parametrize(
    ("share", "agents", "few"), [(1, 10, 1), (5, 10, 5), (3, 7, 2), (1, 9, 0), (0, 10, 0)]
)
def test_the_last_agents_play_the_minority(share: int, agents: int, few: int) -> None:
    conduct = ("mine", "raid" if share else None, share, "baseline")
    _, entries = setting_of(MiningOptions(agents=agents), conduct, "baseline", 0)

    assert ["mine"] * (agents - few) + ["raid"] * few == [entry.policy for entry in entries]


def test_a_conduct_is_played_under_the_treatment_it_is_tested_under() -> None:
    with opened_tests(arena_record(SMALL)) as tests:
        one, other = (
            tests.value(("raid", "mine", 4, own), "scarce", "gini", (1, 2))
            for own in ("scarce", "baseline")
        )

    assert one == other
    assert 2 == len(bench._kept)


def test_the_names_that_the_rules_know_are_those_that_can_be_played() -> None:
    told = bench_of(arena_record("mining")).text

    assert list(POLICIES) == list(mining.POLICIES)
    assert tuple(TREATMENTS) == mining.TREATMENTS
    assert all(f"- {name}: " in told for name in (*POLICIES, *mining.OBJECTIVES, *TREATMENTS))
    better = re.findall("- (.*): .*; (more|less) is better", told)
    assert mining.OBJECTIVES == {name: UP if word == "more" else DOWN for name, word in better}


# The atlas


def test_the_atlas_is_of_the_default_options_and_of_every_subject() -> None:
    arena = arena_record("mining")
    tested, found = bench_of(arena), atlas()

    assert [(o, t) for o in mining.OBJECTIVES for t in mining.TREATMENTS] == list(found)
    assert {288} == {len(values) for values in found.values()}
    assert found["gini", "scarce"] == tested.atlas("gini", "scarce")
    assert bench_of(arena_record(SMALL)).atlas("gini", "scarce") is None


def test_the_subjects_that_are_listed_are_those_that_pass_the_screen() -> None:
    assert screened(atlas()) == mining.SCREENED


def test_the_atlas_has_what_its_runs_give() -> None:
    """Or it has to be made again, and the version of the arena raised: see tests/atlas.py."""
    every = list(conducts("alpha-rich"))
    asked = [every[1], every[100]]
    for conduct in asked:
        runs = [played(MiningOptions(), conduct, "alpha-rich", seed)[0] for seed in SEEDS]
        for objective in mining.OBJECTIVES:
            mean = sum(run[objective] or 0.0 for run in runs) / len(runs)
            known = atlas()[objective, "alpha-rich"][every.index(conduct)]

            assert pytest.approx(mean, rel=1e-6) == known


def test_the_atlas_is_read_as_it_was_written_of_the_arena_as_it_is() -> None:
    assert written(atlas()) == PATH.read_bytes()


# command


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], str]:
    """Writes a program in Python, and gives its path."""

    def write(source: str, name: str = "grade") -> str:
        path = tmp_path / name
        path.write_text(f"#!{sys.executable} -S\nimport json, os, sys, time\n{source}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    return write


@pytest.fixture
def agenda(tmp_path: Path) -> Path:
    path = tmp_path / "agenda.toml"
    path.write_text(
        '[[subject]]\ntreatment = "short"\nobjective = "words"\nbetter = "up"\n'
        'task = "Write."\nstart = """\none two  \nthree\n"""\n'
    )
    return path


def value_of(
    path: str, agenda: Path, text: str = "one two", time_limit: int = 3_000
) -> bench.Result:
    options = f"agenda={agenda};seeds=1;time_limit={time_limit}"
    arena = arena_record(f"command[{options}]", test=path)
    with opened_tests(arena, path) as tests:
        return tests.value(text, "short", "words", (7,))


def test_a_program_has_the_text_the_seed_and_nothing_else(
    program: Callable[[str], str], agenda: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    source = (
        "said = [sys.stdin.buffer.read().decode(), sys.argv[1:], dict(os.environ), os.listdir(),\n"
        "        os.getcwd(), os.getpgid(0) == os.getpid()]\n"
        f"open({str(agenda)!r} + '.said', 'w').write(json.dumps(said))\n"
        "os.makedirs('a/b'); open('a/b/c', 'w').write('left')\n"
        "sys.stderr.write('x' * 100_000)\n"
        "print('{\"value\": 2.5}')"
    )
    value, [(seed, digest)] = value_of(program(source), agenda, "è\n two")
    text, arguments, environment, there, folder, has_group = json.loads(
        Path(f"{agenda}.said").read_text()
    )

    assert (2.5, 7, xxh3_64_intdigest(b'{"value": 2.5}\n')) == (value, seed, digest)
    assert ("è\n two", ["7"], [], True) == (text, arguments, there, has_group)
    assert {
        "GOLDRUSH_OBJECTIVE": "words", "GOLDRUSH_TREATMENT": "short", "GOLDRUSH_SEED": "7",
        "LANG": "C.UTF-8", "PATH": os.environ["PATH"],
    } == {name: value for name, value in environment.items() if name != "LC_CTYPE"}  # fmt: skip
    assert not Path(folder).exists()


PRINTED: dict[str, float | None] = {
    ' {"a": [], "value": -0.5} \n': -0.5, '{"value": 1e308}': 1e308, '{"value": NaN}': None,
    '{"value": true}': None, '{}': None, "[1]": None, '{"value": 1}{"value": 1}': None,
    '{"value": ' + "9" * 9_000 + "}": None, "[" * 60_000: None,
}  # fmt: skip


@pytest.mark.parametrize("printed", PRINTED, ids=lambda text: text[:24])
def test_one_json_object_with_a_finite_number_is_a_value(
    printed: str, program: Callable[[str], str], agenda: Path
) -> None:
    path = program(f"sys.stdout.buffer.write({printed.encode()!r})")

    assert (PRINTED[printed], ((7, xxh3_64_intdigest(printed.encode())),)) == value_of(path, agenda)


GOOD = "print('{\"value\": 1}', flush=True)"
# What it does, how long it may take, and what is said of it before a season.
HOSTILE = {
    "bytes that are no text": (r"sys.stdout.buffer.write(b'\xff{\"value\": 1}')", 3_000, "JSON"),
    "exits with 1": (f"{GOOD}; sys.exit(1)", 3_000, "status 1"),
    "is killed": (f"{GOOD}; os.kill(os.getpid(), 9)", 3_000, "signal 9"),
    "ends its output alone": (f"{GOOD}; os.close(1); time.sleep(9999)", 1, "in time"),
    "prints without end": (f"{GOOD}\nwhile True: print(' ' * 99)", 3_000, "over 65,536 bytes"),
    "prints controls": ("print('\\x1b[2J')", 3_000, "JSON"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_whatever_else_a_program_does_it_has_no_value_and_a_line_says_why(
    what: str, program: Callable[[str], str], agenda: Path
) -> None:
    source, limit, says = HOSTILE[what]
    path = program(source)
    text = f"command[agenda={agenda};time_limit={limit}]"
    remark = bench_of(arena_record(text, test=path), path).remark()

    assert value_of(path, agenda, time_limit=limit)[0] is None
    assert says in (remark or "")
    assert "\x1b" not in (remark or "")


@pytest.mark.parametrize("last", ["", "; time.sleep(9999)"])
def test_what_a_program_started_ends_with_it(
    last: str, program: Callable[[str], str], agenda: Path
) -> None:
    mark = f"{agenda.parent.name}-{len(last)}"
    source = (
        "import subprocess\n"
        f"env = {{'MARK': {mark!r}}}\n"
        "child = [sys.executable, '-c', 'import time; print(1, flush=True); time.sleep(9999)']\n"
        "one = subprocess.Popen(child, env=env, stdout=subprocess.PIPE)\n"
        "one.stdout.readline()\n"
        "two = subprocess.Popen(child, env=env, stdout=open('/dev/null', 'w'))\n"
        f"{GOOD}{last}"
    )
    value, _ = value_of(program(source), agenda, time_limit=3 if last else 3_000)

    assert (None if last else 1.0) == value
    until_gone(mark)


def test_a_file_that_is_no_program_has_no_value(tmp_path: Path, agenda: Path) -> None:
    for name, front in (("no", b"\x7fELF"), ("gone", b"#!/no/such/interpreter\n")):
        path = tmp_path / name
        path.write_bytes(front)
        path.chmod(0o755)

        assert (None, ((7, xxh3_64_intdigest(b"")),)) == value_of(str(path), agenda)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_season_that_is_stopped_ends_its_programs(
    jobs: int, program: Callable[[str], str], agenda: Path
) -> None:
    mark = f"{agenda.parent.name}-{jobs}"
    endless = program(f"os.execve('/bin/sleep', ['sleep', '9999'], {{'MARK': {mark!r}}})")
    code = (
        "import sys; from goldrush.agents.worlds.competition.arenas import *\n"
        "arena = arena_record(f'command[agenda={sys.argv[1]};time_limit=3000]', test=sys.argv[2])\n"
        "with opened_tests(arena, sys.argv[2], int(sys.argv[3])) as tests:\n"
        "    tests.value('', 'short', 'words', (1, 2))\n"
    )
    season = subprocess.Popen(
        [sys.executable, "-c", code, str(agenda), endless, str(jobs)], cwd=ROOT, stderr=DEVNULL
    )
    until(lambda: marked(mark))
    season.send_signal(signal.SIGINT)
    season.wait(timeout=HANGS)

    until_gone(mark)


# Which program


def test_another_program_is_refused_at_the_beginning_and_on_the_way(
    program: Callable[[str], str], agenda: Path
) -> None:
    path = program(GOOD)
    arena = arena_record(f"command[agenda={agenda}]", test=path)
    with opened_tests(arena, path) as tests:
        assert 1.0 == tests.value("", "short", "words", (1,))[0]
        os.utime(path)  # the same one, written again
        assert 1.0 == tests.value("", "short", "words", (2,))[0]
        program(f"{GOOD}  # otherwise")
        with pytest.raises(BadInput, match="has the SHA-256"):
            tests.value("", "short", "words", (3,))
        with pytest.raises(BadInput, match="has the SHA-256"):
            bench_of(arena, path)
        Path(path).unlink()
        with pytest.raises(BadInput, match="cannot be run any more"):
            tests.value("", "short", "words", (4,))


@pytest.mark.parametrize("path", ["nowhere", ".", "agenda.toml"])
def test_what_cannot_be_run_is_refused(path: str, agenda: Path) -> None:
    with pytest.raises(BadInput, match=r"there is no program|chmod"):
        arena_record(f"command[agenda={agenda}]", test=str(agenda.parent / path))


SUBJECT = "[[subject]]\ntreatment='a'\nobjective='b'\nbetter='up'\ntask='Do.'\nstart='one'\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1", "'x'"),
        ("subject = [3]", "subject 1"),
        ("[[subject]]\ntreatment = 1", "subject 1 has no objective, better, task, start"),
        (SUBJECT.replace("up", "Up"), "subject 1: better"),
        (SUBJECT + SUBJECT.replace("'a'", "'c'").replace("Do.", "y" * 1_001), "subject 2: task"),
        (SUBJECT + SUBJECT, "subject 2 has the treatment and the objective of subject 1"),
    ],
)
def test_what_is_no_agenda_is_refused(
    text: str, says: str, program: Callable[[str], str], agenda: Path
) -> None:
    agenda.write_text(text)
    with pytest.raises(BadInput, match=says):
        arena_record(f"command[agenda={agenda}]", test=program(GOOD))


TEXTS = st.lists(
    st.lists(st.sampled_from(["a", "b2.5", "17", "-3", "  x"]), max_size=4).map(" ".join),
    max_size=5,
).map("\n".join)


@given(text=TEXTS, seed=st.integers(0, 2**53))
def test_a_text_has_canonical_neighbours(text: str, seed: int) -> None:
    from goldrush.agents.worlds.competition.benches.command import _vary
    from goldrush.kernel.worlds.competition.arenas.command import distance, trimmed

    other = _vary(trimmed(text), "short", Draws(seed))

    assert other == trimmed(other)
    assert 1 == distance(text, other)


def test_a_text_that_is_full_has_neighbours_too() -> None:
    from goldrush.agents.worlds.competition.benches.command import _vary

    assert len(_vary("x" * 4_000, "short", Draws(1))) < 4_000
    assert {"?"} == {_vary("", "short", Draws(k)) for k in range(20)}
