"""What a recorded program can say itself: its notes, who asks, and results from outside.

They do nothing but call where the program is not recorded. They speak to the proxy by variables of
the environment, as programs in other languages can.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import ProxyHandler, Request, build_opener

from goldrush.kernel.errors import BadInput, GoldrushError, error_fields, error_of, format_value

P = ParamSpec("P")
R = TypeVar("R")
NAME_MAX: Final = 200  # characters of a caller's name


class NotRecorded(GoldrushError):
    """A note or a call that a recording does not take, or that a journal does not have."""


def note(name: str, value: object = None) -> None:
    """Record something of a program under a name: a round, a number, a list.

    Args:
        value: JSON: None, truth values, numbers, texts, lists and maps of them; arrays and numbers
            of numpy stand for lists and numbers.

    A note is compared when the run is verified, and a measure if it is a number. A program that is
    not recorded notes nothing. Raises BadInput for any other value.
    """
    url = os.environ.get("GOLDRUSH_NOTES")
    body = _encoded({"name": str(name), "value": value}, f"the note {name}")
    if url:
        _send("POST", url, body)


def outside(function: Callable[P, R]) -> Callable[P, R]:
    """The function, whose results are recorded like answers, and served when a run is resumed or
    verified: a search, a database, a clock.

    Arguments and result are JSON; see `note`. What it raises is recorded as well, and raised again
    when the run is verified: NotRecorded with its text, if its type and arguments cannot be had.
    When the run is resumed, it is called again. Not recorded, it is the function itself.
    """

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        base = os.environ.get("GOLDRUSH_PROXY")
        if not base:
            return function(*args, **kwargs)
        name = f"{function.__module__}.{function.__qualname__}"
        asked = {"function": name, "args": args, "kwargs": kwargs}
        url = f"{base}/outside"
        status, given = _send("POST", url, _encoded(asked, f"an argument of {name}"))
        if status == 202:
            place = f"{url}/{json.loads(given)['ticket']}"
            try:
                result = _encoded(function(*args, **kwargs), f"the result of {name}")
            except Exception as error:
                raised = {"error": error_fields(error)}
                _send("POST", place, json.dumps(raised, default=str).encode())
                raise
            _, given = _send("PUT", place, result)
        found: R = json.loads(given)
        return found

    return called


@contextmanager
def caller(name: str) -> Iterator[None]:
    """Within it, what a recorded program asks has this caller; tasks and threads that are made in
    it have names that begin so. For agents that are made anew in each round.

    Args:
        name: 1 to 200 characters; those that are not ASCII stand in percent encoding.

    Does nothing in a program that is not recorded. Raises BadInput for another name.
    """
    plain = quote(str(name), safe=" .:/~")
    if not 0 < len(plain) <= NAME_MAX:
        raise BadInput(f"a caller's name has {len(plain)} characters", f"give 1 to {NAME_MAX}")
    hook = sys.modules.get("goldrush_hook")  # in a recorded program, Python starts with it
    with nullcontext() if hook is None else hook.acting(hook.Caller(plain, plain)):
        yield


def _encoded(value: object, what: str) -> bytes:
    try:
        return json.dumps(value, default=_plain).encode()
    except (TypeError, ValueError) as error:
        raise BadInput(f"{what}: {error}", "give numbers, texts, lists and maps of them") from None


def _plain(value: Any) -> object:
    """The lists and numbers of a library as Python's own."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{format_value(value)} is no JSON")


def _send(method: str, url: str, body: bytes) -> tuple[int, bytes]:
    """Status and body of an answer of the proxy. Raises NotRecorded where it refuses, and what a
    function raised when it was recorded.
    """
    headers = {"content-type": "application/json"}
    request = Request(url, body, headers, method=method)  # noqa: S310  # of the recorder
    try:
        with build_opener(ProxyHandler({})).open(request) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        fields = json.loads(error.read())["error"]
        raise error_of(fields) or NotRecorded(fields["message"]) from None
