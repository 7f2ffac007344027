"""Who plays the fishery: scripted policies, recordings, language models."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from goldrush.agents.llm.failures import NO_ANSWER, NO_JSON, REFUSAL
from goldrush.agents.recorded import Recording
from goldrush.agents.roster import Entry
from goldrush.agents.seats import PolicySet
from goldrush.agents.simultaneous import StagePlayers
from goldrush.agents.stage_game import Prompting, StageGame
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadPlan, format_value
from goldrush.kernel.settings import integer
from goldrush.kernel.shape import Schema, record
from goldrush.kernel.world import Row
from goldrush_commons.policies import POLICIES
from goldrush_commons.world import ASKED, COMMONS, FISH_MAX, FORKS, TREATMENTS, Fishery, config_of

RULES: Final = (
    "{agents} agents fish a lake for {seasons} seasons. Each season all say how many tonnes they "
    "take; where that is more than there is, all get the same part of what they asked for. What is "
    "left, x tonnes, grows by {growth:g} * x * (1 - x / {capacity:g}). You want to land as much "
    'as you can over all seasons. Answer with JSON: {{"fish": tonnes}}'
)
NOW: Final = "Season {season}. There are {stock:.0f} tonnes. You have landed {landed:.0f} so far."
_NUMBER: Final = re.compile(r'"fish"\s*:\s*([0-9]{1,9})\b')


def ask(policy: Any, entry: Entry, seen: Fishery) -> Row:
    """What a policy asks for in the next season. Raises BadPlan for what is no catch."""
    draws = Draws(seen.config.seed, seen.season + 1, entry.agent, "policy")
    return (entry.agent, checked(policy.fish(seen, entry.agent, draws)), None, None)


def checked(fish: Any) -> int:
    """A catch that can be asked for. Raises BadPlan."""
    if type(fish) is not int or not 0 <= fish <= FISH_MAX:
        raise BadPlan(
            f"fish is {format_value(fish)}; it must be a whole number from 0 to {FISH_MAX}"
        )
    return fish


def resubmitted(item: Mapping[str, Any], config: Any, code: int) -> Row:
    """The row of a submission that is put in by hand. Raises BadPlan."""
    return (item["agent"], checked(item["fish"]), None, None)


def messages(seen: Fishery, agent: int) -> list[dict[str, str]]:
    """What a model is asked."""
    config, landed = seen.config, seen.landed[agent]
    now = NOW.format(season=seen.season + 1, stock=seen.stock, landed=landed)
    return [
        {"role": "system", "content": RULES.format(**config.as_dict())},
        {"role": "user", "content": now},
    ]


def schema(seen: Fishery, agent: int) -> Schema:
    """The form of an answer."""
    return record(fish=integer(0, int(seen.stock))).schema


def answered(
    seen: Fishery, agent: int, text: str | None, error: str | None, source: dict[str, Any]
) -> Row:
    """The row for what a model wrote: no fish where there is no number."""
    found = _NUMBER.search(text or "")
    if error in (NO_ANSWER, REFUSAL) or found is None:
        return (agent, 0, error or NO_JSON, source)
    return (agent, int(found[1]), None, source)


GAME: Final = StageGame[Fishery, Fishery](
    world=COMMONS,
    policy_set=PolicySet(
        world="commons",
        policies=POLICIES,
        default="share*3,greedy*2",
        agents=5,
        agents_max=100,
        method="fish",
        prompt=1,
        recording=lambda path: Recording(path, COMMONS, (ASKED,)),
    ),
    codes=(ASKED,),
    config_of=config_of,
    horizon="seasons",
    unit=lambda state: state.season + 1,
    view=lambda state: state,
    ask=ask,
    resubmitted=resubmitted,
    treatments=TREATMENTS,
    forks=FORKS,
    prompting=Prompting(messages, schema, answered, longest=2_000, stand_in="share"),
)
FISHERS: Final = StagePlayers(GAME)
