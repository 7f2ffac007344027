"""The client against servers of every kind: whatever one does, an answer comes of it, or the reason
why there is none.
"""

import asyncio
import gzip
import json
import signal
import threading
from asyncio import CancelledError
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from email.utils import formatdate
from typing import Any

import attrs
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.agents.llm import client as client_
from goldrush.agents.llm.asker import resolve_form
from goldrush.agents.llm.budget import Budget
from goldrush.agents.llm.client import BODY_MAX, TROUBLE_MAX, Client
from goldrush.agents.llm.model import LIMITS, NAME_MAX, NONE, OPTION, SCHEMA, TEXT, Model
from goldrush.agents.llm.models import Endpoint, Models
from goldrush.agents.llm.question import TEXT_MAX, Answer, Question
from goldrush.kernel.errors import BadInput
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
from tests.waiting import HANGS, until

MODEL = Model("test", "test-1", max_tokens=500, answer=TEXT)
FORM = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
PLAN = {**FORM, "properties": {"actions": {"type": "array"}}, "required": ["actions"]}
GOOD = Answer(
    0, text="a plan", finish="stop", model="test-1", tokens_in=100, tokens_out=20, created=0
)
NO_COMPLETION = "the response is not a chat completion"
KEY = "sk-0123456789abcdef"
BOMB = gzip.compress(b" " * (16 << 20), 1)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The client's: no pause takes time."""
    clock = Clock()
    monkeypatch.setattr(client_, "asyncio", clock)
    return clock


@pytest.fixture(autouse=True)
def _without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TEST_KEY"):
        monkeypatch.delenv(name, raising=False)


def question(address: str, content: str = "state", model: Model = MODEL, **reach: Any) -> Question:
    messages = ({"role": "system", "content": "rules"}, {"role": "user", "content": content})
    endpoint = Endpoint(address, **{"tries": 3, **reach})
    return Question(0, model=model, messages=messages, make_schema=lambda: FORM, endpoint=endpoint)


MOST = question("", "state").upper_bound


def in_turn(*replies: Reply) -> Callable[[Asked], Reply]:
    """These replies one after the other, then the last again and again."""
    left = list(replies)
    return lambda asked: left.pop(0) if len(left) > 1 else left[0]


def answer_to(
    *replies: Reply, stalled: Callable[[], None] = lambda: None, **reach: Any
) -> tuple[Answer, Server]:
    """The answer that one question gets from a server that replies so, and the server."""
    with serving(in_turn(*replies)) as server, closing(Client(1)) as client:
        server.on_stall = stalled
        [(place, answer)] = answered(client, [question(server.address, **reach)])
    assert (0, len(server.asked)) == (place, answer.tries)
    return answer, server


def with_body(**changes: Any) -> Reply:
    """A completion, some of whose fields are others."""
    body = json.loads(completion("a plan").body)
    return Reply(json.dumps({**body, **changes}).encode())


def with_message(**message: Any) -> Reply:
    return with_body(choices=[{"message": message, "finish_reason": "stop"}])


# What is sent.


def test_a_question_is_sent_as_it_is_and_no_more() -> None:
    answer, server = answer_to(completion("a plan"))

    assert GOOD == answer
    assert [
        {
            "model": "test-1",
            "messages": [
                {"role": "system", "content": "rules"},
                {"role": "user", "content": "state"},
            ],
            "max_tokens": 500,
        }
    ] == [asked.body for asked in server.asked]


@pytest.mark.parametrize(
    ("changes", "sent"),
    [
        ({"temperature": 0}, {"temperature": 0.0, "max_tokens": 500}),
        ({"temperature": 1.5, "seed": 7}, {"temperature": 1.5, "seed": 7, "max_tokens": 500}),
        ({"seed": 0}, {"seed": 0, "max_tokens": 500}),
        ({"max_tokens": 9}, {"max_tokens": 9}),
        ({"limit": LIMITS[1]}, {"max_completion_tokens": 500}),
        (
            {"answer": SCHEMA},
            {
                "max_tokens": 500,
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "answer", "strict": True, "schema": FORM},
                },
            },
        ),
    ],
)
def test_what_is_set_is_sent(changes: dict[str, Any], sent: dict[str, Any]) -> None:
    _, server = answer_to(completion("a plan"), model=attrs.evolve(MODEL, **changes))
    body = server.asked[0].body

    assert sent == {name: body[name] for name in body if name not in ("model", "messages")}


@pytest.mark.parametrize("content", ["é ü 漢 🜚", "\x00\x1f\u2028", '"}]}', "x" * 20_000])
def test_any_text_arrives_as_it_is(content: str) -> None:
    _, server = answer_to(completion("a plan"), content=content)

    assert content == server.asked[0].text


# What is answered.


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (completion("a plan", finish="length"), {"finish": "length"}),
        (completion("", finish="stop"), {"text": ""}),
        (completion("a plan", model=None), {"model": None}),
        (completion("a plan", model=7), {"model": None}),
        (completion("a plan", model="m" * 999), {"model": "m" * NAME_MAX}),
        (completion("a\ud800b", model="\udfff"), {"text": "a\ufffdb", "model": "\ufffd"}),
        (completion("é" * (TEXT_MAX + 1)), {"text": "é" * TEXT_MAX}),
        (with_body(choices=[{"message": {"content": "a plan"}}]), {"finish": None}),
        (
            with_body(choices=[{"message": {"content": "a plan"}, "finish_reason": ["stop"]}]),
            {"finish": None},
        ),
        (with_message(content="a plan", refusal=""), {}),
        (with_message(content="a plan", refusal=7), {}),
        (with_message(content=None), {"text": None}),
        (with_message(), {"text": None}),
        (with_message(content=7), {"text": None}),
        (with_message(content={"text": "no"}), {"text": None}),
        (with_message(content=[]), {"text": ""}),
        (
            with_message(
                content=[
                    {"type": "text", "text": "a "},
                    {"type": "image", "text": "picture"},
                    {"type": "text", "text": "plan"},
                ]
            ),
            {},
        ),
        (
            with_message(content=None, refusal="I will not"),
            {"text": "I will not", "error": "refusal"},
        ),
        (
            with_message(content="", refusal="I will not"),
            {"text": "I will not", "error": "refusal"},
        ),
        (with_message(content="But", refusal="I will not"), {"text": "But", "error": "refusal"}),
        (
            completion(None, finish="content_filter"),
            {"text": "", "finish": "content_filter", "error": "refusal"},
        ),
        (
            completion("a pl", finish="content_filter"),
            {"text": "a pl", "finish": "content_filter", "error": "refusal"},
        ),
    ],
)
def test_an_answer_says_what_came(reply: Reply, expected: dict[str, Any]) -> None:
    answer, _ = answer_to(reply)

    assert attrs.evolve(GOOD, **expected) == answer


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, (None, None)),
        ({}, (None, None)),
        ([100, 20], (None, None)),
        ("100", (None, None)),
        ((0, 0), (None, None)),  # no question has no tokens, and no text
        ((1, 1), (1, 1)),
        ((100, None), (100, None)),
        ((-1, 20), (None, 20)),
        ((True, False), (None, None)),
        ((100.0, 20.5), (None, None)),
        (("100", [20]), (None, None)),
        ((float("nan"), float("inf")), (None, None)),
        ((MOST.tokens_in, MOST.tokens_out), (MOST.tokens_in, MOST.tokens_out)),
        ((MOST.tokens_in + 1, MOST.tokens_out + 1), (MOST.tokens_in + 1, MOST.tokens_out + 1)),
        ((10**6 + 1, 10**6 + 1), (None, None)),
        ((10**400, 20), (None, 20)),
    ],
)
def test_tokens_are_whole_numbers_in_range_or_unknown(
    usage: object, expected: tuple[int | None, int | None]
) -> None:
    answer, _ = answer_to(completion("a plan", usage=usage))

    tokens_in, tokens_out = expected
    uncounted = len("a plan") // 4 if tokens_out is None else 0
    assert answer == attrs.evolve(
        GOOD, tokens_in=tokens_in, tokens_out=tokens_out, uncounted=uncounted
    )


@pytest.mark.parametrize(
    "content_type",
    [
        "text/html",
        "text/event-stream",
        "application/octet-stream",
        "application/json; charset=zlib",
        "application/json; charset=idna",
        "; ;;",
        None,
    ],
)
@pytest.mark.parametrize("status", [200, 500])
def test_a_body_counts_whatever_type_it_is_given(content_type: str | None, status: int) -> None:
    right = {200: completion("a plan"), 500: error(500, "on fire")}[status]
    answer, _ = answer_to(attrs.evolve(right, headers={"Content-Type": content_type}), tries=2)
    failed = Answer(0, tries=2, trouble="HTTP 500: on fire", status=500)

    assert {200: GOOD, 500: failed}[status] == answer


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"", None),
        (b"", "application/json"),
        (b"\xff\xfe\xfd", "application/json"),
        (completion("plan").body.replace(b"plan", b"pl\xe4n"), "application/json"),
        (completion("a plan").body[:-1], "application/json"),
        (completion("a plan").body * 2, "application/json"),
        (b"<!doctype html><title>Sign in</title>", "text/html"),
        (b"data: " + completion("a plan").body + b"\n\ndata: [DONE]\n\n", "text/event-stream"),
        (b"null", "application/json"),
        (b"7", "application/json"),
        (b'"choices"', "application/json"),
        (b"NaN", "application/json"),
        (b"[]", "application/json"),
        (b"{}", "application/json"),
        (b"[" * 500_000, "application/json"),
        (b'{"choices":' * 100_000, "application/json"),
        (b'{"choices": ' + b"9" * 5_000 + b"}", "application/json"),
        (b'{"error": {"message": "no"}}', "application/json"),
    ],
)
def test_what_is_no_json_object_is_asked_again(body: bytes, content_type: str | None) -> None:
    answer, _ = answer_to(Reply(body, headers={"Content-Type": content_type}), tries=2)

    assert Answer(0, tries=2, trouble=NO_COMPLETION) == answer


@pytest.mark.parametrize(
    "choices",
    [
        None, [], {}, "text", 7, {"0": {}}, [None], ["text"], [[]], [7], [{}],
        [{"message": None}], [{"message": "a plan"}], [{"message": ["a plan"]}], [{"message": 7}],
        [{"delta": {"content": "a plan"}}], [{"text": "a plan"}],
        [{"message": {"content": [1]}}], [{"message": {"content": ["a plan"]}}],
        [{"message": {"content": [{"type": "text"}]}}],
        [{"message": {"content": [{"type": "text", "text": 7}]}}],
    ],
)  # fmt: skip
def test_json_of_another_shape_is_asked_again(choices: object) -> None:
    answer, _ = answer_to(with_body(choices=choices), completion("a plan"))

    assert attrs.evolve(GOOD, tries=2) == answer


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "text", "type", "error", "usage", "model"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def kept() -> Iterator[tuple[Server, Client]]:
    """One server and one client for many examples."""
    with serving(in_turn(Reply(b""))) as server, closing(Client(1)) as client:
        yield server, client


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


@pytest.mark.parametrize("status", [200, 404, 500])
@pytest.mark.parametrize(
    "reply",
    [
        Reply(b" " * (BODY_MAX + 1)),
        Reply(b" " * (BODY_MAX + 1), chunked=True),
        Reply(b" " * (BODY_MAX + 1), announced=1 << 50),
        Reply(b" " * (BODY_MAX + 1), headers={"Content-Length": None}),
    ],
    ids=["length", "chunked", "more announced", "no length"],
)
def test_a_gigantic_body_is_not_read(reply: Reply, status: int) -> None:
    answer, _ = answer_to(attrs.evolve(reply, status=status))

    assert Answer(0, trouble="a response of over 4,194,304 bytes") == answer


@pytest.mark.parametrize("chunked", [False, True])
def test_the_largest_body_is_read(chunked: bool) -> None:
    body = completion("a plan").body.ljust(BODY_MAX)
    answer, _ = answer_to(Reply(body, chunked=chunked))

    assert GOOD == answer


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("encoding", ["gzip", "GZip", "deflate", "br", "zstd", "gzip, gzip"])
def test_a_compressed_body_is_not_unpacked(encoding: str, status: int) -> None:
    answer, server = answer_to(Reply(BOMB, status, {"Content-Encoding": encoding}))

    assert Answer(0, trouble="a compressed response, which was not requested") == answer
    assert "identity" == server.asked[0].headers["accept-encoding"]


def test_a_body_may_say_that_it_is_not_compressed() -> None:
    answer, _ = answer_to(completion("a plan", headers={"Content-Encoding": "identity"}))

    assert GOOD == answer


@pytest.mark.parametrize(
    "reply",
    [
        completion("a plan", stalls=-1),
        completion("a plan", stalls=0),
        completion("a plan", stalls=20),
        attrs.evolve(completion("a plan"), stalls=20, status=500),
        Reply(b"HTTP/1.1 100 Continue\r\n\r\n", announced=999, stalls=25),
    ],
    ids=["silent", "a header", "a beginning", "a beginning of an error", "never whole"],
)
def test_a_slow_answer_is_given_up_and_asked_again(reply: Reply, clock: Clock) -> None:
    answer, _ = answer_to(reply, stalled=clock.run_out, tries=2, timeout=400)

    assert Answer(0, tries=2, trouble="no answer within 400 s") == answer


def test_every_try_has_the_seconds_of_its_endpoint(clock: Clock) -> None:
    late = completion("late", stalls=-1)
    answer, _ = answer_to(late, late, stalled=clock.run_out, tries=2, timeout=7.5)

    assert [7.5, 7.5] == clock.limits
    assert "no answer within 7.5 s" == answer.trouble


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (b"", "Server disconnected without sending a response."),
        (b"\x00\xff" * 200, ""),
        (b"\x16\x03\x01\x02\x00\x01", ""),
        (b"SSH-2.0-OpenSSH_9.6\r\n", ""),
        (b"HTTP/1.1 garbage\r\n\r\n", "illegal status line"),
        (b"HTTP/1.1 99999 what\r\n\r\n", "illegal status line"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 3, "Server disconnected"),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", ""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}", "bad Content-Length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}", "bad Content-Length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}", "conflicting"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "illegal chunk header"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "peer closed connection"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000, "Receive buffer too long"),
    ],
)
def test_what_is_no_http_is_asked_again(sent: bytes, says: str) -> None:
    answer, _ = answer_to(Reply(sent, raw=True), tries=2)

    assert (None, None, 2) == (answer.text, answer.status, answer.tries)
    assert answer.trouble.startswith("RemoteProtocolError: " + says)


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_stream_that_is_cut_is_asked_again(status: int) -> None:
    whole = completion("a plan")
    cut = attrs.evolve(whole, status=status, announced=len(whole.body) + 1)
    answer, _ = answer_to(cut, whole)

    assert attrs.evolve(GOOD, tries=2) == answer


def test_more_than_was_announced_is_not_read() -> None:
    whole = completion("a plan")
    answer, _ = answer_to(attrs.evolve(whole, announced=len(whole.body) - 1), whole)

    assert attrs.evolve(GOOD, tries=2) == answer


def test_a_server_that_is_not_there_is_tried_again_and_named() -> None:
    with closing(Client(1)) as client:
        [(_, answer)] = answered(client, [question(f"http://127.0.0.1:{closed_port()}/v1")])

    assert Answer(0, tries=3, trouble="ConnectError: All connection attempts failed") == answer


def test_a_connection_has_half_the_time_of_a_try(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []

    async def takes_none(self: object, request: httpx2.Request) -> httpx2.Response:
        limits.append(request.extensions["timeout"])
        raise httpx2.ConnectTimeout("", request=request)

    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", takes_none)
    with closing(Client(1)) as client:
        address = "http://127.0.0.1/v1"
        [(_, answer)] = answered(client, [question(address, tries=2, timeout=30)])

    assert [{"connect": 15, "read": None, "write": None, "pool": None}] * 2 == limits
    assert Answer(0, tries=2, trouble="ConnectTimeout") == answer


# What a status means.


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529, 599, 999])
def test_a_status_that_may_pass_is_asked_again(status: int) -> None:
    answer, _ = answer_to(error(status), error(status), completion("a plan"))

    assert attrs.evolve(GOOD, tries=3) == answer


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 503])
def test_a_status_that_stays_is_the_trouble_in_the_end(status: int) -> None:
    answer, _ = answer_to(error(status, "not now"))

    assert Answer(0, tries=3, trouble=f"HTTP {status}: not now", status=status) == answer


def test_the_trouble_is_that_of_the_last_try() -> None:
    answer, _ = answer_to(error(500), error(429), error(401, "who are you"))

    assert Answer(0, tries=3, trouble="HTTP 401: who are you", status=401) == answer


@pytest.mark.parametrize(
    "status", [304, 400, 401, 402, 403, 404, 405, 410, 413, 415, 418, 422, 426, 451, 499]
)
def test_a_status_that_will_not_pass_is_not_asked_again(status: int) -> None:
    answer, _ = answer_to(attrs.evolve(error(status, "no"), body=b"", announced=0))

    assert (1, status, None) == (answer.tries, answer.status, answer.text)
    assert answer.trouble.startswith(f"HTTP {status}: ")


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    with serving(in_turn(completion("a plan"))) as other:
        answer, _ = answer_to(Reply(b"", status, {"Location": other.address}))

    assert [] == other.asked
    assert (1, status, None) == (answer.tries, answer.status, answer.text)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b'{"error": {"message": "no  such\\nmodel"}}', "no such model"),
        (b'{"message": "no such model"}', "no such model"),
        (b'{"error": {"message": ""}}', ""),
        (b'{"error": {"message": ["no"]}}', "Bad Request"),
        (b'{"error": "no such model"}', "Bad Request"),
        (b'{"error": null}', "Bad Request"),
        (b"[1]", "Bad Request"),
        (b"<h1>No</h1>", "Bad Request"),
        (b"\xff\xfe", "Bad Request"),
        (b"[" * 99_999, "Bad Request"),
        (b"", "Bad Request"),
    ],
)
def test_a_trouble_says_what_the_server_says(body: bytes, says: str) -> None:
    answer, _ = answer_to(Reply(body, 400))

    assert Answer(0, trouble=f"HTTP 400: {says}".strip(), status=400) == answer


def test_a_trouble_is_one_line_of_bounded_length() -> None:
    answer, _ = answer_to(error(400, "line\r\n\t" * 9_999))

    assert ("HTTP 400: " + "line " * 99)[:TROUBLE_MAX] == answer.trouble


# When it is asked again.


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "0.3"}, 0.3),
        ({"retry-after-ms": "300"}, 0.3),
        ({"retry-after-ms": "300", "Retry-After": "9999"}, 0.3),
        ({"retry-after-ms": "soon", "Retry-After": "0.3"}, 0.3),
        ({"retry-after-ms": "inf", "Retry-After": "0.3"}, 0.3),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_it_is_asked_again_after_the_time_that_a_server_says(
    headers: dict[str, str], seconds: float, status: int, clock: Clock
) -> None:
    answer, _ = answer_to(error(status, headers=headers), completion("a plan"))

    [slept] = clock.slept

    assert attrs.evolve(GOOD, tries=2) == answer
    assert seconds <= slept < 1.2


def test_it_is_asked_again_at_the_date_that_a_server_says(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    monkeypatch.setattr(client_.time, "time", lambda: 1_000_000_000.25)
    header = {"Retry-After": formatdate(1_000_000_100, usegmt=True)}
    answer, _ = answer_to(error(429, headers=header), completion("a plan"))
    [slept] = clock.slept

    assert attrs.evolve(GOOD, tries=2) == answer
    assert 99.75 <= slept < 101


@pytest.mark.parametrize(
    "header",
    [
        "0", "-5", "-1e400", "1e400", "inf", "nan", "soon", "", " ", "0x10", "1,000", "²",
        "9" * 5_000, "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 99 Oct 2015", "21 Oct 99999999999999",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["Retry-After", "retry-after-ms"])
def test_a_time_that_is_none_is_no_reason_to_wait(name: str, header: str) -> None:
    sent = header.encode().decode("latin-1")
    answer, _ = answer_to(error(429, headers={name: sent}), completion("a plan"))

    assert attrs.evolve(GOOD, tries=2) == answer


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ({"Retry-After": "601"}, "601 s"),
        ({"Retry-After": "1e9"}, "1e+09 s"),
        ({"retry-after-ms": "601000"}, "601 s"),
        ({"Retry-After": formatdate(4e9, usegmt=True)}, " s"),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_who_says_to_wait_too_long_is_not_asked_again(
    headers: dict[str, str], says: str, status: int
) -> None:
    answer, _ = answer_to(error(status, headers=headers))

    assert (1, status) == (answer.tries, answer.status)
    assert answer.trouble.startswith(f"HTTP {status}: no (it says to wait ")
    assert answer.trouble.endswith(f"{says})")


def test_the_longest_wait_is_waited(clock: Clock) -> None:
    answer, _ = answer_to(error(429, headers={"Retry-After": "600"}), completion("a plan"))

    assert attrs.evolve(GOOD, tries=2) == answer
    assert 600 <= clock.slept[0]


def test_waits_are_limited_together(clock: Clock) -> None:
    wait = error(429, headers={"Retry-After": "400"})
    answer, _ = answer_to(wait, wait, completion("a plan"))

    assert (2, 429, 1) == (answer.tries, answer.status, len(clock.slept))


def test_without_a_word_the_pauses_become_longer(clock: Clock) -> None:
    answer_to(error(500), tries=9)
    pauses = (0.5, 1, 2, 4, 8, 16, 30, 30)

    assert [True] * 8 == [
        0.75 * pause <= slept <= pause for pause, slept in zip(pauses, clock.slept, strict=True)
    ]


def test_a_long_wait_is_told_once_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    wait = error(429, headers={"Retry-After": "1"})
    good = completion("a plan")
    lines: list[str] = []

    def ask(unit: str, *replies: Reply) -> None:
        server.respond = in_turn(*replies)
        budget = Budget(Models(), ())
        list(client.together([question(server.address)], budget, lambda *answer: answer, unit))

    with serving(lambda asked: good) as server, closing(Client(2, lines.append)) as client:
        ask("round 1", wait, good)  # far shorter than the wait that is told
        monkeypatch.setattr(client_, "WAIT_TOLD", 0)
        ask("round 2", wait, wait, wait, good)
        ask("round 3", good)
        ask("round 4", error(503), good)
        ask("", error(503), good)

    assert [
        "round 2: one agent waits: HTTP 429: no (the server asks for 1 s)",
        "round 4: one agent waits: HTTP 503: no",
        "the question before the run waits: HTTP 503: no",
    ] == lines


def test_those_who_still_wait_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    told, lock = threading.Event(), threading.Lock()
    tries: Counter[str] = Counter()
    lines: list[str] = []

    def warn(line: str) -> None:
        lines.append(line)
        told.set()

    def respond(asked: Asked) -> Reply:
        with lock:
            tries[asked.text] += 1
        if tries[asked.text] == 1:
            return error(503)
        if asked.text != "quick":
            told.wait(HANGS)
        return completion("a plan")

    monkeypatch.setattr(client_, "WAIT_TOLD", 1)
    with serving(respond) as server, closing(Client(4, warn)) as client:
        asked = [question(server.address, text) for text in ("quick", "b", "c", "d")]
        budget = Budget(Models(), ())
        list(client.together(asked, budget, lambda *answer: answer, "round 1"))

    assert ["round 1: 3 agents wait: HTTP 503: no"] == lines


# Many at once.


@pytest.mark.parametrize("concurrency", [1, 2, 5])
def test_as_many_are_out_at_once_as_may_be_and_never_more(concurrency: int) -> None:
    together = threading.Barrier(concurrency)

    def respond(asked: Asked) -> Reply:
        together.wait(HANGS)
        return completion(asked.text)

    with serving(respond) as server, closing(Client(concurrency)) as client:
        questions = [question(server.address, str(place)) for place in range(concurrency * 4)]
        found = {place: answer.text for place, answer in answered(client, questions)}

    assert {place: str(place) for place in range(concurrency * 4)} == found
    assert concurrency == server.most_at_once


def test_several_servers_share_the_limit() -> None:
    together = threading.Barrier(3)
    lock = threading.Lock()
    at_once = [0]

    def respond(asked: Asked) -> Reply:
        with lock:
            at_once.append(at_once[-1] + 1)
        together.wait(HANGS)
        with lock:
            at_once.append(at_once[-1] - 1)
        return completion(asked.text)

    with serving(respond) as a, serving(respond) as b, closing(Client(3)) as client:
        questions = [question((a, b)[place % 2].address, str(place)) for place in range(21)]
        found = {place: answer.text for place, answer in answered(client, questions)}

    assert {place: str(place) for place in range(21)} == found
    assert 3 == max(at_once)


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


def test_answers_come_as_they_arrive() -> None:
    quick_is_there = threading.Event()

    def respond(asked: Asked) -> Reply:
        if asked.text == "slow":
            quick_is_there.wait(HANGS)
        return completion(asked.text)

    with serving(respond) as server, closing(Client(2)) as client:
        asked = answered(client, [question(server.address, text) for text in ("slow", "quick")])
        first = next(asked)
        quick_is_there.set()
        then = list(asked)

    assert (1, [0]) == (first[0], [place for place, _ in then])


def test_one_at_a_time_they_come_in_order() -> None:
    with serving(lambda asked: completion(asked.text)) as server, closing(Client(1)) as client:
        questions = [question(server.address, str(place)) for place in range(20)]
        found = [(place, answer.text) for place, answer in answered(client, questions)]

    assert [(place, str(place)) for place in range(20)] == found
    assert [str(place) for place in range(20)] == [asked.text for asked in server.asked]


def test_no_question_has_no_answer() -> None:
    with closing(Client(1)) as client:
        assert [] == list(answered(client, []))


def test_troubles_stand_beside_answers() -> None:
    def respond(asked: Asked) -> Reply:
        return completion(asked.text) if asked.text.isdigit() else Reply(b"", raw=True)

    with serving(respond) as server, closing(Client(4)) as client:
        texts = ["0", "a", "2", "b", "4", "c"]
        questions = [question(server.address, text) for text in texts]
        found = dict(answered(client, questions))

    assert ["0", None, "2", None, "4", None] == [found[place].text for place in range(6)]
    assert [1, 3, 1, 3, 1, 3] == [found[place].tries for place in range(6)]


# Leaving early.


@pytest.fixture
def nothing_left() -> Callable[[], bool]:
    """Whether the threads of clients made since have ended, or hang."""
    before = set(threading.enumerate())

    def left() -> list[str]:
        names = [thread.name for thread in threading.enumerate() if thread not in before]
        return [name for name in names if name.startswith(("models", "asyncio"))]

    return lambda: until(lambda: not left())


@pytest.fixture
def blocked() -> Iterator[tuple[Server, threading.Event]]:
    """A server that answers a question `quick` at once and others when the event is set."""
    event = threading.Event()

    def respond(asked: Asked) -> Reply:
        if asked.text != "quick":
            event.wait(HANGS)
        return completion(asked.text)

    with serving(respond) as server:
        yield server, event
        event.set()


def many(server: Server) -> list[Question]:
    return [question(server.address, text) for text in ["quick"] + ["slow"] * 9]


def test_who_leaves_early_gives_up_the_rest(blocked: tuple[Server, threading.Event]) -> None:
    server, event = blocked
    with closing(Client(2)) as client:
        for place, _ in answered(client, many(server)):
            assert 0 == place
            break
        after = dict(answered(client, [question(server.address, "quick")] * 4))
        event.set()

    assert ["quick"] * 4 == [after[place].text for place in range(4)]
    assert len([asked for asked in server.asked if asked.text == "slow"]) <= 2


@pytest.mark.parametrize("kind", [KeyboardInterrupt, GeneratorExit, ValueError])
def test_an_error_of_the_consumer_leaves_nothing_behind(
    kind: type[BaseException],
    blocked: tuple[Server, threading.Event],
    nothing_left: Callable[[], bool],
) -> None:
    server, _ = blocked

    def consume() -> None:
        with closing(Client(2)) as client:
            for _ in answered(client, many(server)):
                raise kind

    with pytest.raises(kind):
        consume()

    assert nothing_left()
    assert len(server.asked) <= 3


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals reach the main one"
)
def test_ctrl_c_while_waiting_leaves_nothing_behind(
    blocked: tuple[Server, threading.Event], nothing_left: Callable[[], bool]
) -> None:
    server, _ = blocked

    def press() -> None:
        until(lambda: len(server.asked) == 3)  # one is answered, and two are out
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def consume() -> None:
        with closing(Client(2)) as client:
            for place, _ in enumerate(answered(client, many(server))):
                if place == 0:
                    threading.Thread(target=press).start()

    with pytest.raises(KeyboardInterrupt):
        consume()

    assert nothing_left()


def test_closing_gives_up_what_is_out(
    blocked: tuple[Server, threading.Event], nothing_left: Callable[[], bool]
) -> None:
    server, _ = blocked
    client = Client(2)
    asked = answered(client, many(server))
    first, _ = next(asked)
    client.close()
    client.close()

    assert 0 == first
    assert nothing_left()
    with pytest.raises(CancelledError):
        list(asked)


def test_closing_wakes_who_waits(blocked: tuple[Server, threading.Event]) -> None:
    server, _ = blocked
    client = Client(2)
    ended: list[BaseException] = []
    has_begun = threading.Event()

    def wait() -> None:
        try:
            for _ in answered(client, many(server)):
                has_begun.set()
        except BaseException as error:
            ended.append(error)

    consumer = threading.Thread(target=wait)
    consumer.start()
    assert has_begun.wait(HANGS)
    client.close()
    consumer.join(HANGS)

    assert [CancelledError] == list(map(type, ended))


def test_closing_cuts_a_pause_short(clock: Clock) -> None:
    clock.awake.clear()
    asked_once = threading.Event()

    def respond(asked: Asked) -> Reply:
        asked_once.set()
        return error(429, headers={"Retry-After": "500"})

    with serving(respond) as server:
        client = Client(1)
        consumer = threading.Thread(target=lambda: _swallow(client, server))
        consumer.start()
        assert asked_once.wait(HANGS)
        client.close()
        consumer.join(HANGS)

    assert not consumer.is_alive()
    assert 1 == len(server.asked)


def _swallow(client: Client, server: Server) -> None:
    with pytest.raises(CancelledError):
        list(answered(client, [question(server.address)]))


def test_it_works_where_a_loop_runs_already() -> None:
    async def notebook() -> list[str]:
        with closing(Client(2)) as client:
            questions = [question(server.address, str(place)) for place in range(5)]
            return sorted(str(answer.text) for _, answer in answered(client, questions))

    with serving(lambda asked: completion(asked.text)) as server:
        assert ["0", "1", "2", "3", "4"] == asyncio.run(notebook())


def test_a_client_is_used_again_and_again() -> None:
    with serving(lambda asked: completion(asked.text)) as server, closing(Client(3)) as client:
        found = [
            [
                answer.text
                for _, answer in answered(client, [question(server.address, str(turn))] * 3)
            ]
            for turn in range(5)
        ]

    assert [[str(turn)] * 3 for turn in range(5)] == found


# Keys.


def test_the_key_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-server")
    _, server = answer_to(completion("a plan"), key_env="TEST_KEY")

    assert f"Bearer {KEY}" == server.asked[0].headers["authorization"]
    assert "sk-of-another-server" not in repr(server.asked)


def test_a_server_of_ones_own_needs_no_key() -> None:
    _, server = answer_to(completion("a plan"))

    assert "Bearer none" == server.asked[0].headers["authorization"]


def test_the_end_of_a_line_is_no_part_of_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\r\n")
    answer, server = answer_to(error(400, f"{KEY} is wrong"))

    assert f"Bearer {KEY}" == server.asked[0].headers["authorization"]
    assert "HTTP 400: [key] is wrong" == answer.trouble


@pytest.mark.parametrize(
    "disguised",
    [
        "\\u0073" + KEY[1:], KEY[:4] + "\\u0007" + KEY[4:], KEY[:4] + "\x07" + KEY[4:],
        KEY[:4] + "\u200b" + KEY[4:], KEY[:4] + "\\" + KEY[4:], KEY[:4] + " \n" + KEY[4:],
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


def test_who_is_told_to_wait_loses_no_try() -> None:
    wait = error(429, headers={"Retry-After": "1"})
    answer, server = answer_to(wait, wait, completion("a plan"), tries=1)

    assert ("a plan", 3, 3) == (answer.text, answer.tries, len(server.asked))


@pytest.mark.parametrize("value", [None, "", " \n"])
def test_a_missing_key_is_told_before_anything_is_sent(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if value is not None:
        monkeypatch.setenv("TEST_KEY", value)
    with serving(in_turn(completion("a plan"))) as server, closing(Client(2)) as client:
        questions = [question(server.address), question(server.address, key_env="TEST_KEY")]
        with pytest.raises(BadInput) as refused:
            list(answered(client, questions))

    assert [] == server.asked
    assert "the environment has no TEST_KEY" == refused.value.what
    assert server.address in refused.value.instead


@pytest.mark.parametrize(
    "value", ["sk-two words", "sk-two\nlines", "sk-\x00", "sk-ключ", "sk-\x7f"]
)
def test_a_key_that_no_header_holds_is_refused_unseen(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The system's own environment takes no NUL.
    monkeypatch.setattr("goldrush.agents.llm.models.os.environ", {"TEST_KEY": value})
    with pytest.raises(BadInput) as refused:
        Endpoint("http://127.0.0.1/v1", key_env="TEST_KEY").key()

    assert "TEST_KEY does not hold a key" == refused.value.what
    assert "sk-" not in str(refused.value)


@pytest.mark.parametrize(
    "reply",
    [
        completion(f"your key is {KEY}, {KEY}{KEY}"),
        completion(f"your key is {KEY.upper()}, {KEY.title()}{KEY}"),
        completion("a plan", model=KEY),
        completion("a plan", finish=KEY),
        completion(None, refusal=KEY),
        completion([{"type": "text", "text": KEY[:9]}, {"type": "text", "text": KEY[9:]}]),
        completion("x" * (TEXT_MAX - 9) + KEY),
        completion("a plan", model="m" * (NAME_MAX - 9) + KEY),
        error(401, f"Incorrect API key provided: {KEY}"),
        error(429, f"Bearer {KEY}", headers={"Retry-After": "9999"}),
        error(500, "x" * (TROUBLE_MAX - 20) + KEY),
        Reply(f"Bearer {KEY}".encode(), 400, {"Content-Type": "text/plain"}),
        Reply(b"", 302, {"Location": f"http://127.0.0.1/?{KEY}"}),
        completion("a plan", headers={"Content-Encoding": KEY}),
        completion("a plan", headers={"Content-Type": KEY, "Retry-After": KEY}),
        Reply(f"HTTP/1.1 400 {KEY}\r\nContent-Length: 0\r\n\r\n".encode(), raw=True),
        Reply(f"HTTP/1.1 {KEY}\r\n\r\n".encode(), raw=True),
        Reply(f"HTTP/1.1 200 OK\r\nContent-Length: {KEY}\r\n\r\n".encode(), raw=True),
        Reply(f"HTTP/1.1 200 OK\r\nTransfer-Encoding: {KEY}\r\n\r\n".encode(), raw=True),
        Reply(f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{KEY}\r\n".encode(), raw=True),
    ],
)
def test_a_server_that_sends_the_key_back_puts_it_into_no_answer(
    reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    answer, _ = answer_to(reply)

    assert KEY[:6] not in repr(answer).lower()


def test_of_two_keys_neither_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    longer = f"{KEY}-and-more"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("TEST_KEY", longer)
    with serving(in_turn(completion(f"{longer} {KEY}"))) as server, closing(Client(1)) as client:
        questions = [question(server.address), question(server.address, key_env="TEST_KEY")]
        found = [answer.text for _, answer in answered(client, questions)]

    assert ["[key] [key]"] * 2 == found


def test_a_word_that_stands_for_no_key_stays_in_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    answer, _ = answer_to(completion("plots: none"))

    assert "plots: none" == answer.text


@pytest.mark.parametrize(
    "address", ["http://ü-.x/v1", "http://999.1.1.1/v1", "http://127.0.0.1/" + "x" * 70_000]
)
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


@pytest.mark.parametrize(
    ("respond", "answer", "limit", "asked"),
    [
        (strict(), SCHEMA, LIMITS[0], 1),
        (strict(schema=400), TEXT, LIMITS[0], 2),
        (strict(schema=404), TEXT, LIMITS[0], 2),
        (strict(schema=422), TEXT, LIMITS[0], 2),
        (strict(schema=501), TEXT, LIMITS[0], 4),
        (strict(limit=LIMITS[1]), SCHEMA, LIMITS[1], 2),
        (strict(limit=LIMITS[0]), SCHEMA, LIMITS[0], 1),
        (strict(schema=400, limit=LIMITS[1]), TEXT, LIMITS[1], 4),
        (strict(schema=422, limit=LIMITS[1]), TEXT, LIMITS[1], 4),
        (strict(text="I am a miner!"), TEXT, LIMITS[0], 1),
        (strict(text="[]"), TEXT, LIMITS[0], 1),
        (strict(text="```json\n{}\n```"), TEXT, LIMITS[0], 1),
        (strict(text="[" * 60_000), TEXT, LIMITS[0], 1),
        (strict(text='{"ready": true}'), TEXT, LIMITS[0], 1),
        (strict(text="{}"), TEXT, LIMITS[0], 1),
        (strict(text='{"actions": [], "ready": true}'), TEXT, LIMITS[0], 1),
        (strict(text=' {"actions": [[1]]} \n'), SCHEMA, LIMITS[0], 1),
        (strict(text=""), TEXT, LIMITS[0], 2),
        (in_turn(completion(None)), TEXT, LIMITS[0], 2),
        (in_turn(completion(" \n", finish="length")), TEXT, LIMITS[0], 2),
        (in_turn(completion(None), completion('{"actions": []}')), SCHEMA, LIMITS[0], 2),
        (in_turn(completion(None), completion('{"ready": true}')), TEXT, LIMITS[0], 2),
        (in_turn(completion(None), error(400, "max_tokens is too large")), TEXT, LIMITS[0], 2),
        (in_turn(completion('{"act', finish="length")), SCHEMA, LIMITS[0], 1),
        (in_turn(completion('{"actions": [[\n1', finish="length")), SCHEMA, LIMITS[0], 1),
        (in_turn(completion("{", finish="length")), SCHEMA, LIMITS[0], 1),
        (in_turn(completion('{"re', finish="length")), TEXT, LIMITS[0], 1),
        (in_turn(completion('{"act": 1, "a', finish="length")), TEXT, LIMITS[0], 1),
        (in_turn(completion("Well, {", finish="length")), TEXT, LIMITS[0], 1),
        (in_turn(error(503), completion('{"actions": []}')), SCHEMA, LIMITS[0], 2),
    ],
)
def test_a_server_is_asked_in_the_way_that_it_takes(
    respond: Callable[[Asked], Reply], answer: str, limit: str, asked: int
) -> None:
    found, bodies = probed(respond)

    assert attrs.evolve(AS_IT_IS, answer=answer, limit=limit) == found
    assert asked == len(bodies)


def test_a_limit_that_is_the_wrong_one_is_changed_back() -> None:
    model = attrs.evolve(AS_IT_IS, limit=LIMITS[1])

    def respond(asked: Asked) -> Reply:
        if LIMITS[1] in asked.body:
            return error(400, f"Unrecognized request argument supplied: {LIMITS[1]}")
        return completion('{"actions": []}')

    found, bodies = probed(respond, model)

    assert attrs.evolve(AS_IT_IS, answer=SCHEMA) == found
    assert 2 == len(bodies)


def test_a_short_question_has_a_short_answer_and_all_else_of_the_model() -> None:
    model = attrs.evolve(AS_IT_IS, temperature=0.5, seed=7, max_tokens=4_000)
    found, [body] = probed(strict(), model)

    assert attrs.evolve(model, answer=SCHEMA) == found
    assert (200, 0.5, 7) == (body["max_tokens"], body["temperature"], body["seed"])


def test_a_model_that_thinks_is_asked_once_more_with_room_for_an_answer() -> None:
    """It spends 1,000 tokens before it says anything."""

    def respond(asked: Asked) -> Reply:
        if asked.body["max_tokens"] < 1_000:
            return completion(None, finish="length")
        return completion('{"actions": []}')

    found, bodies = probed(respond)

    assert attrs.evolve(AS_IT_IS, answer=SCHEMA) == found
    assert [200, 2_000] == [body["max_tokens"] for body in bodies]


@pytest.mark.parametrize("answer", [SCHEMA, TEXT])
def test_an_empty_answer_is_enough_where_the_form_is_decided(answer: str) -> None:
    model = attrs.evolve(AS_IT_IS, answer=answer)
    found, bodies = probed(in_turn(completion(None)), model)

    assert (model, 1) == (found, len(bodies))


@pytest.mark.parametrize("answer", [SCHEMA, TEXT])
def test_only_the_form_that_is_decided_is_asked(answer: str) -> None:
    model = attrs.evolve(AS_IT_IS, answer=answer, limit=LIMITS[1])
    found, [body] = probed(in_turn(completion("some prose")), model)

    assert model == found
    assert (answer == SCHEMA, True) == ("response_format" in body, LIMITS[1] in body)


@pytest.mark.parametrize(
    ("reply", "says", "asked"),
    [
        (error(401, "no such key"), "HTTP 401: no such key", 1),
        (error(403, "not for you"), "HTTP 403: not for you", 1),
        (error(404, "no such model"), "HTTP 404: no such model", 2),
        (error(400, "no such model"), "HTTP 400: no such model", 2),
        (error(400, f"use {LIMITS[1]}"), f"HTTP 400: use {LIMITS[1]}", 4),
        (error(500, "on fire"), "HTTP 500: on fire", 4),
        (Reply(b"<h1>Welcome</h1>"), NO_COMPLETION, 2),
    ],
)
def test_a_server_that_does_not_answer_is_named_with_the_reason(
    reply: Reply, says: str, asked: int
) -> None:
    with serving(in_turn(reply), greets=False) as server, closing(Client(1)) as client:
        short = question(server.address, tries=2)
        with pytest.raises(BadInput) as refused:
            resolve_form(client, AS_IT_IS, short.endpoint, PLAN)

    assert f"model test-1 at {server.address} does not answer: {says}" == refused.value.what
    assert "check the server, the name of the model and the key, or set" in refused.value.instead
    assert asked == len(server.asked)


def test_a_key_is_in_no_word_about_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(BadInput, match=r"Incorrect API key: \[key\]"):
        probed(in_turn(error(401, f"Incorrect API key: {KEY}")))
