"""The agents of a journal whose agents submit simultaneously, asked again with new policies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter

import attrs

from goldrush.agents.players import Facts, PolicyCheck
from goldrush.agents.replaced import replaced_in
from goldrush.agents.roster import Roster
from goldrush.agents.rounds import RoundPlayers, S, V
from goldrush.agents.seats import OBJECT, classified, family_of, is_outside
from goldrush.agents.session import asked_again
from goldrush.kernel.errors import BadInput
from goldrush.kernel.world import Batch, Block


def check_of(
    players: RoundPlayers[S, V], roster: Roster, forks: Sequence[Facts] = ()
) -> PolicyCheck:
    """The check of a journal's policies, which are made anew in every unit.

    Agents that cannot be asked are believed: those with user-defined policies that are not trusted
    (a journal must not run code by naming it), with recordings or objects that are not given, and
    those that this version does not know. Raises ImpossiblePlayer for an agent that no run has.
    """
    entries, replaced, policy_set = roster.entries, replaced_in(forks), players.policy_set
    known = classified(policy_set, roster)
    unknown = list(known.unknown)
    believed = {e.agent for e, can in zip(entries, known.can_ask, strict=True) if not can}
    makers: dict[int, Callable[[], object]] = {}
    for entry in entries:
        if entry.agent not in believed and not is_outside(entry.policy):
            try:
                makers[entry.agent] = policy_set.factory_of(entry, roster)
            except BadInput as error:
                if family_of(entry.policy) is OBJECT:
                    raise  # the caller gave the object
                believed.add(entry.agent)
                unknown.append(f"{entry.label}: {error.what}")
    # Replaced submissions are known even if no agent can be asked.
    if len(believed) == len(entries) and not replaced:
        return PolicyCheck(None, known.not_asked, unknown)
    is_alone = len(makers) + len(believed) == len(entries)  # no model and no person
    outside = {entry.agent for entry in entries if is_outside(entry.policy)}

    def ask(state: S, recorded: Block, *, is_whole: bool = True) -> Sequence[Batch]:
        play = players.play(state, {}, entries, replaced=replaced, believed=believed)
        if play is None:
            return []
        asked = [agent for agent in play.agents if agent in makers]
        policies = {agent: (entries[agent], makers[agent]()) for agent in asked}
        play = attrs.evolve(play, policies=policies)
        if is_alone and is_whole and not play.replaced:
            rows = [row for row in recorded.rows(play.code) if row[0] in believed]
            rows += play.submissions(asked)
            return [(play.code, sorted(rows, key=itemgetter(0)))]
        if not is_whole:  # nobody else's is recorded before the step is complete
            rows = [row for row in recorded.rows(play.code) if row[0] in outside]
            recorded = Block([(play.code, rows)] if rows else ())
        return players.world.arrange(Block(asked_again(play, recorded, is_whole=is_whole))).batches

    # A user-defined policy may change what it is shown.
    are_of_world = {entries[agent].policy for agent in makers} <= policy_set.policies.keys()
    return PolicyCheck(
        ask, known.not_asked, unknown, partial(ask, is_whole=False),
        leaves_state=players.leaves_state and are_of_world,
    )  # fmt: skip
