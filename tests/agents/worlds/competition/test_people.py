"""People who play: asked what a model would be, recorded, never asked for the same twice."""

import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from goldrush.agents.llm.question import Message
from goldrush.agents.people import Ask, Inquiry, in_turn
from goldrush.agents.players import Resources, resume
from goldrush.agents.trust import HUMAN
from goldrush.agents.worlds.competition.arenas import rules_of
from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.competition.formats import REFUSALS
from goldrush.agents.worlds.competition.players import SEASON_PLAYERS
from goldrush.agents.worlds.competition.questions import QUESTIONS
from goldrush.cli.codes import INTERRUPTED
from goldrush.cli.main import _run
from goldrush.cli.people import at_terminal
from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition.terms import Refusal, names_of
from goldrush.replay.journal.verify import verify
from tests.cli.helpers import ROOT
from tests.journals import events_of
from tests.playing import nk, record
from tests.waiting import HANGS

BEN, JUDGE = 6, 2
WORLD = competition(rules_of(nk()))
FIELD = "|".join({name for q in QUESTIONS.values() for name in q.fields(rules_of(nk()))})
PROMPT = re.compile(rf"^({FIELD}|.*(?:ada|ben) is next; press Enter)( \(.*\))?: $".encode())
SETTINGS = {"seed": 3, "assignments": 2, "workers": 4, "worker_tiers": [1, 1, 1, 1]}


class Person:
    """Answers in a scripted way, keeps what it was asked, and leaves at one question."""

    def __init__(self, leaves_at: int | None = None) -> None:
        self.asked: list[Inquiry] = []
        self.answers: list[str] = []
        self._leaves_at = leaves_at

    def __call__(self, inquiry: Inquiry) -> str:
        if len(self.asked) == self._leaves_at:
            raise KeyboardInterrupt
        self.asked.append(inquiry)
        text = json.dumps(
            {name: _said(name, of) for name, of in inquiry.schema["properties"].items()}
        )
        assert inquiry.fault(text) is None
        self.answers.append(text)
        return text


def _said(name: str, schema: Mapping[str, Any]) -> Any:
    """What fits a field, and can count."""
    known = {"move": "pass", "signal": "clean", "words": "I wait.", "fate": "relegation"}
    if name in known or "anyOf" in schema:
        return known.get(name)
    return {"array": [], "boolean": False}.get(schema["type"], "")


def play(path: Path, ask: Ask | None, *parts: str) -> None:
    cast = cast_of(4, parts or ("ben=human",))
    record(path, {**SETTINGS, "arena": nk()}, cast, people=ask and in_turn(ask))


def recorded(path: Path, name: str = "answered") -> list[Mapping[str, Any]]:
    return [e.as_dict() for e in events_of(path) if e.name == name]


def test_what_a_person_answers_is_recorded_word_for_word_and_counts_for_no_model(
    path: Path,
) -> None:
    person = Person()
    play(path, person, "ben=human", "judge=human")
    found = recorded(path)
    verdict = verify(path, 4)  # asks nobody

    assert sorted(person.answers) == sorted(row["text"] for row in found)
    assert {(BEN, HUMAN, None), (JUDGE, HUMAN, None)} == {
        (row["agent"], row["source"]["name"], row["source"]["error"]) for row in found
    }
    assert {("ben", "assignment 0"), ("ben", "assignment 1"), ("judge", "assignment 1")} <= {
        (inquiry.player, inquiry.unit) for inquiry in person.asked
    }
    assert [(None, {"model": HUMAN})] * 2 == [
        (row["target"], row["source"]) for row in recorded(path, "stood") if row["agent"] == BEN
    ]
    assert (True, 4, ()) == (verdict.holds, verdict.level, verdict.not_asked)


@pytest.mark.parametrize("conduct", ["111100001111", "11"], ids=["valid", "refused"])
def test_in_its_turn_a_person_orders_trials_and_is_asked_again(conduct: str, path: Path) -> None:
    turns = list[str]()

    def ask(inquiry: Inquiry) -> str:
        text, prompt = Person()(inquiry), inquiry.messages[1]["content"]
        if "move" not in inquiry.schema["properties"]:
            return text
        turns.append(prompt)
        return json.dumps({"move": "try", "conduct": conduct}) if '- "try"' in prompt else text

    play(path, ask)
    tried, spoke, refused = (
        sum(BEN in (e.get("agent"), e.get("who")) for e in recorded(path, name))
        for name in ("tried", "spoke", "refused")
    )

    assert tried + spoke == len(turns)  # who is refused one contributes in the same turn
    assert (tried == 2 * 4) == (len(conduct) == 12)  # all trials of both assignments
    assert (0 if len(conduct) == 12 else tried) == refused
    assert (refused == 0) == any("YOUR TRIALS" in prompt for prompt in turns)
    assert verify(path, 4).holds


def test_after_a_stop_between_two_answers_only_what_is_missing_is_asked(
    path: Path, tmp_path: Path
) -> None:
    whole, everything, parts = tmp_path / "whole.journal", Person(), ("ben=human", "ada=human")
    play(whole, everything, *parts)
    count = len(everything.asked)
    for leaves_at in range(0, count, 2):
        first, second = Person(leaves_at), Person()
        path.unlink(missing_ok=True)
        with pytest.raises(KeyboardInterrupt):
            play(path, first, *parts)
        resume(WORLD, SEASON_PLAYERS, path, resources=Resources(people=in_turn(second)))

        assert (leaves_at, count - leaves_at) == (len(first.asked), len(second.asked))
        assert whole.read_bytes() == path.read_bytes()


def test_where_nobody_can_be_asked_nothing_is_written(path: Path) -> None:
    with pytest.raises(BadInput, match="nobody can be asked"):
        play(path, None)
    assert not path.exists()

    with pytest.raises(KeyboardInterrupt):
        play(path, Person(2))
    before = path.read_bytes()
    with pytest.raises(BadInput, match="nobody can be asked"):
        resume(WORLD, SEASON_PLAYERS, path)
    assert before == path.read_bytes()


# Why an answer does not count, by its first field and its text.
COUNTLESS = {
    ("move", "no"): "no JSON object of the form",
    ("move", '{"move": "support", "target": 99}'): "move/unknown-target",
    ("move", '{"move": "propose", "conduct": "1", "value": 9}'): "conduct/not-canonical",
    ("move", '{"move": "dance"}'): "act/malformed",
    ("target", '{"target": "mine"}'): "move/unknown-target",
}


def test_an_answer_that_cannot_count_is_named_before_it_is_given(path: Path) -> None:
    faults: dict[tuple[str, str], set[str]] = {}

    def ask(inquiry: Inquiry) -> str:
        for first, text in COUNTLESS:
            if first == next(iter(inquiry.schema["properties"])):
                faults.setdefault((first, text), set()).add(inquiry.fault(text) or "")
        return Person()(inquiry)

    play(path, ask)

    assert COUNTLESS.keys() == faults.keys()
    assert all(COUNTLESS[text] in fault for text, found in faults.items() for fault in found)
    assert set(names_of(Refusal)) == set(REFUSALS.texts)


# At a terminal

PAIR = ("--roster", "ada=human,ben=human")
SHORT = ("--set", "arena=nk", "--rounds", "1", "--set", "workers=4", *PAIR)


Typed = Callable[..., tuple[Any, str]]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """What a person types when asked (for a contribution), read; and what was shown meanwhile."""

    def answered(lines: Sequence[str], question: str = "speak") -> tuple[Any, str]:
        rest = iter(lines)
        monkeypatch.setattr("click.termui.visible_prompt_func", lambda prompt: next(rest))
        monkeypatch.setattr("sys.stdin.isatty", lambda: True)
        asked, fault = QUESTIONS[question], {"bad": "it is bad"}
        messages: list[Message] = [
            {"role": "system", "content": "THE RULES \x1b[2J"}, {"role": "user", "content": "NOW"}
        ]  # fmt: skip
        inquiry = Inquiry(
            0, "ben", "assignment 1", messages, asked.schema(rules_of(nk())),
            lambda text: fault.get(json.loads(text).get("words")), asked.asks,
        )  # fmt: skip
        ask = at_terminal()
        assert ask is not None
        [(_, text)] = ask([inquiry])
        assert next(rest, None) is None
        return json.loads(text), capsys.readouterr().err

    return answered


FIELDS = ["2", "3", "", "0.5", "", "y", "because"]  # an amendment carries no part
NOTHING = dict.fromkeys(("target", "conduct", "value", "edge", "part", "treatment"))
WHOLE = {
    **NOTHING, "move": "amend", "target": 3, "value": 0.5, "trials": True, "words": "because",
}  # fmt: skip
SILENT = {**NOTHING, "trials": False, "words": ""}


@pytest.mark.parametrize(
    ("question", "lines", "answer"),
    [
        ("speak", FIELDS, WHOLE),
        ("speak", ["try", "111100001111", ""],
         {**SILENT, "move": "try", "conduct": "111100001111"}),
        ("stand", ["", "y", "See #3."], {"target": None, "trials": True, "words": "See #3."}),
        ("open", ["value", "value | 0.0", "", "5,6,7", ""],
         {"subjects": [{"objective": "value", "treatment": "0.0"}], "team": [5, 6, 7],
          "order": None}),
    ],
)  # fmt: skip
def test_an_answer_is_typed_field_by_field_as_far_as_it_carries_them(
    question: str, lines: list[str], answer: dict[str, Any], typed: Typed
) -> None:
    assert answer == typed(lines, question)[0]


def test_what_means_nothing_or_does_not_count_is_told_and_asked_for_again(typed: Typed) -> None:
    found, shown = typed(["dance", *FIELDS[:-1], "bad", *FIELDS])

    assert WHOLE == found
    assert all(says in shown for says in ("type 1 propose, 2 amend", "it is bad"))
    assert 1 == shown.count("THE RULES")
    assert "\x1b" not in shown


@pytest.mark.parametrize("stop", [KeyboardInterrupt, EOFError])
@pytest.mark.parametrize(
    "command",
    [("record", "competition", *SHORT), ("record", "--rounds", "1", "--roster", "human*1,raid*1")],
)
def test_who_stops_at_a_question_is_told_how_to_go_on(
    command: Sequence[str], stop: type[BaseException], path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    def leave(prompt: str) -> str:
        raise stop

    monkeypatch.setattr("click.termui.visible_prompt_func", leave)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("goldrush.agents.given._GIVEN", {})  # of other tests
    monkeypatch.setattr(sys, "argv", ["/x/goldrush", *command, "--out", str(path)])

    assert INTERRUPTED == _run()
    assert f"`/x/goldrush resume {path}`" in capsys.readouterr().err.splitlines()[-1]


def test_a_season_is_played_at_a_real_terminal_and_without_one_nobody_is_asked(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent, child = pty.openpty()
    words = ("record", "competition", "--out", str(path), *SHORT)
    command = [sys.executable, "-m", "goldrush", *words]
    with subprocess.Popen(command, stdin=child, stdout=child, stderr=child, cwd=ROOT) as season:
        os.close(child)
        hangs = Timer(HANGS, season.kill)
        hangs.start()
        shown = b""
        with suppress(OSError):  # the other end is closed
            while some := os.read(parent, 65_536):
                shown += some
                if prompt := PROMPT.match(shown.rsplit(b"\n", 1)[-1]):
                    os.write(parent, b"pass\n" if prompt[1] == b"move" else b"\n")
                    shown += b"\n"
        os.close(parent)
        hangs.cancel()

        assert 0 == season.wait(timeout=HANGS), shown.decode()
    said = [json.loads(row["text"]) for row in recorded(path)]
    monkeypatch.setattr("sys.stdin", io.StringIO())

    assert {"pass"} == {answer["move"] for answer in said if "move" in answer}
    assert re.search(rb"you are ada ---.*\x1b\[2J\x1b\[Hben is next; press Enter: ", shown, re.S)
    assert not re.search(rb"you are ada ---[^\x1b]*you are ben ---", shown)
    assert verify(path, 4).holds
    assert at_terminal() is None
