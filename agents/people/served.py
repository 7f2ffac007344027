"""People in browsers: each has a page on this machine, with a form for the answer.

Only loopback is served. The address of a page holds a secret, which stands for the person. A page
that is loaded again, or opened in another browser, shows the question that waits. An answer counts
once the page that follows has been sent, or the browser has gone, because the process may end with
the last answer.
"""

from __future__ import annotations

import csv
import io
import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from secrets import token_urlsafe
from threading import Event, Lock, Thread
from typing import Final

import attrs

from goldrush.agents.people import Inquiry, forms
from goldrush.agents.pool import next_of
from goldrush.kernel.errors import BadInput
from goldrush.kernel.files import check_target, write_whole
from goldrush.kernel.shape import Schema
from goldrush.kernel.text import escaped

try:
    from flask import Flask, Response, abort, make_response, render_template, request
    from werkzeug.serving import WSGIRequestHandler, make_server
except ImportError:  # told to whoever gives --serve
    raise BadInput("pages for people need flask", "pip install 'goldrush-sim[people]'") from None

ANSWER_MAX: Final = 400_000  # bytes, of which flask would take 500,000 at most
HOST: Final = "127.0.0.1"
TOLD_MAX: Final = 2.0  # seconds that a run waits for the page after an answer
TIMES: Final = "shown,unit,player,seconds,refused\n"
_THEN: Final = "goldrush.then"  # in a request: what is called when its response has been sent


class _Handler(WSGIRequestHandler):
    def run_wsgi(self) -> None:
        """Respond. Flask would not tell when a browser has gone: Send was clicked twice."""
        super().run_wsgi()
        self.environ.get(_THEN, lambda: None)()


@attrs.define
class _Seat:
    """What one person is asked.

    Attributes:
        waiting: the questions, each with its index among those asked together.
        answered: the number of questions answered.
        shown: when the first of them was shown; None: not yet.
        refused: how many answers to it were not valid.
    """

    agent: int
    player: str
    waiting: deque[tuple[int, Inquiry]] = attrs.field(factory=deque)
    answered: int = 0
    shown: datetime | None = None
    refused: int = 0

    @property
    def question(self) -> int:
        """The number of the question that waits, from 1; 0: none does."""
        return self.answered + 1 if self.waiting else 0


@attrs.define
class _Sent:
    """An answer: its index among those asked together, and its row of times.

    Attributes:
        recorded: set when the answer is in the journal.
        told: set when the page that says so has been sent, whether or not it arrived.
    """

    index: int
    text: str
    times: tuple[object, ...]
    recorded: Event = attrs.field(factory=Event)
    told: Event = attrs.field(factory=Event)


class Seats:
    """Asks people by pages that a server on loopback gives them.

    Args:
        tell: told of each seat with its address, when it is asked for the first time.
        times: a CSV file with a row for each answer: when its page was opened (UTC), unit, player,
            seconds from then to the answer, and the number of answers refused before it.
        goes_on: whether a file of times that is there is continued, and not replaced.

    Raises BadInput if there is a file of another kind at `times`.
    """

    def __init__(self, tell: Callable[[str], None], times: str, *, goes_on: bool) -> None:
        is_there = check_target(times, is_own=_is_times) and goes_on
        self._tell, self._times = tell, times
        self._rows = io.StringIO()
        self._rows.write((Path(times).read_text("utf-8", "replace") if is_there else "") or TIMES)
        self._seats: dict[str, _Seat] = {}  # by the secret in the address
        self._lock = Lock()
        self._answers: SimpleQueue[_Sent] = SimpleQueue()
        self._server = make_server(HOST, 0, self._app(), threaded=True, request_handler=_Handler)
        logging.getLogger("werkzeug").setLevel(logging.CRITICAL)  # stderr is the run's
        Thread(target=self._server.serve_forever, daemon=True).start()

    def ask(self, inquiries: Sequence[Inquiry]) -> Iterator[tuple[int, str]]:
        """See `people.AskTogether`. Raises WriteFailed if the file of times cannot be written."""
        with self._lock:
            for index, inquiry in enumerate(inquiries):
                self._seat(inquiry).waiting.append((index, inquiry))
        for _ in inquiries:
            sent = next_of(self._answers)
            yield sent.index, sent.text
            csv.writer(self._rows, lineterminator="\n").writerow(sent.times)
            write_whole(self._times, self._rows.getvalue().encode(), is_own=_is_times)
            sent.recorded.set()
            sent.told.wait(TOLD_MAX)  # the run may end with this answer

    def _seat(self, inquiry: Inquiry) -> _Seat:
        for seat in self._seats.values():
            if seat.agent == inquiry.agent:
                return seat
        secret = token_urlsafe(16)
        self._tell(f"{inquiry.player}: http://{HOST}:{self._server.port}/{secret}")
        return self._seats.setdefault(secret, _Seat(inquiry.agent, inquiry.player))

    def _app(self) -> Flask:
        app = Flask(__name__, static_folder=None, template_folder=".")
        app.config.update(TRUSTED_HOSTS=[HOST], MAX_CONTENT_LENGTH=ANSWER_MAX)

        @app.get("/<secret>/question")
        def question(secret: str) -> str:
            return str(self._of(secret).question)

        @app.route("/<secret>", methods=["GET", "POST"])
        def page(secret: str) -> Response:
            seat, typed = self._of(secret), request.form.to_dict()
            answered = request.args.get("question") if request.method == "POST" else None
            fault, sent = "", None
            with self._lock:
                if seat.waiting and answered == str(seat.question):  # in no other window before
                    try:
                        sent = self._taken(seat, typed)
                    except BadInput as error:
                        seat.refused, fault = seat.refused + 1, str(error)
            if sent is not None:
                sent.recorded.wait()
                request.environ[_THEN] = sent.told.set
            with self._lock:
                return _page(seat, typed if fault else {}, fault)

        return app

    def _of(self, secret: str) -> _Seat:
        return self._seats.get(secret) or abort(404)

    def _taken(self, seat: _Seat, typed: Mapping[str, str]) -> _Sent:
        """What was typed, if it is a valid answer. Raises BadInput."""
        index, inquiry = seat.waiting[0]
        text = _answer(inquiry, dict(typed))
        shown = seat.shown or datetime.now(UTC)
        seconds = (datetime.now(UTC) - shown).total_seconds()
        times = (shown.isoformat(), inquiry.unit, seat.player, seconds, seat.refused)
        seat.waiting.popleft()
        seat.answered, seat.shown, seat.refused = seat.answered + 1, None, 0
        sent = _Sent(index, text, times)
        self._answers.put(sent)
        return sent


def _answer(inquiry: Inquiry, typed: dict[str, str]) -> str:
    """The answer in a form, as JSON. Raises BadInput if it is not valid."""

    def field(name: str, schema: Schema) -> object:
        try:
            return forms.value(schema, typed.pop(name))
        except KeyError:  # of a body that was cut off, or is no form
            raise BadInput(f"{name} is missing", "send the form again") from None
        except BadInput as error:
            raise BadInput(f"{name}: {error.what}", error.instead) from None

    text = forms.typed_answer(inquiry, field)
    ignored = [name for name in typed if typed[name].strip()]
    fault = f"{ignored[0]} is not part of it" if ignored else inquiry.fault(text)
    if fault is not None:
        raise BadInput(fault, "change this")
    return text


def _page(seat: _Seat, typed: Mapping[str, str] = {}, fault: str = "") -> Response:
    inquiry = seat.waiting[0][1] if seat.waiting else None
    if inquiry is not None:
        seat.shown = seat.shown or datetime.now(UTC)
    html = render_template(
        "page.html", seat=seat, inquiry=inquiry, typed=typed, fault=fault, forms=forms,
        nonce=token_urlsafe(16), visible=partial(escaped, keep="\n"),
    )  # fmt: skip
    return make_response(html, 422 if fault else 200, {"Cache-Control": "no-store"})


def _is_times(front: bytes) -> bool:
    return front.startswith(TIMES.encode())
