"""A journal of models plays as a cassette: without a model, a key, a network, or the client.

And level 4 of `verify` finds what could not have come of what stands there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goldrush.agents.llm.failures import CUT, NO_ANSWER, REFUSAL
from goldrush.kernel.world import Row
from goldrush.replay.journal.verify import verify
from tests.cli.helpers import ROOT
from tests.journals import commits_of, write
from tests.llm.runs import arriving, models, played_again, playing
from tests.llm.servers import Asked, Reply, completion, serving
from tests.mining import record
from tests.quick_disk import syncing

AGENT, ROUND = 1, 3  # whose submission is forged
REFUSED, CUT_OFF, SILENT = 2, 3, 0  # agents whose answers of the second round were none


def respond(asked: Asked) -> Reply:
    return {
        (2, REFUSED): completion(None, refusal="I will not."),
        (2, CUT_OFF): completion('{"actions": [', "length"),
        (2, SILENT): completion(None),
    }.get((asked.round or 0, asked.agent or 0), playing(asked))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, one that it is compared with, one that broke off, and prices."""
    folder = tmp_path_factory.mktemp("cassette")
    settings = {"rounds": 4, "communication": True}
    with syncing():
        for name, seed in (("run", 3), ("other", 4)):
            path = folder / name
            with serving(arriving(path, lambda _: [3, 2, 1, 0], respond)) as server:
                given = {**settings, "seed": seed}
                record(path, given, "llm:a*4,raid*2", models=models(server.address))
    inside = [c for c in commits_of(folder / "run") if c.unit == 3]
    (folder / "half").write_bytes((folder / "run").read_bytes()[: inside[1].end])
    (folder / "torn").write_bytes((folder / "run").read_bytes()[: inside[2].end + 30])
    (folder / "models.toml").write_text("[a]\nprice_in = 1.0\nprice_out = 2.0\n")
    return folder


# --- without anything to ask with ---

ALONE = """
import io, json, os, socket, sys
from contextlib import redirect_stderr, redirect_stdout

for name in ("openai", "httpx2", "httpx", "httpcore", "anyio", "ssl"):
    sys.modules[name] = None

def refused(*given, **named):
    raise AssertionError("a socket")

for name in ("socket", "create_connection", "getaddrinfo", "socketpair"):
    setattr(socket, name, refused)
assert not [name for name in os.environ if name.startswith("OPENAI_")]
sys.path.insert(0, sys.argv.pop())
from goldrush.cli import main

found = []
for command in json.loads(sys.stdin.read()):
    sys.argv = ["goldrush", *command]
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main.cli.main(command, standalone_mode=False)
    found.append([code or 0, out.getvalue(), err.getvalue()])
print(json.dumps(found))
"""
COMMANDS: dict[tuple[str, ...], tuple[int, str]] = {
    ("replay", "half", "--round", "2"): (0, "round 2 of 4"),
    ("verify", "run"): (0, "holds at levels 1 to 4"),
    ("verify", "half"): (0, "holds at levels 1 to 4"),
    ("log", "run", "--agent", "2", "--json"): (0, "I will not"),
    ("diff", "run", "other", "--json"): (1, '"configuration"'),
    ("audit", "run"): (0, "holds      yes"),
    ("export", "half", "--format", "jsonl"): (0, '"raw"'),
    ("measure", "--usage", "run", "half", "--models", "models.toml", "--json"): (0, '"cost"'),
    ("prompt", "half", "--round", "3", "--agent", "0", "--json"): (0, '"recorded": null'),
    ("record", "--rounds", "3", "--out", "scripted"): (0, ""),
}


def test_journals_of_models_are_read_in_a_process_that_can_reach_nobody(folder: Path) -> None:
    environment = {name: v for name, v in os.environ.items() if not name.startswith("OPENAI_")}
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(ROOT)],
        cwd=folder, env=environment, input=json.dumps([list(c) for c in COMMANDS]),
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip

    assert (0, "") == (done.returncode, done.stderr)
    for command, (code, out, _) in zip(COMMANDS, json.loads(done.stdout), strict=True):
        expected, says = COMMANDS[command]
        assert (expected, True) == (code, says in out), command


# --- what stands there ---


@pytest.fixture
def forge(folder: Path, tmp_path: Path) -> Callable[..., Path]:
    def forged(change: Callable[[Row], Row], round: int = ROUND, agent: int = AGENT) -> Path:
        def changed(unit: int, row: Row) -> Row:
            return change(row) if (unit, row[0]) == (round, agent) else row

        return write(tmp_path / "forged", played_again(commits_of(folder / "run"), changed))

    return forged


def test_put_together_again_it_is_the_same_journal(
    folder: Path, forge: Callable[..., Path]
) -> None:
    """So what is found in the forged ones is what was forged."""
    assert (folder / "run").read_bytes() == forge(lambda row: row).read_bytes()
    for name in ("run", "half", "other"):
        assert (None, 4) == (verify(folder / name).broken, verify(folder / name).level)
    torn = verify(folder / "torn").broken

    assert torn.torn


def source(**facts: Any) -> Callable[[Row], Row]:
    return lambda row: (*row[:5], {**row[5], **facts})


def error(code: str | None) -> Callable[[Row], Row]:
    return lambda row: (*row[:2], code, *row[3:])


OTHER = ((2, 77, 1),)
FORGED: dict[str, Callable[[Row], Row]] = {
    "another text": source(raw='{"actions": [["claim", 77, 1]]}'),
    "a number for a text": source(raw=7),
    "another plan": lambda row: (row[0], OTHER, *row[2:]),
    "actions in another order": lambda row: (row[0], row[1][::-1], *row[2:]),
    "no-answer in place of a plan": lambda row: (row[0], (), NO_ANSWER, *row[3:]),
    "cut with a plan": error(CUT),
    "another prompt": source(prompt="0" * 64),
    "a message": lambda row: (*row[:3], "I said this", *row[4:]),
    "no source": lambda row: (*row[:5], None),
    "less than no tokens": source(tokens_out=-1),
    "a field more": source(confidence=1),
}


@pytest.mark.parametrize("what", FORGED)
def test_level_4_finds_what_a_model_s_text_and_prompt_do_not_give(
    forge: Callable[..., Path], what: str
) -> None:
    path = forge(FORGED[what])
    broken = verify(path).broken

    assert verify(path, 3).holds
    assert (4, True) == (broken.level, broken.where.startswith(f"round {ROUND}, "))
    assert all(f'"agent": {AGENT}' in said for said in (broken.expected, broken.found))


@pytest.mark.parametrize(
    ("agent", "code"),
    [(REFUSED, None), (REFUSED, NO_ANSWER), (CUT_OFF, NO_ANSWER), (SILENT, REFUSAL)],
)
def test_level_4_finds_a_failure_that_is_denied_or_called_otherwise(
    forge: Callable[..., Path], agent: int, code: str | None
) -> None:
    broken = verify(forge(error(code), 2, agent)).broken

    assert 4 == broken.level


def test_what_only_the_server_knew_is_taken_from_the_journal(forge: Callable[..., Path]) -> None:
    """Tokens, tries, the server's own name; that an answer was refused, where it has no plan."""
    counts = source(tokens_in=1, tokens_out=None, tries=9, model="elsewhere")
    refused = forge(lambda row: (row[0], (), REFUSAL, *row[3:]), round=4)

    assert verify(refused).holds
    assert verify(forge(counts)).holds


def test_what_a_prompt_tells_of_is_held_against_the_rounds_before(
    forge: Callable[..., Path],
) -> None:
    """Whoever changes a round whole, its text too, has changed what was asked after it."""
    text = '{"actions": [["claim", 77, 1]]}'

    def whole(row: Row) -> Row:
        return (row[0], OTHER, None, None, None, {**row[5], "raw": text})

    broken = verify(forge(whole)).broken

    assert (4, True) == (broken.level, broken.where.startswith("round 4, "))
    assert "prompt" in broken.expected
