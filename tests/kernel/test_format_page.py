"""The journal's page (kernel/README.md) says what the code does.

The worked example is recorded again and compared byte for byte; lists of fields, enumerations and
limits are compared with the code. Then a reader that was written from the page alone (`tiny reader`
below: msgpack, xxhash and nothing of the kernel) reads recorded journals, checks their chain and
works out the state digest of every round.
"""

import importlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import msgpack
import pytest
from xxhash import xxh3_64_intdigest as xxh3

from goldrush import kernel
from goldrush.kernel import run
from goldrush.kernel.errors import DamagedJournal, TornTail
from goldrush.kernel.journal import END, START, UNIT, Commit, Header, JournalWriter
from goldrush.kernel.world import Batch, Block
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import AUTHORITIES, DEFENSES, MiningConfig, config_of
from goldrush.kernel.worlds.mining.events import (
    EVENTS,
    KINDS,
    OUTCOMES,
    REASONS,
    REMEDIES,
    SUBMITTED,
)
from goldrush.kernel.worlds.mining.state import MiningState
from tests.journals import commits_of
from tests.mining import fork, record

PAGE_PATH = Path(kernel.__file__).with_name("README.md")
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


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example's journal, recorded by the code that stands on the page."""
    monkeypatch.chdir(tmp_path)
    [code] = fenced(EXAMPLE, "python")
    exec(compile(code, str(PAGE_PATH), "exec"), {})
    return tmp_path / "tiny.journal"


def test_the_worked_example_is_what_the_recorder_writes(example: Path) -> None:
    listing = fenced(EXAMPLE)[0]

    assert bytes_of(listing) == example.read_bytes()


def test_the_worked_example_shows_every_kind_of_commit(example: Path) -> None:
    kinds = [commit.kind for commit in commits_of(example)]

    assert kinds == [START, UNIT, UNIT, END]


def test_the_ranges_and_seeds_in_the_example_give_its_checksums() -> None:
    listing = fenced(EXAMPLE)[0]
    data = bytes_of(listing)
    noted = re.compile(
        r"^ *(\d+)  ((?:[0-9a-f]{2} ?)+) .*bytes (\d+)-(\d+), seed (\w+)", re.MULTILINE
    )
    lines = noted.findall(listing)

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


def test_the_bytes_of_the_last_digest_are_those_on_the_page(example: Path) -> None:
    digests = [c.digest for c in commits_of(example) if c.digest is not None]

    assert xxh3(bytes_of(fenced(EXAMPLE)[1]), 0) == digests[-1]


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

    assert list(shown) == list(attrs.fields_dict(MiningConfig))
    assert shown["defense"] == " | ".join(DEFENSES) + ", as text"
    assert shown["authority"] == " | ".join(AUTHORITIES) + ", as text"


def test_the_settings_are_held_as_the_types_on_the_page() -> None:
    shown = dict(line.split(": ", 1) for line in fenced("Setup")[0].splitlines())
    names = {"int": int, "double": float, "bool": bool}
    config = config_of({"alpha": 2, "fine": 1, "detection": 1}).as_dict()

    assert {name: type(config[name]) for name, text in shown.items() if text in names} == {
        name: names[text] for name, text in shown.items() if text in names
    }


def test_the_limits_on_the_page_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| `([\w.]+)\.(\w+)` \| (\d+) \|", section("Limits"), re.MULTILINE)

    assert len(rows) >= 10
    for module, name, value in rows:
        assert getattr(importlib.import_module(module), name) == int(value), name


def test_the_page_names_the_version_of_format_and_rules() -> None:
    assert section("The journal format").lstrip().startswith("Format 1.")
    assert section("Mining").lstrip().startswith(f"World `mining`, rules {MINING.rules}.")


# The tiny reader: written from the page, with msgpack and xxhash, and nothing of the kernel.

MASK = 2**64 - 1


def fp(value: Any) -> int:
    return xxh3(msgpack.packb(value), 0)


def read_frames(data: bytes) -> tuple[Any, list[bytes]]:
    """The header's values and the bodies; asserts that the file is whole and its chain holds."""
    unpacker = msgpack.Unpacker(use_list=True)
    unpacker.feed(data[:128])
    magic, version, world, rules, checksum = unpacker.unpack()
    at = unpacker.tell()
    assert (magic, version) == ("goldrush", 1)
    assert checksum == xxh3(data[: at - 9], 0)
    bodies = []
    while at < len(data):
        length = int.from_bytes(data[at + 2 : at + 6], "big")
        end = at + 11 + length + 9
        assert data[at : at + 2] == b"\x94\xce"
        assert data[at + 6 : at + 7] == b"\xce"
        assert (
            int.from_bytes(data[at + 7 : at + 11], "big")
            == xxh3(data[at : at + 6], checksum) % 2**32
        )
        assert end <= len(data)
        checksum = xxh3(data[at : end - 9], checksum)
        assert data[end - 9 : end] == b"\xcf" + checksum.to_bytes(8, "big")
        bodies.append(data[at + 11 : end - 9])
        at = end
    return (world, rules), bodies


def judged(data: bytes) -> tuple[str, int, bool]:
    """Torn tail or damage: the verdict on a file under a whole header, the byte where it falls, and
    whether what is torn is zeros.
    """
    unpacker = msgpack.Unpacker()
    unpacker.feed(data[:128])
    unpacker.skip()
    header = at = unpacker.tell()
    checksum = int.from_bytes(data[at - 8 : at], "big")
    ended = False
    while left := len(data) - at:
        zeroed = "torn tail" if at > header else "damage"
        if ended:
            return "damage", at, False
        if left < 11:
            return "torn tail", at, False
        check = (xxh3(data[at : at + 6], checksum) % 2**32).to_bytes(4, "big")
        if data[at : at + 2] + data[at + 6 : at + 11] != b"\x94\xce\xce" + check:
            zeros = not any(data[at + 10 :])
            return (zeroed if zeros else "damage"), at, zeros and at > header
        end = at + 11 + int.from_bytes(data[at + 2 : at + 6], "big") + 9
        if end > len(data):
            return "torn tail", at, False
        checksum = xxh3(data[at : end - 9], checksum)
        if data[end - 9 : end] != b"\xcf" + checksum.to_bytes(8, "big"):
            zeros = not any(data[end - 1 :])
            return (zeroed if zeros else "damage"), at, zeros and at > header
        ended = data[at + 11 : at + 13] == b"\x92\x02"
        at = end
    return ("whole" if at > header else "torn tail"), at, False


def items_of(body: bytes) -> list[tuple[Any, bytes]]:
    """The items of a body, each with its own bytes."""
    unpacker = msgpack.Unpacker(use_list=True, max_buffer_size=2**30)
    unpacker.feed(body)
    items = []
    for _ in range(unpacker.read_array_header()):
        start = unpacker.tell()
        value = unpacker.unpack()
        items.append((value, body[start : unpacker.tell()]))
    assert unpacker.tell() == len(body)
    return items


def joined(blocks: Sequence[tuple[Any, bytes]]) -> tuple[Any, bytes]:
    """The inputs of a step that were spread over commits, as one block."""
    if len(blocks) == 1:
        return blocks[0]
    batches: list[list[Any]] = []
    for block, _ in blocks:
        for code, rows in block:
            if batches and batches[-1][0] == code:
                batches[-1][1] += rows
            else:
                batches.append([code, [*rows]])
    for _, rows in batches:
        rows.sort(key=lambda row: row[0])  # the order of agents, in the mining world
    return batches, msgpack.packb(batches)


class TinyState:
    """The parts of the mining world's state that its digest covers."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self.config, self.roster = setup["config"], setup["roster"]
        agents = range(self.config["agents"])
        self.round = 0
        self.plots: dict[int, tuple[int, int, int]] = {}  # plot -> owner, since, how
        self.memos: dict[int, str | None] = {}
        self.prints: list[int] = []
        self.gold = [0.0 for _ in agents]
        self.spent = [[0, 0, 0, 0] for _ in agents]

    def fork(self, facts: dict[str, Any]) -> None:
        self.config.update(facts["changes"])
        self.roster = self.roster if facts["roster"] is None else facts["roster"]

    def play(self, inputs: tuple[Any, bytes], derived: tuple[Any, bytes]) -> None:
        round = self.round + 1
        plans: dict[int, Any] = {}
        before_capture = {}
        for code, rows in inputs[0] + derived[0]:
            for row in rows:
                if code == 0:
                    agent, actions, _, _, memo, _ = row
                    plans[agent] = list(actions)
                    self.memos[agent] = memo
                elif code == 1:
                    agent, removed, _ = row
                    for index, _ in removed:
                        plans[agent][index] = None
                elif code == 2:
                    plot, _, winner, _ = row
                    self.plots[plot] = (winner, round, 1)
                elif code == 3:
                    plot, _, _, _, outcome, winner, _ = row
                    if outcome == 3:
                        before_capture[plot] = self.plots[plot]
                        self.plots[plot] = (winner, round, 2)
                elif code == 4:
                    plot, captor, _, _, remedy, fine, _ = row
                    if remedy == 0:
                        self.plots[plot] = before_capture[plot]
                    self.gold[captor] -= fine
                elif code == 5:
                    _, agent, _, gold = row
                    self.gold[agent] += gold
        for agent, plan in plans.items():
            for action in plan:
                if action is not None:
                    self.spent[agent][action[0]] += action[2]
        self.prints.append(xxh3(derived[1], xxh3(inputs[1], round)))

    def digest(self) -> int:
        window = self.config["visibility"]
        seen = self.prints if window == "all" else self.prints[-window:]
        plots = sum(fp([plot, *held]) for plot, held in self.plots.items())
        memos = sum(fp([a, memo]) for a, memo in self.memos.items() if memo is not None)
        sums = [plots & MASK, memos & MASK, sum(seen) & MASK]
        return fp([fp([self.config, self.roster]), self.round, *sums, self.gold, self.spent])


def read_digests(data: bytes) -> Iterator[tuple[int, int, int]]:
    """(round, digest in the journal, digest worked out) of START, every round and every fork."""
    _, bodies = read_frames(data)
    (_, _), (setup, _), (digest, _) = items_of(bodies[0])
    state = TinyState(setup)
    yield 0, digest, state.digest()
    inputs = []
    for body in bodies[1:]:
        (kind, _), (unit, _), *rest = items_of(body)
        if kind == 2:
            assert unit == state.round
            continue
        if kind == 3:
            (facts, _), (digest, _) = rest
            assert list(facts) == ["parent", "changes", "roster", "replaced"]
            assert unit == state.round
            state.fork(facts)
            yield unit, digest, state.digest()
            continue
        (digest, _), *blocks = rest
        for place, block in enumerate(blocks):
            if place % 2 == 0:
                inputs.append(block)
            else:
                state.play(joined(inputs), block)
                inputs = []
        if digest is not None:
            state.round += 1
            assert unit == state.round
            yield unit, digest, state.digest()


def assert_all_digests_are_found(path: Path, rounds: int) -> None:
    digests = list(read_digests(path.read_bytes()))

    assert [round for round, _, _ in digests] == list(range(rounds + 1))
    assert [there for _, there, _ in digests] == [found for _, _, found in digests]


def test_the_tiny_reader_reads_the_header(example: Path) -> None:
    header, bodies = read_frames(example.read_bytes())

    assert (header, len(bodies)) == (("mining", 2), 4)


def test_the_tiny_reader_finds_the_digests_of_the_example(example: Path) -> None:
    assert_all_digests_are_found(example, rounds=2)


def test_the_tiny_reader_finds_the_digests_of_ten_rounds(path: Path) -> None:
    record(path, {"rounds": 10, "seed": 7})

    assert_all_digests_are_found(path, rounds=10)


@pytest.mark.parametrize(
    "treatment",
    [
        "truce-0", "defense-pointwise", "history-1", "history-all", "alpha-rich", "stamina-mixed",
        "authority-adjudicate", "authority-punish", "scarce",
    ],
)  # fmt: skip
def test_the_tiny_reader_finds_the_digests_of_a_treatment(path: Path, treatment: str) -> None:
    crowded = {"rounds": 10, "rows": 3, "cols": 5}
    record(path, {} if treatment == "scarce" else crowded, treatment=treatment)
    rounds = 200 if treatment == "scarce" else 10

    assert_all_digests_are_found(path, rounds)


@pytest.mark.parametrize("treatment", ["authority-adjudicate", "authority-punish"])
def test_those_journals_hold_captures_and_rulings(path: Path, treatment: str) -> None:
    record(path, {"rounds": 10, "rows": 3, "cols": 5}, treatment=treatment)
    codes = {
        code
        for body in read_frames(path.read_bytes())[1][1:-1]
        for (block, _) in items_of(body)[3:]
        for code, _ in block
    }

    assert {0, 2, 3, 4, 5} <= codes


MEMOS = ("first", None, "", "ein Mémo, etwas länger", "last")


def ask_with_memos(state: MiningState) -> list[Batch]:
    """Two agents: one leaves a memo now and then, the other plans what must be pruned."""
    memo = MEMOS[state.round % len(MEMOS)]
    return [
        (
            SUBMITTED,
            [
                (0, ((2, state.round % 4, 1), (1, 0, 2), None), None, None, memo, None),
                (1, ((3, 0, 1), (2, -5, 1), (0, 3, 2**62)), "overflow", None, None, {"raw": "x"}),
            ],
        )
    ]


def record_with_memos(path: Path) -> None:
    config = config_of({"rounds": 7, "rows": 2, "cols": 2, "agents": 2, "alpha": 0.1})
    roster = [{"agent": agent, "policy": "by hand", "options": {}} for agent in range(2)]
    setup = {"config": config.as_dict(), "roster": roster}
    with JournalWriter(path, Header(MINING.name, MINING.rules)) as journal:
        run.record(MINING, setup, ask_with_memos, journal)


def test_the_tiny_reader_finds_the_digests_of_memos_and_of_pruned_plans(path: Path) -> None:
    record_with_memos(path)

    assert_all_digests_are_found(path, rounds=7)


@pytest.mark.parametrize(
    ("settings", "roster"),
    [
        ({}, None),
        ({"visibility": 1, "stamina": 7}, None),
        ({"visibility": 9, "alpha": 0.3}, "raid"),
        ({"visibility": "all", "authority": "punish"}, None),
    ],
)
def test_the_tiny_reader_finds_the_digests_of_forks(
    tmp_path: Path, settings: dict[str, Any], roster: str | None
) -> None:
    parent, once, twice = (tmp_path / f"{name}.journal" for name in ("parent", "once", "twice"))
    record(parent, {"rounds": 12, "visibility": 3}, "random*2,greedy-mine")
    fork(parent, 6, once, settings=settings, roster=roster)
    fork(once, 8, twice, settings={"seed": 5}, replace=[{"round": 10, "agent": 1, "actions": []}])
    digests = list(read_digests(twice.read_bytes()))

    assert [round for round, _, _ in digests] == [*range(7), 6, 7, 8, 8, 9, 10, 11, 12]
    assert [there for _, there, _ in digests] == [found for _, _, found in digests]


def test_inputs_spread_over_commits_give_the_same_digests(tmp_path: Path) -> None:
    whole, spread = tmp_path / "whole.journal", tmp_path / "spread.journal"
    record_with_memos(whole)
    with JournalWriter(spread, Header(MINING.name, MINING.rules)) as journal:
        for commit in commits_of(whole):
            if commit.kind != UNIT:
                journal.append(commit)
                continue
            inputs, derived = commit.blocks
            rows = [Block([(SUBMITTED, [row])]) for row in inputs.rows(SUBMITTED)]
            first, second = rows if commit.unit % 3 else rows[::-1]
            journal.append(Commit(UNIT, commit.unit, None, [first]))
            if commit.unit % 2:
                journal.append(Commit(UNIT, commit.unit, None, [second]))
                second = Block([])
            journal.append(Commit(UNIT, commit.unit, commit.digest, [second, derived]))

    assert_all_digests_are_found(spread, rounds=7)


def verdict_of(path: Path, data: bytes) -> tuple[str, int, bool]:
    """`judged`, by the code."""
    path.write_bytes(data)
    try:
        commits = commits_of(path)
    except TornTail as error:
        return "torn tail", error.offset, error.zeros
    except DamagedJournal as error:
        return "damage", error.offset, False
    return "whole", commits[-1].end, False


def test_the_tiny_reader_tells_torn_tails_from_damage_as_the_code_does(example: Path) -> None:
    data = example.read_bytes()
    starts = range(commits_of(example)[0].offset, len(data))
    files = [data[:start] + bytes(zeros) for start in starts for zeros in (0, 1, 11, 40, 400)]
    files += [data[:start] + bytes(len(data) - start) for start in starts]
    files += [file + tail for file in (data, data[:400]) for tail in (b"\x01", bytes(99) + b"\x01")]
    verdicts = [judged(file) for file in files]

    assert {verdict for verdict, _, _ in verdicts} == {"whole", "torn tail", "damage"}
    assert sum(zeros for _, _, zeros in verdicts) > 300
    assert verdicts == [verdict_of(example, file) for file in files]
