"""The client against servers of every kind: whatever one does, an answer comes of it, or the reason
why there is none.
"""

import asyncio
import gzip
import json
import signal
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import closing
from email.utils import formatdate
from functools import partial
from operator import itemgetter
from typing import Any

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from goldrush.agents.llm.asker import resolve_form
from goldrush.agents.llm.client import BODY_MAX, TROUBLE_MAX, Client
from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Endpoint
from goldrush.agents.llm.options import LIMITS, NAME_MAX, NONE, OPTION, SCHEMA, TEXT
from goldrush.agents.llm.question import REPORTED_MAX, TEXT_MAX, Answer
from goldrush.kernel.errors import BadInput
from tests.llm.clock import Clock
from tests.llm.servers import (
    MODEL,
    Asked,
    Reply,
    Server,
    answered,
    completion,
    error,
    in_turn,
    question,
    reply,
    serving,
)
from tests.waiting import HANGS, until

PLAN = {
    "type": "object", "properties": {"actions": {"type": "array"}}, "required": ["actions"],
    "additionalProperties": False,
}  # fmt: skip
GOOD = Answer(
    0, text="a plan", finish="stop", model="test-1", tokens_in=100, tokens_out=20, created=0
)
NO_COMPLETION = "the response is not a chat completion"
KEY = "sk-0123456789abcdef"
BOMB = gzip.compress(b" " * (16 << 20), 1)

pytestmark = pytest.mark.usefixtures("clock", "no_keys")


def answer_to(
    *replies: Reply, stalled: Callable[[], None] = lambda: None, **reach: Any
) -> tuple[Answer, Server]:
    """The answer that one question gets from a server that replies so, and the server."""
    with serving(in_turn(*replies)) as server, closing(Client(1)) as client:
        server.on_stall = stalled
        [(place, answer)] = answered(client, [question(server.address, **reach)])
    assert (0, len(server.asked)) == (place, answer.tries)
    return answer, server


def with_message(**message: Any) -> Reply:
    return reply("", message)


# What is sent.


def test_a_question_is_sent_as_it_is_and_no_more() -> None:
    content = 'é 漢 🜚 \x00\x1f\u2028 "}]}'
    answer, server = answer_to(completion("a plan"), content=content)
    messages = [{"role": "system", "content": "rules"}, {"role": "user", "content": content}]

    assert GOOD == answer
    assert [{"model": "test-1", "messages": messages, "max_tokens": 500}] == [
        asked.body for asked in server.asked
    ]
    assert "Bearer none" == server.asked[0].headers["authorization"]


# What is answered.


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (completion("", finish="length"), {"text": "", "finish": "length"}),
        (completion("a plan", model="m" * 999), {"model": "m" * NAME_MAX}),
        (completion("a\ud800b", model="\udfff"), {"text": "a\ufffdb", "model": "\ufffd"}),
        (completion("é" * (TEXT_MAX + 1)), {"text": "é" * TEXT_MAX}),
        (completion("a plan", finish=["stop"]), {"finish": None}),
        (with_message(content="a plan", refusal=7), {}),
        (
            with_message(content=[{"type": "text", "text": "a "}, {"type": "image", "text": "x"},
                                  {"type": "text", "text": "plan"}]),
            {},
        ),
        (
            with_message(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "?"}]},
                                  {"type": "text", "text": "a plan"}]),
            {"reasoning": "?"},
        ),
        (with_message(content="But", refusal="No"), {"text": "But", "error": "refusal"}),
        (
            completion(None, finish="content_filter"),
            {"text": "", "finish": "content_filter", "error": "refusal"},
        ),
    ],
)  # fmt: skip
def test_an_answer_says_what_came(reply: Reply, expected: dict[str, Any]) -> None:
    answer, _ = answer_to(reply)

    assert replace(GOOD, **expected) == answer


COUNTS = st.integers(-2, 2) | st.sampled_from(
    [REPORTED_MAX, REPORTED_MAX + 1, 10**400, None, True, 20.5, "100", [20], float("nan")]
)


@given(COUNTS, COUNTS)
@example(-1, 0)
def test_tokens_are_whole_numbers_in_range_or_unknown(
    kept: tuple[Server, Client], asked: Any, told: Any
) -> None:
    server, client = kept
    server.respond = lambda _: completion("a plan", usage=(asked, told))
    [(_, answer)] = answered(client, [question(server.address)])
    known = [
        count if type(count) is int and 1 <= count <= REPORTED_MAX else None
        for count in (asked, told)
    ]
    uncounted = len("a plan") // 4 if known[1] is None else 0

    assert (*known, uncounted) == (answer.tokens_in, answer.tokens_out, answer.uncounted)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b""), Reply(b"\xff\xfe\xfd"), Reply(b"[" * 500_000),
        Reply(b'{"choices": ' + b"9" * 5_000 + b"}"), Reply(b'{"error": null}'),
        reply("a plan", choices=[]), with_message(content=[{"type": "text", "text": 7}]),
    ],
)  # fmt: skip
def test_what_is_no_completion_is_asked_again(reply: Reply) -> None:
    answer, _ = answer_to(reply, tries=2)

    assert Answer(0, tries=2, trouble=NO_COMPLETION) == answer


@pytest.mark.parametrize(
    ("reply", "status", "tries"),
    [
        (reply("a plan", error={"message": "no", "code": 429}), 429, 2),
        (reply("a plan", error={"message": "no", "code": 402}), 402, 1),
        (
            reply("a plan", choices=[{"error": {"message": "no", "code": 502}, "message": {}}]),
            502,
            2,
        ),
    ],
)
def test_an_error_in_an_accepted_response_is_told_as_one(
    reply: Reply, status: int, tries: int
) -> None:
    answer, _ = answer_to(reply, tries=2)

    assert Answer(0, tries=tries, trouble=f"HTTP {status}: no", status=status) == answer


NAMES = ["choices", "message", "content", "text", "type", "error", "usage", "model"]
LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON: st.SearchStrategy[Any] = st.deferred(
    lambda: (
        LEAF
        | st.lists(JSON, max_size=2)
        | st.dictionaries(st.sampled_from(NAMES), JSON, max_size=2)
    )
)


@given(
    status=st.sampled_from([200, 201, 206, 302, 400, 401, 429, 500]),
    body=st.binary(max_size=99) | JSON.map(lambda value: json.dumps(value).encode()),
    header=st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=40),
)
def test_no_response_raises(
    kept: tuple[Server, Client], status: int, body: bytes, header: str
) -> None:
    server, client = kept
    headers = {"Retry-After": header, "Content-Type": header, "Location": header}
    server.respond = lambda asked: Reply(body, status, headers)
    [(_, answer)] = answered(client, [question(server.address, tries=1)])

    assert (status >= 300) <= (answer.status == status)
    assert (answer.trouble is None) <= (status < 300)


# What is too long, too slow, cut off or no HTTP.


@pytest.mark.parametrize("sent", [{"chunked": True}, {"announced": 1 << 50}], ids=str)
def test_a_gigantic_body_is_not_read(sent: dict[str, Any]) -> None:
    answer, _ = answer_to(Reply(b" " * (BODY_MAX + 1), **sent))

    assert Answer(0, trouble="a response of over 4,194,304 bytes") == answer


@pytest.mark.parametrize("chunked", [False, True])
def test_the_largest_body_is_read(chunked: bool) -> None:
    body = completion("a plan").body.ljust(BODY_MAX)
    headers = {"Content-Encoding": "identity"}
    answer, _ = answer_to(Reply(body, headers=headers, chunked=chunked))

    assert GOOD == answer


@pytest.mark.parametrize(("status", "encoding"), [(200, "GZip"), (500, "br"), (200, "gzip, gzip")])
def test_a_compressed_body_is_not_unpacked(status: int, encoding: str) -> None:
    answer, server = answer_to(Reply(BOMB, status, {"Content-Encoding": encoding}))

    assert Answer(0, trouble="a compressed response, which was not requested") == answer
    assert "identity" == server.asked[0].headers["accept-encoding"]


@pytest.mark.parametrize(("stalls", "status"), [(-1, 200), (0, 200), (20, 200), (20, 500)])
def test_a_slow_answer_is_given_up_and_asked_again(stalls: int, status: int, clock: Clock) -> None:
    slow = attrs.evolve(completion("a plan"), stalls=stalls, status=status)
    answer, _ = answer_to(slow, stalled=clock.run_out, tries=2, timeout=7.5)

    assert Answer(0, tries=2, trouble="no answer within 7.5 s") == answer
    assert [7.5, 7.5] == clock.limits


def test_without_a_limit_a_try_has_the_time_of_its_longest_answer(clock: Clock) -> None:
    with serving(in_turn(completion("a plan"))) as server, closing(Client(1)) as client:
        for tokens, pace in ((500, 0.02), (30_000, 0.02), (500, 0.5)):
            asked = question(server.address, model=attrs.evolve(MODEL, max_tokens=tokens))
            client._paces[asked.endpoint] = pace
            list(answered(client, [asked]))

    assert [120, 2 * 0.02 * 30_000, 2 * 0.5 * 500] == clock.limits


@pytest.mark.parametrize(
    "sent",
    [
        b"", b"\x00\xff" * 200, b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000,
    ],
)  # fmt: skip
def test_what_is_no_http_is_asked_again(sent: bytes) -> None:
    answer, _ = answer_to(Reply(sent, raw=True), tries=2)

    assert (None, None, 2) == (answer.text, answer.status, answer.tries)
    assert answer.trouble.startswith("RemoteProtocolError: ")


@pytest.mark.parametrize(("status", "more"), [(200, 1), (500, 1), (200, -1)])
def test_a_body_of_another_length_than_was_announced_is_asked_again(status: int, more: int) -> None:
    whole = completion("a plan")
    other = attrs.evolve(whole, status=status, announced=len(whole.body) + more)
    answer, _ = answer_to(other, whole)

    assert replace(GOOD, tries=2) == answer


# What a status means.


@given(st.integers(300, 599))
@example(408)
@example(429)
@example(499)
@example(500)
def test_a_status_is_tried_again_where_it_may_pass(
    kept: tuple[Server, Client], status: int
) -> None:
    server, client = kept
    server.respond = lambda asked: Reply(b"", status, {"Location": server.address})  # not followed
    [(_, answer)] = answered(client, [question(server.address)])
    tries = 3 if status in (408, 409, 425, 429) or status >= 500 else 1

    assert (tries, status, None) == (answer.tries, answer.status, answer.text)
    assert answer.trouble.startswith(f"HTTP {status}: ")


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b'{"error": {"message": "no  such\\nmodel"}}', "no such model"),
        (b'{"error": {"message": ["no"]}}', '["no"]'),
        (b'[{"error": {"code": 400, "message": "no such field"}}]', "no such field"),
        (b'{"detail": [{"loc": ["body", "seed"]}]}', '[{"loc": ["body", "seed"]}]'),
        (b'{"error": {"metadata": {"raw": "too long"}, "message": "No"}}', "No: too long"),
        (b"[]", "Bad Request"),
        (b'{"message": "' + b"line\\r\\t" * 9_999 + b'"}', ("line " * 99)[: TROUBLE_MAX - 10]),
    ],
)
def test_a_trouble_is_a_bounded_line_of_what_the_server_says(body: bytes, says: str) -> None:
    answer, _ = answer_to(Reply(body, 400))

    assert Answer(0, trouble=f"HTTP 400: {says}", status=400) == answer


# When it is asked again.


NO_TIMES = [
    "-5", "1e400", "nan", "", "²", "9" * 5_000, "Wed, 21 Oct 2015 07:28:00 GMT", "21 Oct 9999999",
]  # fmt: skip


@pytest.mark.parametrize(
    ("headers", "status", "least"),
    [
        ({"retry-after-ms": "300", "Retry-After": "9999"}, 503, 0.3),
        ({"retry-after-ms": "soon", "Retry-After": "0.3"}, 429, 0.3),
        ({"retry-after-ms": "inf", "Retry-After": "0.3"}, 503, 0.3),
        *(({"retry-after-ms": text, "Retry-After": text}, 429, 0) for text in NO_TIMES),
    ],
)
def test_it_is_asked_again_after_the_time_that_a_server_says(
    headers: dict[str, str], status: int, least: float, clock: Clock
) -> None:
    sent = {name: text.encode().decode("latin-1") for name, text in headers.items()}
    answer, _ = answer_to(error(status, headers=sent), completion("a plan"))
    [slept] = clock.slept

    assert replace(GOOD, tries=2) == answer
    assert least <= slept < 1.2


@pytest.mark.parametrize(
    "headers",
    [{"Retry-After": "601"}, {"retry-after-ms": "601000"}, {"Retry-After": formatdate(4e9)}],
)
@pytest.mark.parametrize("status", [429, 503])
def test_who_says_to_wait_too_long_is_not_asked_again(headers: dict[str, str], status: int) -> None:
    answer, _ = answer_to(error(status, headers=headers))

    assert (1, status) == (answer.tries, answer.status)
    assert " (it says to wait " in answer.trouble


def test_the_longest_wait_is_waited_and_waits_are_limited_together(clock: Clock) -> None:
    longest, wait = (error(429, headers={"Retry-After": time}) for time in ("600", "400"))
    waited, _ = answer_to(longest, completion("a plan"))
    given_up, _ = answer_to(wait, wait, completion("a plan"))

    assert replace(GOOD, tries=2) == waited
    assert (2, 429, 2) == (given_up.tries, given_up.status, len(clock.slept))
    assert 600 <= clock.slept[0]


def test_without_a_word_the_pauses_become_longer(clock: Clock) -> None:
    answer_to(error(500), tries=9)
    pauses = (0.5, 1, 2, 4, 8, 16, 30, 30)

    assert [True] * 8 == [
        0.75 * pause <= slept <= pause for pause, slept in zip(pauses, clock.slept, strict=True)
    ]


def test_who_is_told_to_wait_loses_no_try() -> None:
    wait = error(429, headers={"Retry-After": "1"})
    answer, _ = answer_to(wait, wait, completion("a plan"), tries=1)

    assert replace(GOOD, tries=3) == answer


# Many at once.


@pytest.mark.parametrize("concurrency", [1, 2, 5])
def test_as_many_are_out_at_once_as_may_be_at_all_servers_together(concurrency: int) -> None:
    together, lock = threading.Barrier(concurrency), threading.Lock()
    at_once = [0]

    def respond(asked: Asked) -> Reply:
        with lock:
            at_once.append(at_once[-1] + 1)
        together.wait(HANGS)
        with lock:
            at_once.append(at_once[-1] - 1)
        return completion(asked.text)

    count = 4 * concurrency
    with serving(respond) as a, serving(respond) as b, closing(Client(concurrency)) as client:
        questions = [question((a, b)[i % 2].address, str(i)) for i in range(count)]
        found = {place: answer.text for place, answer in answered(client, questions)}

    assert {place: str(place) for place in range(count)} == found
    assert concurrency == max(at_once)


def test_a_question_that_waits_for_another_try_does_not_hold_up_the_others(clock: Clock) -> None:
    replies = iter([error(429, headers={"Retry-After": "0.1"})])
    clock.awake.clear()
    places = []

    with (
        serving(lambda asked: next(replies, completion("a plan"))) as server,
        closing(Client(1)) as client,
    ):
        for place, _ in answered(client, [question(server.address)] * 3):
            places.append(place)
            if len(places) == 2:
                clock.awake.set()

    assert ([1, 2, 0], 4, 1) == (places, len(server.asked), server.most_at_once)


# Leaving early.


@pytest.mark.parametrize("is_pause", [False, True])
def test_closing_wakes_who_waits_for_an_answer_or_in_a_pause_and_leaves_nothing_behind(
    is_pause: bool, clock: Clock
) -> None:
    before = set(threading.enumerate())
    ended: list[BaseException] = []
    is_asked, is_over = threading.Event(), threading.Event()
    clock.awake.clear()

    def respond(asked: Asked) -> Reply:
        is_asked.set()
        if not is_pause:
            is_over.wait(HANGS)
        return error(429, headers={"Retry-After": "500"})

    def wait() -> None:
        try:
            list(answered(client, [question(server.address)]))
        except BaseException as error:
            ended.append(error)

    with serving(respond) as server:
        client = Client(2)
        consumer = threading.Thread(target=wait)
        consumer.start()
        assert is_asked.wait(HANGS)
        client.close()
        client.close()
        consumer.join(HANGS)
        is_over.set()
        until(lambda: not [
            thread for thread in set(threading.enumerate()) - before
            if thread.name.startswith(("models", "asyncio"))
        ])  # fmt: skip

    assert [CancelledError] == list(map(type, ended))
    assert 1 == len(server.asked)


def test_a_client_is_used_again_also_where_a_loop_runs_already() -> None:
    async def notebook() -> list[list[str | None]]:
        with closing(Client(3)) as client:
            return [
                [
                    answer.text
                    for _, answer in answered(client, [question(server.address, turn)] * 3)
                ]
                for turn in "abc"
            ]

    with serving(lambda asked: completion(asked.text)) as server:
        assert [[turn] * 3 for turn in "abc"] == asyncio.run(notebook())


# Keys.


@pytest.mark.parametrize(
    "disguised",
    [
        "\\u0073" + KEY[1:], KEY[:4] + "\x07" + KEY[4:], KEY[:4] + "\\" + KEY[4:],
        " ".join(KEY.upper()),
    ],
)  # fmt: skip
def test_where_a_disguised_key_comes_back_nothing_of_it_is_kept(
    disguised: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    said = f'{{"actions": [], "say": "{disguised}"}}'
    answer, _ = answer_to(completion(said, model=disguised))
    refused, _ = answer_to(error(400, f"{disguised} is wrong"))

    assert ("[key]", "[key]") == (answer.text, answer.model)
    assert "[key]" == refused.trouble


def test_what_other_servers_are_not_to_know_is_not_sent_and_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-somebody")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Tenant: a-tenants-secret\nX-Other: 1")
    answer, server = answer_to(completion("you are a-tenants-secret"))

    assert "of-somebody" not in repr(server.asked)
    assert "you are [key]" == answer.text


@pytest.mark.parametrize("value", ["sk-two words", "sk-\x00", "sk-ключ"])
def test_a_key_that_no_header_holds_is_refused_unseen(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The system's own environment takes no NUL.
    monkeypatch.setattr("goldrush.agents.llm.models.os.environ", {"TEST_KEY": value})
    with pytest.raises(BadInput, match="TEST_KEY does not hold a key") as refused:
        Endpoint("http://127.0.0.1/v1", key_env="TEST_KEY").key()

    assert "sk-" not in str(refused.value)


@pytest.mark.parametrize(
    "reply",
    [
        completion(f"your key is {KEY.upper()}, {KEY.title()}{KEY}", finish=KEY, model=KEY),
        completion(None, refusal=KEY),
        completion([{"type": "text", "text": KEY[:9]}, {"type": "text", "text": KEY[9:]}]),
        completion("x" * (TEXT_MAX - 9) + KEY),
        completion("a plan", model="m" * (NAME_MAX - 9) + KEY),
        error(500, "x" * (TROUBLE_MAX - 20) + KEY),
        completion("a plan", headers={"Content-Encoding": KEY}),
        Reply(f"HTTP/1.1 400 {KEY}\r\nContent-Length: 0\r\n\r\n".encode(), raw=True),
        Reply(f"HTTP/1.1 200 OK\r\nContent-Length: {KEY}\r\n\r\n".encode(), raw=True),
    ],
)  # fmt: skip
def test_a_server_that_sends_the_key_back_puts_it_into_no_answer(
    reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    answer, _ = answer_to(reply)

    assert KEY[:6] not in repr(answer).lower()


def test_of_two_keys_neither_comes_back_and_none_is_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    longer = f"{KEY}-and-more"
    with (
        serving(in_turn(completion(f"{longer} {KEY} none"))) as server,
        closing(Client(1)) as client,
    ):
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("TEST_KEY", longer)
        monkeypatch.setenv("OTHER_KEY", "none")
        keys = ("OPENAI_API_KEY", "TEST_KEY", "OTHER_KEY")
        questions = [question(server.address, key_env=name) for name in keys]
        found = [answer.text for _, answer in answered(client, questions)]

    assert ["[key] [key] none"] * 3 == found


@pytest.mark.parametrize("address", ["http://ü-.x/v1", "http://127.0.0.1/" + "x" * 70_000])
def test_an_address_that_cannot_be_used_is_told_before_anything_is_sent(address: str) -> None:
    with serving(in_turn(completion("a plan"))) as server, closing(Client(1)) as client:
        asked = answered(client, [question(server.address), question(address)])
        with pytest.raises(BadInput, match="base_url cannot be used"):
            next(asked)

    assert [] == server.asked


# How a server wants to be asked.


AS_IT_IS = Model("test", "test-1", max_tokens=500, seed_from=OPTION, reasoning=NONE)


def probed(
    respond: Callable[[Asked], Reply], model: Model = AS_IT_IS, **reach: Any
) -> tuple[Model, list[dict[str, Any]]]:
    """What is found out about a server, and the fields that it was asked with."""
    with serving(respond, greets=False) as server, closing(Client(1)) as client:
        short = question(server.address, **reach)
        found = resolve_form(client, model, short.endpoint, PLAN)
    return found, [asked.body for asked in server.asked]


def strict(
    *, schema: int | None = None, limit: str | None = None, text: str = '{"actions": []}'
) -> Callable[[Asked], Reply]:
    """A server that refuses a schema with that status, and the limit if it is called otherwise."""

    def respond(asked: Asked) -> Reply:
        wrong = {None: None, LIMITS[0]: LIMITS[1], LIMITS[1]: LIMITS[0]}[limit]
        if wrong in asked.body:
            return error(400, f"Unsupported parameter: '{wrong}'. Use '{limit}' instead.")
        if schema is not None and "response_format" in asked.body:
            return error(schema, "response_format is not supported")
        return completion(text)

    return respond


cut = partial(completion, finish="length")


@pytest.mark.parametrize(
    ("respond", "answer", "limit", "asked"),
    [
        (strict(), SCHEMA, LIMITS[0], 1),
        (strict(schema=501), TEXT, LIMITS[0], 4),
        (strict(limit=LIMITS[1]), SCHEMA, LIMITS[1], 2),
        (strict(schema=422, limit=LIMITS[1]), TEXT, LIMITS[1], 4),
        (strict(text="I am a miner!"), TEXT, LIMITS[0], 1),
        (strict(text='{"actions": [], "ready": true}'), TEXT, LIMITS[0], 1),
        (strict(text=' {"actions": [[1]]} \n'), SCHEMA, LIMITS[0], 1),
        (strict(text=""), TEXT, LIMITS[0], 2),
        (in_turn(cut(" \n")), TEXT, LIMITS[0], 2),
        (in_turn(completion(None), completion('{"actions": []}')), SCHEMA, LIMITS[0], 2),
        (in_turn(completion(None), error(400, "max_tokens is too large")), TEXT, LIMITS[0], 2),
        (in_turn(cut('{"actions": [[\n1')), SCHEMA, LIMITS[0], 1),
        (in_turn(cut("{")), SCHEMA, LIMITS[0], 1),
        (in_turn(cut('{"act": 1, "a')), TEXT, LIMITS[0], 1),
        (in_turn(error(503), completion('{"actions": []}')), SCHEMA, LIMITS[0], 2),
    ],
)
def test_a_server_is_asked_in_the_way_that_it_takes(
    respond: Callable[[Asked], Reply], answer: str, limit: str, asked: int
) -> None:
    found, bodies = probed(respond)

    assert attrs.evolve(AS_IT_IS, answer=answer, limit=limit) == found
    assert asked == len(bodies)


@pytest.mark.parametrize("short", [cut(None), error(400, "max_tokens < thinking.budget_tokens")])
def test_a_model_that_thinks_is_asked_once_more_with_room_for_an_answer(short: Reply) -> None:
    """It spends 1,000 tokens before it says anything; all else of the model is in both."""
    model = attrs.evolve(AS_IT_IS, temperature=0.5, seed=7, max_tokens=4_000)

    def respond(asked: Asked) -> Reply:
        return short if asked.body["max_tokens"] < 1_000 else completion('{"actions": []}')

    found, bodies = probed(respond, model)

    assert attrs.evolve(model, answer=SCHEMA) == found
    assert [(200, 0.5, 7), (4_000, 0.5, 7)] == [
        (body["max_tokens"], body["temperature"], body["seed"]) for body in bodies
    ]


@pytest.mark.parametrize("answer", [SCHEMA, TEXT])
@pytest.mark.parametrize("text", [None, "some prose"])
def test_only_the_form_that_is_decided_is_asked_and_any_answer_is_enough(
    answer: str, text: str | None
) -> None:
    model = attrs.evolve(AS_IT_IS, answer=answer, limit=LIMITS[1])
    found, [body] = probed(in_turn(completion(text)), model)

    assert model == found
    assert (answer == SCHEMA, True) == ("response_format" in body, LIMITS[1] in body)


@pytest.mark.parametrize(
    ("reply", "says", "asked"),
    [
        (error(401, f"no key {KEY}"), "HTTP 401: no key [key]", 1),
        (error(400, f"use {LIMITS[1]}"), f"HTTP 400: use {LIMITS[1]}", 4),
        (error(500, "on fire"), "HTTP 500: on fire", 4),
        (Reply(b"<h1>Welcome</h1>"), NO_COMPLETION, 2),
    ],
)
def test_a_server_that_does_not_answer_is_named_with_the_reason(
    reply: Reply, says: str, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(in_turn(reply), greets=False) as server, closing(Client(1)) as client:
        short = question(server.address, tries=2)
        with pytest.raises(BadInput) as refused:
            resolve_form(client, AS_IT_IS, short.endpoint, PLAN)

    assert refused.value.what.endswith(f"{server.address} does not answer: {says}")
    assert asked == len(server.asked)


@pytest.mark.parametrize("signals", [1, 2])
def test_ctrl_c_waits_for_what_a_server_has_and_a_second_one_does_not(signals: int) -> None:
    warned, released = threading.Event(), threading.Event()
    arrived: list[int] = []

    def respond(asked: Asked) -> Reply:
        signal.raise_signal(signal.SIGINT)
        warned.wait(HANGS)
        if signals == 2:
            signal.raise_signal(signal.SIGINT)
            released.wait(HANGS)
        return completion("x")

    def warn(line: str) -> None:
        assert "waits for 1 answer under way; Ctrl-C again gives up" in line
        warned.set()

    with serving(respond) as server, closing(Client(1, warn)) as client:
        asked = [question(server.address), question(server.address)]
        with pytest.raises(KeyboardInterrupt):
            arrived.extend(map(itemgetter(0), answered(client, asked)))
        released.set()

    assert 1 == len(server.asked)
    assert ([0] if signals == 1 else []) == arrived
