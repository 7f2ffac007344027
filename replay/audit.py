"""Tie-breaks laid open: who took part, the key, every word taken, and the outcome worked out anew.

Every draw of a journal can be redone alone, for its key names it and its words stand in the event.
The rule is section 3 of kernel/mining/README.md: participants in ascending order, the winner is
`participants[below(n)]`, word i is xxh3-64 of the packed key under seed i.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from kernel import fold
from kernel.draws import Draws
from kernel.errors import BadInput
from kernel.journal import FORK, START, Commit, JournalReader
from kernel.mining import MINING
from kernel.mining.config import POINTWISE, MiningConfig
from kernel.mining.events import CAPTURED, CLAIM_DRAWN, OUTCOMES, RAID_RESOLVED, RULED
from kernel.mining.fork import changed
from kernel.world import Row
from replay.rebuild import rebuild

CLAIM, RAID, AUTHORITY = AUDITED = ("claim", "raid", "authority")
_EVENTS = {None: "claim, raid or ruling", CLAIM: "claim", RAID: "raid", AUTHORITY: "ruling"}


@attrs.frozen
class Audit:
    """One tie-break, recorded and worked out anew.

    `participants`: agents in the order in which they stood to the draw (for the authority none).
    `key`: the packed key in hex; `words`: those in the event, in hex, `words_again`: those that the
    key gives. `index`: the winner's place among the participants, or None where nothing was drawn
    or a shuffle or a chance decided. `outcome`: the winner (for the authority whether the capture
    was detected) in the event, `outcome_again` worked out anew; None where nobody wins. `rule` says
    why. `snippet`: two lines of Python that print the outcome, given msgpack and xxhash; empty
    where nothing was drawn.
    """

    kind: str
    round: int
    plot: int
    participants: Sequence[int]
    key: str
    words: Sequence[str]
    words_again: Sequence[str]
    index: int | None
    outcome: int | bool | None
    outcome_again: int | bool | None
    rule: str
    snippet: str

    @property
    def holds(self) -> bool:
        """Whether the participants stood in order, and words and outcome are what the key gives."""
        in_order = list(self.participants) == sorted(set(self.participants))
        same = self.words == self.words_again and self.outcome == self.outcome_again
        return in_order and same

    def as_dict(self) -> dict[str, Any]:
        """The audit for JSON."""
        return {**attrs.asdict(self), "holds": self.holds}


def audit(path: str | Path, round: int, plot: int, kind: str | None = None) -> list[Audit]:
    """The tie-breaks on a plot in a round, of one kind or of all.

    Raises BadInput for a round or plot that there is not, and where nothing was decided there; and
    what reading a journal raises.
    """
    if kind is not None and kind not in AUDITED:
        raise BadInput(f"there are no draws of kind {kind!r}", f"take one of {', '.join(AUDITED)}")
    rebuilt = rebuild(path, round, world=MINING)
    config: MiningConfig = rebuilt.state.config
    if not 0 <= plot < config.plots:
        raise BadInput(f"there is no plot {plot}", f"give one from 0 to {config.plots - 1}")
    found = [
        of(config, round, row)
        for code, of in _CODES.items()
        for row in (rebuilt.state.history[-1].rows(code) if round else ())
        if row[0] == plot
    ]
    found = [audited for audited in found if kind in (None, audited.kind)]
    if not found:
        raise BadInput(
            f"no {_EVENTS[kind]} on plot {plot} in round {round}",
            f"see what there is with `goldrush log {path} --plot {plot}`",
        )
    return found


def audit_all(path: str | Path) -> Iterator[Audit]:
    """Every claim, raid and ruling of a mining journal, in order. Nothing is folded.

    Raises what reading a journal raises, when what stands before has been given.
    """
    with JournalReader(path) as reader:
        config = None
        for commit in reader:
            config = _config_after(reader, commit, config)
            if next(fold.faults(MINING, commit.blocks), None):
                raise fold.malformed(MINING, reader.path, commit)
            for block in commit.blocks[1::2]:
                for code, rows in block:
                    if code in _CODES:
                        for row in rows:
                            yield _CODES[code](config, commit.unit, row)


def _config_after(
    reader: JournalReader, commit: Commit, config: MiningConfig | None
) -> MiningConfig:
    """The configuration in force behind a commit."""
    if commit.kind == START:
        return fold.start(MINING, reader, commit).config
    assert config is not None  # the reader lets only a START come first
    if commit.kind == FORK:
        try:
            return changed(config, (commit.setup or {})["changes"], commit.unit)
        except (BadInput, *fold.REFUSED) as error:
            raise fold.malformed(MINING, reader.path, commit, error) from None
    return config


def _claim(config: MiningConfig, round: int, row: Row) -> Audit:
    plot, claimants, winner, words = row
    return _drawn(config, CLAIM, round, plot, claimants, words, winner)


def _raid(config: MiningConfig, round: int, row: Row) -> Audit:
    plot, owner, raiders, defense, outcome, winner, words = row
    others = tuple(raider for raider in raiders if raider != owner)
    if outcome != CAPTURED:
        rule = f"the raid is {OUTCOMES[outcome]}: nobody wins, nothing is drawn"
        return _undrawn(config, RAID, round, plot, others, words, winner, None, rule)
    if defense and config.defense != POINTWISE:
        rule = "a plot that is defended is not captured"
        return _undrawn(config, RAID, round, plot, others, words, winner, None, rule)
    if defense:
        return _shuffled(config, round, plot, others, defense, words, winner)
    return _drawn(config, RAID, round, plot, others, words, winner)


def _ruling(config: MiningConfig, round: int, row: Row) -> Audit:
    plot, _, _, detected, _, _, words = row
    draws = Draws(config.seed, round, plot, AUTHORITY)
    again = draws.chance(config.detection)
    threshold = int(config.detection * 2**64)
    key = _key(config, round, plot, AUTHORITY)
    return Audit(
        AUTHORITY, round, plot, (), draws.key.hex(), _hex(words), _hex(draws.words()), None,
        detected, again,
        f"chance({config.detection}): detected where the word is under {threshold}",
        f"import msgpack, xxhash\n"
        f"print(xxhash.xxh3_64_intdigest(msgpack.packb({key}), seed=0) < {threshold})",
    )  # fmt: skip


_CODES: Final = {CLAIM_DRAWN: _claim, RAID_RESOLVED: _raid, RULED: _ruling}


def _drawn(
    config: MiningConfig, kind: str, round: int, plot: int, agents: Sequence[int],
    words: Sequence[int], winner: int | None,
) -> Audit:  # fmt: skip
    """One of these agents wins: by a draw, if there are two or more."""
    count = len(agents)
    if count < 2:
        rule = "one participant wins without a draw" if count else "nobody took part"
        again = agents[0] if count else None
        return _undrawn(config, kind, round, plot, agents, words, winner, again, rule)
    draws = Draws(config.seed, round, plot, kind)
    index = draws.below(count)
    passed = draws.taken - 1
    key = _key(config, round, plot, kind)
    rule = f"below({count}): word {passed} mod {count} is {index}"
    if passed:
        rule += (
            f"; the words before are not under 2^64 - (2^64 mod {count}), so they are passed over"
        )
    return Audit(
        kind, round, plot, agents, draws.key.hex(), _hex(words), _hex(draws.words()), index,
        winner, agents[index], rule,
        f"import msgpack, xxhash\n"
        f"print({list(agents)}[xxhash.xxh3_64_intdigest(msgpack.packb({key}), seed={passed})"
        f" % {count}])",
    )  # fmt: skip


def _shuffled(
    config: MiningConfig, round: int, plot: int, raiders: Sequence[int], defense: int,
    words: Sequence[int], winner: int | None,
) -> Audit:  # fmt: skip
    """Pointwise defence: the raiders are shuffled, the first are stopped, the next one wins."""
    draws = Draws(config.seed, round, plot, RAID)
    order = draws.shuffled(raiders)
    again = order[defense] if defense < len(order) else None
    key = _key(config, round, plot, RAID)
    return Audit(
        RAID, round, plot, raiders, draws.key.hex(), _hex(words), _hex(draws.words()), None,
        winner, again,
        f"Fisher-Yates from the top gives {', '.join(map(str, order))}; {defense} are stopped, "
        "the next one captures",
        f"import msgpack, xxhash; key, order = msgpack.packb({key}), {list(raiders)}\n"
        f"for j, i in {_swaps(draws, len(raiders))}: "
        "k = xxhash.xxh3_64_intdigest(key, seed=i) % (j + 1); "
        f"order[j], order[k] = order[k], order[j]; print(order[{defense}]) if j == 1 else None",
    )  # fmt: skip


def _swaps(draws: Draws, count: int) -> list[tuple[int, int]]:
    """(j, i): for each place from the top, the word that chooses what it is swapped with."""
    again = Draws(*draws.parts)
    swaps = []
    for j in range(count - 1, 0, -1):
        again.below(j + 1)
        swaps.append((j, again.taken - 1))
    return swaps


def _undrawn(
    config: MiningConfig, kind: str, round: int, plot: int, agents: Sequence[int],
    words: Sequence[int], winner: int | None, again: int | None, rule: str,
) -> Audit:  # fmt: skip
    key = Draws(config.seed, round, plot, kind).key.hex()
    return Audit(kind, round, plot, agents, key, _hex(words), (), None, winner, again, rule, "")


def _key(config: MiningConfig, round: int, plot: int, kind: str) -> str:
    return f'[{config.seed}, {round}, {plot}, "{kind}"]'


def _hex(words: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"{word:016x}" for word in words)
