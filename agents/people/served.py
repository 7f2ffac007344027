"""Seats in a browser: each person who plays has a page on this machine, with a form for an answer.

Only loopback is served. A page's address holds a secret, which stands for the person. The form is
made from the schema of the answer, and what is typed is read as at the terminal (`forms`) and
checked before it is recorded. A page that is loaded again, or opened in another browser, shows the
question that waits; what was typed there stays in the browser until it is sent.
"""

from __future__ import annotations

import csv
import io
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from queue import SimpleQueue
from secrets import token_urlsafe
from string import Template
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from goldrush.agents.people import Inquiry
from goldrush.agents.people.forms import has_lines, hint, is_text, plain, typed_answer, value
from goldrush.kernel.errors import BadInput
from goldrush.kernel.files import always, existing, write_whole
from goldrush.kernel.shape import Schema
from goldrush.kernel.text import escaped

BODY_MAX: Final = 1 << 20  # bytes of an answer
IDLE: Final = 60.0  # seconds for which a connection may be silent
HOST: Final = "127.0.0.1"
TIMES: Final = ("shown", "unit", "player", "seconds", "refused")

_HEADERS: Final = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class _Seat:
    """What one person is asked, under the lock of `Seats`.

    Attributes:
        count: of the questions so far.
        inquiry: the question that waits; None between questions.
        at: its index among those asked together.
        shown: when its page was first opened, by the wall clock and in monotonic seconds.
        refused: how many answers to it were not valid.
    """

    def __init__(self, player: str) -> None:
        self.player = player
        self.count = self.at = self.refused = 0
        self.inquiry: Inquiry | None = None
        self.shown: tuple[str, float] | None = None

    def put(self, at: int, inquiry: Inquiry) -> None:
        self.count += 1
        self.at, self.inquiry, self.shown, self.refused = at, inquiry, None, 0


class Seats:
    """Asks people by pages that a server on loopback shows them.

    Args:
        tell: told of each seat with its address, once it is asked for the first time.
        times: a CSV file that gets a row for each answer: when its page was first opened (UTC),
            unit, player, seconds from then to the answer, and how many answers before it were
            refused. One that is there is continued. Empty: none.

    Raises BadInput for a file of another kind, and where no port can be had.
    """

    def __init__(self, tell: Callable[[str], None], times: str = "") -> None:
        self._tell, self._times = tell, times
        self._rows = _rows_of(times) if times else ""
        self._seats: dict[str, _Seat] = {}  # by the secret in the address
        self._lock = threading.Lock()
        self._answers: SimpleQueue[tuple[int, str]] = SimpleQueue()
        try:
            self._server = ThreadingHTTPServer((HOST, 0), _handler(self))
        except OSError as error:
            raise BadInput(f"no page can be served: {error.strerror}", "play it here") from None
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def ask(self, inquiries: Sequence[Inquiry]) -> Iterator[tuple[int, str]]:
        """See `people.Ask`."""
        with self._lock:
            for at, inquiry in enumerate(inquiries):
                self._seat(inquiry.player).put(at, inquiry)
        for _ in inquiries:
            yield self._answers.get()

    def close(self) -> None:
        """End the server. The seats' pages say that it cannot be reached."""
        self._server.shutdown()
        self._server.server_close()

    def _seat(self, player: str) -> _Seat:
        found = next((seat for seat in self._seats.values() if seat.player == player), None)
        if found is None:
            found, secret = _Seat(player), token_urlsafe(16)
            self._seats[secret] = found
            port = self._server.server_address[1]
            self._tell(f"{player}: http://{HOST}:{port}/{secret}")
        return found

    def page(self, secret: str) -> str | None:
        """The page of a seat; None if there is no such seat."""
        with self._lock:
            seat = self._seats.get(secret)
            if seat is None:
                return None
            if seat.shown is None:
                seat.shown = _now(), time.monotonic()
            return _page(seat)

    def take(self, secret: str, typed: Mapping[str, str]) -> str | None:
        """Take what was typed in a form. None if the seat can go on to its next page; else the page
        again, with what is wrong.
        """
        with self._lock:
            seat = self._seats[secret]
            inquiry = seat.inquiry
            if inquiry is None or typed.get("question") != str(seat.count):
                return None  # it was answered before, in another window
            text, fault = _answer(inquiry, typed)
            if fault is not None:
                seat.refused += 1
                return _page(seat, fault, typed)
            seat.inquiry = None
            self._note(seat, inquiry)
            self._answers.put((seat.at, text))
            return None

    def knows(self, secret: str) -> bool:
        return secret in self._seats

    def count(self, secret: str) -> str:
        """The number of the question that waits; 0: none. As text, for a page that waits."""
        with self._lock:
            seat = self._seats[secret]
            return str(seat.count if seat.inquiry is not None else 0)

    def _note(self, seat: _Seat, inquiry: Inquiry) -> None:
        if not self._times:
            return
        shown, since = seat.shown or (_now(), time.monotonic())
        took = f"{time.monotonic() - since:.3f}"
        self._rows += _row(shown, inquiry.unit, seat.player, took, seat.refused)
        write_whole(self._times, self._rows.encode(), force=True, is_own=always)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _row(*cells: object) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([escaped(str(cell)) for cell in cells])
    return text.getvalue()


def _rows_of(path: str) -> str:
    """What a file of times holds already; the header of a new one."""
    try:
        text = Path(path).read_text("utf-8")
    except FileNotFoundError:
        return _row(*TIMES)
    except (OSError, ValueError):
        raise existing(path) from None
    if not text.startswith(_row(*TIMES)):
        raise existing(path)
    return text


def _answer(inquiry: Inquiry, typed: Mapping[str, str]) -> tuple[str, str | None]:
    """The answer as JSON, and what is wrong with it."""

    def field(name: str, schema: Schema) -> Any:
        try:
            return value(schema, typed.get(f"field {name}", ""))
        except BadInput as error:
            raise BadInput(f"{name}: {error.what}", error.instead) from None

    try:
        text = typed_answer(inquiry, field)
    except BadInput as error:
        return "", str(error)
    return text, inquiry.fault(text)


def _page(seat: _Seat, fault: str = "", typed: Mapping[str, str] = {}) -> str:
    template = Template(files("goldrush.agents.people").joinpath("page.html").read_text("utf-8"))
    main = "<p role=status>Waiting for the others.</p>"
    unit = "" if seat.inquiry is None else seat.inquiry.unit
    if seat.inquiry is not None:
        main = _form(seat, seat.inquiry, fault, typed)
    return template.substitute(
        player=_html(seat.player), unit=_html(unit), main=main,
        question=seat.count if seat.inquiry is not None else 0,
    )  # fmt: skip


def _form(seat: _Seat, inquiry: Inquiry, fault: str, typed: Mapping[str, str]) -> str:
    rules, question = (_html(message["content"]) for message in inquiry.messages)
    first = " open" if seat.count == 1 else ""
    fields = [
        _field(at, name, schema, typed.get(f"field {name}", ""))
        for at, (name, schema) in enumerate(inquiry.schema["properties"].items())
    ]
    says = f"<p role=alert>This answer is not valid: {_html(fault)}.</p>" if fault else ""
    return (
        f"<details{first}><summary>Rules</summary><pre tabindex=0>{rules}</pre></details>"
        f"<pre tabindex=0>{question}</pre>{says}<form method=post>"
        f'<input type=hidden name=question value="{seat.count}">{"".join(fields)}'
        "<button>Send</button></form>"
    )


def _field(at: int, name: str, schema: Schema, typed: str) -> str:
    """A labelled control for a field. A choice is a list; what has lines, or is a text, an area."""
    of = plain(schema)
    names = f'id="f{at}" name="field {escape(name)}"'
    if "enum" in of:
        empty = [""] if of is not schema else []
        control = f"<select {names}>{_choices([*empty, *of['enum']], typed)}</select>"
        return f'<label for="f{at}">{_html(name)}</label>{control}'
    if of.get("type") == "boolean":
        control = f"<select {names}>{_choices(['no', 'yes'], typed)}</select>"
        return f'<label for="f{at}">{_html(name)}</label>{control}'
    text = f'{names} aria-describedby="h{at}"'
    control = f'<input {text} value="{_html(typed)}" autocomplete=off>'
    if has_lines(schema) or is_text(schema):
        control = f"<textarea {text} rows=4>\n{_html(typed)}</textarea>"
    said = _html(hint(schema)) or "text"
    return f'<label for="f{at}">{_html(name)} <small id="h{at}">{said}</small></label>{control}'


def _choices(names: Sequence[str], typed: str) -> str:
    return "".join(
        f"<option{' selected' if name == typed else ''}>{_html(name)}</option>" for name in names
    )


def _html(text: str) -> str:
    return escape(escaped(text, "\n"))


def _handler(seats: Seats) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """`/SECRET` is a seat's page; `/SECRET/question` the number of the question that waits."""

        timeout = IDLE
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            secret, _, rest = urlsplit(self.path).path[1:].partition("/")
            if not (self._is_here() and seats.knows(secret)) or rest not in ("", "question"):
                self._send(404, "<p>There is no such seat.</p>")
            else:
                self._send(200, seats.count(secret) if rest else seats.page(secret) or "")

        def do_POST(self) -> None:
            secret = urlsplit(self.path).path[1:]
            length = self.headers.get("Content-Length", "")
            if not (self._is_here() and seats.knows(secret)):
                self._send(404, "<p>There is no such seat.</p>")
            elif not (length.isdecimal() and int(length[:9]) <= BODY_MAX):
                self.close_connection = True
                if length.isdecimal():  # a browser shows nothing before it has sent the rest
                    self.rfile.read(min(int(length), 16 * BODY_MAX))
                self._send(413, "<p>This answer is too long.</p>")
            else:
                body = self.rfile.read(int(length)).decode("utf-8", "replace")
                typed = {k: v[-1] for k, v in parse_qs(body, keep_blank_values=True).items()}
                page = seats.take(secret, typed)
                self._send(303 if page is None else 422, page or "", Location=f"/{secret}")

        def _is_here(self) -> bool:
            """Whether the page was asked for by this address, and not by another site's name."""
            return self.headers.get("Host", "").partition(":")[0] in (HOST, "localhost")

        def _send(self, status: int, text: str, **more: str) -> None:
            body = text.encode("utf-8")
            with suppress(OSError):  # who asked has gone
                self.send_response(status)
                for name, value in {**_HEADERS, **more}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Nothing: stderr is the run's."""

    return Handler
