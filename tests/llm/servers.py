"""Servers for tests that speak the OpenAI protocol, or something like it: real HTTP on loopback."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs

from goldrush.agents.llm.budget import Budget
from goldrush.agents.llm.client import Client
from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Endpoint, Models
from goldrush.agents.llm.options import TEXT
from goldrush.agents.llm.question import Answer, Question

MODEL = Model("test", "test-1", max_tokens=500, answer=TEXT)
SHORT = "Answer with this JSON object and nothing else"
WHO = re.compile(r"You are agent (\d+)\. This is round (\d+)")


@attrs.frozen
class Asked:
    """A request: its body, its headers in lower case, whose it is (None: a short question), and its
    path with the query.
    """

    body: dict[str, Any]
    headers: dict[str, str]
    agent: int | None
    round: int | None
    path: str = ""

    @property
    def text(self) -> str:
        """The last message."""
        return str(self.body["messages"][-1]["content"])


@attrs.frozen
class Reply:
    """A response. `announced`: a length that is told in place of the body's; `stalls`: so many of
    the body's bytes are sent (-1: not even a header), then nothing until who asks has gone;
    `chunked`: sent in chunks, with no length told; `raw`: the body is all that is sent, no status
    and no header before it. A header that is None is left out.
    """

    body: bytes
    status: int = 200
    headers: Mapping[str, str | None] = attrs.field(factory=dict)
    announced: int | None = None
    stalls: int | None = None
    chunked: bool = False
    raw: bool = False


def completion(
    text: object,
    finish: str = "stop",
    usage: object = (100, 20),
    *,
    model: object = "test-1",
    refusal: object = None,
    **reply: Any,
) -> Reply:
    """A chat completion with this text."""
    body: dict[str, Any] = {
        "id": "1", "object": "chat.completion", "created": 0, "model": model,
        "choices": [
            {
                "index": 0, "finish_reason": finish,
                "message": {"role": "assistant", "content": text, "refusal": refusal},
            }
        ],
    }  # fmt: skip
    if isinstance(usage, tuple):
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    elif usage is not None:
        body["usage"] = usage
    return Reply(json.dumps(body).encode(), **reply)


def reply(text: object, message: dict[str, Any] | None = None, **changes: Any) -> Reply:
    """A completion with more fields in its message, and others beside it."""
    body = json.loads(completion(text, changes.pop("finish", "stop")).body)
    body["choices"][0]["message"].update(message or {})
    return Reply(json.dumps({**body, **changes}).encode())


def plan(*actions: tuple[str, int, int], **also: Any) -> Reply:
    """A completion that holds a plan."""
    items = [{"type": kind, "plot": plot, "stamina": points} for kind, plot, points in actions]
    return completion(json.dumps({"actions": items, **also}))


def error(status: int, message: str = "no", **reply: Any) -> Reply:
    """An error in the usual form."""
    return Reply(json.dumps({"error": {"message": message}}).encode(), status, **reply)


def in_turn(*replies: Reply) -> Callable[[Asked], Reply]:
    """These replies one after the other, then the last again and again."""
    left = list(replies)
    return lambda asked: left.pop(0) if len(left) > 1 else left[0]


class Server:
    """What a test sees of a server that runs.

        `asked`: the requests as they came in; `answered`: those whose response was written whole;
    `greeted`: how many short questions came before a run; where the server `greets`, they are
    answered under their schema, and otherwise do not count; `wrong`: what a test's own responses
    raised; `on_stall` is called where one stalls.
    """

    def __init__(self, respond: Callable[[Asked], Reply], *, greets: bool) -> None:
        self.respond = respond
        self.greets = greets
        self.on_stall: Callable[[], None] = lambda: None
        self.greeted = 0
        self.wrong: list[Exception] = []
        self.asked: list[Asked] = []
        self.answered: list[Asked] = []
        self.at_once = 0  # requests whose response has not begun
        self.most_at_once = 0
        self.lock = threading.Lock()
        self.address = ""

    def of(self, round: int) -> list[int | None]:
        """The agents that were asked for a round, in order."""
        return [asked.agent for asked in self.asked if asked.round == round]


def _responded(told: Server, asked: Asked) -> Reply:
    try:
        return told.respond(asked)
    except OSError:
        raise  # how a test closes a connection
    except Exception as error:
        told.wrong.append(error)
        raise


def _greeting(asked: Asked) -> str:
    """The answer to a short question."""
    form = asked.body.get("response_format")
    if form is None:
        return asked.text.partition(f"{SHORT}: ")[2]
    return json.dumps(_least(form["json_schema"]["schema"]))


def _least(schema: Mapping[str, Any]) -> Any:
    """A small value that fits a schema."""
    if "anyOf" in schema:
        return _least(schema["anyOf"][0])
    if schema["type"] == "object":
        return {name: _least(field) for name, field in schema["properties"].items()}
    return {"array": [], "string": "", "integer": 0, "boolean": True}[schema["type"]]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Any

    def do_POST(self) -> None:
        told: Server = self.server.told
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        who = WHO.search(str(body["messages"][-1]["content"]))
        agent, round_ = map(int, who.groups()) if who else (None, None)
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(body, headers, agent, round_, self.path)
        if told.greets and SHORT in asked.text:
            told.greeted += 1
            self._send(completion(_greeting(asked)))
            return
        with told.lock:
            told.asked.append(asked)
            told.at_once += 1
            told.most_at_once = max(told.most_at_once, told.at_once)
        try:
            try:
                reply = _responded(told, asked)
            finally:
                with told.lock:
                    told.at_once -= 1  # before who asked can know, and ask the next
            self._send(reply)
            with told.lock:
                told.answered.append(asked)
        except OSError:
            self.close_connection = True  # who asked has gone

    def _send(self, reply: Reply) -> None:
        if reply.raw:
            self.wfile.write(reply.body)
            self.close_connection = True
            return
        if reply.stalls == -1:
            self._stall()
        length = len(reply.body) if reply.announced is None else reply.announced
        headers = {"Content-Type": "application/json", "Content-Length": str(length)}
        if reply.chunked:
            headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
        if reply.announced is not None:
            headers["Connection"] = "close"  # told, lest the next question is sent meanwhile
        self.send_response(reply.status)
        for name, value in {**headers, **reply.headers}.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        if reply.chunked:
            for at in range(0, len(reply.body), 1 << 16):
                piece = reply.body[at : at + (1 << 16)]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        elif reply.stalls is not None:
            self.wfile.write(reply.body[: reply.stalls])
            self._stall()
        else:
            self.wfile.write(reply.body)
        self.wfile.flush()

    def _stall(self) -> None:
        self.server.told.on_stall()
        self.rfile.read(1)  # there is none: who asks has nothing more to say, and goes
        raise ConnectionResetError

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who asked has gone: nothing to tell."""


@contextmanager
def serving(respond: Callable[[Asked], Reply], *, greets: bool = True) -> Iterator[Server]:
    """A server that responds so, while it runs. `greets`: short questions are not given to
    `respond`.
    """
    told = Server(respond, greets=greets)
    with _Listener(("127.0.0.1", 0), _Handler) as listener:
        listener.told = told  # type: ignore[attr-defined]
        told.address = f"http://127.0.0.1:{listener.server_port}/v1"
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.005})
        thread.start()
        try:
            yield told
        finally:
            listener.shutdown()
            thread.join()
    for wrong in told.wrong:
        raise wrong


def counted(budget: Budget) -> list[float]:
    """The tokens, the cost and the requests of a budget so far."""
    with budget.counts() as counts:
        return counts[:]


def closed_port() -> int:
    """A port on loopback where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def question(address: str, content: str = "state", model: Model = MODEL, **reach: Any) -> Question:
    """A question to a server; `reach`: fields of Endpoint, by default with three tries."""
    endpoint = Endpoint(address, **{"tries": 3, **reach})
    messages = ({"role": "system", "content": "rules"}, {"role": "user", "content": content})
    return Question(0, model=model, messages=messages, server=endpoint)


def answered(
    client: Client, questions: Sequence[Question], budget: Budget | None = None
) -> Iterator[tuple[int, Answer]]:
    """(index of the question, answer) as answers arrive; without a budget there is no limit."""
    budget = budget or Budget(Models(), ())
    for arrived in client.together(questions, budget):
        yield from arrived
