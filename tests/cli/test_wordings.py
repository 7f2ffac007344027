"""`goldrush wordings`, and runs with several wordings through all commands."""

import json
import re
from collections.abc import Callable, Mapping
from itertools import starmap
from pathlib import Path
from typing import Any

import pytest

from goldrush.agents import players
from goldrush.agents.llm.wording_files import wording_named
from goldrush.agents.llm.wordings import digest_of, wording_of
from goldrush.agents.players import Resources
from goldrush.agents.simultaneous import prepared
from goldrush.agents.worlds.mining.players import MINING_PLAYERS, fork, prepare, record
from goldrush.agents.worlds.mining.prompts.v2 import wordable
from goldrush.cli.codes import DIFFERS, DONE, TROUBLE
from goldrush.cli.main import _run
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import FORK, START, Commit
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.find import players_of, tools_for
from goldrush.replay.journal.usage import failures_in
from goldrush.replay.journal.verify import verify
from goldrush.replay.run import Run
from goldrush.replay.wordings import check, diff, diff_in, doubts_about, listed, text_of, untold_by
from tests.cli.helpers import assert_refused, goldrush
from tests.golden import MODEL_SEASON, SEASONS, WORDED, path_of
from tests.journals import commits_of, forged
from tests.llm.runs import models
from tests.llm.servers import Asked, Reply, completion, serving

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


def test_a_wording_is_listed_shown_checked_and_compared(own: Path, tmp_path: Path) -> None:
    shown = goldrush("wordings", "show", own, cwd=tmp_path)
    checked = goldrush("wordings", "check", own, "--json", cwd=tmp_path)
    compared = goldrush("wordings", "diff", "default", "own.toml", "--at", "2", cwd=tmp_path)
    same = goldrush("wordings", "diff", "plain", "plain", "--treatment", "scarce", cwd=tmp_path)
    held = json.loads(checked.out)

    assert (0, "") == (shown.code, shown.err)
    assert "\u202e" not in shown.out
    assert "\\U0000202e" in shown.out
    assert 'description = "own words"\n' in shown.out
    assert (0, True, 2, 17) == (
        checked.code, held["holds"], held["variants"], len(held["treatments"]),
    )  # fmt: skip
    assert all(0 < t["largest"] <= held["longest"] and t["prompts"] for t in held["treatments"])
    assert 1 == compared.code
    assert any(line.startswith("+") and "take" in line for line in compared.out.splitlines())
    assert (0, "", "goldrush: the prompts are the same\n") == (same.code, same.out, same.err)


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
UNTOLD = {"you": [YOU, "You are $agent."], "question": [QUESTION, "Round $round:"]}


@pytest.mark.parametrize(
    ("texts", "world", "untold"),
    [
        ({"you": YOU}, "mining", {AGENT: [0]}),
        ({"you": "$agent", "question": QUESTION}, "mining", {}),
        ({"you": "$agent", "question": QUESTION, "map_now": "$grid"}, "mining", {ROUND: [0]}),
        ({**UNTOLD, "map_now": ""}, "mining", {AGENT: [0], ROUND: [0]}),
        ({"you": "You: $role", "situation": ""}, "competition", {ASSIGNMENT: [0]}),
        ({"you": "You: $role", "role": "$part"}, "competition", {AGENT: [0]}),
        ({"you": YOU}, "goldrush.games.public_goods:PublicGoods", {AGENT: [0]}),
    ],
)
def test_who_is_asked_and_when_has_to_be_told_where_it_is_said(
    texts: Mapping[str, Any], world: str, untold: Mapping[str, list[int]]
) -> None:
    """That a number stands somewhere, as in the map, tells nobody who it is."""
    [*_, version] = players_of(tools_for(world), world).prompts
    assert version.wordable is not None
    of = version.wordable()

    assert untold == untold_by(wording_of("w", texts, {}, of), of)
    assert {} == {name: lacks for name in ["default", *of.shipped]
                  if (lacks := untold_by(wording_named(name, of), of))}  # fmt: skip


def test_a_check_warns_of_variants_that_do_not_tell_who_is_asked(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(f"[messages]\nyou = {json.dumps(UNTOLD['you'])}\n")
    ran = goldrush("wordings", "check", "own.toml", cwd=tmp_path)

    assert (DONE, f"goldrush: warning: prompts of variant 0 lack {AGENT}\n") == (ran.code, ran.err)


def test_a_check_warns_of_treatments_with_more_agents_than_names(tmp_path: Path) -> None:
    few = {}
    for names in (2, 10, 20):
        path = tmp_path / f"of-{names}.toml"
        path.write_text(f"[names]\nagents = {[f'A{agent}' for agent in range(names)]}\n")
        checked = check(str(path))
        few[names] = {each.treatment: each.agents for each in checked.treatments if each.agents}
        assert checked.holds
        assert bool(few[names]) == len(checked.warnings)

    assert {"agents-20": 20, "scarce-20": 20} == few[10]
    assert few[2].items() > {"baseline": 10, **few[10]}.items()
    assert {} == few[20]


@pytest.mark.parametrize(
    ("goal", "agents", "doubts"),
    [
        (["x", "y"], ["0", "1", "A", "22x"], []),
        ("a", "letters", []),
        (["a", "b", "a", "a"], None, ["variants 0, 2 and 3 are equal"]),
        ("a", ["0", "3", "01"], ["agent 1 '3', which is not", "agent 2 '01', which is not its"]),
        ("a", ["Ann", "Bo", "ANN"], ["'Ann' and 'ANN', which differ in capitals alone"]),
        ("a", ["Nobody", "a", "None"], ["'Nobody', the text of message nobody", "'a', the text of "
                                        "message goal", "'None', the text of message none"]),
        ("a", [*map(str, range(1, 21))], [*["which is not its number"] * 8, "and 12 more like"]),
    ],
)  # fmt: skip
def test_a_check_warns_of_what_agents_can_mistake(
    goal: object, agents: object, doubts: list[str]
) -> None:
    names = {"agents": agents} if agents else {}
    found = doubts_about(wording_of("w", {"goal": goal}, names, wordable()))

    assert len(doubts) == len(found)
    assert all(doubt in line for doubt, line in zip(doubts, found, strict=True)), found


def test_a_wording_that_no_run_takes_does_not_hold(tmp_path: Path) -> None:
    path = tmp_path / "many.toml"
    path.write_text(f"[names]\nagents = {[f'A{agent}' for agent in range(5_000)]}\n")

    checked = check(str(path))

    assert not checked.holds
    assert "agents" in str(checked.treatments[0].fault)


def test_wordings_with_other_numbers_of_names_are_compared_in_one_run(tmp_path: Path) -> None:
    for name, names in (("three", ["A", "B", "C"]), ("two", ["D", "E"])):
        (tmp_path / f"{name}.toml").write_text(f"[names]\nagents = {names}\n")
    three, two = tmp_path / "three.toml", tmp_path / "two.toml"
    pairs = [(str(three), str(two)), ("default", str(two)), (str(two), "default")]
    texts = [text["system"] for of in starmap(diff, pairs) for text in (of.a, of.b)]

    assert ["2"] * 6 == [re.findall("one of ([0-9]+) ", text)[0] for text in texts]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["show"], "`wordings show` has 0 names; write wordings show NAME"),
        (["list", "plain"], "`wordings list` has 1 names; write wordings list"),
        (["diff", "plain"], "`wordings diff` has 1 names; write wordings diff NAME NAME"),
        (["sow", "plain"], "there is no `wordings sow`; take list, show, check, diff"),
        (["show", "plane"], "there is no wording 'plane'; did you mean plain?"),
        (["check", "bad.toml"], "bad.toml, line 2: there is no message 'x'"),
        (["show", "plain", "--at", "2"], "they are for wordings diff"),
        (["list", "--journal", "x"], "it is for wordings diff and show"),
        (["diff", "plain", "told", "--at", "99"], "no model is asked in round 99"),
        (["diff", "plain", "told", "--agent", "9" * 5_000], "give its number"),
        (["diff", "plain", "told", "--agent", "3"], "as agent 3; asked are agents 0, 2, 4, 6, 8"),
    ],
)
def test_a_mistake_is_told_in_one_line(words: list[str], error: str, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('[messages]\nx = "\\u001b[2J"\n')

    ran = goldrush("wordings", *words, cwd=tmp_path)

    assert (2, "", 1) == (ran.code, ran.out, ran.err.count("\n"))
    assert error in ran.err


def test_other_samples_of_people_alone_are_refused(tmp_path: Path) -> None:
    ran = goldrush("record", "--roster", "human*1,raid*1", "--wording", "null", cwd=tmp_path)

    assert (2, 1) == (ran.code, ran.err.count("\n"))
    assert "the wording null is for models that name none, and there are none" in ran.err
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--roster", "raid*2"], "the wording plain is for models and people that name none"),
        (["--roster", "llm:m[wording=told]*2"], "the wording plain is for models and people that"),
        (["--roster", "llm:m[prompt=1]*2"], "model m has wording, which version 1 of the prompt"),
    ],
)
def test_a_wording_for_nobody_is_refused(words: list[str], error: str, tmp_path: Path) -> None:
    ran = goldrush("record", *words, "--wording", "plain", "--out", "x.journal", cwd=tmp_path)

    assert (2, 1) == (ran.code, ran.err.count("\n"))
    assert error in ran.err
    assert [] == list(tmp_path.iterdir())


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
            models=models(server.address, "a", patience=9),
        )  # fmt: skip
    own.unlink()
    return path


def test_a_run_has_the_text_of_its_wording_once_and_verifies_without_the_file(worded: Path) -> None:
    options = [entry["options"] for entry in (commits_of(worded)[0].setup or {})["roster"]]

    assert [1] == [agent for agent, each in enumerate(options) if "wording_text" in each]
    assert options[1]["wording_sha256"] == options[2]["wording_sha256"]
    assert verify(worded, 4).holds


def test_a_fork_takes_a_wording_of_its_parent_by_name(worded: Path, tmp_path: Path) -> None:
    path, roster = tmp_path / "fork.journal", "raid*1,llm:a*1,llm:a[wording=own;sample=3]*2"
    with serving(_answer) as server:
        known = models(server.address, "a", patience=9)
        fork(worded, 1, path, roster=roster, models=known)
        with pytest.raises(BadInput, match="no wording 'own'"):
            record(tmp_path / "new.journal", {"rounds": 1}, roster, models=known)
    before, after = (
        {each["options"].get("wording_text") for each in (commit.setup or {})["roster"]}
        for commit in commits_of(path)
        if commit.kind in (START, FORK)
    )

    assert before == after
    assert 2 == len(after)
    assert verify(path, 4).holds


def test_a_wording_of_a_run_is_shown_as_a_file(worded: Path, tmp_path: Path) -> None:
    shown = goldrush("wordings", "show", "own", "--journal", worded, cwd=tmp_path)
    missing = goldrush("wordings", "show", "one", "--journal", worded, cwd=tmp_path)
    (tmp_path / "own.toml").write_text(shown.out)
    options = (commits_of(worded)[0].setup or {})["roster"][1]["options"]

    assert (0, "") == (shown.code, shown.err)
    assert options["wording_sha256"] == wording_named(str(tmp_path / "own.toml"), wordable()).sha256
    assert_refused(missing, "has no wording 'one'", "take one of own")


def test_wordings_are_apart_in_tables_and_counts_of_failures(worded: Path) -> None:
    failures = {each.model: (each.failed, each.answers) for each in failures_in(worded)}
    policies = [each.policy for each in Run(worded).outcome().standings]

    setup = commits_of(worded)[0].setup or {}
    own = f"a[wording=own@{setup['roster'][1]['options']['wording_sha256'][:4]}]"
    assert {"a": (3, 3), own: (0, 6)} == failures
    assert {"raid", f"llm:{own}", "llm:a"} == set(policies)


def test_two_wordings_are_compared_in_a_prompt_of_a_run(worded: Path, tmp_path: Path) -> None:
    words = ["wordings", "diff", "default", "plain", "--journal", worded, "--at", 3, "--agent", 1]
    ran = goldrush(*words, "--json", cwd=tmp_path)
    found = json.loads(ran.out)
    recorded = Run(worded).prompts(3, 3)[0]  # of an agent with the default wording

    assert (1, 3, 1) == (ran.code, found["unit"], found["agent"])
    assert recorded.messages[0]["content"] == found["a"]["system"]
    assert "raid" not in found["b"]["system"]
    assert "round 3" in found["a"]["user"]


@pytest.mark.parametrize(("agent", "code"), [("Bo", DONE), ("Ed", TROUBLE)])
def test_an_agent_is_found_by_the_name_that_a_wording_gives_it(
    agent: str, code: int, worded: Path, tmp_path: Path
) -> None:
    named = goldrush("prompt", worded, "--at", 2, "--agent", agent, cwd=tmp_path)
    numbered = goldrush("prompt", worded, "--at", 2, "--agent", 1, cwd=tmp_path)

    assert code == named.code
    assert named.out == (numbered.out if code == DONE else "")
    assert (code == DONE) or "there is no agent 'Ed'; give its number" in named.err


def test_a_person_keeps_its_options_with_other_wordings(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    roster = "human[notes=false;order=run;wording=plain],raid"
    resources = Resources(people=lambda inquiry: '{"actions": []}')
    run = prepared(*prepare({"rounds": 1, "seed": 1}, roster))
    players.record(MINING, MINING_PLAYERS, path, run, resources=resources)
    sent = Run(path).prompts(1, 0)[0].messages

    found = diff_in(path, "plain", "default")

    assert [message["content"] for message in sent] == [*found.a.values()]
    assert "note" not in found.b["system"]


@pytest.mark.parametrize("prompt", [1, 3])
def test_of_prompts_without_wordings_a_newer_run_is_asked_for(prompt: int, tmp_path: Path) -> None:
    of_mining = path_of("language-models"), 0
    path, agent = of_mining if prompt == 1 else (path_of(MODEL_SEASON, SEASONS), "ada")
    words = ["wordings", "diff", "default", "default", "--journal", path, "--agent", agent]
    ran = goldrush(*words, cwd=tmp_path)
    error = f"prompts of version {prompt} take no wording, and the run has these"

    assert (TROUBLE, "", 1) == (ran.code, ran.out, ran.err.count("\n"))
    assert f"{error}; give another run of version {prompt + 1} or newer" in ran.err


def test_units_of_a_season_are_counted_as_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "new.toml").write_text("[messages]\nsituation = 'Day $day.'")
    words = ["wordings", "diff", "default", "new.toml", "--world", "competition"]
    found = json.loads(goldrush(*words, "--json", cwd=tmp_path).out)
    ran = goldrush(*words, "--at", -1, cwd=tmp_path)

    assert found["a"]["user"].startswith(f"Assignment {found['unit']} of 0 to ")
    assert "no model is asked in assignment -1; give another assignment" in ran.err


@pytest.mark.parametrize("agent", ["ada", "judge", "dov"])
def test_two_wordings_are_compared_in_a_prompt_of_a_season(agent: str, tmp_path: Path) -> None:
    path = path_of("season", WORDED)
    (tmp_path / "new.toml").write_text("[messages]\nsituation = 'Day $day.'")
    words = ["--journal", path, "--at", 0, "--agent", agent, "--json"]
    ran = goldrush("wordings", "diff", "default", "new.toml", *words, cwd=tmp_path)
    found = json.loads(ran.out)

    assert (DIFFERS, 0) == (ran.code, found["unit"])
    assert found["a"]["system"] == found["b"]["system"]
    assert found["a"]["user"].startswith("Assignment 0 of 0 to 1, day 0, project 0.\n")
    assert found["b"]["user"].startswith("Day 0.\n")
    assert (agent == "ada") == ('{"reasoning": ...' in found["b"]["user"])


def test_a_name_is_that_of_the_roster_in_force(tmp_path: Path) -> None:
    """A fork swaps the names after round 1."""
    for file, names in (("one", ["Ann", "Bo"]), ("two", ["Bo", "Ann"])):
        (tmp_path / f"{file}.toml").write_text(f"[names]\nagents = {names}\n")
    path, fork = tmp_path / "run.journal", tmp_path / "fork.journal"
    rosters = [f"llm:a[wording={tmp_path / file}.toml]*2" for file in ("one", "two")]
    with serving(_answer) as server:
        reach = models(server.address, "a", patience=9)
        record(path, {"rounds": 2}, rosters[0], models=reach)
        Run(path).fork(1, fork, roster=rosters[1], models=reach)
    shown = [goldrush("prompt", fork, "--at", at, "--agent", "Ann", cwd=tmp_path) for at in (1, 2)]
    words = ["wordings", "diff", "default", "plain", "--journal", fork, "--agent", "Ann", "--json"]
    found = [json.loads(goldrush(*words, "--at", at, cwd=tmp_path).out) for at in (1, 2)]
    logged = goldrush("log", fork, "--agent", "Ann", cwd=tmp_path)

    assert all("You are agent Ann." in ran.out for ran in shown)
    assert [0, 1] == [each["agent"] for each in found]
    assert (TROUBLE, "") == (logged.code, logged.out)
    assert "wordings call the agents 0 and 1 Ann; give the number" in logged.err


def test_a_fork_takes_the_wording_from_the_journal(worded: Path, tmp_path: Path) -> None:
    out = tmp_path / "fork.journal"
    with serving(_answer) as server:
        reach = models(server.address, "a", patience=9)
        Run(worded).fork(1, out, models=reach)

    assert verify(out, 4).holds


def test_a_fork_that_lets_agents_talk_needs_the_same_names(worded: Path, tmp_path: Path) -> None:
    ran = goldrush(
        "fork", worded, "--at", 1, "--set", "communication=true", "--out", "x.journal", cwd=tmp_path
    )

    assert (2, []) == (ran.code, list(tmp_path.iterdir()))
    assert "agent 1 and agent 3 have other names for the same things" in ran.err


def test_a_fork_with_a_wording_needs_a_roster(worded: Path, tmp_path: Path) -> None:
    ran = goldrush("fork", worded, "--at", 1, "--wording", "plain", cwd=tmp_path)

    assert (2, 1, []) == (ran.code, ran.err.count("\n"), list(tmp_path.iterdir()))
    assert "--wording plain needs --roster" in ran.err
    assert "Needs --roster." in goldrush("fork", "--help", cwd=tmp_path, COLUMNS="400").out


Forge = Callable[[dict[str, Any]], Mapping[str, object]]


def _text(tables: object) -> dict[str, object]:
    text = json.dumps(tables, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {"wording_text": text, "wording_sha256": digest_of(text)}


FORGED: Mapping[str, Mapping[str, object]] = {
    "unknown id": _text({"messages": {"gone": "x"}}),
    "wrong digest": {"wording_sha256": "0" * 64},
    "none": {"wording_text": None},
    "a megabyte": _text({"messages": {"none": "x" * 10**6}}),
    "escapes": _text({"messages": {"none": "\x1b[2J\x07"}}),
    "a list ten times": _text({"messages": {"history": "$lines" * 10}}),
    "a name": {"wording": "\x1b[2J" + "x" * 100_000},
    "a model's name": {"name": "\x1b[2J" + "x" * 100_000},
    "the name of another": {"wording": "plain"},
    "no object": _text(["\u202e"]),
}
JOURNAL = "the journal"  # where it is not the first argument
COMMANDS = [
    ["info"], ["log"], ["replay", "--round", "2"], ["verify"], ["audit", "--all"], ["measure"],
    ["measure", "--usage"], ["prompt", "--at", "2", "--agent", "1"], ["export"],
    ["view", "--out", "page.html"], ["why", "--round", "2"], ["resume"], ["diff", "forged.journal"],
    ["fork", "--at", "1", "--out", "f.journal"], ["ls"],
    ["wordings", "show", "own", "--journal", JOURNAL],
    ["wordings", "diff", "default", "para-1", "--at", "2", "--journal", JOURNAL],
]  # fmt: skip


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

    for words in COMMANDS:
        place = words.index(JOURNAL) if JOURNAL in words else 1
        after = words[place + 1 :] if JOURNAL in words else words[1:]
        ran = goldrush(*words[:place], path, *after, cwd=tmp_path)
        assert ran.code in (0, 1, 2), (words, ran.err)
        assert "Traceback" not in ran.err, (words, ran.err)
        assert "\x1b" not in ran.out + ran.err, words
        assert len(ran.err) < 5_000, words
        assert len(ran.out) < 20_000 or words[0] in ("export", "prompt"), words
        if words == ["verify"]:
            told = ran.out + ran.err
            assert "agent 1" in told
            assert (2 if what == "unknown id" else 1) == ran.code, told
