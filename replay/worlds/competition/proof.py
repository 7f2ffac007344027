"""The proof of a table and the choice after it: which claims hold, and where each participant stood
at the end of the talk, after the proof, and in the end.

The stances are folded from the table by the kernel's rules; the rules of the arena are not needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import attrs

from goldrush.kernel.journal import JournalReader
from goldrush.kernel.measures import Value
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import FinalStance, Roundtable
from goldrush.kernel.worlds.competition.terms import Move, Part
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.rebuild import walk_through
from goldrush.replay.worlds.competition.steps import conduct_text, season_world

BY_CHALLENGE, BY_PROOF = "challenge", "proof"  # what refutes a proposal


@attrs.frozen
class Proven:
    """A proposal after the proof.

    Attributes:
        conduct: as text.
        claimed, tested, held: the values of the base, and whether it holds.
        edge_held: whether the edge does; None without one.
        refuted: BY_CHALLENGE or BY_PROOF; None if it is not refuted.
    """

    id: int
    agent: int
    conduct: str
    claimed: float
    tested: Value
    held: bool
    edge_held: bool | None
    refuted: str | None


@attrs.frozen
class Side:
    """Where a participant stood at the end of the talk, as the proof left it and in the end: by a
    proposal, or None for no stance. `stood`: the final stance that it gave; None if it gave no
    valid one, and `proven` stays.
    """

    agent: int
    talked: int | None
    proven: int | None
    final: int | None
    stood: FinalStance | None

    @property
    def changed(self) -> bool:
        """Whether it stands elsewhere in the end than at the end of the talk."""
        return self.final != self.talked


@attrs.frozen
class Challenge:
    """A challenge that was not redirected: the part of a proposal's claim that it names, how that
    tested, and whether it was right.
    """

    id: int
    agent: int
    target: int
    part: str
    tested: Value
    is_sustained: bool


@attrs.frozen
class TableCounts:
    """Counts over tables, each with its unit and meaning."""

    trials: Annotated[int, "trials", "ordered by somebody for itself"] = 0
    claims: Annotated[
        int, "contributions", "proposals, amendments included, that were not redirected"
    ] = 0
    held: Annotated[int, "contributions", "those of them whose base held"] = 0
    sharp: Annotated[int, "contributions", "those of them whose base is sharp"] = 0
    challenges: Annotated[int, "contributions", "challenges that were not redirected"] = 0
    sustained: Annotated[int, "contributions", "those of them that were right"] = 0
    stood: Annotated[int, "agents", "who gave a final stance that was not refused"] = 0
    changed: Annotated[
        int, "agents", "who stand elsewhere in the end than at the end of the talk"
    ] = 0


@attrs.frozen
class Proof:
    """What became of a table once the talk was over.

    Attributes:
        subject: its objective, direction and treatment.
        bar: the value of the bar.
        proposals: those that were not redirected, by id.
        challenges: the same.
        sides: of the participants, in the order of speaking.
        conclusion: the proposal concluded on; None: there is no conclusion.
        tied: the proposals among which it was drawn.
    """

    table: int
    subject: tuple[str, str, str]
    bar: Value
    proposals: Sequence[Proven]
    challenges: Sequence[Challenge]
    sides: Sequence[Side]
    conclusion: int | None
    tied: Sequence[int]

    def as_dict(self) -> dict[str, object]:
        """The proof for JSON."""
        sides = [{**attrs.asdict(side), "changed": side.changed} for side in self.sides]
        return {**attrs.asdict(self), "sides": sides}


def sides(table: Roundtable) -> list[Side]:
    """The sides of the participants of a concluded table, in the order of speaking."""
    talked, left = table.talk_stances().by_agent, table.proven_stances().by_agent
    final = table.stances.by_agent
    return [
        Side(agent, talked.get(agent), left.get(agent), final.get(agent), table.stood.get(agent))
        for agent in table.order
    ]


def counts_of(table: Roundtable) -> Mapping[str, int]:
    """The counts of a concluded table, by the fields of Counts."""
    proposals = table.proposals()
    challenges = [said for said in table.counted() if said.move == Move.CHALLENGE]
    return {
        "trials": len(table.trials),
        "claims": len(proposals),
        "held": sum(table.held(said.id, Part.BASE) is True for said in proposals),
        "sharp": sum(map(table.is_sharp, proposals)),
        "challenges": len(challenges),
        "sustained": sum(map(table.is_sustained, challenges)),
        "stood": len(table.stood),
        "changed": sum(side.changed for side in sides(table)),
    }


def refuted_by(table: Roundtable, proposal: int) -> str | None:
    """What refuted a proposal that was not redirected; None if nothing did."""
    if proposal not in table.stances.refuted:
        return None
    return BY_CHALLENGE if table.was_challenged(proposal, Part.BASE) else BY_PROOF


@reader_of
def proofs(path: str | Path, assignment: int) -> list[Proof]:
    """The proofs of the tables of a closed assignment, from 0.

    Raises BadInput if there is no such closed assignment; JournalError if the journal cannot be
    read.
    """
    with JournalReader(path) as reader:
        world = season_world(reader)
        for _, step, state in walk_through(world, reader, assignment).steps():
            if step is not None and world.unit_done(state):
                return [proof_at(state, table) for table in state.tables]
    return []


def proof_at(state: SeasonState, table: Roundtable) -> Proof:
    """The proof of a concluded table."""
    subject, conclusion = table.subject, table.conclusion
    assert conclusion is not None  # the assignment has all its events
    return Proof(
        table.number,
        (subject.objective, subject.better, subject.treatment),
        table.bar,
        [
            Proven(
                said.id, said.agent, conduct_text(said.conduct, state.rules), said.claimed,
                table.tests[said.id, Part.BASE], table.held(said.id, Part.BASE) is True,
                table.held(said.id, Part.EDGE), refuted_by(table, said.id),
            )
            for said in table.proposals()
        ],
        [
            Challenge(
                said.id, said.agent, *said.challenged, table.tests.get(said.challenged),
                table.is_sustained(said),
            )
            for said in table.counted() if said.move == Move.CHALLENGE
        ],
        sides(table),
        conclusion.proposal,
        conclusion.tied,
    )  # fmt: skip
