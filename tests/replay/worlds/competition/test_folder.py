"""A season as a folder: what stands in it, and that it is whole, in its place, and nowhere else."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush.agents.worlds.competition.cast import SCRIPTED
from goldrush.agents.worlds.competition.character import instructions_of
from goldrush.agents.worlds.competition.players import record
from goldrush.kernel import files as kernel_files
from goldrush.kernel.errors import BadInput, UnsupportedJournal, WriteFailed
from goldrush.kernel.text import is_visible
from goldrush.kernel.world import Event
from goldrush.kernel.worlds.competition.events import CODES, Joined, PersonaProposed, Rated
from goldrush.kernel.worlds.competition.memory import Remembered
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import Status
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.worlds.competition.folder import LiveFolder, _json, as_files, export
from goldrush.replay.worlds.competition.leaderboard import leaderboard, season_at
from tests.golden import path_of
from tests.journals import commits_of, events_of
from tests.seasons import LAST, SMALL, changed, forged, resume, rich, small, with_row


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rich(tmp_path_factory.mktemp("seasons"))


@pytest.fixture(scope="module")
def events(season: Path) -> list[Event]:
    return events_of(season)


@pytest.fixture(scope="module")
def files(season: Path) -> dict[str, str]:
    return as_files(season_at(season))


def tree(folder: Path) -> dict[str, str]:
    """All files below a folder, hidden ones too, by path."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() or path.is_symlink()
    }


# What stands in it.


def test_everybody_of_the_cast_has_three_files(season: Path, files: dict[str, str]) -> None:
    names = {agent.name for agent in rebuild(season, LAST).state.agents.values()}

    assert len(names) > 11
    assert set(files) == {
        *(f"agents/{n}/{f}" for n in names for f in ("metrics.json", "MEMORY.md", "CLAUDE.md")),
        "benchmarks/leaderboard.json",
    }


def test_metrics_are_what_the_events_say(
    season: Path, events: list[Event], files: dict[str, str]
) -> None:
    for agent in rebuild(season, LAST).state.agents.values():
        metrics = json.loads(files[f"agents/{agent.name}/metrics.json"])
        scored = [e for e in events if e.name == "scored" and e["agent"] == agent.ordinal]

        assert (metrics["agent"], metrics["role"]) == (agent.ordinal, agent.role)
        assert (metrics["status"], metrics["served"]) == (agent.status, agent.served)
        assert [(s["assignment"], s["total"], s["steps"]) for s in metrics["scores"]] == [
            (e.unit, e["total"], e["steps"]) for e in scored
        ]
        assert metrics["all_time"] == (sum(e["total"] for e in scored) if agent.is_worker else None)


@pytest.mark.parametrize("at", [0, 3, 8, LAST])
def test_sums_are_those_of_the_leaderboard_of_the_same_assignment(season: Path, at: int) -> None:
    files = as_files(season_at(season, at))
    posted = json.loads(files["benchmarks/leaderboard.json"])

    assert posted == json.loads(json.dumps(leaderboard(season, at).as_dict()))
    for row in posted["rows"]:
        metrics = json.loads(files[f"agents/{row['name']}/metrics.json"])

        assert {**row, "rank": None} == {**row, **metrics_of(metrics), "rank": None}


def metrics_of(metrics: dict[str, Any]) -> dict[str, Any]:
    return {
        name: metrics[name]
        for name in ("class", "status", "rolling", "all_time", "sparks", "served", "mean_total")
    }


def test_who_is_deleted_is_there_and_marked(season: Path, files: dict[str, str]) -> None:
    gone = [a for a in rebuild(season, LAST).state.agents.values() if a.status == Status.GONE]

    assert gone
    for agent in gone:
        assert json.loads(files[f"agents/{agent.name}/metrics.json"])["status"] == "gone"
        assert "It is deleted" in files[f"agents/{agent.name}/CLAUDE.md"]


def test_the_instructions_of_a_scripted_worker_are_all_that_makes_its_character(
    season: Path, files: dict[str, str]
) -> None:
    workers = [
        agent
        for agent in rebuild(season, LAST).state.agents.values()
        if agent.is_worker and agent.policy == SCRIPTED
    ]

    assert any(agent.persona for agent in workers)
    for agent in workers:
        lines = files[f"agents/{agent.name}/CLAUDE.md"].splitlines()

        assert {f"- {name}: {value}" for name, value in instructions_of(agent).items()} <= set(
            lines
        )
        assert lines[lines.index("## Persona") + 2] == (agent.persona or "None.")
        assert [line for line in lines if line.startswith('- "')] == [
            f'- "{trait}"' for trait in agent.traits
        ]


def test_memory_is_told_in_sentences_by_family(season: Path, files: dict[str, str]) -> None:
    for agent in rebuild(season, LAST).state.agents.values():
        lines = files[f"agents/{agent.name}/MEMORY.md"].splitlines()

        assert sum(line.startswith("- ") for line in lines) == sum(map(len, agent.memory.values()))
        assert [f"## {family}" for family in agent.memory] == [
            line for line in lines if line.startswith("## ")
        ]
    text = "".join(files.values())
    for says in (": I tried ", ": I claimed ", ": we concluded on ", ": I scored ", ": the best "):
        assert says in text
    assert "Nothing yet." in files["agents/judge/MEMORY.md"]


def test_memory_has_text_as_it_was_said_and_values_that_differ(season: Path) -> None:
    after = season_at(season)
    [*_, ada] = (agent for agent in after.state.agents.values() if agent.memory)
    known = next(fact for facts in ada.memory.values() for fact in facts if fact.conduct)
    at = (0, "value", '"quoted" {arena}')
    facts = (
        Remembered("claim", *at, known.conduct, 0.40047, "base", 0.40052, False),
        Remembered("scores", *at, scores=(1, 2, 3, 0), reasons=('as #4 {says} "so"\\', "\x1b")),
    )
    agents = {**after.state.agents, ada.ordinal: attrs.evolve(ada, memory={"values": facts})}
    files = as_files(attrs.evolve(after, state=attrs.evolve(after.state, agents=agents)))
    [_, _, _, _, claimed, scored] = files[f"agents/{ada.name}/MEMORY.md"].splitlines()

    assert "I claimed 0.40052 for " in claimed
    assert "; tested 0.40047, it did not hold." in claimed
    assert 'Reasons: "as #4 {says} \\"so\\"\\\\" "\\u001b"' in scored
    assert '"quoted" {arena}' in claimed


def test_the_same_season_is_the_same_files(season: Path, files: dict[str, str]) -> None:
    assert as_files(season_at(season)) == files


HOSTILE = "<img src=x> `rm -rf` [a](b)\n# heading \x1b[2J\u202e"


def test_what_a_model_wrote_is_neither_markup_nor_a_line_of_its_own(
    season: Path, tmp_path: Path
) -> None:
    def persona(row: list[Any]) -> None:
        row[1], row[2] = HOSTILE, True

    def reasons(row: list[Any]) -> None:
        row[3] = (HOSTILE,) * 4

    path = season
    for assignment in range(LAST + 1):
        for code, change in ((CODES[PersonaProposed], persona), (CODES[Rated], reasons)):
            path = forged(tmp_path / "a.journal", changed(path, code, assignment, change), season)
            path = path.rename(tmp_path / f"{assignment}-{code}.journal")
    texts = [t for n, t in as_files(season_at(path)).items() if n.endswith(".md")]
    written = [line for text in texts for line in text.splitlines() if "rm -rf" in line]

    assert any("## Persona" in text and "rm -rf" in text for text in texts)
    assert any("Reasons: " in line and "# heading" in line for line in written)
    for line in written:
        assert not set(line) & set("<>`[]\x1b\u202e")
        assert "\\n" in line or "\\u000a" in line


# The folder itself.


def test_a_new_folder_and_an_empty_one_are_filled(
    season: Path, files: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("new", "empty"):
        export(season, tmp_path / name)

        assert tree(tmp_path / name) == files
    assert {path.name for path in tmp_path.iterdir()} == {"new", "empty"}


def test_an_earlier_export_is_replaced_with_force_alone(season: Path, tmp_path: Path) -> None:
    export(season, tmp_path / "x", 2)
    before = tree(tmp_path / "x")

    with pytest.raises(BadInput, match=r"holds an export already; .* --force"):
        export(season, tmp_path / "x", 3)
    assert tree(tmp_path / "x") == before

    export(season, tmp_path / "x", LAST, force=True)

    assert tree(tmp_path / "x") == as_files(season_at(season, LAST))
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_folders_are_exchanged_in_steps_where_the_system_cannot_at_once(
    season: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(one: str, other: str) -> None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(kernel_files, "system", attrs.evolve(kernel_files.system, exchange=refused))
    export(season, tmp_path / "x", 2)
    export(season, tmp_path / "x", 3, force=True)

    assert tree(tmp_path / "x") == as_files(season_at(season, 3))
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize(
    "foreign",
    ["note.txt", "agents/note.txt", "agents/ada/note.txt", "agents/ada/metrics.json/note.txt",
     "benchmarks/note.txt", ".git/config"],
)  # fmt: skip
@pytest.mark.parametrize("force", [False, True])
def test_a_folder_with_something_of_somebodys_own_is_left_alone(
    season: Path, tmp_path: Path, foreign: str, force: bool
) -> None:
    mine = tmp_path / "x" / foreign
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")

    with pytest.raises(BadInput, match=r"x holds '.*', which is not recognised"):
        export(season, tmp_path / "x", 0, force=force)
    assert tree(tmp_path) == {f"x/{foreign}": "mine"}


@pytest.mark.parametrize("link", ["x", "x/agents", "x/agents/ada", "x/agents/ada/MEMORY.md"])
@pytest.mark.parametrize("force", [False, True])
def test_links_are_not_followed(season: Path, tmp_path: Path, link: str, force: bool) -> None:
    place = tmp_path / link
    outside = tmp_path / "outside"
    outside.mkdir()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(outside)

    with pytest.raises(BadInput, match=r"symbolic link|which is not recognised"):
        export(season, tmp_path / "x", 0, force=force)
    assert list(outside.iterdir()) == []
    assert place.is_symlink()


@pytest.mark.parametrize(
    ("folder", "says"),
    [("file", "is not a folder"), ("", "names no folder"), (".", "names no folder"),
     ("x/..", "names no folder"), ("/", "names no folder"), ("no/such", "cannot write"),
     ("nul\0", "cannot write"), ("n" * 300, "cannot write"), ("dangling/", "symbolic link")],
)  # fmt: skip
def test_a_place_where_no_folder_can_be_is_refused(
    season: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("dangling").symlink_to("nowhere")

    with pytest.raises(BadInput, match=says):
        export(season, folder, 0)
    assert {path.name for path in tmp_path.iterdir()} == {"file", "dangling"}


@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("there", [False, True])
def test_what_goes_wrong_half_way_leaves_what_was_there(
    season: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    there: bool,
) -> None:
    if there:
        export(season, tmp_path / "x", 1)
    before = tree(tmp_path)
    write, written = kernel_files.system.write, []

    def failing(fd: int, data: bytes, offset: int) -> int:
        written.append(fd)
        if len(written) == 7:
            raise error
        return write(fd, data, offset)

    monkeypatch.setattr(kernel_files, "system", attrs.evolve(kernel_files.system, write=failing))
    with pytest.raises((WriteFailed, KeyboardInterrupt)):
        export(season, tmp_path / "x", 2, force=there)

    assert (len(written), tree(tmp_path)) == (7, before)
    assert [path.name for path in tmp_path.iterdir()] == (["x"] if there else [])


KILLED = """
import os, sys
import attrs
from goldrush.kernel import files
from goldrush.replay.worlds.competition import folder

real = getattr(files.system, sys.argv[3])
def dying(*arguments):
    if sys.argv[4] == "after":
        real(*arguments)
    os._exit(9)
files.system = attrs.evolve(files.system, **{sys.argv[3]: dying})
folder.export(sys.argv[1], sys.argv[2], 2, force=True)
"""


@pytest.mark.parametrize(
    ("at", "when", "is_new"),
    [("write", "after", False), ("exchange", "before", False), ("exchange", "after", True)],
)
def test_a_process_that_dies_leaves_the_old_folder_or_the_new_one(
    season: Path, tmp_path: Path, at: str, when: str, is_new: bool
) -> None:
    export(season, tmp_path / "x", 1)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, season, tmp_path / "x", at, when],
        cwd=Path(__file__).resolve().parents[4],
        timeout=600,
    )

    assert done.returncode == 9
    assert tree(tmp_path / "x") == as_files(season_at(season, 2 if is_new else 1))


# While a season is recorded.


def test_a_live_folder_is_after_every_assignment_what_an_export_makes_of_it(tmp_path: Path) -> None:
    path, seen = tmp_path / "s.journal", []
    live = LiveFolder(path, tmp_path / "live")

    def check(unit: int, state: SeasonState) -> None:
        live(unit, state)
        export(path, tmp_path / "kept", unit - 1, force=True)
        seen.append(tree(tmp_path / "live") == tree(tmp_path / "kept"))

    record(path, SMALL, on_assignment=check)

    assert [True] * 4 == seen


def test_a_live_folder_is_made_up_for_when_a_season_goes_on(tmp_path: Path) -> None:
    path = small(tmp_path / "s.journal")
    path.write_bytes(path.read_bytes()[: commits_of(path)[2].end])
    export(path, tmp_path / "live")
    resume(path, on_unit=LiveFolder(path, tmp_path / "live", force=True))

    assert tree(tmp_path / "live") == as_files(season_at(path))


def test_a_live_folder_replaces_nothing_of_somebodys_own(tmp_path: Path) -> None:
    (tmp_path / "live").mkdir()
    (tmp_path / "live" / "note.txt").touch()

    with pytest.raises(BadInput, match="is not recognised"):
        LiveFolder(tmp_path / "s.journal", tmp_path / "live", force=True)


# Names, which anybody may have put into a journal.

JOINED = CODES[Joined]

NAMES: dict[str, str] = {
    "../../x": "it has '/'",
    "/etc": "it has '/'",
    "a/b": "it has '/'",
    "..": "begins or ends with '.'",
    ".": "begins or ends with '.'",
    ".git": "begins or ends with '.'",
    "": "it is empty",
    "a\\b": r"it has '\\\\'",
    "c:x": "it has ':'",
    "nul\0x": r"it has '\\x00'",
    "a\nb": r"it has '\\n'",
    "\x1b[2J": r"it has '\\x1b'",
    "a\u202eb": r"it has '\\u202e'",
    "a\u200db": r"it has '\\u200d'",
    "\uff0e\uff0e": "it has '\uff0e'",
    "a\u2215b": "it has '\u2215'",
    "con": "some systems have a device",
    "CON.txt": "some systems have a device",
    "Nul": "some systems have a device",
    "com\u00b9": "some systems have a device",
    "aux .x": "some systems have a device",
    "trailing.": "begins or ends with '.'",
    "trailing ": "begins or ends with ' '",
    " leading": "begins or ends with ' '",
    "-rf": "begins or ends with '-'",
    "*": r"it has '\*'",
    "\U0001f4a3" * 60: "it has ",
}


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_name_that_can_be_no_folders_is_refused_and_nothing_is_written(
    season: Path, tmp_path: Path, name: str
) -> None:
    path = forged(tmp_path / "a.journal", with_row(season, 0, JOINED, (50, name, None))[:2], season)
    (tmp_path / "in").mkdir()

    with pytest.raises(BadInput, match=f"agent 50 is called .*{NAMES[name]}") as raised:
        export(path, tmp_path / "in" / "x")
    assert str(raised.value).isprintable()
    assert {p.name for p in tmp_path.rglob("*")} == {"a.journal", "in"}


@pytest.mark.parametrize(
    ("one", "other"),
    [("ada", "Ada"), ("ada", "ADA"), ("stra\u00dfe", "STRASSE"), ("\u00e9ve", "e\u0301ve"),
     ("\u212bke", "\u00e5ke"), ("\ufb01nn", "finn"), ("zoe", "zoe")],
    ids=ascii,
)  # fmt: skip
def test_names_that_fall_together_are_refused(
    season: Path, tmp_path: Path, one: str, other: str
) -> None:
    first = season  # which has an ada
    if one != "ada":
        first = forged(
            tmp_path / "a.journal", with_row(season, 0, JOINED, (50, one, None))[:2], season
        )
    path = forged(tmp_path / "b.journal", with_row(first, 0, JOINED, (51, other, None))[:2], season)

    with pytest.raises(BadInput, match=r"agents \d+ and 5\d are called .* one folder"):
        export(path, tmp_path / "x")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "name",
    ["Ada Lovelace", "d'Arcy", "gpt-4.1_mini", "\u6f22" * 60, "\u00fc" * 60, "e\u0301ve",
     "\u0905\u092e\u093f\u0924", "console", "7"],
    ids=ascii,
)  # fmt: skip
def test_other_names_are_folders_as_they_are(season: Path, tmp_path: Path, name: str) -> None:
    path = forged(tmp_path / "a.journal", with_row(season, 0, JOINED, (50, name, None))[:2], season)
    export(path, tmp_path / "x")

    assert (tmp_path / "x" / "agents" / name / "metrics.json").exists()


def test_runs_of_other_worlds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedJournal, match="this reads 'competition'"):
        export(path_of("scarce"), tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_json_hides_nothing_and_reads_back() -> None:
    value = {"policy": "a\u202eb\u200b\U000e0041", "name": "Zoë"}
    text = _json(value)

    assert value == json.loads(text)
    assert all(map(is_visible, text.splitlines()))
    assert "Zoë" in text
