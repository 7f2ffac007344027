"""`goldrush repeats`: whether a model, an environment or a world repeats from its seed."""

from __future__ import annotations

import click

from goldrush.cli.codes import DIFFERS, DONE
from goldrush.cli.command import argument, command, option
from goldrush.cli.options import NO_CAUSES, SEED_PARAMETER, Json, NumberRange
from goldrush.cli.progress import progress
from goldrush.cli.record import settings_of
from goldrush.cli.text import echo
from goldrush.replay.repeats.trace import SECONDS, SECONDS_MAX, STEPS_MAX


@command()
def repeats(
    *,
    target: str = argument(),
    seed: int = option("--seed", "N", "Its seed, and that of the actions (default: 1).", default=1),
    steps: int | None = option(
        "--steps", "N", "Number of steps (default: 100; of a world: its own).",
        type=click.IntRange(1, STEPS_MAX),
    ),
    settings: tuple[str, ...] = option(
        "--set", "NAME=VALUE", "Another parameter of the target; repeatable."
    ),
    ignore: tuple[str, ...] = option(
        "--ignore", "PATH",
        "Values that are not compared, by their path in a verdict; [*] is any key; repeatable.",
    ),
    seed_parameter: str | None = SEED_PARAMETER,
    timeout: float = option(
        "--timeout", "SECONDS", f"Time for each run (default: {SECONDS:g}).",
        type=NumberRange(0.1, SECONDS_MAX), default=SECONDS,
    ),
    network: bool = option("--network", help="Let it connect to other machines."),
    no_causes: bool = NO_CAUSES,
    as_json: Json,
) -> int:  # fmt: skip
    """Check that a model or environment repeats from its seed.

    Runs TARGET four times, in fresh processes, under three hash seeds and two orders of sets, and
    compares all values of every step. If they agree, five more runs follow under other hash seeds,
    as far as a minute allows. TARGET is package.module:NAME, FILE.py:NAME, an
    id of Gymnasium, a world or the file of a game. NAME is the class of a model (an object with
    step(), as in Mesa), a function of a seed, or what makes an environment (Gymnasium, PettingZoo);
    it runs with your rights. What does not repeat is run again until the lines that cause it are
    known: at most 8 times for the values that differ, and 200 for the causes. It may connect to
    this machine alone, but for --network.

    Of a recorded program: goldrush repeats --journal run.journal -- python sim.py

    Exit code: 0 if it repeats, 1 if not, 2 if that cannot be judged.

    \b
    Examples:
      goldrush repeats model.py:Model --steps 50 --set agents=20
      goldrush repeats CartPole-v1 --ignore 'info[time]'
      goldrush repeats mining --set rounds=20
    """
    from goldrush.replay.repeats.judge import repeats as judged

    with progress() as step:
        verdict = judged(
            target, seed=seed, steps=steps, settings=settings_of(settings, {}), timeout=timeout,
            causes=not no_causes, ignore=ignore, network=network, on_step=step,
            seed_parameter="" if seed_parameter == "none" else seed_parameter,
        )  # fmt: skip
    echo(as_json, verdict.as_dict, lambda: str(verdict))
    return DONE if verdict.repeats else DIFFERS
