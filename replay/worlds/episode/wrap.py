"""`wrap`: an environment whose calls leave a journal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar, overload

from goldrush.agents.given import loaded
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.worlds.episode.subject import AEC, PARALLEL
from goldrush.replay.worlds.episode.environments import (
    Environment,
    Recorded,
    about_of,
    is_environment,
    registered,
    subject_of_environment,
)
from goldrush.replay.worlds.episode.recorded import RecordedEnv
from goldrush.replay.worlds.episode.recording import (
    EnvironmentMaker,
    Recording,
    Settings,
)

E = TypeVar("E")


@overload
def wrap(
    target: str, journal: str | Path, *, seed: int = 0, steps: int = 0, values: bool = False,
    ignore: str | Sequence[str] = (), force: bool = False, **parameters: object,
) -> RecordedEnv: ...  # fmt: skip


@overload
def wrap(
    target: Callable[..., E], journal: str | Path, *, seed: int = 0, steps: int = 0,
    values: bool = False, ignore: str | Sequence[str] = (), force: bool = False,
    **parameters: object,
) -> E: ...  # fmt: skip


@overload
def wrap(
    target: E, journal: str | Path, *, seed: int = 0, steps: int = 0, values: bool = False,
    ignore: str | Sequence[str] = (), force: bool = False,
) -> E: ...  # fmt: skip


def wrap(
    target: object,
    journal: str | Path,
    *,
    seed: int = 0,
    steps: int = 0,
    values: bool = False,
    ignore: str | Sequence[str] = (),
    force: bool = False,
    **parameters: object,
) -> object:
    """Wrap an environment of Gymnasium or PettingZoo, so that what is done to it leaves a journal.

    >>> import gymnasium
    >>> env = wrap(gymnasium.make, "run.journal", id="CartPole-v1")
    >>> observation, info = env.reset(seed=7)
    >>> observation, reward, terminated, truncated, info = env.step(1)
    >>> env.close()

    Args:
        target: an environment (a vector environment, parallel or AEC), or a callable that makes
            one, also by name: an id of Gymnasium, `module:NAME`, `FILE.py:NAME`. `fork` needs what
            can be made again: a callable, or what Gymnasium has made by an id.
        journal: the path of the journal. It begins with the first reset, and is whole after each
            call.
        seed: of the seeds that resets without a seed get.
        steps: steps and further resets after which the journal ends; 0: when `close` is called.
        values: record observations and infos with their values. Otherwise the journal has a digest
            of each array; numbers and short texts are kept in any case.
        ignore: observations and infos whose name begins so are not recorded: `info[time]`.
        force: replace a journal.
        parameters: of the callable, by name; they are recorded.

    Returns:
        The environment, as a wrapper of its library. It returns what the environment returns. It is
        a `RecordedEnv`, too: it has `run` and `fork`.

    Raises BadInput for what is no environment, a parameter that cannot be recorded, and a path that
    cannot be used.
    """
    env, make = (target, None) if is_environment(target) else (None, target)
    if env is not None:
        if parameters:
            raise BadInput(
                f"{next(iter(parameters))} is given for an environment that is made already",
                "give the callable that makes it",
            )
        make, parameters = registered(env) or (None, {})
    elif isinstance(make, str):
        make = loaded(make)
    if make is not None and not callable(make):
        raise BadInput(
            f"{format_value(target)} is no environment",
            "give one of Gymnasium or PettingZoo, or a callable that makes one",
        )
    settings = Settings(seed, steps, parameters)
    settings.as_config()  # refused before anything is made
    if not isinstance(ignore, Sequence):
        raise BadInput(f"ignore is {format_value(ignore)}", "give a name, or a list of names")
    ignored = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    if env is None and make is not None:
        env = make(**parameters)
    subject = subject_of_environment(env, Recorded(values, ignored))
    about = about_of(subject, make)
    maker = None if make is None else EnvironmentMaker(make)
    recording = Recording.new(subject, about, settings, maker, journal, force=force)
    return _wrapper(subject.kind)(recording)


def _wrapper(kind: str) -> Callable[[Recording[Environment]], RecordedEnv]:
    """The class that wraps environments of a kind, as their library has wrappers."""
    if kind in (PARALLEL, AEC):
        from goldrush.replay.worlds.episode import pettingzoo_env

        return pettingzoo_env.CLASSES[kind]
    from goldrush.replay.worlds.episode import gymnasium_env

    return gymnasium_env.CLASSES[kind]
