"""The journal's page (kernel/README.md) says what the code does.

The worked example is recorded again and compared byte for byte; lists of fields, enumerations and
limits are compared with the code. Then a reader that was written from the page alone
(tiny_reader.py) reads recorded journals, checks their chain and works out the digest of every
round; test_journal.py has it judge damaged ones.
"""

import importlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgpack
import pytest
from xxhash import xxh3_64_intdigest as xxh3

from goldrush import kernel
from goldrush.kernel import run
from goldrush.kernel.journal import END, START, UNIT, Header, JournalWriter
from goldrush.kernel.world import Batch
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import AUTHORITIES, DEFENSES, config_of
from goldrush.kernel.worlds.mining.events import (
    EVENTS,
    KINDS,
    OUTCOMES,
    REASONS,
    REMEDIES,
    SUBMITTED,
)
from goldrush.kernel.worlds.mining.state import MiningState
from tests.journals import commits_of, in_pieces, write
from tests.kernel.tiny_reader import items_of, read_digests, read_frames
from tests.mining import fork, record

PAGE_PATH = Path(kernel.__file__).resolve().with_name("README.md")
PAGE = PAGE_PATH.read_text("utf-8")


def section(title: str) -> str:
    """What stands under a heading, up to the next one of any level."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, f"the page has no section {title!r}"
    return found[1]


def fenced(title: str, language: str = "text") -> list[str]:
    """The fenced blocks of a section."""
    return re.findall(rf"^```{language}\n(.*?)^```$", section(title), re.MULTILINE | re.DOTALL)


HEX_LINE = re.compile(r" *(?P<offset>\d+)  (?P<bytes>[0-9a-f]{2}(?: [0-9a-f]{2})*)(?:  +\S.*)?")


def bytes_of(listing: str) -> bytes:
    """The bytes of a listing, each line of which begins with its offset."""
    result = b""
    for line in listing.splitlines():
        parts = HEX_LINE.fullmatch(line)
        assert parts is not None, f"not a line of a listing: {line!r}"
        assert int(parts["offset"]) == len(result), f"wrong offset: {line!r}"
        result += bytes.fromhex(parts["bytes"])
    return result


# The worked example.

EXAMPLE = "A whole journal in hex"
LISTING = (PAGE_PATH.parents[1] / "journals" / "tiny.txt").read_text("utf-8")


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example's journal, recorded by the code that stands on the page."""
    monkeypatch.chdir(tmp_path)
    [code] = fenced(EXAMPLE, "python")
    exec(compile(code, str(PAGE_PATH), "exec"), {})
    return tmp_path / "tiny.journal"


def test_the_worked_example_is_what_the_recorder_writes(example: Path) -> None:
    assert bytes_of(LISTING) == example.read_bytes()
    assert [commit.kind for commit in commits_of(example)] == [START, UNIT, UNIT, END]
    assert read_frames(example.read_bytes())[0] == ("mining", 2)


def test_the_ranges_and_seeds_in_the_example_give_its_checksums() -> None:
    data = bytes_of(LISTING)
    noted = re.compile(
        r"^ *(\d+)  ((?:[0-9a-f]{2} ?)+) .*bytes (\d+)-(\d+), seed (\w+)", re.MULTILINE
    )
    lines = noted.findall(LISTING)

    assert len(lines) == 1 + 2 * 4
    for _, shown, first, last, seed in lines:
        digest = xxh3(data[int(first) : int(last) + 1], int(seed, 16)).to_bytes(8, "big")
        assert bytes.fromhex(shown)[1:] == digest[-(len(bytes.fromhex(shown)) - 1) :]


def test_the_digests_of_the_example_come_from_the_parts_on_the_page(example: Path) -> None:
    recorded = [c.digest for c in commits_of(example) if c.digest is not None]
    table = [line for line in section(EXAMPLE).splitlines() if re.match(r"\| \d", line)]
    shown = []
    for line in table:
        round, *cells = [cell.strip(" `") for cell in line.strip("|").split("|")]
        sums, gold, spent = [int(cell, 16) for cell in cells[:4]], cells[4], cells[5]
        parts = [sums[0], int(round), *sums[1:], json.loads(gold), json.loads(spent)]
        assert xxh3(msgpack.packb(parts), 0) == int(cells[6], 16)
        shown.append(int(cells[6], 16))

    assert shown == recorded
    assert xxh3(bytes_of(fenced(EXAMPLE)[0]), 0) == recorded[-1]


# Lists on the page.


def test_the_rows_on_the_page_are_the_events_of_the_world() -> None:
    expected = "".join(
        f"{code} {event.name}{' (input)' if event.is_input else ''}\n"
        + "".join(f"    {name}: {kind.name}\n" for name, kind in event.fields.items())
        for code, event in enumerate(EVENTS)
    )

    assert fenced("Rows")[0] == expected


def test_the_enumerations_on_the_page_have_the_positions_of_the_code() -> None:
    expected = {"kind": KINDS, "reason": REASONS, "outcome": OUTCOMES, "remedy": REMEDIES}
    shown = {
        name: tuple(names.split(" | "))
        for name, names in (line.split(": ") for line in fenced("Rows")[1].splitlines())
    }

    assert shown == expected


def test_the_settings_on_the_page_are_those_of_the_configuration() -> None:
    shown = dict(line.split(": ", 1) for line in fenced("Setup")[0].splitlines())
    types = {name: text for name, text in shown.items() if text in ("int", "double", "bool")}
    config = config_of({"alpha": 2, "fine": 1, "detection": 1}).as_dict()
    names = {int: "int", float: "double", bool: "bool"}

    assert list(shown) == list(config)
    assert types == {name: names[type(config[name])] for name in types}
    assert shown["defense"] == " | ".join(DEFENSES) + ", as text"
    assert shown["authority"] == " | ".join(AUTHORITIES) + ", as text"


def test_the_limits_on_the_page_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| `([\w.]+)\.(\w+)` \| (\d+) \|", section("Limits"), re.MULTILINE)

    assert len(rows) >= 10
    for module, name, value in rows:
        assert getattr(importlib.import_module(module), name) == int(value), name


def test_the_page_names_the_version_of_format_and_rules() -> None:
    assert section("The journal format").lstrip().startswith("Format 1.")
    assert section("Mining").lstrip().startswith(f"World `mining`, rules {MINING.rules}.")


# The tiny reader.


def assert_all_digests_are_found(path: Path, rounds: Sequence[int]) -> None:
    digests = list(read_digests(path.read_bytes()))

    assert [round for round, _, _ in digests] == list(rounds)
    assert [there for _, there, _ in digests] == [found for _, _, found in digests]


@pytest.mark.parametrize(
    "treatment",
    [
        "baseline", "truce-0", "defense-pointwise", "history-1", "history-all", "alpha-rich",
        "stamina-mixed", "authority-adjudicate", "authority-punish", "scarce",
    ],
)  # fmt: skip
def test_the_tiny_reader_finds_the_digests_of_a_treatment(path: Path, treatment: str) -> None:
    crowded = {"rounds": 10, "rows": 3, "cols": 5}
    record(path, {"rounds": 30} if treatment == "scarce" else crowded, treatment=treatment)
    bodies = read_frames(path.read_bytes())[1]
    blocks = [block for body in bodies[1:-1] for block, _ in items_of(body)[3:]]
    codes = {code for block in blocks for code, _ in block}

    assert_all_digests_are_found(path, range(31 if treatment == "scarce" else 11))
    assert "authority" not in treatment or {0, 2, 3, 4, 5} <= codes  # captures and rulings


MEMOS = ("first", None, "", "ein Mémo, etwas länger", "last")


def ask_with_memos(state: MiningState) -> list[Batch]:
    """Two agents: one leaves a memo now and then, the other plans what must be pruned."""
    memo = MEMOS[state.round % len(MEMOS)]
    plan = ((2, state.round % 4, 1), (1, 0, 2), None)
    pruned = ((3, 0, 1), (2, -5, 1), (0, 3, 2**62))
    rows = [(0, plan, None, None, memo, None), (1, pruned, "overflow", None, None, {"raw": "x"})]
    return [(SUBMITTED, rows)]


@pytest.fixture
def with_memos(path: Path) -> Path:
    """A journal of seven rounds in which they are asked."""
    config = config_of({"rounds": 7, "rows": 2, "cols": 2, "agents": 2, "alpha": 0.1})
    roster = [{"agent": agent, "policy": "by hand", "options": {}} for agent in range(2)]
    with JournalWriter(path, Header(MINING.name, MINING.rules)) as journal:
        setup = {"config": config.as_dict(), "roster": roster}
        run.last_of(run.steps(MINING, setup, journal, ask=ask_with_memos))
    return path


def test_the_tiny_reader_finds_the_digests_of_memos_and_of_pruned_plans(with_memos: Path) -> None:
    assert_all_digests_are_found(with_memos, range(8))


def test_inputs_spread_over_commits_give_the_same_digests(with_memos: Path) -> None:
    spread = write(with_memos.with_name("spread"), in_pieces(commits_of(with_memos), 2))

    assert_all_digests_are_found(spread, range(8))


@pytest.mark.parametrize(
    ("settings", "roster"),
    [
        ({}, None),
        ({"visibility": 1, "stamina": 7}, None),
        ({"visibility": "all", "authority": "punish"}, "raid"),
    ],
)
def test_the_tiny_reader_finds_the_digests_of_forks(
    tmp_path: Path, settings: dict[str, Any], roster: str | None
) -> None:
    parent, once, twice = (tmp_path / f"{name}.journal" for name in ("parent", "once", "twice"))
    record(parent, {"rounds": 12, "visibility": 3}, "random*2,greedy-mine")
    fork(parent, 6, once, settings=settings, roster=roster)
    fork(once, 8, twice, settings={"seed": 5}, replace=[{"round": 10, "agent": 1, "actions": []}])

    assert_all_digests_are_found(twice, [*range(7), 6, 7, 8, 8, 9, 10, 11, 12])
