"""The interface of mining policies: pure functions of an observation and keyed draws.

A policy keeps nothing between rounds but its memo, because resuming, forking and verifying make a
new policy. It proposes a plan; the kernel decides which actions are legal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.mining.events import Actions
from goldrush.kernel.worlds.mining.observe import MiningObservation
from goldrush.kernel.worlds.mining.submit import Plan

Answer = Sequence[Any] | Plan


class Scripted(Protocol):
    """A policy of this package, whose plans are in the journal's form and need no conversion."""

    def plan(self, seen: MiningObservation, draws: Draws) -> Actions:
        """The agent's plan for the round."""


class Policy(Protocol):
    """A user-defined policy. Its class is called with the settings in the roster's text."""

    def plan(self, seen: MiningObservation, draws: Draws) -> Answer:
        """The agent's plan for the round: `(kind, plot, amount)` items, most important first. kind
        is "defend", "mine", "claim" or "raid"; plot an id; amount stamina points (1 for claim and
        raid). Or a `Plan`, to add a message or a memo. Anything else stops the run. `draws` are the
        only source of randomness that a policy may use.
        """
