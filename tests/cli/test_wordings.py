"""`goldrush wordings`, and runs with several wordings through all commands."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from goldrush.agents.llm.wordings import digest_of
from goldrush.cli.codes import DONE
from goldrush.cli.main import _run
from goldrush.kernel.journal import Commit
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.journal.usage import usage
from goldrush.replay.run import Run
from goldrush.replay.wordings import listed, text_of
from tests.cli.helpers import goldrush
from tests.journals import commits_of, forged
from tests.llm.runs import models
from tests.llm.servers import Asked, Reply, completion, serving
from tests.mining import record

OWN = """
description = "own words"
[messages]
question = ["Round $round?\\u202e", "Now $round."]
[names]
agents = ["Ann", "Bo", "Cy", "Di"]
[names.kinds]
raid = "take"
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    return path


def test_what_is_shown_can_be_used_again(tmp_path: Path) -> None:
    names = [each.wording for each in listed()]

    assert {"default", "plain", "neutral-goal", "para-1", "para-2", "para-3", "told"} == set(names)
    for name in names:
        path = tmp_path / f"{name}.toml"
        path.write_text(text_of(name))
        assert text_of(name) == text_of(str(path))


def test_a_wording_is_shown(own: Path, tmp_path: Path) -> None:
    shown = goldrush("wordings", "show", own, cwd=tmp_path)

    assert (0, "") == (shown.code, shown.err)
    assert "\u202e" not in shown.out
    assert "\\U0000202e" in shown.out


@pytest.mark.parametrize(
    ("wording", "player"), [("own.toml", "Ann"), ("plain", "number 0"), ("default", "agent 0")]
)
def test_a_person_is_told_nothing_in_words_that_its_wording_replaces(
    wording: str, player: str, own: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    words = ["record", "--roster", f"human[wording={wording}]*1,raid*1", "--rounds", "1"]
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda prompt: "")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("sys.argv", ["goldrush", *words, "--out", "run.journal"])
    monkeypatch.chdir(tmp_path)
    code = _run()
    shown = capsys.readouterr()

    assert DONE == code
    assert f"you are {player} ---" in shown.err
    assert (wording == "default") == ("--- round 1: " in shown.err)
    assert (wording == "default") == ("0 gold" in shown.out)


# Runs.


def _answer(asked: Asked) -> Reply:
    """A plan with the names of the own wording; those asked otherwise answer no plan."""
    renamed = '{"actions": [{"type": "claim", "plot": 3, "stamina": 1}]}'
    rules = asked.body["messages"][0]["content"]
    return completion(renamed if "- take:" in rules else "no idea")


@pytest.fixture(scope="module")
def worded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two wordings, of which the file is gone."""
    folder = tmp_path_factory.mktemp("worded")
    own = folder / "own.toml"
    own.write_text(OWN)
    path = folder / "run.journal"
    with serving(_answer) as server:
        record(
            path, {"rounds": 3}, f"raid*1,llm:a[wording={own}]*2,llm:a*1",
            models=models(server.address, "a"),
        )  # fmt: skip
    own.unlink()
    return path


def test_wordings_are_apart_in_tables_and_counts_of_failures(worded: Path) -> None:
    failures = {each.model: (each.failed, each.answers) for each in usage(worded).failures}
    policies = [each.policy for each in Run(worded).outcome().standings]

    setup = commits_of(worded)[0].setup or {}
    own = f"a[wording=own@{setup['roster'][1]['options']['wording_sha256'][:4]}]"
    assert {"a": (3, 3), own: (0, 6)} == failures
    assert {"raid", f"llm:{own}", "llm:a"} == set(policies)


def test_a_fork_that_lets_agents_talk_needs_the_same_names(worded: Path, tmp_path: Path) -> None:
    ran = goldrush(
        "fork", worded, "--at", 1, "--set", "communication=true", "--out", "x.journal", cwd=tmp_path
    )

    assert (2, []) == (ran.code, list(tmp_path.iterdir()))
    assert "agent 1 and agent 3 have other names for the same things" in ran.err


def _text(tables: object) -> dict[str, object]:
    text = json.dumps(tables, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {"wording_text": text, "wording_sha256": digest_of(text)}


FORGED: Mapping[str, Mapping[str, object]] = {
    "unknown id": _text({"messages": {"gone": "x"}}),
    "none": {"wording_text": None},
    "a megabyte": _text({"messages": {"none": "x" * 10**6}}),
    "a list ten times": _text({"messages": {"history": "$lines" * 10}}),
    "a name": {"wording": "\x1b[2J" + "x" * 100_000},
    "no object": _text(["\u202e"]),
}
COMMANDS = (
    "info {}", "log {}", "replay {} --round 2", "audit {}", "measure {}", "ls {}",
    "measure {} --usage", "prompt {} --at 2 --agent 1", "export {}", "view {} --out page.html",
    "why {} --round 2", "resume {}", "diff {} forged.journal", "verify {}",
    "fork {} --at 1 --out f.journal",
)  # fmt: skip


@pytest.mark.turns
@pytest.mark.parametrize("what", FORGED)
def test_a_forged_wording_is_told_by_verify_and_breaks_no_command(
    what: str, worded: Path, tmp_path: Path
) -> None:
    start, *rest = commits_of(worded)
    setup = json.loads(json.dumps(start.setup))
    for entry in setup["roster"][1:3]:
        changed = {n: v for n, v in FORGED[what].items() if n in entry["options"]}
        gone = [name for name, value in changed.items() if value is None]
        options = {**entry["options"], **changed}
        entry["options"] = {n: v for n, v in options.items() if n not in gone}
    first = Commit(start.kind, start.unit, start.digest, start.blocks, setup)
    path = forged(tmp_path / "forged.journal", MINING, [first, *rest])

    for command in COMMANDS:
        ran = goldrush(*command.format(path).split(), cwd=tmp_path)
        assert ran.code in (0, 1, 2), (command, ran.err)
        assert "Traceback" not in ran.err, (command, ran.err)
        assert "\x1b" not in ran.out + ran.err, command
        assert len(ran.err) < 5_000, command
        assert len(ran.out) < 20_000 or command[:6] in ("export", "prompt"), command
        if command == "verify {}":
            assert "agent 1" in ran.out + ran.err
            assert (2 if what == "unknown id" else 1) == ran.code
