"""The door of the readers: forged events are named, and a bug stays a bug."""

import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs
import click
import pytest
from msgspec.structs import replace

from goldrush import replay
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.cli.main import behind_door
from goldrush.kernel.errors import MalformedEvents
from goldrush.kernel.journal import Commit, JournalReader, Location
from goldrush.kernel.world import RecordedEvent
from goldrush.kernel.worlds.competition.events import CODES, Joined
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import MINING_SETTLED
from goldrush.replay import summary
from goldrush.replay.data import encoded, groups
from goldrush.replay.data.run_data import (
    map_runs,
    measured_at,
    measured_until,
    run_at,
    run_of,
    runs_of_one_world,
)
from goldrush.replay.data.tables import tables_of
from goldrush.replay.find import tools_at
from goldrush.replay.journal import (
    consequences,
    diff,
    draws,
    log,
    prompts,
    rebuild,
    usage,
)
from goldrush.replay.journal.diff import Diff
from goldrush.replay.journal.forged import reader_of, reading, reporting_forged
from goldrush.replay.journal.story import narrated
from goldrush.replay.report.figures import figure_of
from goldrush.replay.view import page
from goldrush.replay.view.shown import shown_of
from goldrush.replay.worlds.competition import ended, leaderboard, right, score
from goldrush.replay.worlds.competition import prompt as season_prompt
from goldrush.replay.worlds.mining import audit, why
from goldrush.replay.worlds.mining.tools import TOOLS
from tests.faults import forge
from tests.faults.hostile_seasons import season
from tests.faults.journals import small
from tests.found import found
from tests.seasons import forged as forged_season
from tests.seasons import with_row


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    path = tmp_path / "sound.journal"
    path.write_bytes(small().data)
    return path


@pytest.fixture
def forged(tmp_path: Path) -> Path:
    """A journal whose digests hold, and one of whose plots yields what it cannot."""
    path = tmp_path / "forged.journal"
    made = forge.event_makers(small(), MINING_SETTLED, {"ninety-nine": 99})
    path.write_bytes(next(make() for what, make in made if what.endswith("gold is ninety-nine")))
    return path


@reader_of
def careless(path: Path) -> Any:
    return {}[path]


def test_what_a_reader_raises_of_forged_events_names_the_first_of_them(forged: Path) -> None:
    with pytest.raises(MalformedEvents, match=r"mining_settled.*expected .*found .*99") as caught:
        careless(forged)

    assert str(forged) == caught.value.path
    assert isinstance(caught.value.__cause__, KeyError)


def test_of_a_journal_that_holds_a_failure_is_a_bug_and_stays_one(sound: Path) -> None:
    with pytest.raises(KeyError):
        careless(sound)
    with pytest.raises(AssertionError), reading(sound):
        raise AssertionError("a table as the rules never leave one")


def test_what_fails_while_it_is_looked_into_hides_nothing(forged: Path) -> None:
    def fail(*_: object) -> Any:
        raise RuntimeError("another one")

    world = replace(MINING, decide=fail)
    with (
        found(world),
        pytest.raises(KeyError, match="the first one"),
        reporting_forged(forged),
    ):
        raise KeyError("the first one")


# --- every public reader ---


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound season."""
    path = tmp_path_factory.mktemp("season") / "sound.journal"
    path.write_bytes(season("short").data)
    return path


@pytest.fixture
def cheated(tmp_path: Path, played: Path) -> Path:
    """A season whose digests hold, and in which somebody comes from nowhere."""
    joined = with_row(played, 0, CODES[Joined], (50, "nobody", None))[:2]
    return forged_season(tmp_path / "cheated.journal", joined, played)


@attrs.frozen
class Case:
    """A forged journal, a sound one of its world, and a place to write."""

    forged: Path
    sound: Path
    out: Path


def _differing(case: Case) -> Diff:
    return diff.diff(case.sound, case.forged)


def _rows_of(case: Case, name: str) -> list[Any]:
    [table] = tables_of(TOOLS, MINING, [name])
    return list(encoded.rows_of(table, run_at(case.forged)))


# By name; what is made before the reader itself begins stands in `given`.
MINING_READERS: dict[str, Callable[[Case], Any]] = {
    "draws.draws_at": lambda c: draws.draws_at(c.forged, 1),
    "diff.diff": _differing,
    "log.log": lambda c: list(log.log(c.forged)),
    "groups.groups": lambda c: groups.groups([c.forged]),
    "mining.audit.plot_of": lambda c: audit.plot_of(c.forged, "0,0"),
    "prompts.prompted": lambda c: prompts.prompted(c.forged, MINING_PLAYERS, 1, 0),
    "rebuild.rebuild": lambda c: rebuild.rebuild(c.forged, 1),
    "rebuild.rebuilt_from": lambda c: list(rebuild.rebuilt_from(c.forged, 0)),
    "mining.why.explained": lambda c: list(why.explained(c.forged)),
    "summary.summarise": lambda c: summary.summarise(c.forged),
    "run_data.measured_until": lambda c: measured_until(c.forged, 1),
    "encoded.csv_table": lambda c: list(encoded.csv_table([c.forged], "events")),
    "encoded.write_tables": lambda c: encoded.write_tables([c.forged], c.out, "csv"),
    "the measures of a run": lambda c: run_at(c.forged).measured,
    "run_data.measured_at": lambda c: measured_at(c.forged),
    "run_data.run_at": lambda c: run_at(c.forged),
    "run_data.run_of": lambda c: run_of(c.forged, None),
    "report.figures.figure_of": lambda c: figure_of(tools_at(c.forged), c.forged, None),
    "run_data.runs_of_one_world": lambda c: list(runs_of_one_world([c.forged])),
    "run_data.map_runs": lambda c: list(map_runs(type, [c.forged])),
    "rebuild.world_at": lambda c: rebuild.world_at(c.forged),
    "usage.usage": lambda c: usage.usage(c.forged),
    "view.shown.shown_of": lambda c: shown_of(c.forged, TOOLS, (None, None)),
    "view.page.page_of": lambda c: page.page_of(c.forged),
    "view.page.write_page": lambda c: page.write_page(c.forged, c.out),
    **{f"tables {t.name}": partial(_rows_of, name=t.name) for t in tables_of(TOOLS, MINING)},
}
SEASON_READERS: dict[str, Callable[[Case], Any]] = {
    "of a season: draws_at": lambda c: draws.draws_at(c.forged, 0),
    "of a season: summarise": lambda c: summary.summarise(c.forged),
    "competition.ended.ended_at": lambda c: ended.ended_at(c.forged, 0),
    "competition.right.explained": lambda c: list(right.explained(c.forged)),
    "competition.leaderboard.export": lambda c: leaderboard.export(c.forged, c.out),
    "competition.leaderboard.season_at": lambda c: leaderboard.season_at(c.forged),
    "competition.prompt.prompted": lambda c: season_prompt.prompted(c.forged, 0, 5),
    "of a season: view.shown.shown_of": lambda c: shown_of(
        c.forged, tools_at(c.forged), (None, None)
    ),
    "competition.score.scores": lambda c: score.scores(c.forged, 0, 5),
}
# Left out of the names.
FOLDERS = re.compile(r"^goldrush\.replay\.(?:(?:journal|data|worlds)\.)?")
# By why nothing has to be told of a forged event.
NO_READERS = {
    "meets no event: paths, headers, START alone, no journal": """
        batch.journals_in forged.reading forged.reporting_forged outline.outline_of
        report.folder.check_folder report.folder.write_folder report.templates.templates
        study.manifest.read_manifest
        study.listing.no_manifest study.manifest.write_manifest study.plan.read_plan
        view.frame.filled view.frame.framed view.frame.joined
        study.code.checked_code source.text_of arguments.models_of arguments.resources_of
        arguments.target_of tools.format_option tools.lacks
        draws.draws_of find.tools_at find.tools_of find.typed find.open_world find.players_of
         find.is_shipped_at source.records_source
         competition.steps.season_world story.sentences_of
         episode.show.sentences_of mining.story.sentences_of episode.wrap.wrap
        study.comparisons.equal_journals study.comparisons.equal_runs""",
    "its caller, or what gives it its rows, is behind the door": """
        index.commits_near index.states_near mining.measures.measured_by
        competition.measures.measured rebuild.walk_through competition.ended.assignments_of
        groups.kind_of rebuild.closed_units
        program.differing.differing program.recording.given_again usage.asked_by usage.taken_by
        episode.measures.read
        report.report.report study.measuring.measured_runs study.measuring.results_of
        view.overview.write_overview view.top.top_of_two
        encoded.arrow_table encoded.rows_of study.study.study diff.format_diff
        verify.verify verify.way_out_of study.carry_out.carry_out
        program.measures.read program.recording.fork program.recording.is_unfinished
        program.recording.record program.recording.recording program.recording.resume
        program.recording.resuming
        program.repeating.program_repeats program.usage.answers_in""",
    "leaves out what it cannot read": """
        competition.story.sentences_of story.agent_of story.names_of view.folder.runs_in""",
    "a test of its own: here, games/test_source.py, worlds/program/test_attacks.py": """
        program.prompts.prompted
        story.narrated source.source_in source.other_code_in
        source.other_code_among source.warn_of_other_code""",
}


def test_every_public_function_given_journals_is_behind_the_door_or_meets_no_event() -> None:
    found = set()
    for module in pkgutil.walk_packages(replay.__path__, "goldrush.replay."):
        for name, function in vars(import_module(module.name)).items():
            is_its_own = inspect.isfunction(function) and function.__module__ == module.name
            if not name.startswith("_") and is_its_own and _is_given_journals(function):
                found.add(re.sub(FOLDERS, "", f"{module.name}.{name}"))
    readers = {*MINING_READERS, *SEASON_READERS, "consequences.consequences"}

    assert found == {name for name in readers if " " not in name} | set(
        " ".join(NO_READERS.values()).split()
    )


def _is_given_journals(function: Callable[..., Any]) -> bool:
    kinds = [str(one.annotation) for one in inspect.signature(function).parameters.values()]
    return any(re.search(r"\b(Path|Diff|RunData|JournalReader)\b", kind) for kind in kinds)


@pytest.fixture
def first_look_fails(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Called, it lets the next look at a journal's commits fail as one at a forged state may."""
    look = JournalReader.commits

    def fail(self: JournalReader, place: Location | None = None) -> Iterator[Commit]:
        monkeypatch.setattr(JournalReader, "commits", look)
        raise ZeroDivisionError

    return lambda: monkeypatch.setattr(JournalReader, "commits", fail)


@pytest.mark.parametrize("name", MINING_READERS)
def test_whatever_reads_a_run_tells_forged_events(
    name: str, forged: Path, sound: Path, tmp_path: Path, first_look_fails: Callable[[], None]
) -> None:
    first_look_fails()
    with pytest.raises(MalformedEvents, match=r"mining_settled.*expected .*found .*99") as caught:
        MINING_READERS[name](Case(forged, sound, tmp_path / "out"))

    assert isinstance(caught.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("name", SEASON_READERS)
def test_whatever_reads_a_season_tells_forged_events(
    name: str, cheated: Path, played: Path, tmp_path: Path, first_look_fails: Callable[[], None]
) -> None:
    first_look_fails()
    with pytest.raises(MalformedEvents, match="nobody") as caught:
        SEASON_READERS[name](Case(cheated, played, tmp_path / "out"))

    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_what_came_of_a_difference_tells_forged_events(
    sound: Path, forged: Path, first_look_fails: Callable[[], None]
) -> None:
    found = diff.diff(sound, forged)
    first_look_fails()
    with pytest.raises(MalformedEvents) as caught:
        consequences.consequences(found)

    assert found.b.path == caught.value.path
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_words_tell_forged_events(forged: Path) -> None:
    def events() -> Iterator[RecordedEvent]:
        raise IndexError
        yield

    with pytest.raises(MalformedEvents):
        list(narrated(forged, events()))


def test_a_command_tells_forged_events_of_what_it_prints(forged: Path, sound: Path) -> None:
    @click.command
    @click.argument("journal")
    def careless_print(journal: str) -> None:
        raise ZeroDivisionError

    command = behind_door(careless_print)
    with pytest.raises(MalformedEvents):
        command.main([str(forged)], standalone_mode=False)
    with pytest.raises(ZeroDivisionError):
        command.main([str(sound)], standalone_mode=False)
