"""The bench of the arena `mining`: tests conducts by playing the mining world.

A run is a mining run in memory, without a journal. Its digest is that of the last state, as in a
journal of the same run, and its values come from the same functions that measure a journal.

The values of all conducts, under seeds that no test has, are its atlas. Measures use it to rank a
conclusion among all conducts; agents do not see it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache, partial
from importlib.resources import files
from typing import Any, Final

from goldrush.agents.roster import Entry
from goldrush.agents.worlds.competition.bench import (
    ARENA_TEXTS,
    Bench,
    BenchType,
    Run,
    nothing,
)
from goldrush.agents.worlds.competition.plain import in_order
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.agents.worlds.mining.policy import Scripted
from goldrush.agents.worlds.mining.roster import POLICIES
from goldrush.kernel.codec import unpack
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.measures import Value, gini, mean
from goldrush.kernel.treatments import treated, treatment_named
from goldrush.kernel.world import Block, advance
from goldrush.kernel.worlds.competition.arena import Conduct
from goldrush.kernel.worlds.competition.arenas.mining import (
    BAR_POLICY,
    SHARE_MAX,
    MiningConduct,
    MiningOptions,
)
from goldrush.kernel.worlds.competition.arenas.mining import POLICIES as PROPOSED
from goldrush.kernel.worlds.competition.arenas.mining import TREATMENTS as PLAYED_UNDER
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import MiningConfig, config_of
from goldrush.kernel.worlds.mining.events import MINING_SETTLED, RAID_RESOLVED, SUBMITTED
from goldrush.kernel.worlds.mining.measures import (
    basics,
    efficiency,
    land_of,
    raid_rate,
    turnover,
)
from goldrush.kernel.worlds.mining.treatments import TREATMENTS

ATLAS: Final = "mining.atlas"  # a file in the folder of this module


def _opened(options: MiningOptions, program: str | None) -> Bench:
    return Bench(
        test=partial(_test, options),
        vary=_vary,
        conducts=conducts,
        read=_read,
        text=_text(options),
        remark=partial(_remark, options),
        atlas=_atlas if options == MiningOptions() else nothing,
        together=partial(played, options),
        # The treatment that it is played under decides its runs.
        as_tested=lambda conduct, treatment: (*conduct[:3], treatment),
    )


def _test(
    options: MiningOptions, conduct: Conduct, treatment: str, objective: str, seed: int
) -> Run:
    values, digest = played(options, conduct, treatment, seed)
    return values[objective], digest


def _vary(conduct: MiningConduct, treatment: str, draws: Draws) -> MiningConduct:
    """A conduct with one field changed; a minority is added or removed with its share."""
    near = _near(conduct, treatment)
    return near[draws.below(len(near))]


@lru_cache(len(TREATMENTS))
def conducts(treatment: str) -> Sequence[MiningConduct]:
    """All 288 conducts of a treatment: first those without a minority, then by majority, minority
    and share.
    """
    alone: list[MiningConduct] = [(policy, None, 0, treatment) for policy in PROPOSED]
    mixed: list[MiningConduct] = [
        (majority, minority, share, treatment)
        for majority in PROPOSED
        for minority in PROPOSED
        if minority != majority
        for share in range(1, SHARE_MAX + 1)
    ]
    return (*alone, *mixed)


def _read(value: Any, treatment: str) -> Conduct:
    """Convert leniently: names in any case, a list for an object, no share without a minority."""
    value = in_order(value, "majority", "minority", "share")
    if not isinstance(value, (list, tuple)) or len(value) not in (3, 4):
        return value
    majority, minority, share = _name(value[0]), _name(value[1]) or None, value[2]
    if minority is None and share is None:
        share = 0
    return (majority, minority, share, treatment if len(value) == 3 else _name(value[3]))


def _name(value: Any) -> Any:
    # Which letters are pairs of one another changes with Python's Unicode; ASCII's do not.
    return value.lower().strip() if isinstance(value, str) and value.isascii() else value


def _remark(options: MiningOptions) -> str | None:
    if options == MiningOptions():
        return None
    return (
        "only for the default options are the subjects screened: here some may have nothing to "
        "find, and there is no atlas of all conducts"
    )


@lru_cache(1_024)
def _near(conduct: MiningConduct, treatment: str) -> Sequence[MiningConduct]:
    return [other for other in conducts(treatment) if _are_near(conduct, other)]


def _are_near(one: MiningConduct, other: MiningConduct) -> bool:
    if (one[1] is None) != (other[1] is None):
        return one[0] == other[0]
    return sum(a != b for a, b in zip(one[:3], other[:3], strict=True)) == 1


def _atlas(objective: str, treatment: str) -> Sequence[Value]:
    return atlas()[objective, treatment]


@cache
def atlas() -> Mapping[tuple[str, str], Sequence[Value]]:
    """The atlas of the default options: the values of all conducts in the arena's order, each the
    mean of several runs, by (objective, treatment).

    Its file is part of the package and trusted; `python -m tests.atlas` makes it. It is a msgpack
    map of the arena, the seeds, the subjects, and the values in their order as little-endian 32-bit
    floats (NaN for none).
    """
    head = unpack(files(__package__).joinpath(ATLAS).read_bytes())
    values = [None if math.isnan(v) else v for (v,) in struct.iter_unpack("<f", head["values"])]
    width = len(values) // len(head["subjects"])
    return {
        subject: values[k * width : (k + 1) * width] for k, subject in enumerate(head["subjects"])
    }


def _text(options: MiningOptions) -> str:
    treatments = (f"- {name}: {TREATMENTS[name].description}" for name in PLAYED_UNDER)
    return ARENA_TEXTS(
        "mining", options, share=SHARE_MAX, treatments="\n".join(treatments), bar=BAR_POLICY
    )


# Runs

# Newer rules of mining would change what conducts are worth: they make an arena of another name.
PLAYED: Final = MINING.under(2)


def played(
    options: MiningOptions, conduct: Conduct, treatment: str, seed: int
) -> tuple[Mapping[str, Value], int]:
    """Play a conduct, with a minority of `agents * share // 10` last agents: the value of each
    objective over the run, and the digest of its last state. Raises BadInput for a policy that is
    not built in.
    """
    config, entries = setting_of(options, conduct, treatment, seed)
    policies = {entry.agent: (entry, _installed(entry.policy)) for entry in entries}
    roster = [{"agent": e.agent, "policy": e.policy, "options": {}} for e in entries]
    state = PLAYED.initial({"config": config.as_dict(), "roster": roster})
    rounds = []
    while not PLAYED.ended(state):
        play = MINING_PLAYERS.play(state, policies, entries)
        assert play is not None  # a round has one step
        inputs = Block([(SUBMITTED, play.submissions(play.agents))])
        before = state.owner.copy()
        state, derived, _ = advance(PLAYED, state, inputs)
        raids, settled = derived.rows(RAID_RESOLVED), derived.rows(MINING_SETTLED)
        rounds.append(basics(before, state.owner, raids, settled))
    land = land_of(config)
    values = {  # the means of the rounds in which they are defined, and of the gold at the end
        "efficiency": mean([efficiency(counted, land) for counted in rounds]),
        "turnover": mean([turnover(counted) for counted in rounds]),
        "gini": gini(state.gold),
        "raid_rate": mean([raid_rate(counted) for counted in rounds]),
    }
    return values, PLAYED.digest(state)


def _installed(policy: str) -> Scripted:
    """A built-in policy of a conduct, because names in journals must not import anything."""
    if policy not in POLICIES:
        raise BadInput(
            f"a conduct has the policy {format_value(policy)}", f"take {', '.join(POLICIES)}"
        )
    return POLICIES[policy]()


def setting_of(
    options: MiningOptions, conduct: Conduct, treatment: str, seed: int
) -> tuple[MiningConfig, list[Entry]]:
    """The configuration and the roster of a run."""
    agents = options.agents
    majority, minority, share, _ = conduct
    few = agents * share // 10 if minority is not None else 0
    policies = [majority] * (agents - few) + [minority or majority] * few
    given = {"seed": seed, "rounds": options.rounds, "agents": agents}
    config = treated(treatment_named(TREATMENTS, treatment), given, config_of)
    return config, [Entry(agent, policy) for agent, policy in enumerate(policies)]


BENCH: Final = BenchType(_opened)
