"""Recorded environments and models: the run of their journal, and forks; a model also its steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar, cast

from goldrush.kernel.errors import BadInput
from goldrush.kernel.world import Batch
from goldrush.kernel.worlds.episode.config import UNENDED_MAX
from goldrush.kernel.worlds.episode.events import CHANGED
from goldrush.kernel.worlds.episode.values import Encoded
from goldrush.replay.run import Run
from goldrush.replay.worlds.episode.coding import encoded
from goldrush.replay.worlds.episode.model import ModelSubject
from goldrush.replay.worlds.episode.recording import SubjectRecorder


class RecordedSubject:
    """What recorded environments and models have in common."""

    recording: SubjectRecorder[Any]

    @property
    def journal(self) -> str:
        """The path of the journal."""
        return self.recording.path

    @property
    def run(self) -> Run:
        """The run of the journal, as far as it has come. That of an environment can be verified and
        forked if it was wrapped as a callable.
        """
        return Run.open(self.recording.path, world=getattr(self.recording.make, "make", None))

    def fork(
        self,
        at: int,
        journal: str | Path,
        *,
        steps: int | None = None,
        force: bool = False,
        **changes: object,
    ) -> Self:
        """Go another way from a step on.

        The subject is made anew and replayed to the end of that step, as it is recorded; the caller
        goes on from there.

        Args:
            at: the last step that is kept; step 0 is the first reset, or the model as it was made.
            journal: where the fork is recorded.
            steps: the number of steps of the fork; None: that of this run.
            force: replace a journal. It stays as it is until the first step is recorded.
            changes: attributes of a model that are set before the next step, as its `change` has
                them.

        Returns:
            A recorded subject that has its last result in `recording.subject.returned`.

        Raises BadInput for an environment that was wrapped as an object or whose parameters are to
        change, for a step that the run does not have, and as `change`; MalformedEvents if the
        subject does not repeat.
        """
        recording = self.recording.forked(at, journal, steps, force=force, changes=changes)
        return type(self)(recording)  # type: ignore[call-arg]  # each is made from one


class RecordedEnv(RecordedSubject):
    """An environment whose calls are recorded: `reset`, `step` and `close` of the environment that
    was wrapped, with what they return. See `goldrush.wrap`.
    """

    def __init__(self, recording: SubjectRecorder[Any]) -> None:
        """See `goldrush.wrap`."""
        super().__init__(recording.subject.env)  # type: ignore[call-arg]  # a wrapper's
        self.recording = recording

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """As the environment; without a seed, the recorder draws one."""
        self.recording.reset(seed, options)
        return self.recording.subject.returned

    def close(self, **kwargs: object) -> None:
        """End the journal and close the environment."""
        self.recording.close()
        super().close(**kwargs)  # type: ignore[misc]  # a wrapper's


class Stepped(Protocol):
    """A model: something with a `step` that takes nothing."""

    def step(self) -> object:
        """Go on by a step."""


M = TypeVar("M", bound=Stepped)


class RecordedModel(RecordedSubject, Generic[M]):
    """A model whose steps and interventions are recorded. See `goldrush.wrap`.

    with wrap(Model, "run.journal", seed=7) as recorded:
        recorded.step()
        recorded.change(density=0.3)
        recorded.step()
    """

    def __init__(self, recording: SubjectRecorder[ModelSubject]) -> None:
        """See `goldrush.wrap`."""
        self.recording = recording
        self._changes: dict[str, Encoded] = {}

    @property
    def model(self) -> M:
        """The live model, to be read: what is changed there is not recorded."""
        return cast(M, self.recording.subject.model)

    @property
    def is_over(self) -> bool:
        """The model has stopped, or has all its steps, or the recording is closed."""
        return self.recording.is_over

    def step(self) -> object:
        """Make the changes since the last step, then a step; return what the model returned.

        Raises BadInput if the recording is over; whatever the model raises.
        """
        changes = list(self._changes.items())
        self._changes = {}
        self.recording.do(*cast("list[Batch]", [(CHANGED, changes)] if changes else []))
        return self.recording.subject.returned

    def run_to_end(self) -> Run:
        """Step until the recording is over, and return its run. Raises whatever the model raises.

        Raises BadInput if nothing has ended it after UNENDED_MAX steps.
        """
        while not self.is_over:
            state = self.recording.state
            if state.unit > UNENDED_MAX and not state.config.steps:
                raise BadInput(
                    f"nothing has ended {state.about.name} in {UNENDED_MAX:,} steps",
                    "give their number: wrap(..., steps=100)",
                )
            self.step()
        return self.run

    def change(self, **changes: object) -> None:
        """Set attributes of the model before its next step: `change(density=0.3)`, or those of an
        attribute: `change(**{"scenario.density": 0.3})`.

        Raises BadInput for an attribute that the model does not have, and for a value that cannot
        be recorded.
        """
        self.recording.subject.check_changes(changes)
        self._changes |= {name: encoded(value, name) for name, value in changes.items()}

    def close(self) -> None:
        """End the recording. No-op if it is over."""
        self.recording.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
