"""`wrap`: an environment or a model that leaves a journal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

import attrs

from goldrush.agents.targets import resolve
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.worlds.episode.config import AEC, PARALLEL, VECTOR
from goldrush.kernel.worlds.episode.events import RESET
from goldrush.kernel.worlds.episode.values import DICT, Encoded
from goldrush.replay.run import Run
from goldrush.replay.worlds.episode.environments import (
    Environment,
    is_environment,
    registered,
)
from goldrush.replay.worlds.episode.making import SubjectMaker, name_of, subject_made
from goldrush.replay.worlds.episode.model import ModelSubject
from goldrush.replay.worlds.episode.parameters import asked_in
from goldrush.replay.worlds.episode.recorded import (
    M,
    RecordedEnv,
    RecordedModel,
    Stepped,
)
from goldrush.replay.worlds.episode.recording import (
    SubjectRecorder,
    config_for,
    exits_told,
)

E = TypeVar("E")


@overload
def wrap(  # 0 stands for no number of steps
    target: Callable[..., M], journal: str | Path, *, steps: Literal[0] = 0, **options: Any
) -> RecordedModel[M]: ...  # fmt: skip


@overload
def wrap(
    target: Callable[..., Stepped], journal: str | Path, *, steps: int, **options: Any
) -> Run: ...  # fmt: skip


@overload
def wrap(target: str, journal: str | Path, **options: Any) -> RecordedEnv: ...


@overload
def wrap(target: Callable[..., E], journal: str | Path, **options: Any) -> E: ...


@overload
def wrap(target: E, journal: str | Path, **options: Any) -> E: ...


def wrap(
    target: object,
    journal: str | Path,
    *,
    seed: int = 0,
    steps: int = 0,
    values: bool = False,
    ignore: str | Sequence[str] = (),
    every: int = 0,
    report: str | Sequence[str] = (),
    seed_parameter: str | None = None,
    force: bool = False,
    **parameters: object,
) -> object:
    """Wrap an environment of Gymnasium or PettingZoo, or a model, so that what is done to it leaves
    a journal.

    >>> import gymnasium
    >>> env = wrap(gymnasium.make, "run.journal", id="CartPole-v1")
    >>> observation, info = env.reset(seed=7)
    >>> observation, reward, terminated, truncated, info = env.step(1)
    >>> env.close()

    Args:
        target: an environment (a vector environment, parallel or AEC), or a callable that makes
            one, also by name: an id of Gymnasium, `module:NAME`, `FILE.py:NAME`. `fork` needs what
            can be made again: a callable, or what Gymnasium has made by an id. Or the class of a
            model (of Mesa, or any with a method `step`), or a function that makes one of a seed.
        journal: the path of the journal. It begins with the first reset, and is whole after each
            call.
        seed: of the seeds that resets without a seed get; the seed of a model. The run has the
            seed of its first reset instead, where that is given one.
        steps: steps, resets left out, after which the journal ends; 0: when `close` is called. A
            model is run so many steps, or until it stops.
        values: record observations, infos and variables with their values. Otherwise the journal
            has a digest of each array; numbers and short texts are kept in any case.
        ignore: observations, infos and variables whose name begins so are not recorded:
            `info[time]`; and paths within a model's attributes, as `goldrush repeats` prints them:
            `game['uuid']`.
        every: steps between two digests of all that a model holds, besides that at the end; 0:
            there are none. One takes as long as some ten to a thousand steps.
        report: what a model reports, as measures: names of its attributes, properties and methods,
            or of what its `report()`, its `metrics()` or its collector tells; empty: all that it
            tells by these, and its public attributes.
        seed_parameter: the parameter that takes the seed, of the model or of the environment's
            `reset`; None: one with a common name (`seed`, `rng`, `random_state`, ...); empty: it
            takes none.
        force: replace a journal. It stays as it is until the first step is recorded.
        parameters: of the callable, by name; they are recorded.

    Returns:
        The environment, as a wrapper of its library. It returns what the environment returns. It is
        a `RecordedEnv`, too: it has `run` and `fork`. Of a model: its `Run` if `steps` are given,
        otherwise a `RecordedModel`, which the caller steps.

    Raises BadInput for what is no environment or model, one whose seed would reach nothing, a
    parameter that cannot be recorded, and a path that cannot be used; whatever the code that makes
    it, and the model, raises: what is no exception, `sys.exit()` above all, as RulesFailed.
    """
    env, make, parameters = _made_and_maker(target, parameters)
    asked = {"ignore": ignore, "report": report, "seed_parameter": seed_parameter}
    about, _ = asked_in(asked, None)
    about = attrs.evolve(about, values=values, every=every)
    with exits_told(format_value(target) if make is None else name_of(make)):
        config = config_for(seed, steps, parameters)
        subject = subject_made(make, env, seed, parameters, about)
        maker = None if make is None else SubjectMaker(make)
        recording = SubjectRecorder[Any].new(
            subject, subject.about, config, maker, journal, force=force
        )
        if isinstance(subject, ModelSubject):
            return _model(recording, steps)
        return _wrapper(subject.kind)(recording)


def _model(recording: SubjectRecorder[ModelSubject], steps: int) -> RecordedModel[Stepped] | Run:
    """A recorded model before its first step, or its run, if it has so many steps at once."""
    settings = recording.state.config
    given: Encoded = (DICT, tuple(settings.parameters.items()))
    recording.do((RESET, [(recording.subject.seed_of(settings.seed), False, given)]))
    model: RecordedModel[Stepped] = RecordedModel(recording)
    return model.run_to_end() if steps else model


def _made_and_maker(
    target: object, parameters: dict[str, object]
) -> tuple[object, Callable[..., object] | None, dict[str, object]]:
    """The environment, if the target is one that is made already; what makes it, if that is known;
    and the parameters of what makes it.
    """
    if is_environment(target):
        if parameters:
            raise BadInput(
                f"{next(iter(parameters))} is given for an environment that is made already",
                "give the callable that makes it",
            )
        return target, *(registered(target) or (None, {}))
    make = resolve(target).value if isinstance(target, str) else target
    if not callable(make):
        raise BadInput(
            f"{format_value(target)} is no environment",
            "give one of Gymnasium or PettingZoo, a callable that makes one, or a model's class",
        )
    return None, make, parameters


def _wrapper(kind: str) -> Callable[[SubjectRecorder[Environment]], RecordedEnv]:
    """The class that wraps environments of a kind, as their library has wrappers."""
    if kind in (PARALLEL, AEC):
        from goldrush.replay.worlds.episode import pettingzoo_env

        return pettingzoo_env.RecordedInTurns if kind == AEC else pettingzoo_env.RecordedParallel
    from goldrush.replay.worlds.episode import gymnasium_env

    return gymnasium_env.RecordedVector if kind == VECTOR else gymnasium_env.RecordedGymnasium
