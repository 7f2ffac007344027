"""The proxy between a program and the servers that it asks, on this machine alone.

It passes bytes through as they come; the last piece of an answer waits until the journal has all of
it. Who does not know the token in its address gets nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from typing import Final, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from goldrush.agents.worlds.program.requests import (
    CALLER,
    UNPAID,
    Masks,
    Response,
    Secrets,
    asked_of,
    not_compared,
)
from goldrush.kernel.errors import BadInput, GoldrushError
from goldrush.kernel.worlds.program.events import is_kept
from goldrush.kernel.worlds.program.values import BODY_MAX, Json, parsed
from goldrush.kernel.worlds.program.world import Asked

try:
    import aiohttp
    from aiohttp import web
    from yarl import URL
except ImportError:  # told to whoever records a program
    raise BadInput(
        "programs are recorded with aiohttp, which is not installed",
        "pip install 'goldrush-sim[programs]'",
    ) from None

HOST: Final = "127.0.0.1"
# The folder of what names the callers in Python, for the path of modules of a program.
HOOK: Final = str(files("goldrush") / "hook")
CHUNKS_MAX: Final = 1 << 20  # of an answer
SECONDS_MAX: Final = 3600.0  # of an exchange
SILENCE_MAX: Final = 600.0  # seconds between two pieces of an answer
IDLE_MAX: Final = 2.0  # seconds that a connection is kept unused; servers wait for five or more
OUTSIDE: Final = "outside"  # the upstream of functions; see goldrush.outside
_REFUSED: Final = 421  # a status that no client asks again
_QUIET: Final = logging.Logger("proxy", logging.CRITICAL)  # strangers write nothing to stderr
_GONE: Final = (ConnectionError, RuntimeError, AssertionError)  # the program does not listen
_HOP: Final = frozenset(
    ["accept-encoding", "connection", "content-encoding", "content-length", "expect", "host",
     "keep-alive", "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade", CALLER]
)  # fmt: skip


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Exchanges(Protocol):
    """What becomes of the requests of a program.

    Attributes:
        secrets, masks: of the program.
        is_open_ended: requests that are not recorded wait, for the recording broke off.
        unknown: the names of headers that are not compared.
        model: asked in place of the program's; empty: its own.
        under_way: the number of requests that were sent and are not recorded.
        arrived: the number of requests so far that were not served.
        failed: what ended the recording; None: nothing.
    """

    secrets: Secrets
    masks: Masks
    is_open_ended: bool
    unknown: dict[str, None]
    model: str
    under_way: int
    arrived: int
    failed: BaseException | None

    async def serve(self, asked: Asked) -> Response | None:
        """The answer to a request that is not to be asked; None: there is none."""

    def objection(self, asked: Asked) -> str | None:
        """Why a request cannot be asked, as text; None: it can, and `commit` or `drop` follows."""

    def drop(self) -> None:
        """Give up a request that was sent."""

    def commit(self, asked: Asked, response: Response, arrival: int) -> None:
        """Record the answer to a request. `arrival`: `arrived` when it was asked. Raises
        GoldrushError.
        """

    def note(self, name: str, value: Json) -> None:
        """Take a note of the program."""


class Proxy:
    """A server on this machine that a program takes for those it asks.

    Attributes:
        url: of the server, with its token.
        parked: the number of requests that are kept waiting: the recording broke off before them.
    """

    def __init__(self, session: Exchanges, upstreams: Mapping[str, str]) -> None:
        """`upstreams`: the URLs of servers by name."""
        self.url = ""
        self.parked = 0
        self._session = session
        self._upstreams = upstreams
        # Found here once: aiohttp would look for each request, in ~/.netrc for credentials, too.
        self._proxies = {name: _proxy_to(url) for name, url in upstreams.items()}
        for url in upstreams.values():
            session.secrets.add(URL(url).query.items(), url.encode())
        self._token = secrets.token_urlsafe(16)
        # Calls of functions that are under way: with when they came, and what is secret.
        self._tickets: dict[str, tuple[Asked, int, Secrets]] = {}
        self._client: aiohttp.ClientSession  # while it serves

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve within the context."""
        app = web.Application(client_max_size=BODY_MAX, middlewares=[self._answered])
        app.router.add_post(f"/{self._token}/notes", self._note)
        app.router.add_post(f"/{self._token}/{OUTSIDE}", self._call)
        app.router.add_route("*", f"/{self._token}/{OUTSIDE}/{{ticket}}", self._called)
        app.router.add_route("*", f"/{self._token}/{{name}}{{path:(/.*)?}}", self._handle)
        runner = web.AppRunner(app, access_log=None, logger=_QUIET, shutdown_timeout=1.0)
        await runner.setup()
        await web.TCPSite(runner, HOST, 0).start()
        self.url = f"http://{HOST}:{runner.addresses[0][1]}/{self._token}"
        try:
            async with _client() as self._client:
                yield
        finally:
            await runner.cleanup()

    async def drained(self, seconds: float, is_given_up: Callable[[], bool]) -> None:
        """Wait until all answers under way are recorded, but not longer than this, and not for what
        is given up. The program has ended: no call of a function comes to its result.
        """
        for _ in range(len(self._tickets)):
            self._session.drop()
        self._tickets.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._session.under_way and not is_given_up():
                    await asyncio.sleep(0.02)

    @web.middleware
    async def _answered(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse in JSON what is no request that can be passed on; a bug ends the recording."""
        try:
            return await handler(request)
        except web.HTTPException as error:
            return _refusal(error.status, error.text or error.reason)
        except GoldrushError as error:
            return _refusal(_REFUSED, f"this cannot be recorded: {error}")
        except (web.RequestPayloadError, ConnectionError) as error:
            return _refusal(400, f"the request cannot be read: {error}")
        except Exception as error:
            self._session.failed = error
            raise

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("upgrade", "").lower() == "websocket":
            return _refusal(_REFUSED, "websockets are not recorded")
        body = await request.read()
        _, _, name, *below = request.rel_url.raw_path.split("/", 3)
        path = "".join(f"/{part}" for part in below)
        headers = [(key.lower(), text) for key, text in request.headers.items()]
        session = self._session
        query = [*request.query.items()]
        text = request.rel_url.raw_path_qs.encode() + b"\n" + body
        known = session.secrets.with_those_of(headers, query, text)
        asked = asked_of(
            _caller(request), name, request.method, path or "/", query, headers, body, known,
            session.masks,
        )  # fmt: skip
        session.unknown.update(dict.fromkeys(not_compared(headers)))
        given = await self._given(request, asked, is_known=name in self._upstreams)
        if given is not None:
            return given
        kept = [(key, text) for key, text in headers if key not in _HOP]
        base, _, own = self._upstreams[name].partition("?")
        sent = "&".join(filter(None, [own, request.rel_url.raw_query_string]))
        url = URL(f"{base}{path}{'?' if sent else ''}{sent}", encoded=True)
        return await self._ask(request, asked, url, kept, self._changed(body), known)

    async def _given(
        self, request: web.Request, asked: Asked, *, is_known: bool
    ) -> web.StreamResponse | None:
        """The recorded answer to a request, or a refusal; None: it is to be asked. `is_known`:
        there is a server to be asked.
        """
        if (answer := await self._session.serve(asked)) is not None:
            return await _respond(request, _at_once(answer))
        if not is_known:
            name = asked.upstream
            return _refusal(404, f"there is no upstream {name}; give --upstream {name}=URL")
        objection = self._session.objection(asked)
        if objection and self._session.is_open_ended:
            self.parked += 1
            await asyncio.Event().wait()  # until the program is ended
        return None if objection is None else _refusal(_REFUSED, objection)

    def _changed(self, body: bytes) -> bytes:
        """The body, with the model that a fork asks in place of the program's."""
        value = parsed(body) if self._session.model else None
        if not isinstance(value, dict) or "model" not in value:
            return body
        return json.dumps({**value, "model": self._session.model}).encode()

    async def _ask(
        self, request: web.Request, asked: Asked, url: URL, headers: list[tuple[str, str]],
        body: bytes, known: Secrets,
    ) -> web.StreamResponse:  # fmt: skip
        """Ask the server and record its answer, without what is known to be secret. If the program
        has gone, it is recorded all the same: it was paid for.
        """
        session, arrival = self._session, self._session.arrived
        response: web.StreamResponse | None = None
        answer: Response | None = None
        chunks: list[bytes] = []
        written, size = 0, 0  # chunks that the program has; bytes that came
        rest, is_cut = b"", False  # what may begin a credential; whether it broke off
        try:
            async with self._client.request(
                request.method, url, data=body or None, headers=headers, allow_redirects=False,
                skip_auto_headers=("User-Agent", "Content-Type"),
                proxy=self._proxies[asked.upstream],
            ) as given:  # fmt: skip
                answer = _head(given, known)
                if given.content_length is None and given.status < 400:
                    response = await _begun(request, answer)
                async for piece in given.content.iter_any():
                    size += len(piece)
                    if size > BODY_MAX or len(chunks) >= CHUNKS_MAX:
                        raise aiohttp.ClientPayloadError(f"an answer of over {BODY_MAX:,} bytes")
                    chunk, rest = known.split(rest + piece)
                    chunks += filter(None, [chunk])
                    if response is not None and len(chunks) > written + 1:
                        await _write(response, chunks[written])
                        written += 1
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            is_cut = answer is not None
            answer = answer or _no_answer(asked.upstream, error)
            chunks += answer.chunks
        except BaseException:
            session.drop()
            raise
        chunks += filter(None, [rest])
        if response is None:
            chunks = [b"".join(chunks)]
        answer = Response(answer.status, answer.headers, chunks, is_cut)
        try:
            session.commit(asked, answer, arrival)
        except GoldrushError:
            if response is None:
                raise
            return await _ended(request, response, (), is_cut=True)
        if response is None:
            return await _respond(request, answer)
        return await _ended(request, response, chunks[written:], is_cut=is_cut)

    async def _note(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        note = parsed(self._session.secrets.with_those_of((), (), body).hidden(body))
        if not isinstance(note, dict) or not isinstance(note.get("name"), str):
            return _refusal(400, 'a note is {"name": TEXT, "value": JSON}')
        self._session.note(str(note["name"]), note.get("value"))
        return web.Response(status=204)

    async def _call(self, request: web.Request) -> web.StreamResponse:
        """A function of the program is called: its result, or a ticket to bring it."""
        body = await request.read()
        value = parsed(body)
        path = str(value.get("function")) if isinstance(value, dict) else ""
        session = self._session
        known = session.secrets.with_those_of((), (), body)
        asked = asked_of(
            _caller(request), OUTSIDE, "CALL", path, (), (), body, known, session.masks
        )
        if (given := await self._given(request, asked, is_known=True)) is not None:
            return given
        ticket = secrets.token_urlsafe(8)
        self._tickets[ticket] = asked, session.arrived, known
        return web.json_response({"ticket": ticket}, status=202)

    async def _called(self, request: web.Request) -> web.StreamResponse:
        call = self._tickets.pop(request.match_info["ticket"], None)
        if call is None:
            return _refusal(404, "there is no such ticket")
        asked, arrival, known = call
        body = known.hidden(await request.read())
        status = 500 if request.method == "POST" else 200  # what it has raised: a failure
        answer = Response(status, [("content-type", "application/json")], [body])
        self._session.commit(asked, answer, arrival)
        return web.Response(body=body, content_type="application/json")


def _client() -> aiohttp.ClientSession:
    """What asks servers, each time once: an answer that does not come may have been paid for. It
    leaves a connection before a server does.
    """
    return aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=SECONDS_MAX, sock_read=SILENCE_MAX, sock_connect=60),
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_MAX),
        cookie_jar=aiohttp.DummyCookieJar(),
    )


def _proxy_to(url: str) -> str | None:
    """The proxy that the environment names for a URL, by which this machine reaches others."""
    parts = urlsplit(url)
    return None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)


def _caller(request: web.Request) -> str:
    """Who asks: empty if nobody says, `.` for the first thread of a program."""
    name = request.headers.get(CALLER)
    return "" if name is None else name.encode("utf-8", "replace").decode() or "."


async def _respond(request: web.Request, answer: Response) -> web.StreamResponse:
    """Give an answer; one that broke off breaks off again."""
    if len(answer.chunks) <= 1 and not answer.is_cut:
        body = b"".join(answer.chunks)
        return web.Response(status=answer.status, headers=dict(answer.headers), body=body)
    response = await _begun(request, answer)
    return await _ended(request, response, answer.chunks, is_cut=answer.is_cut)


async def _begun(request: web.Request, answer: Response) -> web.StreamResponse:
    """An answer in pieces, of which the head is sent."""
    response = web.StreamResponse(status=answer.status, headers=dict(answer.headers))
    with suppress(*_GONE):
        await response.prepare(request)
    return response


async def _write(response: web.StreamResponse, chunk: bytes) -> None:
    with suppress(*_GONE):
        await response.write(chunk)


async def _ended(
    request: web.Request, response: web.StreamResponse, chunks: Iterable[bytes], *, is_cut: bool
) -> web.StreamResponse:
    """An answer in pieces, after its last ones."""
    for chunk in chunks:
        await _write(response, chunk)
    if is_cut and request.transport is not None:
        request.transport.close()
    with suppress(*_GONE):
        await response.write_eof()
    return response


def _at_once(answer: Response) -> Response:
    """The answer as it is served again: who is to ask once more need not wait."""
    waits = {"retry-after", "retry-after-ms"}
    kept = [(name, text) for name, text in answer.headers if name not in waits]
    if answer.status < 500 and answer.status not in UNPAID:
        return answer
    zero = [("retry-after", "0"), ("retry-after-ms", "1")]  # 0 ms is taken for none
    return Response(answer.status, [*kept, *zero], answer.chunks, answer.is_cut)


def _head(given: aiohttp.ClientResponse, secrets: Secrets) -> Response:
    """An answer without its body. Raises ClientPayloadError for a status that is none."""
    if not 200 <= given.status <= 599:
        raise aiohttp.ClientPayloadError(f"status {given.status}")
    lower = {name.lower(): secrets.hidden_in(text) for name, text in given.headers.items()}
    return Response(given.status, [pair for pair in sorted(lower.items()) if is_kept(*pair)], [])


def _no_answer(upstream: str, error: Exception) -> Response:
    why = f"goldrush: {upstream} gave no answer: {type(error).__name__}"
    body = json.dumps({"error": {"message": why}}).encode()
    return Response(502, [("content-type", "application/json")], [body])


def _refusal(status: int, text: str) -> web.Response:
    """An error of the proxy itself, which is not to be retried."""
    error: Json = {"error": {"message": f"goldrush: {text}", "type": "goldrush", "code": "refused"}}
    return web.json_response(error, status=status, headers={"x-should-retry": "false"})
