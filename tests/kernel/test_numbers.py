"""Units have one number in a journal and may have another one where people count."""

from pathlib import Path

import pytest

from goldrush.kernel import run
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import END, FORK, START, UNIT, Commit, JournalReader, JournalWriter
from goldrush.kernel.shape import AGENT, AGENTS, NATURAL, PLOT, WORD, optional, several
from goldrush.kernel.world import Block, EventType, RecordedEvent, Vocabulary
from tests.journals import commits_of, events_of, write
from tests.lessons import ANSWERED, HEADER, LESSONS, UNCHANGED, answer, forked, play


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return play(tmp_path / "a.journal")


@pytest.mark.parametrize(("first", "start"), [(1, 0), (0, -1), (7, 6)])
def test_a_number_and_its_unit_are_the_same_unit(first: int, start: int) -> None:
    words = Vocabulary("lesson", first=first)

    assert (start, first) == (words.number(0), words.number(1))
    assert list(range(5)) == [words.unit_of(words.number(unit)) for unit in range(5)]
    assert ("lessons", f"lesson {first}") == (words.units, words.format_unit(1))


def test_events_have_the_numbers_of_people_and_commits_those_of_the_file(path: Path) -> None:
    events = events_of(path, LESSONS)

    assert [0, 1, 2, 3, 4, 4] == [commit.unit for commit in commits_of(path)]
    assert ("term_started", -1) == (events[0].name, events[0].unit)
    assert ("term_ended", 3, 3) == (events[-1].name, events[-1].unit, events[-1]["lesson"])
    assert [0, 1, 2, 3] == [event.unit for event in events if event.name == "praised"]
    assert all(event.unit == event["lesson"] for event in events[1:])


def test_inputs_that_wait_have_the_number_of_their_unit(path: Path) -> None:
    waiting = Commit(UNIT, 2, None, [Block([(ANSWERED, [(0, "x")])])])
    write(path, [*commits_of(path)[:2], waiting], HEADER)

    assert ("answered", 1, 1) == (
        (last := events_of(path, LESSONS)[-1]).name, last.unit, last["lesson"],
    )  # fmt: skip


def test_a_fork_has_the_number_of_the_unit_that_it_follows(path: Path, tmp_path: Path) -> None:
    for unit in (0, 2):
        out = forked(path, unit, tmp_path / f"fork {unit}")
        [event] = [event for event in events_of(out, LESSONS) if event.name == "forked"]

        assert (unit - 1, unit - 1) == (event.unit, event["lesson"])
        assert [(FORK, unit)] == [(c.kind, c.unit) for c in commits_of(out) if c.kind == FORK]


def test_a_fork_at_the_start_plays_everything_anew(path: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    out = tmp_path / "fork"
    with JournalReader(path) as reader:
        loop = run.fork_steps(
            LESSONS, reader, 0, lambda _: UNCHANGED, out,
            lambda unit, school: told.append((unit, school.lesson)), lambda *_: answer,
        )  # fmt: skip
        run.last_of(loop)

    assert [(unit, unit) for unit in range(5)] == told
    assert [START, FORK, UNIT, UNIT, UNIT, UNIT, END] == [c.kind for c in commits_of(out)]


@pytest.mark.parametrize(("unit", "number"), [(-1, -2), (5, 4)])
def test_what_a_fork_refuses_it_tells_in_the_numbers_of_people(
    path: Path, tmp_path: Path, unit: int, number: int
) -> None:
    with pytest.raises(BadInput, match=f"lesson {number}; give"):
        forked(path, unit, tmp_path / "fork")


def test_where_no_unit_is_closed_only_the_start_is_offered(path: Path) -> None:
    write(path, commits_of(path)[:1], HEADER)
    with pytest.raises(BadInput, match=r"lesson 3; .*: give -1, the start"):
        forked(path, 4, path.with_name("fork"))


def test_a_run_that_has_ended_is_told_with_its_last_unit(path: Path) -> None:
    with (
        JournalWriter.reopen(path) as journal,
        pytest.raises(BadInput, match="has ended with lesson 3"),
    ):
        run.last_of(run.resume_steps(LESSONS, journal, lambda *_: answer))


def test_resuming_counts_units_as_the_file_does(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: commits_of(path)[2].end])
    told: list[int] = []
    with JournalWriter.reopen(path) as journal:
        run.last_of(
            run.resume_steps(LESSONS, journal, lambda *_: answer, lambda unit, _: told.append(unit))
        )

    assert [3, 4] == told
    assert whole == path.read_bytes()


# What fields name.

SEEN = EventType(
    "seen",
    {"by": optional(AGENT), "others": AGENTS, "at": PLOT, "words": several(WORD), "n": NATURAL},
)


def test_an_event_type_tells_which_of_its_fields_name_whom() -> None:
    fields = {"by": None, "others": [3, 1], "at": 8, "words": ["00"], "n": 9}
    event = RecordedEvent("seen", 0, fields)

    assert [("by", "others"), ("at",), ("words",)] == [
        SEEN.fields_naming(what) for what in ("agent", "plot", "word")
    ]
    assert [3, 1] == list(SEEN.ids_in("agent", event))
    assert [4, 3, 1] == list(SEEN.ids_in("agent", RecordedEvent("seen", 0, {**fields, "by": 4})))
    assert [8] == list(SEEN.ids_in("plot", event))


def test_a_field_that_names_somebody_is_told_as_any_number() -> None:
    assert "seen.by: integer >= 0 or null expected, found -1" == SEEN.fault((-1, (), 0, (), 0))
    assert "seen.others: list of integer >= 0 expected, found 1" == SEEN.fault((0, 1, 0, (), 0))
