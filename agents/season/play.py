"""Seasons: asking the cast, step by step, and recording a whole season."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from agents.season.cast import SCRIPTED, Entry, policy_of
from agents.season.lab import Lab
from agents.season.script import Act, Asked, Replaced, Scripts
from agents.season.seen import Seen
from kernel import run
from kernel.competition import COMPETITION
from kernel.competition.acts import code_of
from kernel.competition.config import config_of
from kernel.competition.evolve import apply
from kernel.competition.fork import turn_of
from kernel.competition.rubric import Grounds
from kernel.competition.state import SeasonState, copied
from kernel.draws import Draws
from kernel.errors import BadInput, PolicyFailed, described, shown
from kernel.journal import Header, JournalWriter
from kernel.world import Batch, Block

OnAssignment = Callable[[int, SeasonState], None]

# Questions whose answer has parts; what is no map has none of them.
_IN_PARTS: Final = ("set_table", "speak", "judge", "digest", "rate", "review_contract")
_IN_PARTS_OR_NONE: Final = ("open", "trait", "skill", "rewrite", "improve", "offer_contract")

# Where the words of a policy begin in its sequence of an assignment: so many for each step, and in
# a step for each question. One sequence, as the key says, and no two questions meet in it.
STEP_WORDS, QUESTION_WORDS = 1 << 32, 1 << 20


class Season:
    """Asks everybody who has something to do next; to be given to the run loop as `ask`.

    Policies are made afresh for every question: they keep nothing but what is shown to them.
    """

    def __init__(self, lab: Lab, replaced: Replaced | None = None) -> None:
        self._scripts = Scripts(lab, replaced)
        self._lab = lab

    def __call__(self, state: SeasonState) -> list[Batch]:
        """The acts of the next step. Raises PolicyFailed where a policy fails."""
        work = copied(state)  # the acts so far are done in it
        script = self._scripts.of(work)
        grounds: dict[int, Mapping[int, Grounds]] = {}
        acts: list[Act] = []
        questions = 0
        answer: Any = None
        while True:
            try:
                item = script.send(answer)
            except StopIteration:
                return [(code, [row]) for code, row in acts]
            answer = None
            if isinstance(item, Asked):
                answer = self._asked(work, item, questions, grounds)
                questions += 1
            else:
                acts.append(item)
                if code_of(work, *item) is None:
                    apply(work, *item)

    def _asked(
        self,
        state: SeasonState,
        asked: Asked,
        question: int,
        grounds: dict[int, Mapping[int, Grounds]],
    ) -> Any:
        agent = state.agents[asked.agent]
        draws = Draws(state.config.seed, state.assignment, 0, agent.ordinal, "policy")
        draws.taken = state.steps * STEP_WORDS + question * QUESTION_WORDS
        try:
            method = getattr(policy_of(agent), asked.name)
            answer = method(Seen(state, agent.ordinal, self._lab, grounds), draws, **asked.told)
        except (KeyboardInterrupt, BadInput):
            raise
        except BaseException as error:  # whatever somebody's policy raises
            reason = f"{asked.name}: {described(error)}"
            raise PolicyFailed(agent.policy, agent.ordinal, state.assignment, reason) from error
        return _shaped(asked.name, answer)


def _shaped(name: str, answer: Any) -> Any:
    if name in _IN_PARTS or (name in _IN_PARTS_OR_NONE and answer is not None):
        return answer if isinstance(answer, Mapping) else {}
    return answer


def record(
    path: str | Path,
    settings: Mapping[str, Any] | None = None,
    cast: Sequence[Entry] | None = None,
    *,
    lab: Lab | None = None,
    force: bool = False,
    fsync: bool = False,
    on_assignment: OnAssignment | None = None,
) -> SeasonState:
    """Play a season into a journal and return the last state.

    `cast` as `agents.season.cast.cast_of` gives it; everybody is scripted without. `lab`: to look
    at afterwards how many runs there were. Raises BadInput before anything is written; PolicyFailed
    and WriteFailed in the middle, with the journal whole up to the last assignment closed.
    """
    from agents.season.cast import cast_of

    config = config_of(settings or {})
    setup = {"config": config.as_dict(), "cast": list(cast or cast_of(config.workers))}
    COMPETITION.initial(setup)  # refuses what is no cast before the file is there
    header = Header(COMPETITION.name, COMPETITION.rules)
    with JournalWriter(path, header, force=force, fsync=fsync) as journal:
        season = Season(lab or Lab(config))
        return run.record(COMPETITION, setup, season, journal, on_assignment)


def resume(
    path: str | Path,
    *,
    trust: Sequence[str] = (),
    fsync: bool = False,
    on_assignment: OnAssignment | None = None,
) -> SeasonState:
    """Go on with a season that broke off and return the last state.

    The finished journal is what it would have been, byte for byte. A journal does not make code run
    by naming it: policies of the form package.module:Class play on only where `trust` lists them.
    Raises BadInput for who cannot play on and for a season that has ended, and as `record` does.
    """

    def ask_of(
        state: SeasonState, forks: Sequence[Mapping[str, Any]], waiting: Block
    ) -> run.Ask[SeasonState]:
        check_players(state, trust)
        return Season(Lab(state.config), replaced_in(forks))

    return run.resume(COMPETITION, path, ask_of, on_assignment, fsync=fsync)


def check_players(state: SeasonState, trust: Sequence[str]) -> None:
    """Raises BadInput where somebody cannot play on from a state that was read from a journal."""
    for agent in state.agents.values():
        if agent.policy != SCRIPTED and agent.policy not in trust:
            raise BadInput(
                f"{agent.name} plays {shown(agent.policy)}, code of somebody's own",
                "allow it with trust (--trust)",
            )


def replaced_in(forks: Sequence[Mapping[str, Any]]) -> Replaced:
    """All contributions that were put in by hand; those of a later fork go first."""
    return {
        (assignment, *turn_of(row)): row for facts in forks for assignment, row in facts["replaced"]
    }
