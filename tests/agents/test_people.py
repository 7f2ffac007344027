"""People in browsers and at a terminal: what they type, their pages, and what is recorded of it."""

import csv
import json
import re
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import httpx2
import pytest
from httpx2 import request

from goldrush.agents.people import Inquiry
from goldrush.agents.people.forms import hint, value
from goldrush.agents.people.served import TIMES, Seats
from goldrush.cli.people import people_for
from goldrush.kernel.errors import BadInput
from goldrush.replay.journal.verify import verify
from tests.browser import PHONE, WIDE, Tab, browsers
from tests.cli.helpers import ROOT
from tests.journals import events_of
from tests.llm.servers import plan, serving
from tests.waiting import HANGS

KINDS = {"type": "string", "enum": ["claim", "mine"]}
PLOT = {"type": "integer", "minimum": 0, "maximum": 99}
STAMINA = {"type": "integer", "minimum": 1, "maximum": 3}
TWO = {"type": "object", "properties": {"what": {"type": "string"}, "plot": PLOT}}
MOVE = {"type": "object", "properties": {"type": KINDS, "plot": PLOT, "stamina": STAMINA}}
MOVES = {"type": "array", "items": MOVE, "maxItems": 4}


def moved(*moves: tuple[str, int, int]) -> list[dict[str, object]]:
    return [{"type": kind, "plot": plot, "stamina": points} for kind, plot, points in moves]


@pytest.mark.parametrize(
    ("schema", "text", "read"),
    [
        (MOVES, "", []),
        (MOVES, "claim 1 2 3", moved(("claim", 1, 1), ("claim", 2, 1), ("claim", 3, 1))),
        (MOVES, "CLAIM 4\r\n5\nmine 6:3", moved(("claim", 4, 1), ("claim", 5, 1), ("mine", 6, 3))),
        ({"type": "array", "items": TWO}, "one | 1\n", [{"what": "one", "plot": 1}]),
        ({"type": "array", "items": {"type": "string"}}, " a b \n\nc", ["a b", "c"]),
        ({"type": "array", "items": PLOT}, "5, 6,7", [5, 6, 7]),
        ({"anyOf": [PLOT, {"type": "null"}]}, " ", None),
        (KINDS, "2", "mine"),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "number"}, "#0.5", 0.5),
        (MOVES, re.findall("`(.+)`", hint(MOVES))[0], moved(("claim", 0, 1), ("claim", 1, 2))),
    ],
)  # fmt: skip
def test_what_is_typed_is_read_by_the_schema(schema: Any, text: str, read: object) -> None:
    assert read == value(schema, text)


@pytest.mark.parametrize(
    ("schema", "text", "says"),
    [
        *[(MOVES, text, hint(MOVES)) for text in ("mine", "mine claim 3", "5", "5 mine 6", "m 5x")],
        (MOVES, "steal 5", "type 1 claim, 2 mine"),
        (MOVES, "mine 5:4", "type a whole number from 1 to 3"),
        (MOVES, "mine 5:1:2", "type a whole number from 1 to 3"),
        (MOVES, "claim 1 2 3 4 5", "give 4 at most"),
        (TWO, "one", "type what | plot"),
        *[(PLOT, text, "number from 0 to 99") for text in ("1.0", "1" * 5000, "[" * 100_000, "")],
        ({"type": "boolean"}, "maybe", "type y or n"),
    ],
)
def test_what_cannot_be_read_says_what_to_type(schema: Any, text: str, says: str) -> None:
    with pytest.raises(BadInput, match=re.escape(says)):
        value(schema, text)


def get(address: str, typed: dict[str, str] | None = None, host: str = "") -> tuple[int, str]:
    method, headers = "GET" if typed is None else "POST", {"Host": host} if host else {}
    data = typed and {"note": "", **typed}
    found = request(method, address, data=data, headers=headers, timeout=HANGS, trust_env=False)
    return found.status_code, found.text


def asked(player: str, prompt: str) -> Inquiry:
    messages: Any = [{"content": "RULES"}, {"content": prompt}]
    return Inquiry(
        ord(player), player, "round 1", messages, {"properties": {"items": PLOT}}, lambda text: None
    )


def test_several_questions_to_a_person_are_asked_one_after_the_other(path: Path) -> None:
    seats: SimpleQueue[str] = SimpleQueue()
    path.write_text(f"{TIMES}of a run before\n")
    ask = Seats(seats.put, str(path), goes_on=False).ask
    with ThreadPoolExecutor(1) as pool:
        given = pool.submit(lambda: [*ask([asked("a", "1?"), asked("b", "2?"), asked("a", "3?")])])
        a, b = (seats.get(timeout=HANGS).partition(": ")[2] for _ in "ab")
        pages = [get(a)[1]]
        for seat, question in ((a, 1), (a, 2), (b, 1)):
            pages.append(get(f"{seat}?question={question}", {"items": str(question)})[1])

    says = [re.findall("[123][?]|Waiting", page)[0] for page in pages]
    assert ["1?", "3?", "Waiting", "Waiting"] == says
    answers = [(at, json.loads(text)["items"]) for at, text in given.result()]
    assert [(0, 1), (2, 2), (1, 1)] == answers
    assert "before" not in path.read_text()
    assert 'value=""' in pages[0]  # a field may have the name of what every dict has


def test_an_answer_counts_though_the_browser_goes_as_the_page_comes(path: Path) -> None:
    seats: SimpleQueue[str] = SimpleQueue()
    ask = Seats(seats.put, str(path), goes_on=False).ask
    tab = socket.socket()
    tab.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # at once
    with ThreadPoolExecutor(1) as pool:
        given = pool.submit(lambda: [*ask([asked("a", "1?")])])
        seat = httpx2.URL(seats.get(timeout=HANGS).partition(": ")[2])
        tab.connect((seat.host, seat.port))
        form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 7"
        line = f"POST {seat.path}?question=1 HTTP/1.1\r\nHost: {seat.host}"
        tab.sendall(f"{line}\r\n{form}\r\n\r\nitems=7".encode())
        while b"</html>" not in tab.recv(1 << 16):
            pass
        tab.close()
        assert [(0, '{"items": 7}')] == given.result(HANGS)


@contextmanager
def served(*words: object) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """A run whose people answer in browsers, with the addresses of seats as they are told."""
    command = [sys.executable, "-m", "goldrush", *map(str, words), "--serve"]
    with subprocess.Popen(
        command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        assert run.stderr is not None
        try:
            yield run, (found[0] for line in run.stderr if (found := re.search(r"http\S+", line)))
        finally:
            run.kill()


def test_a_seat_is_nobody_elses_and_takes_one_valid_answer_to_a_question(path: Path) -> None:
    words = ("record", "--roster", "human*1,raid*1", "--rounds", "1", "--out", path)
    with served(*words) as (run, seats):
        seat = next(seats)
        first, elsewhere = f"{seat}?question=1", "example.com"
        codes = [
            get(seat[:-1])[0], get(f"{seat}/else")[0], get(f"{seat}x?question=1", {})[0],
            get(seat, host=elsewhere)[0], get(first, {}, elsewhere)[0], get(first)[0],
            get(f"{seat}?question=7", {"actions": "claim 6"})[0],
            get(first, {"actions": "", "else": "x"})[0], get(first, {"else": ""})[0],
            get(first, {"note": "x" * (1 << 20)})[0],
        ]  # fmt: skip
        shown, (code, again) = get(seat)[1], get(first, {"actions": "<b>&", "note": "kept"})
        assert not path.exists() or [*events_of(path)][1:] == []
        get(first, {"actions": "claim 5"})
        assert 0 == run.wait(HANGS)

    assert [404, 404, 404, 400, 400, 200, 200, 422, 422, 413, 422] == [*codes, code]
    assert "gold miners" in shown
    assert re.search("&lt;b&gt;&amp;.*kept", again, re.DOTALL)
    assert "<b>" not in again
    assert [5] == [e.fields["plot"] for e in events_of(path) if e.name == "claim_drawn"][:1]
    assert verify(path, 4).holds


def test_who_stops_keeps_answers_and_times_and_goes_on(path: Path) -> None:
    times = path.with_suffix(".times.csv")
    with served("record", "--roster", "human*2", "--rounds", "1", "--out", path) as (run, seats):
        assert next(seats) != (other := f"{next(seats)}?question=1")
        assert [422, 200] == [get(other, {"actions": text})[0] for text in ("claim", "claim 1")]
        run.send_signal(signal.SIGINT)
        assert 130 == run.wait(HANGS)
    with served("resume", path) as (run, seats):
        get(f"{next(seats)}?question=1", {"actions": ""})
        assert 0 == run.wait(HANGS)

    rows = [*csv.DictReader(times.read_text().splitlines())]
    assert [("round 1", "agent 1", "1"), ("round 1", "agent 0", "0")] == [
        (row["unit"], row["player"], row["refused"]) for row in rows
    ]
    assert all(float(row["seconds"]) >= 0 for row in rows)
    assert verify(path, 4).holds


def test_times_replace_no_other_file(path: Path) -> None:
    times = path.with_suffix(".times.csv")
    times.write_text("mine")
    with pytest.raises(BadInput, match="move it away"):
        people_for(str(path), serve=True)

    assert "mine" == times.read_text()


def test_without_flask_serving_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flask", None)
    monkeypatch.delitem(sys.modules, "goldrush.agents.people.served", raising=False)
    with pytest.raises(BadInput, match=r"goldrush-sim\[people\]"):
        people_for("run.journal", serve=True)


def test_two_people_in_browsers_and_a_model_play_ten_rounds_and_one_closes_the_browser(
    path: Path,
) -> None:
    words = ("record", "--roster", "human*2,llm:test*1", "--rounds", "10", "--out", path)
    with (
        serving(lambda asked: plan(("claim", 50 + (asked.round or 0), 1))) as server,
        served(*words, "--base-url", server.address) as (run, seats),
    ):
        for browser in browsers():
            addresses = [next(seats), next(seats)]
            tabs = [Tab(browser, "light", WIDE), Tab(browser, "dark", PHONE)]
            for tab, address in zip(tabs, addresses, strict=True):
                tab.page.goto(address)
                assert [] == tab.violations()
                assert tab.page.evaluate("document.body.scrollWidth <= innerWidth")
            for round in range(1, 11):
                if round == 5:  # half of an answer is typed, refused, and the page loaded again
                    tabs[0].page.fill("#f1", "claim")
                    tabs[0].page.click("button")
                    tabs[0].page.wait_for_selector("[role=alert]")
                    assert [] == tabs[0].violations()
                    tabs[0].page.reload()
                    assert "claim" == tabs[0].page.input_value("#f1")
                if round == 6:  # and a browser is closed, and another one opened
                    tabs[1].context.close()
                    tabs[1] = Tab(browser, "light", PHONE)
                    tabs[1].page.goto(addresses[1])
                for at, tab in enumerate(tabs):
                    tab.page.wait_for_selector(f"form[action='?question={round}']")
                    tab.page.fill("#f1", f"claim {10 * at + round - 1}")
                    tab.page.click("button")
            assert 0 == run.wait(HANGS)
            for tab in tabs:
                tab.page.get_by_text("The run has ended").wait_for()
                tab.context.close()

    claims = [e.fields for e in events_of(path) if e.name == "claim_drawn"]
    assert {*range(20), *range(51, 61)} == {claim["plot"] for claim in claims}
    assert verify(path, 4).holds
