"""Budgets: whatever servers say, and however often they are asked again, no ceiling is passed."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from goldrush.agents.llm.budget import Budget, Price, prices
from goldrush.agents.llm.client import Client, Failure
from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Endpoint, Models
from goldrush.agents.llm.options import TEXT
from goldrush.agents.llm.question import SCHEMA_MAX, WRAPPING, Amount, Answer, Question
from goldrush.agents.worlds.competition.arenas import rules_of
from goldrush.agents.worlds.competition.players import configured
from goldrush.agents.worlds.competition.questions import QUESTIONS
from goldrush.agents.worlds.mining.prompts.prompt import PlanPrompts
from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import config_of
from tests.llm import servers
from tests.llm.clock import Clock
from tests.llm.servers import (
    Asked,
    Reply,
    answered,
    closed_port,
    completion,
    counted,
    error,
    in_turn,
    serving,
)
from tests.waiting import HANGS

MODEL = Model("a", "test-1", answer=TEXT, max_tokens=50)
question = partial(servers.question, model=MODEL)
FREE = Failure("no", 503, again=True, is_free=True)
LOST = Failure("lost", again=True)
OVER = Failure("over")


MOST = question("http://127.0.0.1/v1").upper_bound

pytestmark = pytest.mark.usefixtures("clock", "no_keys")


def priced(price_in: float | None, price_out: float | None, **limits: Any) -> Models:
    endpoint = Endpoint(price_in=price_in, price_out=price_out)
    return Models(by_name={"a": (MODEL, endpoint), "b": (MODEL, Endpoint())}, **limits)


class Watched(Budget):
    """Remembers the most that was ever counted at once."""

    peak = 0
    cost_peak = 0.0

    @contextmanager
    def counts(self) -> Iterator[list[float]]:
        with super().counts() as counts:
            yield counts
            self.peak, self.cost_peak = (
                max(self.peak, int(counts[0])), max(self.cost_peak, counts[1])
            )  # fmt: skip


# The most that a question takes.


@given(st.text(max_size=99), st.integers(0, 200))
def test_a_question_with_its_schema_has_no_more_tokens_than_bytes(text: str, times: int) -> None:
    content, schema = text * times, {"title": "x" * times}
    asked = question("http://127.0.0.1/v1", content)
    most = replace(asked, make_schema=lambda: schema).upper_bound

    assert ("a", 50) == (most.name, most.tokens_out)
    assert len(content.encode()) + len(json.dumps(schema)) + WRAPPING < most.tokens_in


def test_no_schema_is_longer_than_its_limit() -> None:
    config = config_of({"agents": 1, "stamina": 1_000, "communication": True})
    entry = {"agent": 0, "policy": "raid", "options": {}}
    state = MINING.initial({"config": config.as_dict(), "roster": [entry]})
    rules = rules_of(configured({}).arena)
    schemas = [one.schema(rules) for one in QUESTIONS.values()] + [PlanPrompts(state).schema(0)]

    assert SCHEMA_MAX > max(len(json.dumps(schema).encode()) for schema in schemas)


# The ceilings.


AMOUNTS = st.lists(
    st.builds(Amount, st.just("a"), st.integers(0, 60), st.integers(0, 60)), max_size=4
)


@given(ceiling=st.integers(1, 400), taken=AMOUNTS, asked=AMOUNTS, is_cost=st.booleans())
@example(ceiling=100, taken=[Amount("a", 30, 30)], asked=[Amount("a", 20, 20)], is_cost=False)
@example(ceiling=100, taken=[Amount("a", 30, 30)], asked=[Amount("a", 20, 21)], is_cost=False)
@example(ceiling=20, taken=[Amount("a", 10, 5)], asked=[Amount("a", 10, 5)], is_cost=True)
@example(ceiling=20, taken=[Amount("a", 10, 5)], asked=[Amount("a", 11, 5)], is_cost=True)
def test_a_ceiling_objects_to_what_would_pass_it_and_says_what_is_left(
    ceiling: int, taken: list[Amount], asked: list[Amount], is_cost: bool
) -> None:
    """Of cost, a token of a question takes 0.5, of an answer 1; the other ceiling is far."""
    near, far = ("max_cost", "max_tokens")[:: 1 if is_cost else -1]
    models = priced(5e5, 1e6, **{near: ceiling, far: 10**6})
    part = 0.5 if is_cost else 1
    before, more = (sum(part * a.tokens_in + a.tokens_out for a in all) for all in (taken, asked))
    budget = Budget(models, ["a"], taken)
    objection = budget.reserve(asked)

    assert (before + more > ceiling) == (objection is not None)
    after = before + (0 if objection else more)
    assert after == counted(budget)[is_cost]
    if objection is not None:
        form, option = ("{:.4f}", "--max-cost") if is_cost else ("{:,}", "--max-tokens")
        left = max(0, ceiling - before)
        assert option == objection[1]
        assert form.format(more) in objection[0]
        assert form.format(left) in objection[0]


@pytest.mark.parametrize(
    ("price_in", "price_out", "name"), [(1.0, None, "a"), (None, 1.0, "a"), (1.0, 1.0, "b")]
)
def test_a_ceiling_of_cost_needs_both_prices_of_all_that_are_asked(
    price_in: float | None, price_out: float | None, name: str
) -> None:
    with pytest.raises(BadInput, match=rf"needs the price of {name}; .*\[{name}\]"):
        Budget(priced(price_in, price_out, max_cost=1.0), ["a", "b"])


def test_prices_are_those_of_models_that_have_both() -> None:
    both, one = priced(1.0, 2.0).by_name, priced(1.0, None).by_name
    price = Price(1.0, 2.0)

    assert {"a": price, "test-1": price} == prices(both), "by table, and as its server calls it"
    assert {"a": price} == prices({"a": both["a"], "test-1": both["b"]})
    assert {} == prices(one)


# What is counted as questions are asked.


GARBAGE = Reply(b"garbage")


@pytest.mark.parametrize(
    ("replies", "tokens"),
    [
        ([completion("x", usage=None)], MOST.tokens),
        ([completion("x" * 203, usage=(30, None))], 30 + 50),
        ([completion("x" * 204, usage=(30, None))], 30 + 51),  # 4 bytes each
        ([completion("x", usage=(-1, 7))], MOST.tokens_in + 7),
        ([completion("x", usage=(9_000, 10**6))], 1_009_000),  # more than was asked for
        ([error(429), error(503), completion("x", usage=(30, 7))], 37),
        ([error(500)], 0),
        ([GARBAGE, completion("x", usage=(30, 7))], MOST.tokens + 37),
        ([Reply(b"", raw=True), error(500)], MOST.tokens),
        ([attrs.evolve(completion("x"), announced=9_999)], 3 * MOST.tokens),
        ([completion("x", stalls=-1)], 3 * MOST.tokens),
    ],
)
def test_what_may_have_been_charged_is_counted(
    replies: list[Reply], tokens: int, clock: Clock
) -> None:
    budget = Budget(Models(), ["a"])
    with serving(in_turn(*replies)) as server, closing(Client(1)) as client:
        server.on_stall = clock.run_out
        list(answered(client, [question(server.address)], budget))

    assert tokens == counted(budget)[0]


def test_what_was_never_sent_is_free() -> None:
    budget = Budget(Models(), ["a"])
    with closing(Client(1)) as client:
        list(answered(client, [question(f"http://127.0.0.1:{closed_port()}/v1")], budget))

    assert 0 == counted(budget)[0]


def test_what_is_given_up_stays_counted() -> None:
    budget = Budget(Models(), ["a"])
    released = threading.Event()

    def respond(asked: Asked) -> Reply:
        if asked.text == "slow":
            released.wait(HANGS)
        return completion("x", usage=(30, 7))

    with serving(respond) as server, closing(Client(2)) as client:
        texts = ("quick", "slow", "slow")
        for _ in answered(client, [question(server.address, text) for text in texts], budget):
            break
        client.close()
        released.set()

    slow = question(server.address, "slow").upper_bound
    assert 37 + 2 * slow.tokens == counted(budget)[0]


class Scripted(Client):
    """Takes what comes of a try, and what it took in truth, from a list instead of a server."""

    script: Sequence[tuple[Answer | Failure, int]] = ()
    truth = tried = 0

    async def _try(self, question: Question) -> Answer | Failure:
        left = self.script[self.tried :]
        came, took = left[0] if left else (OVER, MOST.tokens)
        self.tried += 1
        self.truth += took
        return came


def answers_() -> st.SearchStrategy[tuple[Answer, int]]:
    """Answers of servers that tell the truth, or nothing."""

    def told(tokens_in: int, tokens_out: int, says: tuple[bool, bool]) -> tuple[Answer, int]:
        said = [
            count if say else None for count, say in zip((tokens_in, tokens_out), says, strict=True)
        ]
        return Answer(0, text="x", tokens_in=said[0], tokens_out=said[1]), tokens_in + tokens_out

    return st.builds(
        told,
        st.integers(0, MOST.tokens_in),
        st.integers(0, MOST.tokens_out),
        st.tuples(st.booleans(), st.booleans()),
    )


TRIES = st.one_of(
    answers_(),
    st.just((FREE, 0)),
    st.tuples(st.sampled_from([LOST, OVER]), st.integers(0, MOST.tokens)),
)


@pytest.fixture(scope="module")
def clients() -> Iterator[list[Scripted]]:
    """For many examples: one client for each of some limits."""
    scripted = [Scripted(concurrency) for concurrency in (1, 2, 5)]
    yield scripted
    for each in scripted:
        each.close()


@given(
    script=st.lists(TRIES, max_size=40),
    questions=st.integers(1, 8),
    spare=st.integers(0, 4 * MOST.tokens),
    place=st.integers(0, 2),
    price=st.sampled_from([None, 3.0]),
)
def test_no_ceiling_is_passed_whatever_comes(
    clients: list[Scripted],
    script: list[tuple[Answer | Failure, int]],
    questions: int,
    spare: int,
    place: int,
    price: float | None,
) -> None:
    ceiling = questions * MOST.tokens + spare
    cost = None if price is None else ceiling * price / 1e6
    models = priced(price, price, max_cost=cost, max_tokens=ceiling if price is None else None)
    budget = Watched(models, ["a"])
    asked = [question("http://127.0.0.1/v1", tries=5)] * questions
    client = clients[place]
    client.script, client.truth, client.tried = script, 0, 0
    answers = [answer for _, answer in answered(client, asked, budget)]

    assert questions == len(answers)
    assert client.tried == sum(answer.tries for answer in answers)
    assert client.truth <= counted(budget)[0] <= budget.peak
    if cost is None:
        assert budget.peak <= ceiling
    else:
        assert budget.cost_peak <= cost + 1e-9
