"""A model server for tests that answers at random, fails, limits, cuts and dawdles as it is told.

It speaks OpenAI's chat completions and Anthropic's messages, each with streams and with calls of
tools, under any prefix of the path, and counts: `with serving(limited=0.1) as server:`.
"""

import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs

USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
CLAUDE_USAGE = {"input_tokens": 10, "output_tokens": 2}


@attrs.frozen
class Ways:
    """How it behaves: shares of the requests, and seconds."""

    limited: float = 0.0  # 429 with retry-after
    failing: float = 0.0  # 500
    cut: float = 0.0  # the answer ends in its middle
    is_bare: bool = False  # no header tells what an answer is
    slow: float = 0.02  # seconds that it takes at most before it answers, and between two chunks


class Server(ThreadingHTTPServer):
    request_queue_size = 1000
    daemon_threads = True

    def __init__(self, ways: Ways, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.ways = ways
        self.asked: list[dict[str, Any]] = []  # path, headers and body of each request
        self.answered: list[str] = []  # the text of each answer that was sent whole

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that die in the middle of an answer are what tests are about."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        ways, body = self.server.ways, json.loads(self.body())
        self.server.asked.append({"path": self.path, "headers": dict(self.headers), "body": body})
        time.sleep(random.random() * ways.slow)
        draw = random.random()
        if draw < ways.limited + ways.failing:
            status = 429 if draw < ways.limited else 500
            error = {"type": "error", "error": {"type": "no", "message": "not now"}}
            self.send_json(status, error, {"retry-after": "1", "retry-after-ms": "5"})
            return
        answer = random_answer(body)
        kind = self.path.partition("?")[0].rpartition("/")[2]
        make = {"completions": chat, "messages": messages}[kind]
        whole, events = make(body, answer)
        is_cut = random.random() < ways.cut
        if body.get("stream"):
            self.send_stream(kind, events, is_cut)
        else:
            self.send_json(200, whole, is_cut=is_cut)
        if not is_cut:
            self.server.answered.append(str(answer))

    def body(self) -> bytes:
        if "content-length" in self.headers:
            return self.rfile.read(int(self.headers["content-length"]))
        whole = b""
        while size := int(self.rfile.readline(), 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def send_json(
        self,
        status: int,
        value: object,
        headers: dict[str, str] | None = None,
        is_cut: bool = False,
    ) -> None:
        text = json.dumps(value).encode()
        self.send_response(status)
        more = {"content-type": "application/json", "x-request-id": f"r{random.random()}"}
        more = {} if self.server.ways.is_bare else {**more, **(headers or {})}
        for name, said in {**more, "content-length": str(len(text))}.items():
            self.send_header(name, said)
        self.end_headers()
        self.wfile.write(text[: len(text) // 2] if is_cut else text)
        self.close_connection = self.close_connection or is_cut

    def send_stream(self, kind: str, events: list[dict[str, Any]], is_cut: bool) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        texts = [
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
            if "type" in event
            else f"data: {json.dumps(event)}\n\n"
            for event in events
        ]
        texts += ["data: [DONE]\n\n"] if kind == "completions" else []
        for text in texts[: len(texts) // 2] if is_cut else texts:
            time.sleep(random.random() * self.server.ways.slow / 4)
            self.wfile.write(f"{len(text.encode()):x}\r\n{text}\r\n".encode())
        if not is_cut:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = self.close_connection or is_cut


def random_answer(body: dict[str, Any]) -> str | dict[str, Any]:
    """A text; or a call of the first tool, if there are tools and no result stands at the end."""
    last = json.dumps(body["messages"][-1])
    if body.get("tools") and not any(word in last for word in ('"tool"', "tool_result")):
        tool = body["tools"][0]
        function = tool.get("function", tool)
        fields = function.get("parameters", function.get("input_schema", {})).get("properties", {})
        return {
            "name": function["name"],
            "arguments": {name: random.randrange(99) for name in fields},
        }
    return f"{random.choice(['cooperate', 'defect'])} {random.random():.6f} gold"


def chat(body: dict[str, Any], answer: str | dict[str, Any]) -> tuple[object, list[dict[str, Any]]]:
    base = {"id": f"chat{random.random()}", "created": int(time.time()), "model": body["model"]}
    message: dict[str, Any] = {"role": "assistant", "content": answer}
    pieces: list[dict[str, Any]] = []
    if isinstance(answer, str):
        pieces = [{"content": f"{word} "} for word in answer.split()]
    else:
        function = {"name": answer["name"], "arguments": json.dumps(answer["arguments"])}
        calls = [{"id": f"call{random.random()}", "type": "function", "function": function}]
        message |= {"content": None, "tool_calls": calls}
        pieces = [{"tool_calls": [{"index": 0, **calls[0]}]}]
    reason = "stop" if isinstance(answer, str) else "tool_calls"
    choice = {"index": 0, "finish_reason": reason, "message": message}
    events = [
        {"choices": [{"index": 0, "delta": piece, "finish_reason": None}]} for piece in pieces
    ]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    if (body.get("stream_options") or {}).get("include_usage"):
        events.append({"choices": [], "usage": USAGE})
    whole = {**base, "object": "chat.completion", "choices": [choice], "usage": USAGE}
    return whole, [{**base, "object": "chat.completion.chunk", **event} for event in events]


def messages(
    body: dict[str, Any], answer: str | dict[str, Any]
) -> tuple[object, list[dict[str, Any]]]:
    reason, block = "end_turn", {"type": "text", "text": answer}
    empty, deltas = {"type": "text", "text": ""}, []
    if isinstance(answer, str):
        deltas = [{"type": "text_delta", "text": f"{word} "} for word in answer.split()]
    else:
        reason, block = "tool_use", {"type": "tool_use", "id": f"toolu{random.random()}"}
        block |= {"name": answer["name"], "input": answer["arguments"]}
        empty = {**block, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": json.dumps(answer["arguments"])}]
    whole = {
        "id": f"msg{random.random()}", "type": "message", "role": "assistant",
        "model": body["model"], "content": [block], "stop_reason": reason, "stop_sequence": None,
        "usage": CLAUDE_USAGE,
    }  # fmt: skip
    begun = {**whole, "content": [], "stop_reason": None}
    ended = {"stop_reason": reason, "stop_sequence": None}
    events = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]
    return whole, events


@contextmanager
def serving(**ways: float) -> Iterator[Server]:
    """A server in a thread of this process, with `Ways` by name."""
    with Server(Ways(**ways)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
