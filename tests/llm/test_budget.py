"""Budgets: whatever servers say, and however often they are asked again, no ceiling is passed."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldrush.agents.llm import client as client_
from goldrush.agents.llm.budget import WRAPPING, Amount, Budget, Objection, Price, prices
from goldrush.agents.llm.client import Client, Failure
from goldrush.agents.llm.model import TEXT, Model
from goldrush.agents.llm.models import Endpoint, Models
from goldrush.agents.llm.question import SCHEMA_MAX, Answer, Question
from goldrush.agents.worlds.competition.arenas import rules_of
from goldrush.agents.worlds.competition.players import configured
from goldrush.agents.worlds.competition.questions import QUESTIONS
from goldrush.agents.worlds.mining.prompts.prompt import PlanPrompts
from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import config_of
from goldrush.kernel.worlds.mining.observe import SharedView
from tests.llm.clock import Clock
from tests.llm.servers import (
    Asked,
    Reply,
    Server,
    answered,
    closed_port,
    completion,
    error,
    serving,
)
from tests.waiting import HANGS

MODEL = Model("a", "test-1", answer=TEXT, max_tokens=50)
FREE = Failure("no", 503, again=True, is_free=True)
LOST = Failure("lost", again=True)
OVER = Failure("over")


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The client's: no pause takes time."""
    clock = Clock()
    monkeypatch.setattr(client_, "asyncio", clock)
    return clock


@pytest.fixture(autouse=True)
def _without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def question(address: str, content: str = "state", **reach: Any) -> Question:
    endpoint = Endpoint(address, **{"tries": 3, **reach})
    messages = ({"role": "user", "content": content},)
    return Question(0, model=MODEL, messages=messages, endpoint=endpoint)


MOST = question("http://127.0.0.1/v1").upper_bound


def priced(price_in: float | None, price_out: float | None, **limits: Any) -> Models:
    endpoint = Endpoint(price_in=price_in, price_out=price_out)
    return Models(by_name={"a": (MODEL, endpoint), "b": (MODEL, Endpoint())}, **limits)


class Watched(Budget):
    """Remembers the most that was ever counted at once."""

    peak = 0
    cost_peak = 0.0

    def take(self, amount: Amount) -> None:
        super().take(amount)
        self.peak = max(self.peak, self.tokens)
        self.cost_peak = max(self.cost_peak, self.cost)


# The most that a question takes.


@pytest.mark.parametrize("content", ["", "state", "é漢🜚" * 99, '\x00"\\' * 99, "x" * 20_000])
def test_a_question_has_no_more_tokens_than_bytes(content: str) -> None:
    most = question("http://127.0.0.1/v1", content).upper_bound

    assert ("a", 50) == (most.name, most.tokens_out)
    assert len(content.encode()) + WRAPPING < most.tokens_in


def test_a_schema_is_counted_with_the_question() -> None:
    plain = question("http://127.0.0.1/v1")
    held = attrs.evolve(plain, make_schema=lambda: {"type": "object", "title": "x" * 1_000})

    assert held.upper_bound.tokens_in - plain.upper_bound.tokens_in > 1_000


def test_no_schema_is_longer_than_its_limit() -> None:
    config = config_of({"agents": 1, "stamina": 1_000, "communication": True})
    entry = {"agent": 0, "policy": "raid", "options": {}}
    state = MINING.initial({"config": config.as_dict(), "roster": [entry]})
    rules = rules_of(configured({}).arena)
    schemas = [one.schema(rules) for one in QUESTIONS.values()] + [
        PlanPrompts(SharedView(state)).schema(0)
    ]

    assert SCHEMA_MAX > max(len(json.dumps(schema).encode()) for schema in schemas)


def test_tokens_of_question_and_answer_are_counted_together() -> None:
    assert 120 == Amount("a", 100, 20).tokens


# The ceilings.


@pytest.mark.parametrize(
    ("ceiling", "taken", "asked", "says"),
    [
        (100, [], [(70, 30)], None),
        (100, [], [(70, 31)], "it may take up to 101 tokens, and 100 of 100 are left"),
        (100, [(30, 30)], [(20, 20)], None),
        (100, [(30, 30)], [(20, 21)], "it may take up to 41 tokens, and 40 of 100 are left"),
        (2_000, [(500, 0)], [(600, 10)] * 2, None),
        (
            2_000,
            [(500, 0)],
            [(600, 10)] * 3,
            "it may take up to 1,830 tokens, and 1,500 of 2,000 are left",
        ),
        (100, [(500, 0)], [(1, 0)], "it may take up to 1 tokens, and 500 of 100 are taken"),
        (None, [(10**9, 10**9)], [(10**9, 10**9)], None),
    ],
)
def test_a_ceiling_of_tokens_says_what_is_left(
    ceiling: int | None,
    taken: Sequence[tuple[int, int]],
    asked: Sequence[tuple[int, int]],
    says: str | None,
) -> None:
    budget = Budget(Models(max_tokens=ceiling), ["a"], [Amount("a", *tokens) for tokens in taken])
    objection = budget.objection([Amount("a", *tokens) for tokens in asked])

    assert (says and Objection(says, "--max-tokens")) == objection


@pytest.mark.parametrize(
    ("ceiling", "taken", "says"),
    [
        (5.0, 0, None),
        (4.0, 0, None),
        (3.99, 0, "it may cost up to 4.0000, and 3.9900 of 3.99 are left"),
        (6.0, 1, None),
        (5.0, 1, "it may cost up to 4.0000, and 3.0000 of 5 are left"),
        (0, 0, "it may cost up to 4.0000, and 0.0000 of 0 are left"),
        (1.0, 2, "it may cost up to 4.0000, and 0.0000 of 1 are left"),
    ],
)
def test_a_ceiling_of_cost_says_what_is_left(ceiling: float, taken: int, says: str | None) -> None:
    models = priced(2.0, 20.0, max_cost=ceiling)
    budget = Budget(models, ["a"], [Amount("a", 0, 100_000)] * taken)
    objection = budget.objection([Amount("a", 1_000_000, 100_000)])

    assert (says and Objection(says, "--max-cost")) == objection


def test_what_costs_nothing_fits_a_ceiling_of_nothing() -> None:
    budget = Budget(priced(0, 0, max_cost=0), ["a"])

    assert budget.objection([Amount("a", 10**6, 10**6)]) is None


def test_of_two_ceilings_either_objects() -> None:
    budget = Budget(priced(1.0, 1.0, max_cost=1.0, max_tokens=100), ["a"])
    cheap = Budget(priced(1e6, 1e6, max_cost=1.0, max_tokens=100), ["a"])

    assert "--max-tokens" in str(budget.objection([Amount("a", 101, 0)]))
    assert "--max-cost" in str(cheap.objection([Amount("a", 50, 0)]))


@pytest.mark.parametrize(("price_in", "price_out"), [(None, None), (1.0, None), (None, 1.0)])
def test_a_ceiling_of_cost_needs_both_prices(
    price_in: float | None, price_out: float | None
) -> None:
    with pytest.raises(BadInput) as refused:
        Budget(priced(price_in, price_out, max_cost=1.0), ["a"])

    assert "a ceiling of cost needs the price of a" == refused.value.what
    assert "give price_in and price_out in a table [a] (--models FILE)" == refused.value.instead


def test_a_ceiling_of_cost_needs_the_prices_of_all_that_are_asked() -> None:
    with pytest.raises(BadInput, match="needs the price of b"):
        Budget(priced(1.0, 1.0, max_cost=1.0), ["a", "b"])


def test_what_is_no_longer_asked_needs_no_price() -> None:
    budget = Budget(priced(1.0, 1.0, max_cost=1.0), ["a"], [Amount("b", 9, 9)])

    assert (18, 0.0) == (budget.tokens, budget.cost)


def test_a_ceiling_of_tokens_needs_no_price() -> None:
    assert Budget(Models(max_tokens=1), ["a"]).objection([]) is None


def test_prices_are_those_of_models_that_have_both() -> None:
    assert {"a": Price(1.0, 2.0)} == prices(priced(1.0, 2.0), ["a", "b", "c", "a"])
    assert {} == prices(priced(1.0, None), ["a"])


def test_what_was_taken_is_counted_with_its_price() -> None:
    budget = Budget(priced(2.0, 20.0), ["a"], [Amount("a", 500_000, 100_000)])

    assert (600_000, 3.0) == (budget.tokens, budget.cost)


@given(
    st.lists(st.builds(Amount, st.sampled_from("ab"), st.integers(0, 10**6), st.integers(0, 99)))
)
def test_what_is_given_back_was_never_taken(amounts: list[Amount]) -> None:
    budget = Budget(priced(1.5, 0.1), ["a", "b"])
    for amount in amounts:
        budget.take(amount)
    for amount in reversed(amounts):
        budget.give_back(amount)

    assert 0 == budget.tokens
    assert abs(budget.cost) < 1e-9


# What is counted as questions are asked.


def counted(
    *replies: Reply, times: int = 1, stalled: Callable[[], None] = lambda: None, **reach: Any
) -> tuple[int, list[Answer], Server]:
    """The tokens that are counted after so many questions to a server that replies so in turn."""
    left = list(replies)
    budget = Budget(Models(), ["a"])

    def respond(asked: Asked) -> Reply:
        return left.pop(0) if len(left) > 1 else left[0]

    with serving(respond) as server, closing(Client(1)) as client:
        server.on_stall = stalled
        questions = [question(server.address, **reach)] * times
        answers = [answer for _, answer in answered(client, questions, budget)]
    return budget.tokens, answers, server


GARBAGE = Reply(b"garbage")


@pytest.mark.parametrize(
    ("replies", "tokens"),
    [
        ([completion("x", usage=(30, 7))], 37),
        ([completion("x", usage=(0, 0))], MOST.tokens),
        ([completion("", usage=(30, 0))], 30),
        ([completion("x", usage=None)], MOST.tokens),
        ([completion("x", usage=(30, None))], 30 + 50),
        ([completion("x" * 203, usage=(30, None))], 30 + 50),
        ([completion("x" * 204, usage=(30, None))], 30 + 51),  # 4 bytes each
        ([completion("x", usage=(-1, 7))], MOST.tokens_in + 7),
        ([completion("x", usage=(9_000, 10**6))], 1_009_000),  # more than was asked for
        ([completion("x", usage=(10**6 + 1, 10**6 + 1))], MOST.tokens),
        ([completion("x", usage=(10**6 + 1, 7))], MOST.tokens_in + 7),
        ([completion(None, usage=(30, 7))], 37),
        ([error(429), error(503), completion("x", usage=(30, 7))], 37),
        ([error(500)], 0),
        ([error(401)], 0),
        ([Reply(b"", 307)], 0),
        ([GARBAGE, completion("x", usage=(30, 7))], MOST.tokens + 37),
        ([GARBAGE], 3 * MOST.tokens),
        ([Reply(b"", raw=True), error(500)], MOST.tokens),
        ([attrs.evolve(completion("x"), announced=9_999)], 3 * MOST.tokens),
        ([completion("x", headers={"Content-Encoding": "gzip"})], MOST.tokens),
    ],
)
def test_what_may_have_been_charged_is_counted(replies: list[Reply], tokens: int) -> None:
    assert tokens == counted(*replies)[0]


def test_what_comes_too_late_may_have_been_charged(clock: Clock) -> None:
    tokens, _, server = counted(completion("x", stalls=-1), stalled=clock.run_out, tries=2)

    assert (2, 2 * MOST.tokens) == (len(server.asked), tokens)


def test_what_was_never_sent_is_free() -> None:
    budget = Budget(Models(), ["a"])
    with closing(Client(1)) as client:
        list(answered(client, [question(f"http://127.0.0.1:{closed_port()}/v1")], budget))

    assert 0 == budget.tokens


def test_what_is_out_is_reserved() -> None:
    budget = Budget(Models(), ["a"])
    seen: list[int] = []

    def respond(asked: Asked) -> Reply:
        seen.append(budget.tokens)
        return completion("x", usage=(30, 7))

    with serving(respond) as server, closing(Client(1)) as client:
        list(answered(client, [question(server.address)] * 3, budget))

    assert [3 * MOST.tokens, 2 * MOST.tokens + 37, MOST.tokens + 74] == seen
    assert 3 * 37 == budget.tokens


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
    assert 37 + 2 * slow.tokens == budget.tokens


@pytest.mark.parametrize("concurrency", [1, 2, 3])
def test_who_is_asked_again_leaves_room_for_the_others(concurrency: int) -> None:
    budget = Watched(Models(max_tokens=3 * MOST.tokens), ["a"])
    with serving(lambda asked: GARBAGE) as server, closing(Client(concurrency)) as client:
        answers = [answer for _, answer in answered(client, [question(server.address)] * 3, budget)]

    assert [1, 1, 1] == [answer.tries for answer in answers]
    assert (3, 3 * MOST.tokens) == (len(server.asked), budget.peak)
    assert {
        "the response is not a chat completion; not tried again: it may take up to "
        f"{MOST.tokens:,} tokens, and 0 of {3 * MOST.tokens:,} are left (--max-tokens)"
    } == {answer.trouble for answer in answers}


def test_two_who_are_asked_again_do_not_share_one_room() -> None:
    together = threading.Barrier(2)
    budget = Watched(Models(max_tokens=3 * MOST.tokens), ["a"])
    first = threading.Semaphore(2)

    def respond(asked: Asked) -> Reply:
        if first.acquire(blocking=False):
            together.wait(HANGS)
        return GARBAGE

    with serving(respond) as server, closing(Client(2)) as client:
        found = answered(client, [question(server.address)] * 2, budget)
        tries = sorted(answer.tries for _, answer in found)

    assert [1, 2] == tries
    assert (3, 3 * MOST.tokens) == (len(server.asked), budget.peak)


def test_a_free_failure_is_asked_again_under_the_tightest_ceiling() -> None:
    budget = Watched(Models(max_tokens=MOST.tokens), ["a"])
    replies = iter([error(500), error(429)])
    with (
        serving(lambda asked: next(replies, completion("x"))) as server,
        closing(Client(1)) as client,
    ):
        [(_, answer)] = answered(client, [question(server.address)], budget)

    assert ("x", 3, MOST.tokens) == (answer.text, answer.tries, budget.peak)


def test_a_ceiling_of_cost_ends_the_tries_too() -> None:
    models = priced(1.0, 1.0, max_cost=MOST.tokens / 1e6)
    with serving(lambda asked: GARBAGE) as server, closing(Client(1)) as client:
        [(_, answer)] = answered(client, [question(server.address)], Budget(models, ["a"]))

    assert 1 == answer.tries
    assert answer.trouble.endswith("are left (--max-cost)")


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
    assert client.truth <= budget.tokens <= budget.peak
    if cost is None:
        assert budget.peak <= ceiling
    else:
        assert budget.cost_peak <= cost + 1e-9


@settings(max_examples=25)
@given(kinds=st.lists(st.integers(0, 6), max_size=20), spare=st.integers(0, 3 * MOST.tokens))
def test_no_ceiling_is_passed_by_real_servers(kinds: list[int], spare: int) -> None:
    ceiling = 4 * MOST.tokens + spare
    budget = Watched(Models(max_tokens=ceiling), ["a"])
    replies = [
        completion("x", usage=(30, 7)),
        completion("x", usage=None),
        error(429),
        GARBAGE,
        Reply(b"", raw=True),
        attrs.evolve(completion("x"), announced=9_999),
        error(400),
    ]
    left = [replies[kind] for kind in kinds]

    with (
        serving(lambda asked: left.pop() if left else GARBAGE) as server,
        closing(Client(2)) as client,
    ):
        answers = [answer for _, answer in answered(client, [question(server.address)] * 4, budget)]

    assert len(server.asked) == sum(answer.tries for answer in answers)
    assert budget.tokens <= budget.peak <= ceiling
