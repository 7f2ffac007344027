"""Seasons told a second time: each assignment from its events alone, by code of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from goldrush.kernel.world import RecordedEvent
from goldrush.kernel.worlds.competition import competition
from tests.journals import events_of

Row = dict[str, Any]


class Assignment:
    """An assignment: who is called what, and its events, each with the code of its refusal."""

    def __init__(self, names: dict[int, str], setup: Row, events: Sequence[RecordedEvent]) -> None:
        self.names = names
        self.setup = setup
        self.number = events[0].unit
        self.events = events
        self.codes = codes_of(events)

    def all(self, name: str, table: int | None = None) -> list[RecordedEvent]:
        """The events of a name (of a table), refused ones included."""
        return [
            event for event in self.events
            if event.name == name and (table is None or event["table"] == table)
        ]  # fmt: skip

    def done(self, name: str, table: int | None = None) -> list[RecordedEvent]:
        """Those of them that were not refused."""
        return [event for event in self.all(name, table) if self.code(event) is None]

    def code(self, event: RecordedEvent) -> str | None:
        return self.codes.get(id(event))

    @property
    def tables(self) -> list[int]:
        return [event["table"] for event in self.all("roundtable_opened")]

    def subject(self, table: int) -> list[str]:
        """[objective, direction, treatment, family]."""
        key = self.done("assignment_opened")[-1]["subjects"][table]
        return next(list(s) for s in self.setup["arena"]["subjects"] if [s[0], s[2]] == key)

    def as_good(self, table: int, value: float | None, than: float) -> bool:
        is_up = self.subject(table)[1] == "up"
        return value is not None and (value >= than if is_up else value <= than)

    def spoken(self, table: int) -> dict[int, RecordedEvent]:
        """The contributions that were not refused, by id."""
        return {event["id"]: event for event in self.done("spoke", table)}

    def tested(self, table: int) -> dict[tuple[int | None, str | None], float | None]:
        return {(e["at"], e["part"]): e["value"] for e in self.done("tested", table)}

    def held(self, table: int, at: Any, part: str) -> bool | None:
        tested = self.tested(table)
        if (at, part) not in tested:
            return None
        return self.as_good(table, tested[at, part], self.spoken(table)[at]["claim"][0])

    def sharp(self, table: int, at: int) -> bool | None:
        held = self.held(table, at, "base")
        bar, value = (self.tested(table).get(k) for k in ((None, None), (at, "base")))
        if not held or bar is None or value is None:
            return held and False
        return 2 * abs(self.spoken(table)[at]["claim"][0] - bar) >= abs(value - bar)

    def removed(self, table: int) -> set[int]:
        """What was redirected, and what refers to it."""
        signals = self.done("judged", table)
        gone = {id for e in signals if e["signal"] == "redirect" for id in e["ids"]}
        for number, event in sorted(self.spoken(table).items()):
            if event["target"] in gone:
                gone.add(number)
        return gone

    def stances(self, table: int, *, proven: bool) -> dict[int, int]:
        """Who stands for which proposal at the end of the talk, or as the proof leaves it."""
        held: dict[int, list[int]] = defaultdict(list)
        now: dict[int, int] = {}
        refuted: set[int] = set()

        def refute(at: int) -> None:
            refuted.add(at)
            for agent in [agent for agent, stance in now.items() if stance == at]:
                left = [one for one in held[agent] if one not in refuted]
                now.pop(agent)
                now.update({agent: left[-1]} if left else {})

        for event in self.counted(table, "propose", "amend", "support", "challenge"):
            if event["move"] == "challenge":
                if event["part"] == "base" and not self.held(table, event["target"], "base"):
                    refute(event["target"])
                continue
            held[event["agent"]].append(event["target" if event["move"] == "support" else "id"])
            now[event["agent"]] = held[event["agent"]][-1]
        for event in self.counted(table, "propose", "amend") if proven else ():
            if event["id"] not in refuted and not self.held(table, event["id"], "base"):
                refute(event["id"])
        return now

    def counted(self, table: int, *moves: str) -> list[RecordedEvent]:
        """What was neither refused nor redirected, of these moves."""
        gone = self.removed(table)
        return [e for i, e in self.spoken(table).items() if i not in gone and e["move"] in moves]


def codes_of(events: Sequence[RecordedEvent]) -> dict[int, str]:
    """The code of each refused act. Refusals are in the order of the acts that were judged with
    them, so from the last on each is of the last act that is like it.
    """
    inputs = {event.name for event in competition(None).events if event.is_input}
    codes: dict[int, str] = {}
    acts: list[RecordedEvent] = []
    for is_act, group in groupby(events, key=lambda event: event.name in inputs):
        if is_act:
            acts = list(group)
            continue
        for refused in reversed([event for event in group if event.name == "refused"]):
            act = {k: v for k, v in refused["act"].items() if k not in ("index", "event")}
            while (last := acts.pop()).name != refused["act"]["event"] or own_fields(last) != act:
                pass
            codes[id(last)] = refused["code"]
    return codes


def own_fields(event: RecordedEvent) -> Row:
    return {name: value for name, value in event.fields.items() if name != "assignment"}


def assignments_of(path: Path) -> Iterator[Assignment]:
    """The closed assignments of a season."""
    start, *events = events_of(path)
    names = {entry["ordinal"]: entry["name"] for entry in start["cast"]}
    setup = dict(start["config"])
    for _, group in groupby(events, key=lambda event: event.unit):
        of_one = list(group)
        if any(event.name == "assignment_closed" for event in of_one):
            names |= {e["ordinal"]: e["name"] for e in of_one if e.name == "joined"}
            yield Assignment(dict(names), dict(setup), of_one)
        for event in of_one:
            if event.name == "forked":
                setup |= event["changes"]
