"""What a policy is: a pure function of what it is shown, its memo and its keyed draws.

A policy keeps nothing between rounds but its memo, because a run that is resumed, forked or
verified asks a policy made afresh. It proposes; the kernel judges what is legal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from goldrush.kernel.draws import Draws
from goldrush.kernel.mining.observe import Observation
from goldrush.kernel.mining.submit import Actions, Plan

Answer = Sequence[Any] | Plan


class Scripted(Protocol):
    """A policy of this package: what it returns is in the journal's form and taken as it is."""

    def plan(self, seen: Observation, draws: Draws) -> Actions:
        """The agent's plan for the round."""
        ...


class Policy(Protocol):
    """Anything with this method plays. A class named in a roster is made without arguments."""

    def plan(self, seen: Observation, draws: Draws) -> Answer:
        """The agent's plan for the round: `(kind, plot, amount)` items, most important first.

        kind is "defend", "mine", "claim" or "raid"; plot an id; amount stamina points (1 for claim
        and raid). Or a `Plan`, to add a message or a memo. Whatever is random must come from
        `draws`. Raising, or returning anything else, stops the run.
        """
        ...
