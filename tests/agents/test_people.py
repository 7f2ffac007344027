"""People in browsers and at a terminal: what they type, their pages, and what is recorded of it."""

import csv
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from goldrush.agents.people.forms import hint, value
from goldrush.kernel.errors import BadInput
from goldrush.replay.journal.verify import verify
from tests.browser import browsers
from tests.cli.helpers import ROOT, assert_refused, goldrush
from tests.journals import events_of
from tests.llm.servers import plan, serving
from tests.waiting import HANGS, until

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
        (MOVES, "CLAIM 4\n5\nmine 6:3", moved(("claim", 4, 1), ("claim", 5, 1), ("mine", 6, 3))),
        ({"type": "array", "items": TWO}, "one | 1\ntwo|2",
         [{"what": "one", "plot": 1}, {"what": "two", "plot": 2}]),
        ({"type": "array", "items": {"type": "string"}}, " a b \n\nc", ["a b", "c"]),
        ({"type": "array", "items": PLOT}, "5, 6,7", [5, 6, 7]),
        ({"anyOf": [PLOT, {"type": "null"}]}, " ", None),
        (KINDS, "2", "mine"),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "number"}, "#0.5", 0.5),
    ],
)  # fmt: skip
def test_what_is_typed_is_read_by_the_schema(schema: Any, text: str, read: object) -> None:
    assert read == value(schema, text)


@pytest.mark.parametrize(
    ("schema", "text", "says"),
    [
        (MOVES, "mine", "mine is without plot"),
        (MOVES, "mine claim 3", "mine is without plot"),
        (MOVES, "5", "type claim or mine first"),
        (MOVES, "steal 5", "type one of claim, mine"),
        (MOVES, "mine 5:1:2", "type claim or mine first"),
        (MOVES, "mine 5:4", "type a whole number from 1 to 3"),
        (MOVES, "claim 1 2 3 4 5", "give 4 at most"),
        (TWO, "one", "type what | plot"),
        (PLOT, "1.0", "type a whole number from 0 to 99"),
        (PLOT, "1" * 5000, "type a whole number"),
        (PLOT, "[" * 100_000, "type a whole number"),
        ({"type": "boolean"}, "maybe", "type y or n"),
    ],
)
def test_what_cannot_be_read_says_what_to_type(schema: Any, text: str, says: str) -> None:
    with pytest.raises(BadInput, match=re.escape(says)):
        value(schema, text)


def test_a_hint_can_be_typed() -> None:
    [example] = re.findall("`(.+)`", hint(MOVES))
    assert moved(("claim", 0, 1), ("claim", 1, 2)) == value(MOVES, example)


@contextmanager
def played(path: Path, roster: str, *words: str) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """A run whose people answer in browsers; gives the addresses of its seats as they are told."""
    command = ["record", "--roster", roster, "--serve", "--out", str(path), *words]
    with subprocess.Popen(
        [sys.executable, "-m", "goldrush", *command], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as run:  # fmt: skip
        assert run.stderr is not None
        try:
            yield run, (found[0] for line in run.stderr if (found := re.search(r"http\S+", line)))
        finally:
            run.kill()


def get(address: str, typed: dict[str, str] | None = None, **headers: str) -> tuple[int, str]:
    body = None if typed is None else urlencode(typed).encode()
    request = urllib.request.Request(address, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=HANGS) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_a_seat_is_nobody_elses_and_takes_one_valid_answer_to_a_question(path: Path) -> None:
    with played(path, "human*1,raid*1", "--rounds", "1") as (run, seats):
        seat = next(seats)
        _, first = get(seat)
        wrong = [
            get(seat[:-1])[0], get(f"{seat}/else")[0], get(seat, Host="example.com")[0],
            get(seat, {}, Host="example.com")[0], get(f"{seat}x", {"question": "1"})[0],
        ]  # fmt: skip
        refused, again = get(seat, {"question": "1", "field actions": "<b>&\x1b"})
        stale, _ = get(seat, {"question": "7", "field actions": "claim 5"})
        long, _ = get(seat, {"question": "1", "field note": "x" * (1 << 20)})
        unread = path.exists() and [*events_of(path)][1:]
        get(seat, {"question": "1", "field actions": "claim 5"})
        assert 0 == run.wait(HANGS)

    assert [404] * 5 == wrong
    assert "gold miners" in first
    assert (422, 200, 413) == (refused, stale, long)
    assert "&lt;b&gt;&amp;\\x1b" in again
    assert "<b>" not in again
    assert not unread
    assert [5] == [e.fields["plot"] for e in events_of(path) if e.name == "claim_drawn"][:1]
    assert verify(path, 4).holds


def test_times_continue_a_file_of_their_own_and_replace_no_other(
    path: Path, tmp_path: Path
) -> None:
    times = tmp_path / "times.csv"
    for round in (1, 2):
        with played(path, "human*1,raid*1", "--rounds", "1", "--times", str(times), "--force") as (
            run, seats,
        ):  # fmt: skip
            seat = next(seats)
            get(seat, {"question": "1", "field actions": "claim"})
            get(seat, {"question": "1", "field actions": ""})
            assert 0 == run.wait(HANGS)
        rows = [*csv.DictReader(times.read_text().splitlines())]
        assert [("round 1", "agent 0", "1")] * round == [
            (row["unit"], row["player"], row["refused"]) for row in rows
        ]
        assert all(float(row["seconds"]) >= 0 for row in rows)
    times.write_text("mine")
    assert_refused(
        goldrush(
            "record", "--roster", "human*1,raid*1", "--serve", "--times", str(times), cwd=tmp_path
        ),
        "already exists",
    )
    assert "mine" == times.read_text()


def test_two_people_in_browsers_and_a_model_play_ten_rounds_and_one_closes_the_browser(
    path: Path,
) -> None:
    with (
        serving(lambda asked: plan(("claim", 50 + (asked.round or 0), 1))) as server,
        played(
            path, "human*2,llm:test*1", "--rounds", "10", "--base-url", server.address,
        ) as (run, seats),
    ):  # fmt: skip
        for browser in browsers():
            addresses = [next(seats), next(seats)]
            contexts = [browser.new_context(), browser.new_context()]
            pages = [context.new_page() for context in contexts]
            for page, address in zip(pages, addresses, strict=True):
                page.goto(address)
            for round in range(1, 11):
                if round == 5:  # half of an answer is typed, then the page is loaded again
                    pages[0].fill("textarea >> nth=0", "claim 5")
                    pages[0].reload()
                    assert "claim 5" == pages[0].input_value("textarea >> nth=0")
                if round == 6:  # and a browser is closed, and another one opened
                    contexts[1].close()
                    contexts[1] = browser.new_context()
                    pages[1] = contexts[1].new_page()
                    pages[1].goto(addresses[1])
                for at, page in enumerate(pages):
                    page.wait_for_selector(
                        f"input[name=question][value='{round}']", state="attached"
                    )
                    page.fill("textarea >> nth=0", f"claim {10 * at + round - 1}")
                    page.click("button")
            for context in contexts:
                context.close()
        assert 0 == run.wait(HANGS)

    claims = [e.fields for e in events_of(path) if e.name == "claim_drawn"]
    assert {*range(20), *range(51, 61)} == {claim["plot"] for claim in claims}
    assert verify(path, 4).holds


def test_a_page_is_accessible(path: Path) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="pip install '.[dev]'"
    )
    with played(path, "human*1,raid*1", "--rounds", "1") as (_, seats):
        for browser in browsers():
            context = browser.new_context(viewport={"width": 390, "height": 800})
            page = context.new_page()
            page.goto(next(seats))
            found = axe.Axe().run(page)
            context.close()
            assert [] == [each["id"] for each in found.response["violations"]]


def test_who_stops_a_served_run_keeps_the_answers(path: Path) -> None:
    with played(path, "human*2", "--rounds", "1") as (run, seats):
        get(next(seats), {"question": "1", "field actions": "claim 1"})
        until(lambda: path.exists() and path.stat().st_size)
        run.send_signal(signal.SIGINT)
        assert 130 == run.wait(HANGS)
    assert [0] == [e.fields["agent"] for e in events_of(path) if e.name == "submitted"]
