"""Language models from the command line: what is asked for, what is printed, what never is."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goldrush.agents.llm.failures import PLAYED_INSTEAD
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import SUBMITTED
from tests.cli.helpers import assert_refused, begun, goldrush, in_terminal
from tests.golden import WORDED, path_of
from tests.journals import changed, commits_of, forged
from tests.llm.servers import Asked, Reply, completion, error, plan, serving
from tests.waiting import HANGS, until

KEY = "sk-do-not-show-7781"


def claiming(asked: Asked) -> Reply:
    agent, round_ = asked.agent or 0, asked.round or 0
    return plan(("claim", agent * 10 + round_, 1))


def recorded(folder: Path, *arguments: str, respond=claiming):  # type: ignore[no-untyped-def]
    with serving(respond) as server:
        return goldrush(
            "record", "--rounds", "3", "--out", "run.journal", "--base-url", server.address,
            *arguments, cwd=folder, OPENAI_API_KEY=KEY,
        )  # fmt: skip


def test_trouble_is_told_once_a_round_on_stderr_and_the_run_goes_on(tmp_path: Path) -> None:
    def respond(asked: Asked) -> Reply:
        return error(400, f"no \x1b[31m{KEY}") if asked.agent == 0 else claiming(asked)

    ran = recorded(tmp_path, "--roster", "llm:small*2,raid", respond=respond)

    assert 0 == ran.code
    expected = [
        f"goldrush: round {n}: no answer for one agent: HTTP 400: no \\x1b[31m[key]"
        for n in (1, 2, 3)
    ]
    assert expected == [line for line in ran.err.splitlines() if "num_ctx" not in line]
    assert "3 failed (3 no-answer)" in ran.out


def test_a_policy_that_fails_while_questions_are_estimated_exits_with_2(tmp_path: Path) -> None:
    (tmp_path / "quits.py").write_text(
        "class Quits:\n    def plan(self, seen, draws):\n        1 / 0\n"
    )
    ran = goldrush("record", "--dry-run", "--roster", "quits:Quits*1,llm:a*1", cwd=tmp_path)

    assert (2, "", True) == (ran.code, ran.out, "quits:Quits of agent 0 failed" in ran.err)


def test_a_key_is_nowhere(tmp_path: Path) -> None:
    def respond(asked: Asked) -> Reply:
        sent = asked.headers["authorization"]
        if asked.agent == 0:
            return error(401, f"wrong key: {sent}", headers={"X-Key": sent})
        return plan(("claim", 5, 1), say=f"my key is {sent}")

    words = ("--roster", "llm:small*2", "--treatment", "communication", "--record-failures")
    ran = recorded(tmp_path, *words, respond=respond)
    commands = (
        ("export", "run.journal"), ("log", "run.journal"),
        ("replay", "run.journal", "--round", "2"),
        ("prompt", "run.journal", "--round", "2", "--agent", "0"),
    )  # fmt: skip
    told = [goldrush(*command, cwd=tmp_path) for command in commands]

    assert "Bearer [key]" in told[0].out
    assert all(KEY not in one.out + one.err for one in (ran, *told))
    assert KEY.encode() not in (tmp_path / "run.journal").read_bytes()


def test_a_prompt_is_shown_with_what_was_answered(tmp_path: Path) -> None:
    def respond(asked: Asked) -> Reply:
        return completion("Hm.\x1b[2J</think>\n\x1b[31mno plan", "length", usage=(100, 20))

    recorded(tmp_path, "--roster", "llm:small*1,raid*1", respond=respond)
    words = ("prompt", "run.journal", "--round", 2, "--agent")
    ran = goldrush(*words, 0, "--answer", cwd=tmp_path)
    found = json.loads(goldrush(*words, 0, "--answer", "--json", cwd=tmp_path).out)["answers"]
    shown = ran.out.removeprefix(goldrush(*words, 0, cwd=tmp_path).out)
    policy = goldrush(*words, 1, "--answer", cwd=tmp_path)
    terminal = in_terminal(*words, 0, "--answer", cwd=tmp_path).out

    assert ("cut", "length", True) == (
        found[0]["error"], found[0]["finish"], found[0]["text"].endswith("no plan"),
    )  # fmt: skip
    assert policy.err.endswith("no answer of a model or a person is recorded\n")
    assert "--- answer" not in policy.out
    assert "\x1b" in found[0]["reasoning"]
    assert "\x1b" in found[0]["text"]
    assert all("\x1b" not in out for out in (shown, terminal))
    assert all(r"Hm.\x1b[2J" in out for out in (shown, terminal))
    assert all(r"\x1b[31mno plan" in out for out in (shown, terminal))


def test_what_was_answered_to_an_older_prompt_is_shown(tmp_path: Path) -> None:
    words = ("prompt", path_of("language-models"), "--at", 2, "--agent", 0)
    refused, shown = goldrush(*words, cwd=tmp_path), goldrush(*words, "--answer", cwd=tmp_path)
    told = json.loads(goldrush(*words, "--answer", "--json", cwd=tmp_path).out)

    versions = "asked with version 1 of the prompt; this goldrush asks with version 3"
    assert_refused(refused, f"agent 0 was {versions}; see what it answered by --answer")
    assert f"agent 0, round 2: {versions}" in shown.err
    assert (0, None) == (shown.code, told["questions"][0]["digest"])
    assert told["questions"][0]["recorded"].startswith("e8aafde994059d0f")
    assert "smollm2" == told["answers"][0]["model"]


def test_a_change_that_no_fork_can_play_has_no_command(tmp_path: Path) -> None:
    """Its models were asked with an older prompt."""
    why = ("why", path_of("language-models"), "--at", 2)
    found = json.loads(goldrush(*why, "--json", cwd=tmp_path).out)
    shown = goldrush(*why, cwd=tmp_path).out

    assert any(each["change"] for each in found)
    assert {None} == {each["fork"] for each in found}
    assert "had agent" in shown
    assert "play it so" not in shown


def test_a_forged_answer_is_shown_with_its_own_text_and_the_facts_that_an_answer_has(
    tmp_path: Path,
) -> None:
    forgery = {"text": "another", "n" * 100_000: 1, **{f"fact-{n}": n for n in range(1_000)}}

    def forge(row: list[Any]) -> None:
        row[at] = {**row[at], **forgery}

    at = list(MINING.events[SUBMITTED].fields).index("source")
    original = commits_of(path_of("mining", WORDED))
    commits = changed(original, SUBMITTED, forge, unit=2, is_meant=lambda row: row[0] == 0)
    path = forged(tmp_path / "forged.journal", MINING, commits)
    words = ("prompt", path, "--at", 2, "--agent", 0, "--answer")
    shown = goldrush(*words, cwd=tmp_path).out.partition("--- answer ---\n")[2]
    [found] = json.loads(goldrush(*words, "--json", cwd=tmp_path).out)["answers"]

    assert shown.startswith(found["text"])
    assert "another" not in shown
    assert "fact-1" not in shown
    assert len(shown) < 2_000


def failing(asked: Asked) -> Reply:
    """Three of four answers are cut off."""
    return claiming(asked) if asked.agent == 3 else completion('{"act', "length", usage=(100, 500))


def test_a_run_whose_models_never_played_does_not_look_like_a_success(tmp_path: Path) -> None:
    ran = recorded(
        tmp_path, "--roster", "llm:small*2,raid",
        respond=lambda asked: completion("{", "length", usage=(1_000, 2_000)),
    )  # fmt: skip

    assert 0 == ran.code
    assert f"llm:small: 6 of 6 answers cut off: {PLAYED_INSTEAD}" in ran.out.splitlines()
    assert ran.err.startswith(
        "goldrush: llm:small: an answer was cut off at 2,000 tokens; raise max"
    )
    assert 1 == len(ran.err.splitlines())


def test_ctrl_c_and_patience_end_the_wait_for_a_server(tmp_path: Path) -> None:
    command = ("record", "--roster", "llm:small*2", "--rounds", "2", "--out", "run.journal")
    with serving(lambda asked: error(503) if asked.round == 2 else claiming(asked)) as server:
        (tmp_path / "m.toml").write_text(f'[small]\nbase_url = "{server.address}"\ntries = 1\n')
        where = ("--models", "m.toml")
        process, lines = begun(tmp_path, *command, *where)
        told = next(line for line in lines if "num_ctx" not in line)
        process.send_signal(signal.SIGINT)
        _, stopped = process.communicate(timeout=HANGS)
        again = goldrush("resume", "run.journal", *where, "--patience", "0.001", cwd=tmp_path)
        server.respond = claiming
        last = goldrush(*again.err.rpartition("goldrush ")[2].strip("`\n").split(), cwd=tmp_path)
    missing = "no answer for 2 agents: HTTP 503: no"

    assert f"goldrush: round 2: {missing}; asked again in 1 s (--patience)\n" == told
    assert (130, "stopped: run.journal holds round") == (process.returncode, stopped[:32])
    assert f"round 2: {missing}; asked again in 0.06 s" in again.err
    assert f"waited 0.001 minutes: {missing} (--patience); run.journal holds rounds" in again.err
    assert (1, 0) == (again.code, last.code)


@pytest.mark.turns
@pytest.mark.parametrize("whom", [os.killpg, os.kill], ids=["all", "the first"])
@pytest.mark.parametrize(
    ("other", "jobs", "times"),
    [("random", 1, 1), ("random", 2, 1), ("own:Own", 2, 1), ("raid", 2, 2)],
)
def test_ctrl_c_in_a_study_loses_no_answer_and_a_second_one_those_under_way(
    whom: Callable[[int, int], None], other: str, jobs: int, times: int, tmp_path: Path
) -> None:
    def held(asked: Asked) -> Reply:
        if asked.round == 2:
            assert release.wait(HANGS)
        return claiming(asked)

    release, under_way = threading.Event(), 2 * jobs
    (tmp_path / "own.py").write_text("class Own:\n    def plan(self, seen, draws): return []\n")
    with serving(held) as server:
        (tmp_path / "m.toml").write_text(f'[small]\nbase_url = "{server.address}"\n')
        command = (
            "study", "--treatment", "baseline", "--roster", f"llm:small*2,{other}*1", "--seeds",
            "3", "--rounds", "3", "--out", "s", "--models", "m.toml", "--jobs", str(jobs),
        )  # fmt: skip
        process, lines = begun(tmp_path, *command)
        until(lambda: sum(asked.round == 2 for asked in server.asked) == under_way)
        whom(process.pid, signal.SIGINT)
        waits = (line for line in lines if "waits for 2 answers under way" in line)
        for _ in range(jobs):
            next(waits)
        if times == 2:
            whom(process.pid, signal.SIGINT)
        else:
            release.set()
        stopped = process.communicate(timeout=HANGS)[1]
        release.set()
        again = goldrush(*command, cwd=tmp_path)

        assert 3 * 3 * 2 + under_way * (times - 1) == len(server.asked)
    assert (130, 0) == (process.returncode, again.code)
    assert "stopped: what is finished is kept; `python -m goldrush study" in stopped


def test_too_many_failures_stop_a_run_which_goes_on_with_another_share(tmp_path: Path) -> None:
    with serving(failing) as server:
        where = ("--base-url", server.address)
        ran = goldrush(
            "record", "--roster", "llm:small*4", "--rounds", "9", "--fail-over", "20%", *where,
            "--out", "run.journal", cwd=tmp_path,
        )  # fmt: skip
        again = goldrush("resume", "run.journal", "--fail-over", "80.5%", *where, cwd=tmp_path)
    last = ran.err.splitlines()[-1]

    assert (1, "") == (ran.code, ran.out)
    assert "stopped at round 6: llm:small: 15 of 20 answers cut off, over 20%; raise" in last
    assert "(--fail-over); run.journal holds rounds 1 to 5, whole; go on with `" in last
    assert last.endswith(f"resume run.journal --base-url {server.address} --fail-over MORE`")
    assert 0 == again.code


@pytest.mark.parametrize("share", ["20", "101%", "٢٠%"])
def test_a_share_is_a_percentage(tmp_path: Path, share: str) -> None:
    assert_refused(goldrush("record", "--fail-over", share, cwd=tmp_path), "--fail-over is ")
    assert [] == list(tmp_path.iterdir())
