"""A client of the OpenAI protocol that asks many questions concurrently.

Every question gets an `Answer`: nothing that a server does raises here, whether it refuses, is
slow, or sends too much, no JSON, or JSON of another shape. Questions run on an event loop in a
thread of their own, so the caller may have a loop (a notebook does), and answers arrive while
others are written to disk. The library's own retries are off, because the number of tries is
recorded and every try must fit the budget.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from email.utils import parsedate_to_datetime
from functools import cache
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final

import attrs
import httpx2
import msgspec
import openai

from goldrush.agents.interrupts import deferred
from goldrush.agents.llm.budget import Budget
from goldrush.agents.llm.failures import REFUSAL
from goldrush.agents.llm.json_object import SURROGATE
from goldrush.agents.llm.models import OPENAI, Endpoint, log_warning
from goldrush.agents.llm.options import NAME_MAX
from goldrush.agents.llm.question import (
    FINGERPRINT_MAX,
    REPORTED_MAX,
    TEXT_MAX,
    Amount,
    Answer,
    Question,
    counted,
    estimated,
)
from goldrush.agents.pool import next_of
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, RunStopped
from goldrush.kernel.settings import INTEGER_MAX
from goldrush.kernel.text import format_count

BODY_MAX: Final = 4 << 20  # bytes of a response
TIMEOUT: Final = 120.0  # seconds of one try, at least, where the user gives none
PACE: Final = 0.02  # seconds that a token of an answer takes, until a slower one was seen
PACED: Final = 50  # tokens of the shortest answer that shows a pace
WAIT_MAX: Final = 600.0  # seconds, in total, of pauses that a server requests
WAIT_TOLD: Final = 10.0  # seconds after which a warning says how many questions wait
BACKOFF: Final = 0.5, 30.0  # seconds before the second try, doubled each time; and the maximum
TROUBLE_MAX: Final = 200  # characters of a reason
AGAIN: Final = (408, 409, 425, 429)  # statuses that are tried again, with those from 500 on


@attrs.frozen
class Failure:
    """A try without an answer.

    Attributes:
        text: the reason.
        status: of HTTP, if there was a response.
        again: another try may succeed.
        wait: seconds until then, as the server requests.
        is_free: the server did not charge for it.
    """

    text: str
    status: int | None = None
    again: bool = False
    wait: float | None = None
    is_free: bool = False


class _Waits:
    """The questions of a unit that are tried again; after WAIT_TOLD seconds the first one tells of
    all, once.

    Attributes:
        sent: by index, the questions that a server has, or has answered.
        ends: no question is sent any more.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, unit: str, warn: Callable[[str], object]
    ) -> None:
        self._loop, self._unit, self._warn = loop, unit, warn
        self._timers: dict[int, asyncio.TimerHandle] = {}  # by index of the question
        self._is_told = False
        self.sent: set[int] = set()
        self.ends = False

    def begin(self, index: int, reason: str) -> None:
        """A question waits for its next try, because of this."""
        if index not in self._timers:
            self._timers[index] = self._loop.call_later(WAIT_TOLD, self._tell, reason)

    def end(self, index: int) -> None:
        """A question waits no longer, if it did."""
        if index in self._timers:
            self._timers.pop(index).cancel()

    def _tell(self, reason: str) -> None:
        if self._is_told:
            return
        self._is_told = True
        count = len(self._timers)
        agents = "one agent waits" if count == 1 else f"{count} agents wait"
        who = f"{self._unit}: {agents}" if self._unit else "the question before the run waits"
        self._warn(f"{who}: {reason}")


class Client:
    """Connections to servers, and the event loop of questions. Call `close` at the end."""

    def __init__(self, concurrency: int, warn: Callable[[str], None] = log_warning) -> None:
        """Start the thread. `concurrency`: greatest number of open questions; `warn`: called with a
        line if questions wait.
        """
        self._loop = asyncio.new_event_loop()
        self._concurrency = concurrency
        self._slots = asyncio.Semaphore(concurrency)
        self._warn = warn
        self._servers: dict[Endpoint, openai.AsyncOpenAI] = {}
        self._secrets: set[str] = set()
        self._paces: dict[Endpoint, float] = {}  # most seconds that a token of an answer took
        self._out: list[Future[Any]] = []  # open questions, in the order in which they get a slot
        logging.getLogger(httpx2.__name__).addFilter(self._blanked)
        self._thread = Thread(target=self._loop.run_forever, name="models", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Cancel open questions and close connections. May be called twice."""
        if self._thread.is_alive():
            _give_up(self._out)
            self._on_loop(self._shut()).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            logging.getLogger(httpx2.__name__).removeFilter(self._blanked)

    def together(
        self, questions: Sequence[Question], budget: Budget, unit: str = ""
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Ask questions and yield answers as they arrive, each with the index of its question.

        Closing the iterator cancels open questions; their upper bounds stay reserved. Ctrl-C is
        raised after the answers of all questions that servers have are yielded, a second one after
        those that have arrived (see agents.interrupts). `budget`: on
        which the first try of every question is reserved at once; `unit`: label of the unit in a
        warning that questions wait; empty: they are asked before a run.

        Yields:
            The answers that arrived since the last list; one at a time if the concurrency is 1.

        Raises, before anything is sent, BadInput for a missing key or an invalid address, and
        RunStopped if the questions could exceed a ceiling.
        """
        for question in questions:
            self._server(question.endpoint)
        # All at once: a second try must leave room for the first try of the others.
        objection = budget.reserve([question.upper_bound for question in questions])
        if objection is not None:
            raise RunStopped(unit, *objection)
        arrivals: SimpleQueue[Future[tuple[int, Answer]] | None] = SimpleQueue()

        waits = _Waits(self._loop, unit, self._warn)

        async def ask(index: int, question: Question) -> tuple[int, Answer]:
            try:
                return index, await self._ask(question, budget, waits, index)
            finally:
                waits.end(index)

        out: dict[Future[tuple[int, Answer]], int] = {}
        left = set(range(len(questions)))
        try:
            while left:  # again only if a signal's handler returned
                with deferred(wake=lambda: arrivals.put(None)) as signals:
                    waits.ends = False
                    unasked = sorted(left - {*out.values()})
                    new = {self._on_loop(ask(index, questions[index])): index for index in unasked}
                    out |= new
                    self._out += new
                    for each in new:
                        each.add_done_callback(arrivals.put)
                    while out and not (signals() > 1 and arrivals.empty()):
                        if signals() and not waits.ends:
                            self._end_unsent(out, waits)
                        arrived = [next_of(arrivals)]
                        while self._concurrency > 1 and not arrivals.empty():
                            arrived.append(arrivals.get())
                        futures = [future for future in arrived if future is not None]
                        ended = {out.pop(each): each for each in futures}
                        if waits.ends:
                            ended = {i: each for i, each in ended.items() if not each.cancelled()}
                        left -= ended.keys()
                        yield [each.result() for each in ended.values()]
        finally:
            _give_up([*out])
            self._out = [each for each in self._out if each not in out and not each.done()]

    def _end_unsent(self, out: Mapping[Future[Any], int], waits: _Waits) -> None:
        """Cancel the questions that no server has; first it is told, and then looked."""
        waits.ends = True
        _give_up([future for future, index in out.items() if index not in waits.sent])
        count = format_count(sum(not future.done() for future in out), "answer")
        self._warn(f"waits for {count} under way; Ctrl-C again gives up")

    def _on_loop(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _shut(self) -> None:
        # Wait for what the cancelled questions clean up.
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)
        for server in self._servers.values():
            await server.close()

    def _server(self, endpoint: Endpoint) -> openai.AsyncOpenAI:
        if endpoint not in self._servers:
            self._secrets.update(endpoint.secrets())
            try:
                self._servers[endpoint] = _connected(endpoint)
            except httpx2.InvalidURL as error:
                raise BadInput(f"base_url cannot be used: {error}", "check the address") from None
        return self._servers[endpoint]

    async def _ask(self, question: Question, budget: Budget, waits: _Waits, index: int) -> Answer:
        """The answer, or the reason of the last failed try. The first try is reserved already."""
        most, draws = question.upper_bound, None
        tries = lost = 0
        waited = 0.0  # seconds that the server requested
        while True:
            tries += 1
            async with self._slots:  # released during pauses, for questions to other servers
                waits.sent.add(index)
                result = None if waits.ends else await self._try(question)
            if result is None or (waits.ends and isinstance(result, Failure)):
                raise asyncio.CancelledError
            if isinstance(result, Answer):
                budget.take(most, -1)
                budget.take(most.reported(result))
                return msgspec.structs.replace(result, tries=tries)
            if result.is_free:
                budget.take(most, -1)
            if result.status != 429 or (result.wait or 0) < 1:
                lost += 1  # a pause that the server requests uses up no try
            waited += result.wait or 0
            stop = not result.again or lost >= question.endpoint.tries or waited > WAIT_MAX
            # Before the pause, in which other questions reserve theirs.
            objection = None if stop else budget.reserve([most])
            if stop or objection:
                more = "; not tried again: {} ({})".format(*objection) if objection else ""
                reason = result.text + more
                return Answer(
                    question.agent, question.name, tries=tries, trouble=reason, status=result.status
                )
            draws = draws or Draws(question.messages[-1]["content"])
            asks = f" (the server asks for {result.wait:.4g} s)" if result.wait else ""
            waits.sent.discard(index)
            waits.begin(index, result.text + asks)
            await asyncio.sleep(_pause(tries, result.wait, draws))

    async def _try(self, question: Question) -> Answer | Failure:
        """Send a question once. Every exception becomes a Failure."""
        try:
            begun = self._loop.time()
            async with asyncio.timeout(self._limit(question)):
                create = self._servers[question.endpoint].chat.completions.with_raw_response.create
                body = question.request()
                response = await create(
                    model=body.pop("model"), messages=body.pop("messages"), extra_body=body
                )
            answer = self._read(response.http_response.content, question)
            if isinstance(answer, Answer) and (answer.tokens_out or 0) >= PACED:
                pace = (self._loop.time() - begun) / (answer.tokens_out or 1)
                self._paces[question.endpoint] = max(pace, self._paces.get(question.endpoint, 0))
            return answer
        except TimeoutError:
            return Failure(f"no answer within {self._limit(question):.4g} s", again=True)
        except openai.APIStatusError as error:
            told = _told(error.body)[0] or error.response.reason_phrase or "no reason given"
            return self._failure(told, error.status_code, error.response.headers)
        except openai.APIConnectionError as error:
            return self._unreached(error)
        except Exception as error:  # the library may raise anything for a malformed response
            return Failure(self._reason(f"{type(error).__name__}: {error}"))

    def _limit(self, question: Question) -> float:
        """Seconds of one try: where the user gives none, as the longest answer may take at the
        slowest pace of the server so far, and TIMEOUT at least.
        """
        given, pace = question.endpoint.timeout, self._paces.get(question.endpoint, PACE)
        return given or max(TIMEOUT, 2 * max(PACE, pace) * question.asked_model.max_tokens)

    def _failure(
        self, told: str, status: int | None, headers: Mapping[str, str] | None = None
    ) -> Failure:
        """The failure of an error with this message. `status`: None: there is none, in an accepted
        response.
        """
        wait = _retry_after(headers or {})
        again = status is None or status in AGAIN or status >= 500
        reason = f"HTTP {200 if status is None else status}: {told}"
        if wait is not None and wait > WAIT_MAX:
            again, reason = False, f"{reason} (it says to wait {wait:.4g} s)"
        is_free = status is not None
        return Failure(self._reason(reason), status, again=again, wait=wait, is_free=is_free)

    def _unreached(self, error: openai.APIConnectionError) -> Failure:
        cause = error.__cause__
        if isinstance(cause, _TooLong):
            return Failure(str(cause))
        unsent = isinstance(cause, (httpx2.ConnectError, httpx2.ConnectTimeout))
        reason = f"{type(cause or error).__name__}: {cause or error}".removesuffix(": ")
        return Failure(self._reason(reason), again=True, is_free=unsent)

    def _read(self, body: bytes, question: Question) -> Answer | Failure:
        """The answer in an accepted response."""
        try:
            response = json.loads(body)
            if any(error := _error_in(response)):
                return self._failure(*error)
            choice = response["choices"][0]
            message = choice["message"]
            (text, thinking), refusal = _texts(message.get("content")), message.get("refusal")
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
            return Failure("the response is not a chat completion", again=True)
        finish = self._name(choice.get("finish_reason"))
        refused = finish == "content_filter" or (type(refusal) is str and refusal != "")
        if refused and not text:
            text = refusal if type(refusal) is str else ""
        thought = message.get("reasoning_content") or message.get("reasoning") or thinking
        reasoning = self._clean(thought) if type(thought) is str and thought else None
        text = None if text is None else self._clean(text)
        estimate, has_text = estimated(text, reasoning), bool(text)
        if question.whole is None:
            text = None if text is None else text[:TEXT_MAX]
        elif text is not None or reasoning is not None:
            # Without a text it has spent all its tokens on reasoning.
            part = question.whole.cut if refused else question.whole.parted
            text, reasoning = part(text or "", reasoning)
        usage = _usage(
            response.get("usage"), question.upper_bound, estimate,
            has_text=has_text, has_reasoning=reasoning is not None,
        )  # fmt: skip
        return Answer(
            question.agent, question.name, text,
            error=REFUSAL if refused else None,
            finish=finish,
            model=self._name(response.get("model")),
            fingerprint=self._name(response.get("system_fingerprint"), FINGERPRINT_MAX),
            created=counted(response.get("created"), 0, INTEGER_MAX),
            reasoning=reasoning,
            **usage,
        )  # fmt: skip

    def _blanked(self, record: logging.LogRecord) -> bool:
        """Remove secrets from the log of the HTTP library, which has the addresses of requests."""
        record.msg, record.args = self._clean(record.getMessage()), ()
        return True

    def _reason(self, text: str) -> str:
        return " ".join(self._clean(text).split())[:TROUBLE_MAX]

    def _name(self, value: Any, most: int = NAME_MAX) -> str | None:
        return self._clean(value)[:most] or None if type(value) is str else None

    def _clean(self, text: str) -> str:
        """The text without keys that a server may send back, in any letter case, and without lone
        surrogates.

        If a key appears after decoding escapes and removing invisible characters, nothing is kept.
        """
        # One may be a prefix of another.
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = re.sub(re.escape(secret), _CUT, text, flags=re.IGNORECASE)
        bare = _NOT_SEEN.sub("", _ESCAPE.sub(lambda code: chr(int(code[1], 16)), text))
        bare = bare.lower()
        if any(_NOT_SEEN.sub("", secret).lower() in bare for secret in self._secrets):
            return _CUT
        return SURROGATE.sub("\ufffd", text)


def _give_up(out: Sequence[Future[Any]]) -> None:
    """Cancel questions, first those that wait for a slot, so that they do not get one."""
    for question_out in reversed(out):
        question_out.cancel()


_CUT: Final = "[key]"
_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")
_NOT_SEEN: Final = re.compile(r"[^!-\[\]-~]")  # all but visible ASCII, and the backslash


class _TooLong(httpx2.ReadError):
    """A response of more than BODY_MAX bytes."""


def _connected(endpoint: Endpoint) -> openai.AsyncOpenAI:
    headers, query = endpoint.sent()
    # The library adds the account from the environment; only OpenAI's own server may get it.
    account = () if endpoint.base_url is None else ("OpenAI-Organization", "OpenAI-Project")
    whose: dict[str, Any] = {name: openai.Omit() for name in account}
    return openai.AsyncOpenAI(
        api_key=endpoint.key() or "none",
        default_query=query,
        base_url=endpoint.base_url or OPENAI,
        # The whole try has a timeout of its own. That of the connection is shorter, because a try
        # that fails before it has one has certainly sent nothing.
        timeout=httpx2.Timeout(None, connect=(endpoint.timeout or TIMEOUT) / 2),
        max_retries=0,
        # An uncompressed response cannot grow when it is decoded.
        default_headers={"Accept-Encoding": "identity", **whose, **headers},
        http_client=openai.DefaultAsyncHttpxClient(
            # A redirect would be an unrecorded try, at an address that the user did not give.
            follow_redirects=False,
            verify=_certificates(),
            event_hooks={"response": [_bounded]},
        ),
    )


# The trusted certificates, read once: that takes longer than a question to a local server.
_certificates: Final = cache(httpx2.create_ssl_context)


async def _bounded(response: httpx2.Response) -> None:
    """Read the body of a response, up to BODY_MAX."""
    response.encoding = "utf-8"  # as JSON is, whatever codec the server names
    if response.headers.get("content-encoding", "identity") != "identity":
        raise _TooLong("a compressed response, which was not requested")
    stream, body = response.stream, bytearray()
    assert isinstance(stream, httpx2.AsyncByteStream)  # of a client that waits
    async for piece in stream:
        body += piece
        if len(body) > BODY_MAX:
            raise _TooLong(f"a response of over {BODY_MAX:,} bytes")
    await stream.aclose()
    response.stream = httpx2.ByteStream(bytes(body))


def _usage(
    reported: Any, most: Amount, estimate: int, *, has_text: bool, has_reasoning: bool
) -> dict[str, Any]:
    """The tokens of an answer, by field of Answer. `reported`: by the server; `most`: their upper
    bounds, if the server keeps to them; `estimate`: from the size of the answer.

    Some servers leave reasoning out of the tokens of an answer, so the largest count is taken; one
    that is too small for the size of the answer is none.
    """
    usage = reported if isinstance(reported, dict) else {}
    asked, answered = usage.get("prompt_tokens"), usage.get("completion_tokens")
    thought = counted(_detail(usage, "completion_tokens_details", "reasoning_tokens"), 0)
    cached = _detail(usage, "prompt_tokens_details", "cached_tokens")
    tokens_in = counted(asked, 1, REPORTED_MAX)
    if type(answered) is int:
        total = counted(usage.get("total_tokens"), 0) or 0
        apart = answered + thought if thought is not None and thought > answered else 0
        answered = max(answered, apart, total - tokens_in if tokens_in else 0)
    tokens_out = counted(answered, 1 if has_text else 0, REPORTED_MAX)
    if has_reasoning and tokens_out is not None and tokens_out * _DENSE < estimate:
        tokens_out = None
    return {
        "uncounted": estimate if tokens_out is None else 0,
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "tokens_reasoning": counted(thought, 0, tokens_out or most.tokens_out),
        "tokens_cached": counted(cached, 0, tokens_in or most.tokens_in),
    }


_DENSE: Final = 3  # how often more bytes a token has than is usual, at most, in any text


def _detail(usage: Mapping[str, Any], details: str, name: str) -> Any:
    given = usage.get(details)
    return given.get(name) if isinstance(given, dict) else None


def _texts(content: Any) -> tuple[str | None, str]:
    """The text of a message and its thinking, which some servers send as lists of parts."""
    if not isinstance(content, list):
        return (content if type(content) is str else None), ""
    text = "".join(part["text"] for part in content if part.get("type") == "text")
    inner = (part["thinking"] for part in content if part.get("type") == "thinking")
    return text, "".join(_texts(thinking)[0] or "" for thinking in inner)


def _error_in(response: Any) -> tuple[str, int | None]:
    """The message of an error in an accepted response, in place of an answer or beside one that
    broke off, and its status; no message: there is none.
    """
    for part in (response, *(response.get("choices") or [])[:1]):
        if part.get("error"):
            return _told(part)
    return "", None


def _told(error: Any) -> tuple[str, int | None]:
    """The message and the status of an error as servers send it: alone, under `error`, or in a list
    of one; without a message its text.
    """
    if isinstance(error, list) and error:
        error = error[0]
    if not isinstance(error, dict):
        return "", None
    inner = error.get("error") or error
    if not isinstance(inner, dict):
        return str(inner), None
    message = inner.get("message") or inner.get("detail") or ""
    more = inner.get("metadata")
    raw = more.get("raw") if isinstance(more, dict) else None
    told = [part if type(part) is str else json.dumps(part) for part in (message, raw) if part]
    return ": ".join(told), counted(inner.get("code"), 400, 599)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server requests, in any of the three forms of the header."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    try:
        seconds = parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time()
        return max(0.0, seconds)
    except (ValueError, TypeError, OverflowError):
        return None


def _pause(tries: int, wait: float | None, draws: Draws) -> float:
    """Seconds until the next try, with a draw keyed by the question, to spread the tries."""
    first, most = BACKOFF
    backoff = min(most, first * 2.0 ** min(tries - 1, 16))
    spread = backoff * draws.below(1000) / 4000  # up to a quarter
    return backoff - spread if wait is None else wait + spread
