"""Counterfactuals: a run up to a round, and from there on under other circumstances.

The new journal has its parent's bytes up to that round, then a `forked` event that says what
changes, then the rest played anew. Submissions that are put in by hand stand in that event too, so
that a fork that was interrupted can be resumed from its journal alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.mining import check_recordings, keep_sources, miners_of
from agents.recorded import Recording
from agents.roster import Roster, parse_roster
from kernel import run
from kernel.errors import BadInput, BadPlan, UnsupportedJournal, shown
from kernel.journal import JournalReader, sha256_of
from kernel.mining import MINING
from kernel.mining.config import MiningConfig
from kernel.mining.events import ERROR_MAX, ITEMS_MAX, OVERFLOW
from kernel.mining.fork import changed, changes
from kernel.mining.state import MiningState
from kernel.mining.submit import Plan, submitted
from kernel.mining.treatments import treatment_named
from kernel.world import Row
from kernel.worlds import world_of

_KEYS = ("event", "round", "agent", "actions", "error", "say", "memo", "source")


def fork(
    parent: str | Path,
    at: int,
    out: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    treatment: str | None = None,
    roster: str | Roster | None = None,
    replace: Sequence[Mapping[str, Any]] = (),
    trust: Sequence[str] = (),
    sources: Sequence[str] = (),
    force: bool = False,
    fsync: bool = False,
    on_round: Callable[[int, MiningState], None] | None = None,
) -> MiningState:
    """Play a mining run anew from the close of round `at` on, and return the last state.

    `settings` are names and new values of MiningConfig and go before those of the treatment;
    `roster` is a whole new one; `replace` has submissions of later rounds in the form of the
    `submitted` event, which are put in by hand (their `source` is not taken over). Without any of
    these, deterministic policies do again what they did. Policies of the form package.module:Class
    play only where `trust` lists them or `roster` names them, `recorded` agents of the parent where
    `sources` has their journal.

    Raises BadInput before anything is written: for a round that the parent does not have, for what
    cannot change in the middle of a run (the grid, the number of agents, a horizon before `at`) and
    for wrong settings, rosters and submissions; otherwise as `record` does.
    """
    with JournalReader(parent) as reader:
        if world_of(reader) is not MINING:
            raise UnsupportedJournal(
                reader.path, f"a journal of the {reader.header.world} world, not of mining"
            )
    sha256 = sha256_of(parent)
    recordings = [Recording(path) for path in sources]

    def facts_of(state: MiningState) -> dict[str, Any]:
        config = _config(state, settings or {}, treatment)
        return {
            "parent": sha256,
            "changes": changes(state.config, config),
            "roster": _roster(state, config, roster, recordings),
            "replaced": _replaced(replace, config, state.round),
        }

    def ask_of(state: MiningState, forks: Sequence[Mapping[str, Any]]) -> Any:
        own = {entry["policy"] for entry in forks[-1]["roster"] or ()}
        keep_sources(out, recordings)
        return miners_of(state, forks, [*trust, *own], recordings)

    return run.fork(MINING, parent, at, facts_of, ask_of, out, on_round, force=force, fsync=fsync)


def read_submissions(text: str, name: str) -> list[dict[str, Any]]:
    """Submissions from text: JSON objects a line (as `export` prints them), or one JSON value: an
    object or a list of objects. `name` is where it comes from, for messages. Raises BadInput.
    """
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = []
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                whole.append(_line(line, f"{name}, line {number}"))
    items = whole if isinstance(whole, list) else [whole]
    if not items:
        raise BadInput(f"{name} holds no submission", "give one JSON object a line")
    return items


def _line(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{where} is no JSON: {error}", "give one JSON object a line") from None


def _config(state: MiningState, settings: Mapping[str, Any], treatment: str | None) -> MiningConfig:
    if treatment is None:
        return changed(state.config, settings, state.round)
    named = treatment_named(treatment)
    config = changed(state.config, {**named.settings, **settings}, state.round)
    if named.derived is None:
        return config
    derived = named.derived(config)
    return changed(state.config, {**named.settings, **derived, **settings}, state.round)


def _roster(
    state: MiningState,
    config: MiningConfig,
    roster: str | Roster | None,
    recordings: list[Recording],
) -> list[dict[str, Any]] | None:
    """The new roster as the journal holds it; what it plays is added to `recordings`."""
    if roster is None:
        return None
    if not isinstance(roster, Roster):
        roster = parse_roster(roster, config.agents)
    recordings += roster.recordings
    check_recordings(roster.entries, roster.recordings, config)
    return roster.as_setup()


def _replaced(
    items: Sequence[Mapping[str, Any]], config: MiningConfig, at: int
) -> list[tuple[int, Row]]:
    rows: dict[tuple[int, int], Row] = {}
    for number, item in enumerate(items, 1):
        where = f"submission {number}"
        if not isinstance(item, Mapping) or set(item) - set(_KEYS):
            raise BadInput(f"{where} is {shown(item)}", f"give an object of {', '.join(_KEYS)}")
        round, row = _row(item, where, config)
        if not at < round <= config.rounds:
            raise BadInput(f"{where} is of round {round}", f"give {at + 1} to {config.rounds}")
        if (round, row[0]) in rows:
            raise BadInput(f"{where} is a second one of its agent and round", "give one")
        rows[round, row[0]] = row
    return [(round, row) for (round, _), row in sorted(rows.items())]


def _row(item: Mapping[str, Any], where: str, config: MiningConfig) -> tuple[int, Row]:
    """The round and the row of a submission in the logical form."""
    if item.get("event", "submitted") != "submitted":
        raise BadInput(f"{where} is a {shown(item['event'])} event", "give submitted ones")
    round, agent, error = item.get("round"), item.get("agent"), item.get("error")
    if type(round) is not int:
        raise BadInput(f"{where} has round {shown(round)}", "give a whole number")
    if type(agent) is not int or not 0 <= agent < config.agents:
        raise BadInput(
            f"{where} has agent {shown(agent)}", f"give one from 0 to {config.agents - 1}"
        )
    if not (error is None or (type(error) is str and len(error) <= ERROR_MAX and error.isascii())):
        raise BadInput(f"{where} has error {shown(error)}", "give null or a short code in ASCII")
    actions = item.get("actions")
    if not isinstance(actions, list):
        raise BadInput(
            f"{where} has actions {shown(actions)}", "give a list of [kind, plot, amount]"
        )
    actions = actions[: ITEMS_MAX + 1]  # one over the limit is enough to see that there are more
    nulls = [place for place, action in enumerate(actions) if action is None]
    try:
        plan = Plan([a for a in actions if a is not None], item.get("say"), item.get("memo"))
        _, kept, overflow, say, memo, _ = submitted(agent, plan, config)
    except BadPlan as bad:
        raise BadInput(f"{where}: {bad}", "see `submitted` in an export") from None
    for place in nulls:  # an item that was no action stays one
        kept.insert(place, None)
    if len(kept) > ITEMS_MAX:
        kept, overflow = kept[:ITEMS_MAX], OVERFLOW
    return round, (agent, tuple(kept), overflow or error, say, memo, None)
