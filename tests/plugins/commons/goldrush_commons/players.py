"""Who plays a run of the fishery, and is asked again to verify it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from goldrush.agents.again import Known, Player, sorted_players
from goldrush.agents.llm.models import Models
from goldrush.agents.players import Asker, Change, Changed, Players, Prepared, Seating
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, shown
from goldrush.kernel.forking import changes
from goldrush.kernel.run import Ask
from goldrush.kernel.treatments import BASELINE, treated, treatment_named
from goldrush.kernel.world import Batch, Block, Row
from goldrush_commons.policies import POLICIES
from goldrush_commons.world import ASKED, TREATMENTS, Fishery, config_of

DEFAULT: Final = "share*3,greedy*2"

_ENTRY = re.compile(r"\s*([a-z]+)\s*(?:\*\s*([0-9]{1,3}))?\s*")


def entries(text: str | None, agents: int | None = None) -> list[dict[str, Any]]:
    """The roster that a text stands for. Raises BadInput."""
    names: list[str] = []
    for part in (text or DEFAULT).split(","):
        match = _ENTRY.fullmatch(part)
        if match is None or match[1] not in POLICIES:
            raise BadInput(f"there is no policy {shown(part)}", f"take {', '.join(POLICIES)}")
        names += [match[1]] * int(match[2] or 1)
    if agents is not None and agents != len(names):
        raise BadInput(f"the roster has {len(names)} agents", f"agents is {agents}")
    return [{"agent": n, "policy": name, "options": {}} for n, name in enumerate(names)]


def names(roster: str) -> list[str]:
    """The policies that a roster's text names."""
    return list(dict.fromkeys(entry["policy"] for entry in entries(roster)))


def seats(roster: str | None, agents: int | None) -> list[str]:
    """Whom a roster's text names for each agent."""
    return [entry["policy"] for entry in entries(roster, agents)]


def prepare(
    settings: Mapping[str, Any], roster: str | None, treatment: str | None, models: Models | None
) -> Prepared:
    """A run that can begin. Raises BadInput."""
    who = entries(roster, settings.get("agents"))
    named = treatment_named(TREATMENTS, treatment or BASELINE)
    config = treated(named, {**settings, "agents": len(who)}, config_of)
    return Prepared({"config": config.as_dict(), "roster": who})


def row_of(state: Fishery, agent: int) -> Row:
    """What an agent asks for in the next season."""
    draws = Draws(state.config.seed, state.season + 1, agent, "policy")
    return (agent, POLICIES[state.roster[agent]["policy"]](state, agent, draws), None)


@contextmanager
def seated(seating: Seating[Fishery]) -> Iterator[Ask[Fishery]]:
    """What the run loop asks. Raises BadInput for somebody whom this version does not know."""
    for entry in seating.state.roster:
        if entry["policy"] not in POLICIES:
            raise BadInput(f"there is no policy {shown(entry['policy'])}", "install what has it")
    replaced = replaced_in(seating.forks)

    def ask(state: Fishery) -> list[Batch]:
        by_hand = replaced.get(state.season + 1, {})
        agents = range(state.config.agents)
        return [(ASKED, [by_hand.get(agent) or row_of(state, agent) for agent in agents])]

    yield ask


def again(
    trust: Sequence[str], sources: Sequence[str]
) -> Callable[[Fishery, Sequence[Mapping[str, Any]]], Asker]:
    """Who is asked again."""

    def asker(state: Fishery, forks: Sequence[Mapping[str, Any]]) -> Asker:
        who = [Player(f"agent {e['agent']}", e["policy"], e["options"]) for e in state.roster]
        found = sorted_players(who, Known(POLICIES, 0, trust))
        replaced = replaced_in(forks)

        def ask(state: Fishery, recorded: Block) -> list[tuple[int, list[Row | None]]]:
            by_hand = replaced.get(state.season + 1, {})
            return [
                (
                    ASKED,
                    [
                        by_hand.get(agent) or (row_of(state, agent) if can_ask else None)
                        for agent, can_ask in enumerate(found.can_ask)
                    ],
                )
            ]

        return Asker(ask, found.not_asked, found.unknown)

    return asker


def replaced_in(forks: Sequence[Mapping[str, Any]]) -> dict[int, dict[int, Row]]:
    """What was put in by hand: by season and agent."""
    replaced: dict[int, dict[int, Row]] = {}
    for facts in forks:
        for season, row in facts["replaced"]:
            replaced.setdefault(season, {})[row[0]] = row
    return replaced


def changed_by(state: Fishery, change: Change, models: Models | None) -> Changed:
    """What a fork changes. Raises BadInput."""
    named = treatment_named(TREATMENTS, change.treatment or BASELINE)
    config = config_of({**state.config.as_dict(), **named.settings, **change.settings})
    roster = entries(change.roster, config.agents) if change.roster is not None else None
    rows = [(item["season"], (item["agent"], item["fish"], None)) for item in change.replace]
    return Changed(
        {"changes": changes(state.config, config), "roster": roster, "replaced": sorted(rows)}
    )


FISHERS: Final = Players[Fishery](
    prepare=prepare,
    names=names,
    seated=seated,
    again=again,
    change=changed_by,
    policies={name: policy.__doc__ or "" for name, policy in POLICIES.items()},
)
