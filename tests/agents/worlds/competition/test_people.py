"""People who play: asked what a model would be, recorded, never asked for the same twice."""

import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from goldrush.agents.llm.question import Message
from goldrush.agents.people import Ask, Inquiry
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
from goldrush.kernel.fold import events
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition.terms import Refusal, names_of
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.find import open_world
from goldrush.replay.journal.verify import verify
from tests.cli.helpers import ROOT
from tests.playing import nk, record
from tests.waiting import HANGS

BEN, JUDGE = 6, 2
WORLD = competition(rules_of(nk()))
FIELD = "|".join({name for q in QUESTIONS.values() for name in q.fields(rules_of(nk()))})
PROMPT = re.compile(rf"^({FIELD})( \(.*\))?: $".encode())
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
    record(path, {**SETTINGS, "arena": nk()}, cast, people=ask)


def answered(path: Path) -> list[Mapping[str, Any]]:
    with JournalReader(path) as reader:
        return [e.as_dict() for e in events(open_world(reader), reader) if e.name == "answered"]


def test_what_a_person_answers_is_recorded_word_for_word(tmp_path: Path) -> None:
    path, person = tmp_path / "s.journal", Person()
    play(path, person, "ben=human", "judge=human")
    found = answered(path)

    assert sorted(person.answers) == sorted(row["text"] for row in found)
    assert {BEN, JUDGE} == {row["agent"] for row in found}
    assert {HUMAN} == {row["source"]["name"] for row in found}
    assert {"ben", "judge"} == {inquiry.player for inquiry in person.asked}
    assert {"assignment 0", "assignment 1"} == {inquiry.unit for inquiry in person.asked}
    assert all(row["source"]["error"] is None for row in found)


def test_the_final_stance_of_a_person_is_taken_and_names_it(tmp_path: Path) -> None:
    path, person = tmp_path / "s.journal", Person()
    play(path, person)
    with JournalReader(path) as reader:
        stood = [e for e in events(open_world(reader), reader) if e.name == "stood"]
    own = [(e["target"], e["source"]) for e in stood if e["agent"] == BEN]

    assert [(None, {"model": HUMAN})] * 2 == own
    assert 8 == len(stood)


@pytest.mark.parametrize("conduct", ["111100001111", "11"], ids=["valid", "refused"])
def test_in_its_turn_a_person_orders_trials_and_is_asked_again(
    conduct: str, tmp_path: Path
) -> None:
    path, turns = tmp_path / "s.journal", list[str]()

    def ask(inquiry: Inquiry) -> str:
        text, prompt = Person()(inquiry), inquiry.messages[1]["content"]
        if "move" not in inquiry.schema["properties"]:
            return text
        turns.append(prompt)
        return json.dumps({"move": "try", "conduct": conduct}) if '- "try"' in prompt else text

    play(path, ask)
    with JournalReader(path) as reader:
        found = [(e.name, e.as_dict()) for e in events(open_world(reader), reader)]
    names = [name for name, e in found if BEN in (e.get("agent"), e.get("who"))]
    tried, spoke = names.count("tried"), names.count("spoke")

    assert tried + spoke == len(turns)  # who is refused one contributes in the same turn
    assert (tried == 2 * 4) == (len(conduct) == 12)  # all trials of both assignments
    assert (tried == names.count("refused")) == (len(conduct) == 2)
    assert bool(names.count("refused")) != any("YOUR TRIALS" in prompt for prompt in turns)
    assert verify(path, 4).holds


def test_answers_of_people_are_not_counted_as_those_of_models(tmp_path: Path) -> None:
    path, person = tmp_path / "s.journal", Person()
    play(path, person)
    questions = measured_at(path).values["questions"]

    assert person.answers
    assert {0} == {*questions}


def test_to_verify_asks_nobody(path: Path) -> None:
    play(path, Person())
    verdict = verify(path, 4)

    assert verdict.holds
    assert (4, ()) == (verdict.level, verdict.not_asked)


def test_after_a_stop_between_two_answers_only_what_is_missing_is_asked(tmp_path: Path) -> None:
    whole, path, everything = tmp_path / "whole.journal", tmp_path / "s.journal", Person()
    play(whole, everything)
    count = len(everything.asked)
    for leaves_at in range(count):
        first, second = Person(leaves_at), Person()
        path.unlink(missing_ok=True)
        with pytest.raises(KeyboardInterrupt):
            play(path, first)
        resume(WORLD, SEASON_PLAYERS, path, resources=Resources(people=second))

        assert (leaves_at, count - leaves_at) == (len(first.asked), len(second.asked))
        assert whole.read_bytes() == path.read_bytes()


def test_of_two_who_are_asked_at_once_who_has_answered_is_not_asked_again(tmp_path: Path) -> None:
    path, first = tmp_path / "s.journal", Person(leaves_at=1)
    with pytest.raises(KeyboardInterrupt):
        play(path, first, "ben=human", "ada=human")
    second = Person()
    resume(WORLD, SEASON_PLAYERS, path, resources=Resources(people=second))
    asked = [(inquiry.player, inquiry.messages) for inquiry in (*first.asked, *second.asked)]

    assert all(one not in asked[:at] for at, one in enumerate(asked))
    assert verify(path, 4).holds


@pytest.mark.parametrize("step", ["record", "resume"])
def test_where_nobody_can_be_asked_a_line_says_so(step: str, path: Path) -> None:
    if step == "resume":
        with pytest.raises(KeyboardInterrupt):
            play(path, Person(2))
    before = path.read_bytes() if step == "resume" else b""
    with pytest.raises(BadInput, match="ben is played by a person, but nobody can be asked") as no:
        play(path, None) if step == "record" else resume(WORLD, SEASON_PLAYERS, path)

    assert "\n" not in str(no.value)
    assert before == (path.read_bytes() if step == "resume" else b"")


@pytest.mark.parametrize(
    ("first", "text", "says"),
    [
        ("move", "no", "no JSON object of the form"),
        ("move", "[]", "no JSON object of the form"),
        ("move", '{"move": "support", "target": 99}', "move/unknown-target"),
        ("move", '{"move": "propose", "conduct": "1", "value": 9}', "conduct/not-canonical"),
        ("move", '{"move": "propose", "conduct": "111111111111", "value": -9}', "claim/vacuous"),
        ("move", '{"move": "dance"}', "act/malformed"),
        ("target", '{"target": 99}', "move/unknown-target"),
        ("target", '{"target": "mine"}', "move/unknown-target"),
    ],
)
def test_an_answer_that_cannot_count_is_named_before_it_is_given(
    first: str, text: str, says: str, tmp_path: Path
) -> None:
    faults = []

    def ask(inquiry: Inquiry) -> str:
        if first == next(iter(inquiry.schema["properties"])):
            faults.append(inquiry.fault(text))
        return Person()(inquiry)

    play(tmp_path / "s.journal", ask)

    assert all(fault is not None and says in fault for fault in faults)
    assert faults


# At a terminal

SHORT = ("--arena", "nk", "--assignments", "1", "--workers", "4", "--cast", "ben=human")


def typed(
    lines: Sequence[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    question: str = "speak",
) -> tuple[Any, str]:
    """What a person types when asked (for a contribution), read; and what was shown meanwhile."""
    rest = iter(lines)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda prompt: next(rest))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    asked = QUESTIONS[question]
    schema = asked.schema(rules_of(nk()))
    messages: list[Message] = [
        {"role": "system", "content": "THE RULES \x1b[2J"}, {"role": "user", "content": "NOW"}
    ]  # fmt: skip
    fault = {"bad": "it is bad"}
    inquiry = Inquiry(
        "ben", "assignment 1", messages, schema,
        lambda text: fault.get(json.loads(text).get("words")), asked.asks,
    )  # fmt: skip
    ask = at_terminal()
    assert ask is not None
    found = json.loads(ask(inquiry))
    assert next(rest, None) is None
    return found, capsys.readouterr().err


FIELDS = ["2", "3", "", "0.5", "", "y", "because"]  # an amendment carries no part
WHOLE = {
    "move": "amend", "target": 3, "conduct": None, "value": 0.5, "edge": None, "part": None,
    "treatment": None, "trials": True, "words": "because",
}  # fmt: skip


def test_field_by_field_or_whole_is_the_same_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert WHOLE == typed(FIELDS, monkeypatch, capsys)[0]
    assert WHOLE == typed([json.dumps(WHOLE)], monkeypatch, capsys)[0]
    assert WHOLE == typed(["garbage", json.dumps(WHOLE)], monkeypatch, capsys)[0]


def test_only_what_a_move_carries_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = {"target": None, "conduct": None, "value": None, "edge": None, "part": None}
    nothing["treatment"] = None
    waits = {"move": "pass", **nothing, "trials": False, "words": "I wait."}
    backs = {"move": "support", **nothing, "target": 3, "trials": False, "words": "Yes."}

    assert waits == typed(["pass", "I wait."], monkeypatch, capsys)[0]
    assert backs == typed(["support", "3", "n", "Yes."], monkeypatch, capsys)[0]


def test_of_a_trial_only_conduct_and_treatment_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = typed(["try", "111100001111", ""], monkeypatch, capsys)[0]

    assert ("try", "111100001111", None) == (found["move"], found["conduct"], found["treatment"])


@pytest.mark.parametrize(("line", "target"), [("3", 3), ("#3", 3), ("", None)])
def test_a_final_stance_is_a_number_or_nothing(
    line: str, target: int | None, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    found, _ = typed([line, "y", "See #3."], monkeypatch, capsys, question="stand")

    assert {"target": target, "trials": True, "words": "See #3."} == found


@pytest.mark.parametrize(
    ("place", "line", "says"),
    [
        (0, "dance", "type one of propose, amend, support, challenge, pass, try"),
        (1, "first", "is neither a number nor JSON"),
        (1, "2.5", "type a whole number"),
        (3, "[" * 10_000, "is neither a number nor JSON"),
        (5, "maybe", "type y or n"),
        (6, "@/dev/zero", "/dev/zero has more than"),
        (6, "@/nowhere", "cannot read /nowhere"),
    ],
)
def test_a_field_that_means_nothing_is_asked_for_again(
    place: int, line: str, says: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    lines = [*FIELDS[:place], line, *FIELDS[place:]]
    found, shown = typed(lines, monkeypatch, capsys)

    assert WHOLE == found
    assert says in shown


def test_a_list_of_objects_is_typed_by_how_many_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["3", "1", "value", "0.0", "5,6,7", ""]
    found, shown = typed(lines, monkeypatch, capsys, question="open")
    subjects = [{"objective": "value", "treatment": "0.0"}]

    assert {"subjects": subjects, "team": [5, 6, 7], "order": None} == found
    assert "type a whole number from 0 to 2" in shown


def test_who_leaves_the_opening_to_the_agenda_is_asked_no_more(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = {"subjects": None, "team": None, "order": None}

    assert nothing == typed([""], monkeypatch, capsys, question="open")[0]


def test_every_code_has_words() -> None:
    assert set(names_of(Refusal)) == set(REFUSALS)


def test_texts_of_a_list_are_typed_line_by_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["Why, and how?", "What next?", ""]
    found, _ = typed(lines, monkeypatch, capsys, question="interview")

    assert {"questions": ["Why, and how?", "What next?"]} == found


def test_what_does_not_count_is_told_and_asked_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found, shown = typed([*FIELDS[:-1], "bad", *FIELDS], monkeypatch, capsys)

    assert WHOLE == found
    assert "This answer is not valid: it is bad. Answer again." in shown


def test_the_rules_are_shown_once_and_when_asked_for_with_controls_escaped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, shown = typed(["rules", *FIELDS], monkeypatch, capsys)

    assert 2 == shown.count("THE RULES")
    assert "assignment 1: you are ben" in shown
    assert "\x1b" not in shown


def test_a_text_can_be_read_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "words").write_text("from a file")
    words = [*FIELDS[:-1], f"@{tmp_path / 'words'}"]

    assert "from a file" == typed(words, monkeypatch, capsys)[0]["words"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, EOFError])
@pytest.mark.parametrize(
    "command", [("season", *SHORT), ("record", "--rounds", "1", "--roster", "human*1,raid*1")]
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
    code = _run()
    shown = capsys.readouterr().err.splitlines()[-1]

    assert INTERRUPTED == code
    assert f"stopped: {path} holds the start, but no " in shown
    assert f"go on with `/x/goldrush resume {path}`" in shown


def test_where_no_terminal_is_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())

    assert at_terminal() is None


def test_a_season_is_played_at_a_real_terminal(path: Path) -> None:
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "goldrush", "season", "--out", str(path), *SHORT]
    with subprocess.Popen(command, stdin=child, stdout=child, stderr=child, cwd=ROOT) as season:
        os.close(child)
        hangs = Timer(HANGS, season.kill)
        hangs.start()
        shown = b""
        with suppress(OSError):  # the other end is closed
            while some := os.read(parent, 65_536):
                shown += some
                if prompt := PROMPT.match(shown.rsplit(b"\n", 1)[-1]):
                    answer = b"pass\n" if prompt[1] == b"move" else b"\n"
                    os.write(parent, answer)
                    shown += b"\n"
        os.close(parent)
        hangs.cancel()

        assert 0 == season.wait(timeout=HANGS), shown.decode()
    said = [json.loads(row["text"]) for row in answered(path)]

    assert {"pass"} == {answer["move"] for answer in said if "move" in answer}
    assert b"you are ben" in shown
    assert verify(path, 4).holds
