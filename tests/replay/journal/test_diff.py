"""Two runs compared: the first event that differs, why, and what came of it."""

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from itertools import product, zip_longest
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush.kernel import fold
from goldrush.kernel.errors import (
    DamagedJournal,
    JournalError,
)
from goldrush.kernel.journal import END, START, UNIT, Commit, Header, JournalReader
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import Block, Row
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import CLAIM_DRAWN, SUBMITTED
from goldrush.replay.data.measures import Span
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.journal.consequences import consequences
from goldrush.replay.journal.diff import SHOWN_MAX, Diff, First, diff, format_diff
from tests.golden import WORDED, path_of
from tests.journals import changed, commits_of, damaged, in_pieces, redrawn, write
from tests.llm.runs import played_again
from tests.mining import fork, record
from tests.seasons import small as season

ROUNDS = 9
SETTINGS = {"rounds": ROUNDS, "rows": 4, "cols": 4, "seed": 3}
ROSTER = "raid,claim,greedy-mine,tit-for-tat-raid,random*2"
AGENTS = 6


def nothing(round: int, agent: int) -> dict[str, Any]:
    """A submission to be put in by hand."""
    return {"round": round, "agent": agent, "actions": []}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journals") / "run.journal"
    record(path, SETTINGS, ROSTER)
    return path


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return tmp_path / "other.journal"


# What the runs declare.


def test_of_settings_within_a_setting_those_that_differ_are_told(tmp_path: Path) -> None:
    a, b = (
        season(tmp_path / f"{seeds}", arena=f"nk[seeds={seeds}]", assignments=1) for seeds in (1, 2)
    )
    [cause] = diff(a, b).causes

    assert (cause.name, cause.a, cause.b) == ("arena.options.seeds", 1, 2)


def test_agents_that_play_otherwise_are_told_together_where_they_changed_alike(
    run: Path, other: Path
) -> None:
    record(other, SETTINGS, "raid,mine,greedy-mine,tit-for-tat-raid,defend*2")
    found = diff(run, other)

    assert [(cause.kind, cause.name, cause.text) for cause in found.causes] == [
        ("roster", "1", "agent 1: claim in A, mine in B"),
        ("roster", "4, 5", "agents 4, 5: random in A, defend in B"),
    ]
    assert found.causes[0].a == {"policy": "claim", "options": {}}


def with_options(run: Path, path: Path, policy: str, options: Mapping[str, Any]) -> Path:
    """The run with agent 0 another one, whatever it played."""
    start, *rest = commits_of(run)
    first, *others = (start.setup or {})["roster"]
    roster = ({**first, "policy": policy, "options": options}, *others)
    setup = {**(start.setup or {}), "roster": roster}
    return write(path, [Commit(START, 0, start.digest, setup=setup), *rest])


def test_options_of_the_same_number_in_another_type_are_told(run: Path, other: Path) -> None:
    one = with_options(run, other, "raid", {"n": 1})
    two = with_options(run, other.with_name("two"), "raid", {"n": True})

    assert ["roster"] == [cause.kind for cause in diff(one, two).causes]


def test_of_two_models_as_much_is_told_as_tells_them_apart(run: Path, other: Path) -> None:
    one, two, long = (
        with_options(run, other.with_name(f"{n}"), "llm", {"name": "m", "prompt": 2, **options})
        for n, options in enumerate([
            {"persona": "x" * 80}, {"persona": "x" * 90},
            {f"{n}" + "n" * 9_000: "y" * 9_000 for n in range(20)},
        ])
    )  # fmt: skip
    [cause], [longer] = (diff(one, b).causes for b in (two, long))
    a, b = (sha256(b"x" * n).hexdigest()[:8] for n in (80, 90))

    assert f"persona={a}" in cause.text.partition(" in A, ")[0]
    assert f"persona={b}" in cause.text.partition(" in A, ")[2]
    assert len(longer.text) < 1_500


def test_answers_are_compared_by_what_they_say_and_not_by_what_servers_report(
    tmp_path: Path,
) -> None:
    original = commits_of(path_of("mining", WORDED))

    def answered(name: str, said: str | None = None) -> Path:
        def change(unit: int, row: Row) -> Row:
            words = {"raw": said} if said and (unit, row[0]) == (3, 1) else {}
            facts = {"tokens_out": 99, "tries": 2, "created": 7, "fingerprint": name, **words}
            return (*row[:5], row[5] and {**row[5], **facts})

        return write(tmp_path / name, played_again(original, change))

    one, two, three = answered("one"), answered("two"), answered("three", "Other words.")
    same, other = diff(one, two), diff(two, three)

    assert (True, True, None) == (same.same, same.reported, same.first)
    assert "the same: 8 rounds, finished (not compared: clocks, tokens and names" in str(same)
    assert ["the answer of agent 1 in round 3"] == [cause.text for cause in other.causes]


def test_causes_beyond_the_limit_are_counted(run: Path, other: Path) -> None:
    record(other, {**SETTINGS, "fine": 9.0}, ROSTER)
    found = diff(run, other)
    shown = "\n".join(format_diff(attrs.evolve(found, causes=found.causes * (SHOWN_MAX + 3))))

    assert (SHOWN_MAX, 1) == (shown.count("fine"), shown.count("and 3 more;"))


# The beginning of another.


def cut(run: Path, path: Path, commits: int, more: int = 0) -> Path:
    """A run broken off behind so many commits, with a piece of the next one."""
    path.write_bytes(run.read_bytes()[: commits_of(run)[commits - 1].end + more])
    return path


# Forgery: what is derived differs where nothing else does.


def reworded(row: list[Any]) -> None:
    row[3] = [word ^ 1 for word in row[3]]


def unnamed(row: list[Any]) -> None:
    row[0] = "x"


def first_changed(
    code: int, change: Callable[[list[Any]], object]
) -> Callable[[list[Commit]], list[Commit]]:
    """Changes the first row of a type that has something in field 3, or of round 1."""
    return lambda commits: changed(
        commits, code, change, is_meant=lambda row: code == SUBMITTED or bool(row[3]), first=True
    )


def without_the_last(commits: list[Commit]) -> list[Commit]:
    """Round 3 without its last derived event."""
    inputs, derived = commits[3].blocks
    commits[3] = Commit(UNIT, 3, commits[3].digest, [inputs, Block(list(derived)[:-1])])
    return commits


def other_digest(place: int) -> Callable[[list[Commit]], list[Commit]]:
    def change(commits: list[Commit]) -> list[Commit]:
        commits[place].digest = (commits[place].digest or 0) ^ 1
        return commits

    return change


FORGERIES: Mapping[str, tuple[Callable[[list[Commit]], list[Commit]], str, int, str | None]] = {
    "other words": (first_changed(CLAIM_DRAWN, reworded), "derivation", 1, "claim_drawn"),
    "another winner": (redrawn, "derivation", 1, "claim_drawn"),
    "an event less": (without_the_last, "derivation", 3, "mining_settled"),
    "another digest": (other_digest(4), "derivation", 4, "round_closed"),
    "another digest of the start": (other_digest(0), "derivation", 0, None),
    "no submission": (first_changed(SUBMITTED, unnamed), "damage", 1, None),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_what_differs_where_inputs_do_not_is_a_derivation_or_damage(
    run: Path, other: Path, name: str
) -> None:
    change, kind, round, event = FORGERIES[name]
    found = diff(run, write(other, change(commits_of(run))))
    [cause] = found.causes

    assert (kind, round, False) == (cause.kind, cause.round, found.same)
    assert event == (found.first and found.first.a and found.first.a.name)


# Damage.


def test_damage_in_both_before_anything_differs_is_raised(run: Path, other: Path) -> None:
    two = damaged(run, other.with_name("two"), 7)
    with pytest.raises(DamagedJournal, match="commit 5"):
        diff(damaged(run, other, 5), two)


# Other worlds, other rules.


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (Header("roundtable", MINING.rules), ("world", 0, None, "mining", "roundtable")),
        (Header(MINING.name, 3), ("rules", 0, None, 2, 3)),
    ],
)
def test_runs_of_other_worlds_or_under_other_rules_are_told_apart_by_that(
    run: Path, other: Path, header: Header, expected: tuple[Any, ...]
) -> None:
    write(other, commits_of(run), header)
    found = diff(run, other)

    [cause] = found.causes

    assert expected == (cause.kind, cause.round, cause.name, cause.a, cause.b)
    assert (found.first, found.prefix, found.same) == (None, None, False)
    assert (found.b.rounds, found.b.finished) == (ROUNDS, True)


# Commits cut in other ways.


@pytest.mark.parametrize(("one", "two"), [(1, 2), (3, 2), (AGENTS, 1)])
def test_runs_whose_inputs_came_in_other_pieces_are_the_same(
    run: Path, other: Path, one: int, two: int
) -> None:
    write(other, in_pieces(commits_of(run), one))
    again = write(other.with_name("again"), in_pieces(commits_of(run), two))

    assert diff(other, again).same


def opened(run: Path, path: Path, agents: int, other: int | None = None) -> Path:
    """A run whose last round is open: so many have submitted, agent `other` something else."""
    *whole, last, _ = commits_of(run)
    rows = [list(row) for row in last.blocks[0].rows(SUBMITTED)[:agents]]
    if other is not None:
        rows[other][1] = ()
    block = Block([(SUBMITTED, [tuple(row) for row in rows])])
    return write(path, [*whole, Commit(UNIT, last.unit, None, [block])])


@pytest.mark.parametrize("closed", [False, True])
def test_a_submission_that_differs_in_an_open_round_is_told_and_nothing_came_of_it(
    run: Path, other: Path, closed: bool
) -> None:
    one = run if closed else opened(run, other.with_name("one"), 4)
    found = diff(one, opened(run, other, 5, other=1))

    assert (ROUNDS, ["submission"]) == (found.first.round, [cause.kind for cause in found.causes])
    assert consequences(found) is None


def test_a_finished_run_is_no_beginning_of_one_that_goes_on_where_it_ended(
    run: Path, other: Path
) -> None:
    *whole, _ = commits_of(run)
    block = Block([(SUBMITTED, [(0, (), None, None, None, None)])])
    found = diff(run, write(other, [*whole, Commit(UNIT, ROUNDS + 1, None, [block])]))

    assert (found.same, found.prefix, found.causes, found.first) == (False, None, [], None)


# All pairs of all sorts of runs.


@pytest.fixture(scope="module")
def pool(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Runs of all sorts: recorded, forked, broken off, forged, damaged."""
    folder = tmp_path_factory.mktemp("pool")

    def forked(name: str, parent: Path, at: int, **changes: Any) -> Path:
        fork(parent, at, folder / name, **changes)
        return folder / name

    def recorded(name: str, roster: str = ROSTER, **settings: Any) -> Path:
        record(folder / name, {**SETTINGS, **settings}, roster)
        return folder / name

    unstarted = folder / "unstarted"
    unstarted.write_bytes(run.read_bytes()[:40])
    replaced = [
        {"round": round, "agent": agent, "actions": []} for round, agent in ((6, 1), (8, 2))
    ]
    by_hand = forked("by hand", run, 3, replace=replaced)
    slow = forked("slow", run, 5, settings={"stamina": 4})
    return {
        "run": run,
        "seed": recorded("seed", seed=8),
        "agents": recorded("agents", roster="random*7"),
        "longer": recorded("longer", rounds=11),
        "unchanged": forked("unchanged", run, 6),
        "by hand": by_hand,
        "slow": slow,
        "fined": forked("fined", run, 5, settings={"fine": 9.0}),
        "slow by hand": forked("slow by hand", slow, 7, replace=[nothing(8, 0)]),
        "roster": forked("roster", by_hand, 7, roster="mine*6"),
        "short": cut(run, folder / "short", 6),
        "torn": cut(run, folder / "torn", 8, 9),
        "torn there": cut(run, folder / "torn there", 6, 9),
        "unstarted": unstarted,
        "open": opened(run, folder / "open", 3),
        "redrawn": write(folder / "redrawn", first_changed(CLAIM_DRAWN, reworded)(commits_of(run))),
        "damaged": damaged(run, folder / "damaged", 7),
        "slow damaged": damaged(slow, folder / "slow damaged", 9),
    }


def outcome(a: Path, b: Path) -> Diff | None:
    """What is found; None where neither can be read as far as they would be compared."""
    try:
        return diff(a, b)
    except JournalError:
        return None


def plain(found: Diff | None, *, swapped: bool = False) -> Any:
    """What is found but for words, as it is, or told from the other side."""
    if found is None:
        return None
    sides, first = [(found.prefix == side, getattr(found, side)) for side in "ab"], found.first
    pairs = [(c.kind, c.round, c.name, (c.a, c.b)) for c in found.causes]
    events = first and (first.a, first.b)
    if swapped:
        sides, events = sides[::-1], events and events[::-1]
        pairs = [(*cause, values[::-1]) for *cause, values in pairs]
    return found.same, sides, first and first.round, events, sorted(pairs, key=repr)


VERDICTS: Mapping[tuple[str, str], tuple[bool, str | None, list[tuple[str, int, str | None]]]] = {
    ("run", "unchanged"): (True, None, []),
    ("open", "open"): (True, None, []),
    ("run", "short"): (False, "b", []),
    ("torn", "open"): (False, "a", []),
    ("short", "torn there"): (False, None, []),  # one is torn, and no round is missing
    ("run", "unstarted"): (False, None, [("damage", 1, None)]),
    ("run", "seed"): (False, None, [("configuration", 0, "seed")]),
    ("run", "longer"): (False, "a", [("configuration", 0, "rounds")]),
    ("run", "fined"): (False, None, [("configuration", 6, "fine")]),  # which changes no event
    ("run", "slow"): (False, None, [("configuration", 6, "stamina")]),
    ("run", "by hand"): (False, None, [("submission", 6, "1")]),
    ("run", "slow by hand"): (False, None, [("configuration", 6, "stamina")]),  # the rest follows
    ("fined", "by hand"): (False, None, [("configuration", 6, "fine"), ("submission", 6, "1")]),
    ("run", "redrawn"): (False, None, [("derivation", 1, None)]),
    ("run", "damaged"): (False, None, [("damage", 7, None)]),
    ("fined", "damaged"): (False, None, [("configuration", 6, "fine"), ("damage", 7, None)]),
}


@pytest.mark.parametrize(("one", "two"), VERDICTS)
def test_two_runs_are_the_same_or_the_first_cause_of_each_kind_is_told(
    pool: Mapping[str, Path], one: str, two: str
) -> None:
    found = diff(pool[one], pool[two])
    causes = [(cause.kind, cause.round, cause.name) for cause in found.causes]

    assert VERDICTS[one, two] == (found.same, found.prefix, causes)
    for cause in found.causes:
        assert (cause.kind == "damage") == (str(pool[two]) in cause.text)
    for side, name in ((found.a, one), (found.b, two)):
        assert ("torn" in name or name == "unstarted") == side.torn
        assert (side.torn or "damaged" in name) == (side.trouble is not None)


@pytest.fixture(scope="module")
def outcomes(pool: Mapping[str, Path]) -> Mapping[tuple[str, str], Diff | None]:
    return {(one, two): outcome(pool[one], pool[two]) for one, two in product(pool, repeat=2)}


def test_whichever_run_is_given_first_the_same_is_found(
    outcomes: Mapping[tuple[str, str], Diff | None],
) -> None:
    for (one, two), found in outcomes.items():
        assert plain(outcomes[two, one], swapped=True) == plain(found), (one, two)


def played(path: Path) -> Iterator[list[Any]]:
    """The events of each closed round, but for digests."""
    events: list[Any] = []
    with JournalReader(path) as reader:
        try:
            for event in fold.events(MINING, reader):
                if event.name == "round_closed":
                    yield events
                    events = []
                elif event.name not in ("run_started", "forked", "run_ended"):
                    events.append(event)
        except JournalError:
            pass


def test_the_first_event_is_the_one_that_a_plain_comparison_finds(
    pool: Mapping[str, Path], outcomes: Mapping[tuple[str, str], Diff | None]
) -> None:
    for (one, two), found in outcomes.items():
        rounds = enumerate(zip(played(pool[one]), played(pool[two]), strict=False), 1)
        first = next(
            (
                First(round, a, b)
                for round, events in rounds
                for a, b in zip_longest(*events)
                if a != b
            ),
            None,
        )

        assert found is None or found.first == first, (one, two)
        assert found is None or not (first and found.prefix), (one, two)
        assert found is None or found.causes or first is None, (one, two)


# What came of it.


def states_of(path: Path) -> dict[int, Any]:
    """The state after each round, folded from the start."""
    states = {}
    with JournalReader(path) as reader:
        try:
            for commit, state in Walk(MINING, reader):
                if commit.kind == UNIT:
                    states[commit.unit] = MINING.copy(state)
        except JournalError:
            pass
    return states


APART = [
    ("run", "seed"), ("run", "longer"), ("run", "by hand"), ("by hand", "slow"),
    ("slow", "slow by hand"), ("roster", "run"), ("run", "redrawn"), ("short", "seed"),
    ("torn", "slow"), ("slow damaged", "run"), ("run", "agents"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "two"), APART)
def test_what_came_of_a_difference_is_what_folding_both_runs_gives(
    pool: Mapping[str, Path], one: str, two: str
) -> None:
    a, b = pool[one], pool[two]
    found = diff(a, b)
    came = consequences(found)
    if found.first is None:
        assert came is None
        return
    since, until = found.first.round, min(found.a.rounds, found.b.rounds)
    states_a, states_b = states_of(a), states_of(b)
    gold = zip_longest(states_a[until].gold, states_b[until].gold)
    ends = (until_round(path, until) for path in (a, b))
    one_end, two_end = ends
    span = Span(since, until)

    assert (came.since, came.until) == (since, until)
    assert [(each.of, each.a, each.b) for each in came.agents if each.name == "gold"] == [
        (agent, *pair) for agent, pair in enumerate(gold)
    ]
    assert {each.name: (each.a, each.b) for each in came.measures} == {
        name: (one_end.over(name, span, len(span)), two_end.over(name, span, len(span)))
        for name in one_end.known
    }
    first = came.first and (came.first.of, came.first.name, came.first.a, came.first.b)
    values = (
        (round, name, one_end.values[name][round - 1], two_end.values[name][round - 1])
        for round in range(since, until + 1)
        for name in one_end.known
        if name in one_end.values
    )
    assert first == next((each for each in values if each[2] != each[3]), None)


def until_round(path: Path, round: int) -> Any:
    """A run measured from its commits up to a round alone."""
    with JournalReader(path) as reader:
        commits = []
        for commit in reader:
            commits.append(commit)
            if commit.unit == round and commit.digest is not None:
                break
    return measured_at(write(path.with_suffix(".cut"), commits))


def test_runs_of_no_rounds_can_be_compared(run: Path, other: Path) -> None:
    [start, *_] = commits_of(run)
    write(other, [Commit(START, 0, start.digest, setup=start.setup), Commit(END, 0)])
    found = diff(run, other)

    assert (found.b.rounds, found.b.finished, found.prefix, found.causes) == (0, True, "b", [])
