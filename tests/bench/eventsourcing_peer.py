"""Append and replay with the `eventsourcing` library (9.5), the best known one of its kind here.

`append_memory` and `append_sqlite` are what the kernel's recording of a run is compared with, per
event: the kernel simulates and appends, the library is handed facts ready made and only makes
events of them and appends. `prepare_memory` and `prepare_msgspec` are what the kernel's replay is
compared with, per event: folding stored events into a state.

The fact is that of a mining settlement: plot, agent, stamina, gold. What is stored an event:

- by the library: the id of the aggregate (a UUID; in SQLite 32 hex digits), the version in its
  sequence, a topic (the dotted name of the event's class), and the state, which is the four fields
  by name and the time of recording in ISO form: about 125 bytes of JSON, or 44 of msgpack, which
  holds id and version a second time. In SQLite also an index over id and version.
- by the kernel: the four fields by position, with the type; round, checksum and place in the chain
  stand once a commit. It has no ids, topics or times, since a journal is one run's, types are
  numbered and a time would differ between two recordings of one run.

So the library does more an event than is asked for here, and this is said beside every figure. The
rest is arranged in its favour: many events a save, as it stores whatever one save collects in one
transaction; event classes written out with an `apply`, which costs a quarter less than its
`@event` decorator; no snapshots, cache, cipher or compressor; and a fold that does no more than
add up. Events go through an Application, and so its ApplicationRecorder, because that gives one
total order over everything, as a journal does. The msgspec form follows the library's own example
of a mapper for structs, with msgpack in place of JSON, arrays in place of maps, ids as bytes, the
decoder made once and a fold written for these events: the least a replay costs in it.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import chain, cycle, islice
from typing import Any, Final
from uuid import UUID, uuid4

import msgspec
from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, datetime_now_with_tzinfo
from eventsourcing.persistence import Mapper, StoredEvent, Transcoder
from eventsourcing.utils import get_topic, resolve_topic

AGENTS: Final = 10
BATCH: Final = 1_000  # events a save; the library's cost an event is lowest near here

# One round of greedy miners, who own four plots each: plot, agent, stamina, gold.
FACTS: Final = tuple(
    (plot, plot % AGENTS, stamina, float(stamina))
    for plot, stamina in enumerate([3] * (3 * AGENTS) + [1] * AGENTS)
)


def append_memory(n: int) -> None:
    """Append n events to the in-memory recorder, encoded as JSON."""
    _recorded({"PERSISTENCE_MODULE": "eventsourcing.popo"}, n)


def append_sqlite(n: int, path: str) -> None:
    """Append n events to an SQLite file, encoded as JSON.

    The file is in write-ahead mode, the library's choice; a file that exists is appended to.
    """
    env = {"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": path}
    _recorded(env, n)[0].close()


def prepare_memory(n: int) -> Callable[[], int]:
    """Store n events in memory as JSON; the callable rebuilds the aggregate, returns the events.

    The aggregate is got from the repository as documented. Of this on CPython 3.11 three quarters
    go into a check of every event against a protocol.
    """
    application, settlements = _recorded({"PERSISTENCE_MODULE": "eventsourcing.popo"}, n)

    def replay() -> int:
        rebuilt: Settlements = application.repository.get(settlements.id)
        return rebuilt.version

    return replay


def prepare_msgspec(n: int) -> Callable[[], int]:
    """Store n msgspec structs in memory as msgpack; the callable folds them, returns how many."""
    application = Application[UUID](env=STRUCTS_IN_MEMORY)
    settlements_id = uuid4()
    for start in range(0, n, BATCH):
        application.save(*_structs(settlements_id, start, min(start + BATCH, n)))

    def replay() -> int:
        rebuilt: Totals = application.repository.get(settlements_id, projector_func=_fold)
        return rebuilt.version

    return replay


class Settlements(Aggregate):
    """Mining settlements, and what they come to for each agent. Its creation is its first event."""

    def __init__(self) -> None:
        self.gold = [0.0] * AGENTS
        self.stamina = [0] * AGENTS

    def settle(self, plot: int, agent: int, stamina: int, gold: float) -> None:
        self.trigger_event(self.Settled, plot=plot, agent=agent, stamina=stamina, gold=gold)

    class Settled(Aggregate.Event):
        plot: int
        agent: int
        stamina: int
        gold: float

        def apply(self, aggregate: "Settlements") -> None:
            aggregate.gold[self.agent] += self.gold
            aggregate.stamina[self.agent] += self.stamina


def _recorded(env: dict[str, str], n: int) -> tuple[Application[UUID], Settlements]:
    """An application that holds n events of one aggregate, saved batch by batch."""
    application = Application[UUID](env=env)
    settlements = Settlements()
    for plot, agent, stamina, gold in islice(cycle(FACTS), n - 1):
        settlements.settle(plot, agent, stamina, gold)
        if len(settlements.pending_events) == BATCH:
            application.save(settlements)
    application.save(settlements)
    return application, settlements


class Settled(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The event as a struct: what the library asks of any event, a time, and the fact."""

    originator_id: UUID
    originator_version: int
    timestamp: datetime
    plot: int
    agent: int
    stamina: int
    gold: float


class Totals:
    """What the structs are folded into: the same as `Settlements`, without the library's base."""

    __slots__ = ("gold", "id", "modified_on", "stamina", "version")

    def __init__(self, first: Settled) -> None:
        self.id = first.originator_id
        self.version = 0
        self.modified_on = first.timestamp
        self.gold = [0.0] * AGENTS
        self.stamina = [0] * AGENTS


def _structs(originator_id: UUID, start: int, stop: int) -> Iterator[Settled]:
    facts = islice(cycle(FACTS), start, stop)
    for version, (plot, agent, stamina, gold) in enumerate(facts, start + 1):
        yield Settled(
            originator_id, version, datetime_now_with_tzinfo(), plot, agent, stamina, gold
        )


def _fold(totals: Totals | None, events: Iterable[Settled]) -> Totals | None:
    rest = iter(events)
    if totals is None:
        first = next(rest, None)
        if first is None:
            return None
        totals = Totals(first)
        rest = chain([first], rest)
    gold, stamina = totals.gold, totals.stamina
    for event in rest:
        agent = event.agent
        gold[agent] += event.gold
        stamina[agent] += event.stamina
        totals.version = event.originator_version
        totals.modified_on = event.timestamp
    return totals


class MsgspecMapper(Mapper[UUID]):
    """Structs to msgpack and back, without the library's transcoder between."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._encode = msgspec.msgpack.Encoder(uuid_format="bytes").encode
        self._decoders: dict[str, Callable[[bytes], Any]] = {}

    def to_stored_event(self, domain_event: Any) -> StoredEvent:
        return StoredEvent(
            originator_id=domain_event.originator_id,
            originator_version=domain_event.originator_version,
            topic=get_topic(type(domain_event)),
            state=self._encode(domain_event),
        )

    def to_domain_event(self, stored_event: StoredEvent) -> Any:
        topic = stored_event.topic
        decode = self._decoders.get(topic)
        if decode is None:
            decode = msgspec.msgpack.Decoder(resolve_topic(topic)).decode
            self._decoders[topic] = decode
        return decode(stored_event.state)


class NoTranscoder(Transcoder):
    """The library wants a transcoder made even where the mapper has no use for one."""

    def encode(self, obj: Any) -> bytes:
        raise AssertionError("the mapper encodes without a transcoder")

    def decode(self, data: bytes) -> Any:
        raise AssertionError("the mapper decodes without a transcoder")


STRUCTS_IN_MEMORY: Final = {
    "PERSISTENCE_MODULE": "eventsourcing.popo",
    "MAPPER_TOPIC": get_topic(MsgspecMapper),
    "TRANSCODER_TOPIC": get_topic(NoTranscoder),
}
