"""What all recorded environments have: the run of their journal, and forks."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from goldrush.replay.run import Run
from goldrush.replay.worlds.episode.environments import Environment
from goldrush.replay.worlds.episode.recording import EnvironmentMaker, Recording


class RecordedEnv:
    """An environment whose calls are recorded: `reset`, `step` and `close` of the environment that
    was wrapped, with what they return. See `goldrush.wrap`.
    """

    recording: Recording[Environment]

    @property
    def journal(self) -> str:
        """The path of the journal."""
        return self.recording.path

    @property
    def run(self) -> Run:
        """The run of the journal, as far as it has come. It can be verified and forked if the
        environment was wrapped as a callable.
        """
        make = self.recording.make
        maker = make.make if isinstance(make, EnvironmentMaker) else None
        return Run.open(self.recording.path, world=maker)

    def fork(
        self, at: int, journal: str | Path, *, steps: int | None = None, force: bool = False
    ) -> Self:
        """Go another way from a step on.

        The environment is made anew and replayed to the end of that step, as it is recorded; the
        caller goes on from there.

        Args:
            at: the last step that is kept; step 0 is the first reset.
            journal: where the fork is recorded.
            steps: the number of steps of the fork; None: that of this run.
            force: replace a journal. It stays as it is until the first step is recorded.

        Returns:
            A recorded environment that has its last result in `recording.subject.returned`.

        Raises BadInput for an environment that was wrapped as an object, and for a step that the
        run does not have; MalformedEvents if the environment does not repeat.
        """
        recording = self.recording.forked(at, journal, steps, force=force)
        return type(self)(recording)  # type: ignore[call-arg]  # each is made from one
