"""What a participant is shown of the others' contributions until the conclusion: the controls of a
debate, isolated self-correction and the reasons of other tables.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from goldrush.kernel.worlds.competition.table import Contribution, Roundtable
from goldrush.kernel.worlds.competition.terms import Move


def alone(table: Roundtable, agent: int, *, is_proven: bool) -> Roundtable:
    """The table as if an agent sat there alone. The contributions of others are passes without
    words, so that ids stay, and what follows from them is left out. Nobody can challenge what it is
    not shown, so there are tests after the proof only (`is_proven`).
    """
    ids = {contribution.id for contribution in table.contributions if contribution.agent == agent}

    def shown(contribution: Contribution) -> Contribution:
        if contribution.id not in ids:
            return Contribution(contribution.id, contribution.round, contribution.agent, Move.PASS)
        own = attrs.evolve(contribution, led=None, backing=0)
        if contribution.move in (Move.SUPPORT, Move.CHALLENGE) and contribution.target not in ids:
            return attrs.evolve(own, move=Move.PASS, target=None)  # a guess, or by hand
        return own

    tests = {at: value for at, value in table.tests.items() if at[0] in ids}
    own = attrs.evolve(
        table,
        contributions=[shown(contribution) for contribution in table.contributions],
        removed=table.removed & ids,
        tests=tests if is_proven else {},
        moves={agent: table.moves[agent]} if agent in table.moves else {},
        stood={},
        led_after={},
        signal=None,
    )
    own.stances = own.proven_stances() if is_proven else own.talk_stances()
    return own


def with_reasons(table: Roundtable, agent: int, reasons: Sequence[tuple[str, str]]) -> Roundtable:
    """The table with other reasons in the contributions of all agents but one: those given for the
    same move, (move, text) each, in turns; none if there is none.
    """
    by_move: dict[str, list[str]] = {}
    for move, text in reasons:
        by_move.setdefault(move, []).append(text)

    def shown(contribution: Contribution) -> Contribution:
        if contribution.agent == agent or not contribution.text:
            return contribution
        texts = by_move.get(contribution.move, [""])
        return attrs.evolve(contribution, text=texts[contribution.id % len(texts)], because=None)

    return attrs.evolve(
        table, contributions=[shown(contribution) for contribution in table.contributions]
    )
