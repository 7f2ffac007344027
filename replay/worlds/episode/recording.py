"""A journal under way: what is done to an environment goes through the kernel's run loop.

So recording and verifying are one code: the loop asks the world what follows from an action, and
the world steps the environment with the action as the journal has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, Generic

import attrs

from goldrush.agents.trust import EXTERNAL
from goldrush.agents.worlds.episode.policies import CALLER
from goldrush.kernel.errors import (
    BadInput,
    GoldrushError,
    RulesFailed,
    WriteFailed,
    format_error,
)
from goldrush.kernel.fold import is_opening
from goldrush.kernel.journal import Header, JournalReader, JournalWriter
from goldrush.kernel.run import Steps, fork_steps, steps
from goldrush.kernel.world import Batch
from goldrush.kernel.worlds.episode.config import About
from goldrush.kernel.worlds.episode.events import ACTED, CLOSED, RESET
from goldrush.kernel.worlds.episode.fork import VOCABULARY
from goldrush.kernel.worlds.episode.state import EpisodeState, drawn_seed, initial
from goldrush.kernel.worlds.episode.values import Encoded
from goldrush.kernel.worlds.episode.world import NAME, RULES, episode_world
from goldrush.replay.arguments import integer, path_of
from goldrush.replay.worlds.episode.coding import encoded
from goldrush.replay.worlds.episode.stage import LiveStage, U

_HEADER: Final = Header(NAME, RULES)


def config_for(seed: int, steps: int, parameters: Mapping[str, object]) -> dict[str, Encoded]:
    """The setup's config: the seed of seeds that are drawn, the number of steps (0: until it is
    closed), the parameters of what makes the subject. Raises BadInput for a parameter that cannot
    be recorded.
    """
    named = {name: encoded(value, f"the parameter {name}") for name, value in parameters.items()}
    return {"seed": seed, "steps": steps, **named}


@attrs.define(slots=False, eq=False)
class SubjectRecorder(Generic[U]):
    """A subject and the journal of what is done to it.

    The journal begins with the first reset; before, copies can be made. It is whole after each
    call. When the subject raises, the recording ends with the call before: nobody knows how far the
    subject came.

    Attributes:
        path: the journal.
        subject: the environment or model.
        make: makes it again for a state of the run; None: it was given as an object.
        state: the state of the run, which must not be changed.
    """

    path: str
    _stage: LiveStage[U]
    state: EpisodeState
    # Makes the loop of the first input, before anything is written; None: it has begun.
    _begin: Callable[[Batch], Steps[EpisodeState]] | None
    _loop: Steps[EpisodeState] | None = None
    _ended: str = ""

    def __attrs_post_init__(self) -> None:
        self.subject, self.make = self._stage.at(self.state), self._stage.make

    @classmethod
    def new(
        cls,
        subject: U,
        about: About,
        config: Mapping[str, Encoded],
        make: Callable[[EpisodeState], U] | None,
        journal: str | Path,
        *,
        force: bool,
    ) -> SubjectRecorder[U]:
        """A recording that has not begun. `make`: as of the stage.

        Raises BadInput for settings, and for a path that cannot be used.
        """
        path = path_of(journal)
        roster = [
            {"agent": agent, "policy": EXTERNAL, "options": {"name": CALLER}}
            for agent in range(len(about.agents))
        ]
        setup = {"config": config, "subject": about.as_dict(), "roster": roster}
        stage, state = LiveStage(make), initial(setup)
        stage.hold(subject, state)
        with JournalWriter(path, _HEADER, force=force):
            pass  # the path can be used, and nothing is written yet
        return cls(path, stage, state, partial(_steps, stage, setup, path, force))

    @property
    def is_over(self) -> bool:
        """Whether nothing more can be done."""
        return self._ended != ""

    def forked(
        self,
        at: int,
        journal: str | Path,
        steps: int | None,
        *,
        force: bool,
        changes: Mapping[str, object] = {},
    ) -> SubjectRecorder[U]:
        """The recording of a fork of this run, standing after step `at`. It is replayed to there.

        Args:
            changes: parameters that change, of a model; checked before anything is written.

        Raises BadInput if the environment cannot be made again, and as `kernel.run.fork`;
        MalformedEvents if it does not repeat.
        """
        if self.make is None:
            raise BadInput(
                f"the environment of {self.path} was given as an object",
                "wrap the callable that makes it: its runs can be forked",
            )
        stage, path = LiveStage(self.make), path_of(journal)
        changed = {name: encoded(value, f"the parameter {name}") for name, value in changes.items()}
        if steps not in (None, self.state.config.steps):
            changed["steps"] = steps
        with JournalReader(self.path, hashed=True) as parent:

            def facts_of(state: EpisodeState) -> Mapping[str, object]:
                stage.at(state).check_changes(changes)
                of = {"parent": parent.sha256(), "changes": changed}
                return {**of, "roster": None, "replaced": ()}

            world, unit = episode_world(stage.outcome), VOCABULARY.unit_of(at)
            loop = fork_steps(world, parent, unit, facts_of, path, force=force)
            state = next(loop)
        return SubjectRecorder(path, stage, state, None, loop)

    def __getstate__(self) -> dict[str, object]:
        """For copies. Raises BadInput once the journal has begun."""
        if self._loop is not None or self._ended:
            raise BadInput(
                f"the recording {self.path} has begun: its environment cannot be copied",
                "copy it before its first reset, or wrap each copy, with a journal of its own",
            )
        return self.__dict__

    def reset(self, seed: object, options: object) -> None:
        """Begin an episode. Without a seed one is drawn.

        Raises BadInput for a seed or options that cannot be recorded, or if the recording is over;
        whatever the environment raises.
        """
        self._check_open()
        given, further = _seed(seed), encoded(options, "the options of the reset")
        if self.state.about.seed_parameter == "":
            if given is not None:
                raise BadInput(f"the seed {given} is given, and reset takes none", "leave it out")
            self.do((RESET, [(None, False, further)]))
            return
        number = drawn_seed(self.state) if given is None else given
        self.do((RESET, [(number, given is None, further)]))

    def step(self, actions: Mapping[int | None, object]) -> None:
        """Go on by a step.

        Args:
            actions: by agent, ascending; None is all agents of a vector environment together.

        Raises BadInput for an action that cannot be recorded, for a step before a reset or behind
        the end of an episode, or if the recording is over; whatever the environment raises.
        """
        self._check_open()
        if self.state.is_over:
            over = "the episode is over" if self.state.episode else "no episode has begun"
            raise BadInput(over, "call reset()")
        if not actions:
            raise BadInput("no agent has an action", "give one for each agent that must act")
        self.do((ACTED, [self._acted(*action) for action in actions.items()]))

    def do(self, *inputs: Batch) -> None:
        """Do the inputs of a unit and record what follows. The journal begins if it has not.

        Raises BadInput if the recording is over; whatever the subject raises, but as `exits_told`,
        and a StopIteration as the RuntimeError that generators make of it.
        """
        self._check_open()
        if self._loop is None:
            assert self._begin is not None  # or the loop is there
            loop = self._begin(inputs[0])
            self.state, self._loop = next(loop), loop
        try:
            self.state = self._loop.send(inputs)
            self.state.past = []  # it would grow, and the stage has the subject
        except StopIteration as end:
            self.state = end.value
            self._end("has ended")
        except BaseException as error:
            self._end(f"ended when a {type(error).__name__} was raised")
            with exits_told(self.state.about.name):
                raise

    def close(self) -> None:
        """End the recording; the environment stays open. No-op if it is over."""
        if self._loop is not None:
            self.do((CLOSED, [()]))

    def _acted(self, agent: int | None, action: object) -> tuple[int | None, Encoded]:
        agents = self.state.about.agents
        of = "" if agent is None or len(agents) == 1 else f" of {agents[agent]}"
        return agent, encoded(action, f"the action{of}")

    def _end(self, how: str) -> None:
        self._loop, self._ended = None, how

    def _check_open(self) -> None:
        if self._ended:
            raise BadInput(
                f"the recording {self.path} {self._ended}",
                "wrap it anew, with another journal",
            )


@contextmanager
def failing(what: str, instead: str, *passed: type[Exception]) -> Iterator[None]:
    """Raises RulesFailed, one line, for what a subject's code raises: it may be anything, and
    `sys.exit()` would end the program as if nothing had failed. `passed`: is raised as it is.
    """
    passing: tuple[type[BaseException], ...] = (KeyboardInterrupt, MemoryError, GoldrushError)
    try:
        yield
    except (*passing, *passed):
        raise
    except BaseException as error:
        reason = " ".join(format_error(error).split())
        raise RulesFailed(f"{what}: {reason}", instead) from error


def exits_told(name: str) -> AbstractContextManager[None]:
    """Raises RulesFailed for what the code of a subject raises besides exceptions and Ctrl-C."""
    return failing(f"{name} fails", "raise an exception there", Exception)


def _steps(
    stage: LiveStage[U], setup: Mapping[str, Any], path: str, force: bool, first: Batch
) -> Steps[EpisodeState]:
    """The run loop of a new journal, which is closed when the generator is. The run has the seed
    that `first`, its first reset, is given: by it runs differ.
    """
    _, [(seed, is_drawn, _)] = first
    if not is_drawn and seed is not None:
        subject = stage.at(initial(setup))
        setup = {**setup, "config": {**setup["config"], "seed": seed}}
        stage.hold(subject, initial(setup))
    opening = partial(is_opening, VOCABULARY)  # START and that reset
    with JournalWriter(path, _HEADER, force=force, is_opening=opening) as journal:
        try:
            return (yield from steps(episode_world(stage.outcome), setup, journal))
        except (GeneratorExit, WriteFailed):
            raise
        except BaseException:
            if not journal.is_begun:
                journal.discard()
            raise


def _seed(seed: object) -> int | None:
    """A seed of Python or numpy; None if none was given."""
    if seed is None:
        return None
    number = integer(seed, "the seed")
    if not 0 <= number < 1 << 63:
        raise BadInput(f"the seed is {number}", "give one integer, 0 or more")
    return number
