"""Audit of the draws of the mining world: claims, raids, and rulings of the authority.

Every draw can be redone alone, because its key identifies it and the event records its draw words.
The rule is section 3 of kernel/worlds/mining/README.md: participants in ascending order, the winner
is `participants[below(n)]`, word i is xxh3-64 of the packed key under seed i.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from goldrush.kernel import fold
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import FORK, START, Commit, JournalReader
from goldrush.kernel.text import quoted_path
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import POINTWISE, MiningConfig
from goldrush.kernel.worlds.mining.events import (
    CLAIM_DRAWN,
    OUTCOMES,
    RAID_RESOLVED,
    RULED,
    RaidOutcome,
)
from goldrush.kernel.worlds.mining.fork import FORKS
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.tie_break import Occasion, TieBreak

CLAIM, RAID, AUTHORITY = AUDITED = ("claim", "raid", "authority")
_EVENTS = {None: "claim, raid or ruling", CLAIM: "claim", RAID: "raid", AUTHORITY: "ruling"}


class Audit(TieBreak):
    """A tie-break between agents, or whether the authority detected a capture."""

    @property
    def round(self) -> int:
        """Its round."""
        return self.location["round"]

    @property
    def plot(self) -> int:
        """Its plot."""
        return self.location["plot"]


@reader_of
def plot_of(path: str | Path, text: str) -> int:
    """The id of a plot in user input. `text`: the plot's id, or its row and column (`3,4`), all
    from 0.

    Raises BadInput if there is no such plot; JournalError if the journal cannot be read.
    """
    config: MiningConfig = rebuild(path, 0, world=MINING).state.config
    match = re.fullmatch(r"\s*(\d{1,9})\s*(?:,\s*(\d{1,9})\s*)?", text, re.ASCII)
    if match is not None and match[2] is None and int(match[1]) < config.plots:
        return int(match[1])
    if match is not None and match[2] is not None:
        row, col = int(match[1]), int(match[2])
        if row < config.rows and col < config.cols:
            return row * config.cols + col
    raise BadInput(
        f"there is no plot {text!r}",
        f"give an id from 0 to {config.plots - 1}, or row,column up to "
        f"{config.rows - 1},{config.cols - 1}",
    )


@reader_of
def audit(path: str | Path, round: int, plot: int | None, kind: str | None = None) -> list[Audit]:
    """The tie-breaks in a round. `round`: the round, from 1; `plot`: the plot; `kind`: one of
    AUDITED; None: all.

    Raises BadInput for an unknown kind, round or plot, and if nothing was decided there;
    JournalError if the journal cannot be read.
    """
    if kind is not None and kind not in AUDITED:
        raise BadInput(f"there are no draws of kind {kind!r}", f"take one of {', '.join(AUDITED)}")
    rebuilt = rebuild(path, round, world=MINING)
    config: MiningConfig = rebuilt.state.config
    if plot is not None and not 0 <= plot < config.plots:
        raise BadInput(f"there is no plot {plot}", f"give one from 0 to {config.plots - 1}")
    found = [
        laid_open(config, round, code, row)
        for code in _CODES
        for row in (rebuilt.state.history[-1].rows(code) if round else ())
        if plot in (None, row[0])
    ]
    found = [audited for audited in found if kind in (None, audited.kind)]
    if not found:
        on, option = (
            ("", f" --rounds {round}") if plot is None else (f" on plot {plot}", f" --plot {plot}")
        )
        raise BadInput(
            f"no {_EVENTS[kind]}{on} in round {round}",
            f"see what there is with `goldrush log {quoted_path(str(path))}{option}`",
        )
    return found


@reader_of
def audit_all(path: str | Path) -> Iterator[Audit]:
    """Every claim, raid and ruling of a mining journal, in order, without folding it.

    Raises JournalError at the first commit that cannot be read, after those before it.
    """
    with JournalReader(path) as reader:
        config = None
        for commit in reader:
            config = _config_after(reader, commit, config)
            fold.check_rows(MINING, reader.path, commit)
            for block in commit.blocks[1::2]:
                for code, rows in block:
                    if code in _CODES:
                        yield from (laid_open(config, commit.unit, code, row) for row in rows)


def laid_open(config: MiningConfig, round: int, code: int, row: Row) -> Audit:
    """The tie-break of an event. `code`: the event's code: a claim, a raid or a ruling."""
    return _CODES[code](config, round, row)


def _config_after(
    reader: JournalReader, commit: Commit, config: MiningConfig | None
) -> MiningConfig:
    """The configuration in force after a commit."""
    if commit.kind == START:
        return fold.start(MINING, reader, commit).config
    assert config is not None  # the reader lets only a START come first
    if commit.kind == FORK:
        try:
            return FORKS.changed(config, (commit.setup or {})["changes"], commit.unit)
        except (BadInput, *fold.REFUSED) as error:
            raise fold.malformed(MINING, reader.path, commit, error) from None
    return config


def _claim(config: MiningConfig, round: int, row: Row) -> Audit:
    plot, claimants, winner, words = row
    return Audit.drawn(_occasion(config, round, plot, CLAIM), claimants, words, winner)


def _raid(config: MiningConfig, round: int, row: Row) -> Audit:
    plot, owner, raiders, defense, outcome, winner, words = row
    occasion = _occasion(config, round, plot, RAID)
    others = tuple(raider for raider in raiders if raider != owner)
    if outcome != RaidOutcome.CAPTURED:
        rule = f"the raid is {OUTCOMES[outcome]}: nobody wins, nothing is drawn"
        return Audit.undrawn(occasion, others, words, winner, None, rule)
    if defense and config.defense != POINTWISE:
        rule = "a plot that is defended is not captured"
        return Audit.undrawn(occasion, others, words, winner, None, rule)
    if defense:
        says = f"; {defense} are stopped, the next one captures"
        return Audit.shuffled(occasion, others, words, winner, nth=defense, meaning=says)
    return Audit.drawn(occasion, others, words, winner)


def _ruling(config: MiningConfig, round: int, row: Row) -> Audit:
    plot, _, _, detected, _, _, words = row
    occasion = _occasion(config, round, plot, AUTHORITY)
    return Audit.chance(occasion, config.detection, words, detected, "detected")


_CODES: Final = {CLAIM_DRAWN: _claim, RAID_RESOLVED: _raid, RULED: _ruling}


def _occasion(config: MiningConfig, round: int, plot: int, kind: str) -> Occasion:
    return Occasion(
        {"round": round, "plot": plot},
        f"on plot {plot} in round {round}",
        (config.seed, round, plot, kind),
        decides="detected" if kind == AUTHORITY else "winner",
    )
