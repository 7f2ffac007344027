"""A run stops at any instant of a step: no answer that arrived from a model is lost, what the
journal holds is judged right, and nobody is asked for the same twice.

The answers are valid, declined, refused, cut off, unreadable or missing. They arrive in any order
and in any groups, from a client that needs no server.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldrush.agents import players
from goldrush.agents.llm import asker, client
from goldrush.agents.llm.client import Client
from goldrush.agents.llm.models import Endpoint, Models
from goldrush.agents.llm.question import Answer, Question, digest
from goldrush.agents.people import Inquiry, in_turn
from goldrush.agents.players import PreparedRun, Resources
from goldrush.agents.worlds.competition import players as seasons
from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.competition.players import configured
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.replay.find import tools_for
from goldrush.replay.journal.log import log
from goldrush.replay.journal.verify import verify
from tests import mining
from tests.faults.sampling import sampled
from tests.journals import commits_of
from tests.llm.runs import models, text_of, told
from tests.llm.seasons import SETTINGS, said
from tests.llm.servers import SHORT, WHO, Asked
from tests.waiting import until

SERVER = "http://127.0.0.1:1/v1"  # never reached
PACKAGE = "/goldrush/"
ROLES = ("admin", "assistant", "judge", "therapist", "user", "ada", "ben", "cleo")
SEASON = {**SETTINGS, "assignments": 1, "workers": 3, "rounds_max": 2}


class Outside:
    """Models and people. The answer to a prompt depends on the prompt and a seed alone.

    Attributes:
        asked: digests of the prompts that models have answered.
        inquiries: digests of those that people have.

    """

    def __init__(self, seed: int) -> None:
        self.asked: list[str] = []
        self.inquiries: list[str] = []
        self._seed = seed

    @property
    def answered(self) -> list[str]:
        """Digests of all answered prompts."""
        return [*self.asked, *self.inquiries]

    def together(
        self,
        questions: Sequence[Question],
        budget: object,
        unit: str = "",
    ) -> Iterator[list[tuple[int, Answer]]]:
        """In place of agents.llm.client.Client.together."""
        chance = random.Random(f"{self._seed} {len(self.asked)}")
        indexes = chance.sample(range(len(questions)), len(questions))
        while indexes:
            size = chance.randint(1, len(indexes))
            arrived, indexes = indexes[:size], indexes[size:]
            yield [(index, self.answer(questions[index])) for index in arrived]

    def short(self, question: Question) -> Answer:
        """The answer to a short question; without a text for any other."""
        return Answer(0, text=question.messages[-1]["content"].partition(f"{SHORT}: ")[2])

    def close(self) -> None:
        """Nothing is open."""

    def answer(self, question: Question) -> Answer:
        if (short := self.short(question)).text:
            return short
        self.asked.append(digest(question.messages, question.schema))
        kind = self._kind(self.asked[-1])
        valid, declined = texts(question.messages, question.schema)
        given: dict[str, dict[str, Any]] = {
            "valid": {"text": valid},
            "declined": {"text": declined},
            "refused": {"text": "I would rather not.", "error": "refusal"},
            "cut": {"text": valid[:9], "finish": "length"},
            "unreadable": {"text": "Hm."},
            "missing": {"trouble": "it is gone"},
        }
        return Answer(question.agent, question.name, **given[kind])

    def person(self, inquiry: Inquiry) -> str:
        """In place of a terminal, which asks again until an answer is readable."""
        self.inquiries.append(digest(inquiry.messages, inquiry.schema))
        kind = self._kind(self.inquiries[-1])
        valid, declined = texts(inquiry.messages, inquiry.schema)
        text = valid if kind == "valid" else declined
        return declined if inquiry.fault(text) else text

    def _kind(self, prompt: str) -> str:
        kinds = ("valid", "valid", "declined", "refused", "cut", "unreadable", "missing")
        return random.Random(f"{self._seed} {prompt}").choice(kinds)


def texts(messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> tuple[str, str]:
    """A valid answer to a prompt, and one that declines everything that can be declined."""
    prompt = Asked({"messages": list(messages)}, {}, None, None)
    who = WHO.search(prompt.text)
    valid = text_of(*map(int, who.groups())) if who else json.dumps(said(prompt))
    fields = schema["properties"].items()
    return valid, json.dumps({name: _declined(field) for name, field in fields})


def _declined(field: Mapping[str, Any]) -> Any:
    return {"array": [], "boolean": False, "string": "pass", None: None}.get(field.get("type"))


Prepared = Callable[[Models], PreparedRun]


def season(parts: Sequence[str]) -> Prepared:
    return lambda reached: seasons.prepared(configured(SEASON), cast_of(3, parts, reached))


def run(roster: str) -> Prepared:
    return lambda reached: MINING_PLAYERS.prepared(
        *mining.prepare({"rounds": 3}, roster, None, reached)
    )


class Game:
    """Records a run and goes on with it."""

    def __init__(self, prepared: Prepared, outside: Outside) -> None:
        self.outside = outside
        reached = models(SERVER, record_failures=True, concurrency=8, warn=lambda line: None)
        self._resources = Resources(people=in_turn(outside.person), models=reached)
        self._run = prepared(reached)
        by = tools_for("competition" if "cast" in self._run.setup else "mining")
        assert by.players is not None
        self._world, self._players = by.world(self._run.setup), by.players

    def record(self, path: Path) -> None:
        players.record(self._world, self._players, path, self._run, resources=self._resources)

    def resume(self, path: Path) -> None:
        players.resume(self._world, self._players, path, resources=self._resources)


casts = st.lists(st.sampled_from(["", "=llm:a", "=human"]), min_size=8, max_size=8).map(
    lambda who: season([f"{name}{kind}" for name, kind in zip(ROLES, who, strict=True) if kind])
)
rosters = st.lists(
    st.sampled_from(["raid", "llm:a", "llm:a", "human"]), min_size=2, max_size=6
).map(lambda names: run(",".join(names)))


@given(st.one_of(casts, rosters), st.integers(0, 2**32))
@settings(max_examples=max(4, settings.default.max_examples // 4))
def test_a_run_holds_and_goes_on_from_any_answer(
    tmp_path_factory: pytest.TempPathFactory, prepared: Prepared, seed: int
) -> None:
    folder, outside = tmp_path_factory.mktemp("interrupts"), Outside(seed)
    whole, cut = folder / "whole.journal", folder / "cut.journal"
    game = Game(prepared, outside)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asker, "Client", lambda concurrency, warn: outside)
        game.record(whole)
        asked, events = Counter(outside.answered), told(whole)
        commits = commits_of(whole)[:-1]
        resumed = random.Random(seed).sample(range(len(commits)), min(5, len(commits)))
        for number, commit in enumerate(commits):
            cut.write_bytes(whole.read_bytes()[: commit.end])
            assert (None, 4) == (verify(cut).broken, verify(cut).level)

            if number in resumed:
                answered = Counter(prompts(cut))
                outside.asked, outside.inquiries = [], []
                game.resume(cut)
                assert asked == answered + Counter(outside.answered)
                assert events == told(cut)


class Arrivals(SimpleQueue[Any]):
    """The answers to one group of questions, all of which arrive before the first is taken."""

    expected = 0  # of the group that is asked next
    has_begun = False  # an answer to a question of the run has arrived

    def __init__(self) -> None:
        super().__init__()
        self._left, self._arrived = Arrivals.expected, 0

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        super().put(item)
        self._arrived += item is not None  # that is what wakes who waits

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        self._wait()
        return super().get(block, timeout)

    def empty(self) -> bool:
        self._wait()
        return super().empty()

    def _wait(self) -> None:
        if self._left:
            until(lambda: self._arrived >= self._left)
            Arrivals.has_begun, self._left = True, 0


class Instant(Client):
    """A client whose questions are answered at once, by `outside`."""

    outside: Outside

    def together(self, questions: Sequence[Question], *how: Any) -> Iterator[list[Any]]:
        is_short = SHORT in questions[0].messages[-1]["content"]
        Arrivals.expected = 0 if is_short else len(questions)
        return super().together(questions, *how)

    def close(self) -> None:
        Arrivals.has_begun = False  # an interrupt in here would leave an open loop behind
        super().close()

    async def _ask(self, question: Question, *how: Any) -> Answer:
        how[1].sent.add(how[2])
        if how[1].ends:  # told before it was looked whether this is sent
            raise asyncio.CancelledError
        return await self.answered(question)

    async def answered(self, question: Question) -> Answer:
        short = self.outside.short(question)
        return short if short.text else self.outside.answer(question)

    def _server(self, endpoint: Endpoint) -> Any:
        return None


@contextmanager
def interrupted_at(instant: int) -> Iterator[list[str]]:
    """Send SIGINT before the line of the package with this number, counted from 1 at the arrival
    of the first answers; yields a list to which each line is added.
    """
    lines: list[str] = []

    def line(frame: FrameType, event: str, arg: object) -> Any:
        if Arrivals.has_begun and event == "line":
            lines.append(f"{frame.f_code.co_qualname}:{frame.f_lineno}")
            if len(lines) == instant:
                signal.raise_signal(signal.SIGINT)
        return line

    def enter(frame: FrameType, event: str, arg: object) -> Any:
        return line if PACKAGE in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        yield lines
    finally:
        sys.settrace(before)


@pytest.fixture(
    params=[
        season(["ada=llm:a", "ben=llm:a", "cleo=llm:a", "judge=human"]),
        run("raid,llm:a*3,human"),
    ],
    ids=["competition", "mining"],
)
def game(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Game:
    """A run or a season with three models and a person."""
    outside = Outside(0)
    monkeypatch.setattr(asker, "Client", Instant)
    monkeypatch.setattr(client, "SimpleQueue", Arrivals)
    monkeypatch.setattr(Instant, "outside", outside, raising=False)
    monkeypatch.setattr(Arrivals, "has_begun", False)
    return Game(request.param, outside)


def test_at_whatever_instant_ctrl_c_comes_no_answer_that_arrived_is_lost(
    tmp_path: Path, game: Game
) -> None:
    path, outside = tmp_path / "stopped.journal", game.outside
    with interrupted_at(0) as lines:
        game.record(path)
    instants = range(1, len(lines) + 1)
    for instant in sampled(instants, len(lines) // 40):
        path.unlink()
        outside.asked, Arrivals.has_begun, has_stopped = [], False, False
        try:
            with interrupted_at(instant) as lines:
                game.record(path)
        except KeyboardInterrupt:
            has_stopped = True
        lost = Counter(outside.asked) - Counter(prompts(path))
        place = "".join(lines[instant - 1 : instant])  # a run may have a few lines less

        assert not lost, place
        # Python ignores what is raised while it closes a generator that nobody needs any more.
        assert has_stopped or not place or "<genexpr>" in place, place


class Signalling(Instant):
    """A client whose process gets SIGTERM while it waits for each answer."""

    async def answered(self, question: Question) -> Answer:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
        await asyncio.sleep(0.01)
        return await super().answered(question)


def test_a_signal_whose_handler_returns_changes_nothing(
    tmp_path: Path, game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, signalled = tmp_path / "whole.journal", tmp_path / "signalled.journal"
    game.record(whole)
    monkeypatch.setattr(asker, "Client", Signalling)
    monkeypatch.setattr(client, "SimpleQueue", SimpleQueue)
    received: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        game.record(signalled)
    finally:
        signal.signal(signal.SIGTERM, before)

    assert told(whole) == told(signalled)
    assert received


def prompts(path: Path) -> Iterator[str]:
    """Digests of the prompts whose answers are in a journal, those of open units included."""
    for event in log(path):
        source = event.as_dict().get("source")
        if event.name in ("answered", "submitted") and source is not None:
            yield source["prompt"]
