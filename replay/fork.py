"""Counterfactuals: a run up to a round, and from there on under other circumstances.

The new journal has its parent's bytes up to that round, then a `forked` event that says what
changes, then the rest played anew. Submissions that are put in by hand stand in that event too, so
that a fork that was interrupted can be resumed from its journal alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from agents.llm.models import Models
from agents.mining import (
    Miners,
    check_players,
    entries_of,
    keep_sources,
    replaced_in,
    with_models_decided,
)
from agents.recorded import Recording
from agents.roster import Roster, parse_roster
from kernel import run
from kernel.errors import BadInput, BadPlan, shown
from kernel.files import check_place, is_empty
from kernel.forking import changes
from kernel.journal import JournalReader
from kernel.mining import MINING
from kernel.mining.config import MiningConfig
from kernel.mining.fork import changed
from kernel.mining.state import MiningState
from kernel.mining.submit import resubmitted
from kernel.mining.treatments import treatment_named
from kernel.world import Block, Row
from replay.forged import reader_of

_KEYS = ("event", "round", "agent", "actions", "error", "say", "memo", "source")


@reader_of
def fork(
    parent: str | Path,
    at: int,
    out: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    treatment: str | None = None,
    roster: str | Roster | None = None,
    replace: Sequence[Mapping[str, Any]] = (),
    models: Models | None = None,
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
    these, deterministic policies do again what they did; language models, reached by `models`, are
    asked anew. Policies of the form package.module:Class
    play only where `trust` lists them or `roster` names them, `recorded` agents of the parent where
    `sources` has their journal.

    Raises BadInput before anything is written: for a round that the parent does not have, for what
    cannot change in the middle of a run (the grid, the number of agents, a horizon before `at`) and
    for wrong settings, rosters and submissions; otherwise as `record` does.
    """
    # Before a model is asked anything.
    check_place(str(out), force=force, is_own=is_empty, is_journal=True)
    players: Roster | None = None
    recordings = tuple(map(Recording, sources))

    def facts_of(state: MiningState) -> dict[str, Any]:
        nonlocal players, recordings
        config = _config(state, settings or {}, treatment)
        facts: dict[str, Any] = {
            "parent": reader.sha256(),
            "changes": changes(state.config, config),
            "roster": None,
            "replaced": _replaced(replace, config),
        }
        if roster is not None:  # last, for models are asked a question
            players = _players(state.config, roster, models)
            recordings += tuple(players.recordings)
            facts["roster"] = players.as_setup()
        keep_sources(out, recordings)
        return facts

    with JournalReader(parent, hashed=True) as reader, ExitStack() as stack:

        def ask_of(
            state: MiningState, forks: Sequence[Mapping[str, Any]], waiting: Block
        ) -> Miners:
            trusted = [*trust, *(players.trust if players else ())]
            check_players(state, trusted, recordings)
            entries = Roster(entries_of(state), recordings, trusted)
            if players is None:
                with_models_decided(entries, state.config, models)
            return stack.enter_context(
                Miners(state.config, entries, replaced=replaced_in(forks), models=models)
            )

        unit = MINING.vocabulary.unit_of(at)
        return run.fork(
            MINING, reader, unit, facts_of, ask_of, out, on_round, force=force, fsync=fsync
        )


def _players(config: MiningConfig, roster: str | Roster, models: Models | None) -> Roster:
    """The new roster, with it found out how its models are asked."""
    if isinstance(roster, str):
        roster = parse_roster(roster, config.agents, models)
    return with_models_decided(roster, config, models)


def read_submissions(text: str, name: str) -> list[dict[str, Any]]:
    """Submissions from text: JSON objects a line (as `export` prints them), or one JSON value: an
    object or a list of objects. `name` is where it comes from, for messages. Raises BadInput.
    """
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        lines = enumerate(text.split("\n"), 1)
        whole = [_line(line, f"{name}, line {number}") for number, line in lines if line.strip()]
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


def _replaced(items: Sequence[Mapping[str, Any]], config: MiningConfig) -> list[tuple[int, Row]]:
    """(round, row) of each submission, in the journal's order."""
    found = []
    for number, item in enumerate(items, 1):
        where = f"submission {number}"
        if not isinstance(item, Mapping) or set(item) - set(_KEYS):
            raise BadInput(f"{where} is {shown(item)}", f"give an object of {', '.join(_KEYS)}")
        if item.get("event", "submitted") != "submitted":
            raise BadInput(f"{where} is a {shown(item['event'])} event", "give submitted ones")
        if type(item.get("round")) is not int:
            raise BadInput(f"{where} has round {shown(item.get('round'))}", "give a whole number")
        try:
            found.append((item["round"], resubmitted(item, config)))
        except BadPlan as bad:
            raise BadInput(f"{where}: {bad}", "see `submitted` in an export") from None
    return sorted(found, key=lambda pair: (pair[0], pair[1][0]))
