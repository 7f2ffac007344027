"""`goldrush wordings`, and runs with several wordings through all commands."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from goldrush.agents.llm.wording_files import wording_named
from goldrush.agents.llm.wordings import digest_of, wording_of
from goldrush.agents.worlds.mining.prompts.prompt import wordable
from goldrush.cli.codes import DONE
from goldrush.cli.main import _run
from goldrush.kernel.journal import Commit
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.find import players_of, tools_for
from goldrush.replay.journal.usage import failures_in
from goldrush.replay.run import Run
from goldrush.replay.wordings import check, listed, text_of, untold_by
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

AGENT = "the name or number of the agent that is asked"
ROUND, ASSIGNMENT = "the number of the round", "the number of the assignment"


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


def test_a_wording_is_shown_and_checked(own: Path, tmp_path: Path) -> None:
    shown = goldrush("wordings", "show", own, cwd=tmp_path)
    checked = goldrush("wordings", "check", own, "--json", cwd=tmp_path)
    held = json.loads(checked.out)

    assert (0, "") == (shown.code, shown.err)
    assert "\u202e" not in shown.out
    assert "\\U0000202e" in shown.out
    assert (0, True, 2, 17) == (
        checked.code, held["holds"], held["variants"], len(held["treatments"]),
    )  # fmt: skip
    assert all(0 < t["largest"] <= held["longest"] and t["prompts"] for t in held["treatments"])


def test_what_prompts_lack_is_told_in_a_line_each(tmp_path: Path) -> None:
    texts = dict.fromkeys(wordable().messages.texts, "")
    texts["question"] = "Answer with actions: type, field and stamina, for $round."
    lines = "\n".join(f'{id} = "{text}"' for id, text in texts.items())
    (tmp_path / "bare.toml").write_text(f"[messages]\n{lines}\n[names.keys]\nplot = 'field'\n")
    ran = goldrush("wordings", "check", "bare.toml", cwd=tmp_path)
    warnings = [line.rpartition(" lack ")[2] for line in ran.err.splitlines()]

    assert DONE == ran.code
    assert "holds" in ran.out
    assert {AGENT} | {
        f'the key "{key}" of the answer, in quotes'
        for key in ("actions", "field", "stamina", "type", "note", "say")
    } == {*warnings}
    assert [] == check("plain").warnings


YOU, QUESTION = "It is your turn.", "Your plan, as one JSON object:"


@pytest.mark.parametrize(
    ("texts", "world", "untold"),
    [
        ({"you": YOU}, "mining", {AGENT: [0]}),
        ({"you": "$agent", "question": QUESTION, "map_now": "$grid"}, "mining", {ROUND: [0]}),
        ({"you": "You: $role", "situation": ""}, "competition", {ASSIGNMENT: [0]}),
        ({"you": YOU}, "goldrush.games.public_goods:PublicGoods", {AGENT: [0]}),
    ],
)
def test_who_is_asked_and_when_has_to_be_told_where_it_is_said(
    texts: Mapping[str, Any], world: str, untold: Mapping[str, list[int]]
) -> None:
    """That a number stands somewhere, as in the map, tells nobody who it is."""
    version = players_of(tools_for(world)).prompt
    assert version is not None
    of = version.wordable()

    assert untold == untold_by(wording_of("w", texts, {}, of), of)
    assert {} == {name: lacks for name in ["default", *of.shipped]
                  if (lacks := untold_by(wording_named(name, of), of))}  # fmt: skip


def test_a_wording_that_no_run_takes_does_not_hold(tmp_path: Path) -> None:
    path = tmp_path / "many.toml"
    path.write_text(f"[names]\nagents = {[f'A{agent}' for agent in range(1_900)]}\n")

    checked = check(str(path))

    assert not checked.holds
    assert "agents" in str(checked.treatments[0].fault)


@pytest.mark.parametrize(
    ("wording", "player"), [("own.toml", "Ann"), ("plain", "number 0"), ("default", "agent 0")]
)
def test_a_person_is_told_nothing_in_words_that_its_wording_replaces(
    wording: str, player: str, own: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    words = ["record", "--roster", "human*1,raid*1", "--rounds", "1", "--wording", wording]
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
    failures = {each.model: (each.failed, each.answers) for each in failures_in(worded)}
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
