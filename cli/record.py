"""`goldrush record` and `goldrush resume`: runs recorded in journals."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from goldrush.agents import given
from goldrush.cli.codes import DIFFERS, DONE, INTERRUPTED, TROUBLE
from goldrush.cli.command import command, option
from goldrush.cli.models import (
    ReachOptions,
    models_of,
)
from goldrush.cli.options import (
    ChosenWorld,
    DryRun,
    Force,
    Journal,
    NewJournal,
    PlayingOptions,
    RecordingOptions,
    Seed,
    Settings,
    SubjectOptions,
    Test,
    TestJobs,
    Treatment,
    allow_own_policies,
    echo_traceback,
    roster_option,
)
from goldrush.cli.progress import progress
from goldrush.cli.text import echo, echo_error, echo_json, echo_text, program
from goldrush.kernel.text import quoted, quoted_path

if TYPE_CHECKING:
    from goldrush.agents.players import Resources
    from goldrush.replay.arguments import OnStep
    from goldrush.replay.estimate import Estimate
    from goldrush.replay.tools import Tools

S = TypeVar("S")  # the state of a world

Again = Sequence[tuple[str, str]]  # options that `resume` needs, by name
JOURNALS = Path("journals")  # where runs land by default
_VERIFY_TAKES = ("--world", "--env", "--trust", "--source", "--test")


@command()
def record(
    *,
    chosen_world: ChosenWorld,
    out: NewJournal,
    seed: Seed,
    rounds: int | None = option(
        "--rounds", "N",
        "Number of rounds, or other units of the world (default: see `goldrush settings`); also "
        "--set with its name there: hours=5.",
    ),
    agents: int | None = option("--agents", "N", "Number of agents (default: as the roster says)."),
    roster: str | None = roster_option(
        "Policies: greedy-mine for all agents, or greedy-mine*8,raid*2; several names without "
        "numbers are an agent each, or are repeated up to --agents (default: a mix). "
        "NAME=POLICY,... in a world that casts its agents."
    ),
    treatment: Treatment,
    settings: Settings,
    subject: SubjectOptions,
    test: Test,
    jobs: TestJobs,
    reach: ReachOptions,
    check: bool = option(
        "--check", help="Games: look for mistakes in every round, not only in the first ones."
    ),
    dry_run: DryRun,
    force: Force,
    recording: RecordingOptions,
) -> int:  # fmt: skip
    """Record a run in a journal.

    Plays a run of WORLD: mining by default, another one by name, or a game in a file of your own
    (game.py). Appends each round to the journal when it closes. `goldrush resume` continues a run
    that stops early.

    Language models (llm:NAME in --roster) are asked over the OpenAI protocol. API keys are read
    from the environment: OPENAI_API_KEY, or the variable that the --models file names.

    \b
    Examples:
      goldrush record --seed 7 --out run.journal
      goldrush record --roster 'greedy-mine*8,raid*2' --treatment scarce --out other.journal
      goldrush record competition --set arena=nk --rounds 8 --out s.journal
    """
    from msgspec.structs import replace

    from goldrush.agents.players import Resources
    from goldrush.cli.people import people_for
    from goldrush.kernel.treatments import treatment_in_file
    from goldrush.replay.find import is_built_in, players_of, tools_for
    from goldrush.replay.run import Run

    world = chosen_world.name
    tools = tools_for(world)
    who = players_of(tools)
    subject.check(tools.config)
    given = {"seed": seed, who.horizon: rounds, "agents": agents, **subject.chosen()}
    chosen = settings_of(settings, given)
    names = who.policy_set.names_in(roster) if roster else []
    own = allow_own_policies([], names)
    # To import what reaches models takes longer than a short run without them.
    asks = any(option is not None for option in reach) or {*names} - {*who.policies}
    models = models_of(reach) if asks or not is_built_in(world) else None
    planned = Run.plan(
        Resources(jobs or 1, test, models=models),
        world=world, roster=roster, treatment=treatment, check=check, given=chosen,
    )  # fmt: skip
    if dry_run:
        return estimated(planned.estimate(), reach, recording.as_json)
    again = how_again(planned.resources, reach, own, planned.prepared.roster.sources)
    stem = [world]
    if treatment is not None:
        in_file = treatment_in_file(treatment, tools.config)
        stem += [treatment if in_file is None else in_file.name]
    config = planned.prepared.facts.get("config", {})
    stem += [f"seed{config['seed']}"] if "seed" in config else []
    target = new_journal(out, "-".join(stem))
    resources = replace(planned.resources, people=people_for(target, serve=recording.serve))
    planned = replace(planned, resources=resources)
    play = partial(planned.record, target, force=force, fsync=recording.fsync)
    return carried_out(target, play, tools, recording, again)


@command()
def resume(
    journal: Journal,
    playing: PlayingOptions,
    jobs: TestJobs,
    reach: ReachOptions,
    recording: RecordingOptions,
) -> int:
    """Continue a run that was interrupted.

    Continues after the last whole commit. Answers of language models that the journal already holds
    are not asked for again.

    \b
    Examples:
      goldrush resume unfinished.journal
      goldrush resume own.journal --trust my_policies:Hawk
    """
    from goldrush.cli.people import people_for
    from goldrush.replay.run import Run

    allow_own_policies(playing.trust)
    people = people_for(journal, serve=recording.serve, goes_on=True)
    resources = playing.resources(jobs, people, models_of(reach))
    run = Run(journal, resources)
    play = partial(run.resume, fsync=recording.fsync)
    again = how_again(resources, reach)
    return carried_out(journal, play, run.tools, recording, again, began=True)


def how_again(
    resources: Resources,
    reach: ReachOptions,
    own: Sequence[str] = (),
    sources: Sequence[str] = (),
) -> Again:
    """The options that `resume` needs to continue a run, by name: those for the file of a game, for
    policies, models, limits and tests. `own`, `sources`: the policies of the user's own and the
    journals that the roster names.
    """
    options = given.options()
    options += [("--trust", name) for name in (*resources.trust, *own)]
    options += [("--source", path) for path in (*resources.sources, *sources)]
    options += given_of(reach)
    options += [("--test", resources.program)] if resources.program else []
    return list(dict.fromkeys(options))


def given_of(options: NamedTuple) -> Again:
    """Those of a group of options that were given, by name; a switch has an empty value."""
    found: list[tuple[str, str]] = []
    for name, value in options._asdict().items():
        each = value if isinstance(value, tuple) else () if value is None else (value,)
        found += [(f"--{name.replace('_', '-')}", "" if v is True else str(v)) for v in each]
    return found


def typed_again(again: Again, reached: str) -> str:
    """Options as they are typed, with MORE for the ceiling that was reached."""
    is_ceiling = reached in ("--max-requests", "--max-tokens", "--max-cost", "--fail-over")
    more = {reached: "MORE"} if is_ceiling else {}
    options = [(option, more.get(option, value)) for option, value in again]
    return _text_of(options, [option for option, _ in options])


def carried_out(
    out: str,
    play: Callable[..., object],
    tools: Tools,
    recording: RecordingOptions,
    again: Again,
    *,
    began: bool = False,
    parent: str | None = None,
) -> int:
    """Play a run with a progress bar, and print its summary, or how it ended early.

    Args:
        play: plays the run, and calls its argument `on_unit` after each unit.
        again: the options that `resume` needs to continue the run.
        parent: the journal that the run is forked off.

    Returns the exit code.
    """
    from goldrush.agents.players import is_of_world
    from goldrush.kernel.errors import (
        BadInput,
        CommitTooLarge,
        JournalLost,
        PolicyFailed,
        RunStopped,
        WriteFailed,
    )
    from goldrush.replay.journal.outline import outline_of
    from goldrush.replay.journal.source import records_source

    before = _stamp(out)
    again = [*again, ("--serve", "")] if recording.serve else again

    def kept(error: Exception | None = None) -> str:
        if isinstance(error, JournalLost):
            return "what was recorded is lost with it"
        if isinstance(error, CommitTooLarge):
            return "record a run with fewer agents or with less to submit (stamina, texts)"
        if not began and _stamp(out) == before:
            return "nothing was recorded"
        if isinstance(error, (BadInput, PolicyFailed)) and is_of_world(error, tools.players):
            if not began and not os.path.exists(out):
                return "nothing was recorded"
            if records_source(out):
                return _mend(out, again, is_new=not began and parent is None)
        return _kept(out, again, error.option if isinstance(error, RunStopped) else "")

    try:
        # The output of policies is not part of the summary.
        with progress() as step, redirect_stdout(sys.stderr):
            play(on_unit=partial(_progress, step, tools))
    except (KeyboardInterrupt, click.Abort):  # click's: while a person was asked
        echo_error(f"stopped: {kept()}")
        return INTERRUPTED
    except (PolicyFailed, RunStopped, WriteFailed) as error:
        if isinstance(error, PolicyFailed):
            echo_traceback(error.trace)
        echo_error(f"goldrush: {error}; {kept(error)}")
        return DIFFERS if isinstance(error, RunStopped) else TROUBLE
    except BadInput as error:  # a mistake in the rules, above all
        is_played = _stamp(out) != before
        if not is_played and (not began or outline_of(out).finished or not records_source(out)):
            raise
        echo_error(f"goldrush: {error}; {kept(error)}")
        return TROUBLE
    except BrokenPipeError:  # stderr, where it tells what it meets: not the end of the run
        return TROUBLE
    _tell(out, tools, recording.as_json, again, parent)
    return DONE


def _progress(step: OnStep, tools: Tools, unit: int, state: Any) -> None:
    from goldrush.replay.unit import length_of

    length = length_of(tools, state)
    if length is not None:
        step(tools.vocabulary.unit, tools.vocabulary.number(unit), length)


def _tell(path: str, tools: Tools, as_json: bool, again: Again, parent: str | None) -> None:
    """Print the summary of a run that has ended, and commands for its journal; `again` and `parent`
    as for `carried_out`.
    """
    import msgspec

    from goldrush.agents.llm.failures import format_failures
    from goldrush.agents.trust import HUMAN, LLM
    from goldrush.replay.journal.outline import outline_of
    from goldrush.replay.summary import summarise

    summary = summarise(path)
    info = outline_of(path)
    declared, vocabulary = info.declared, info.vocabulary
    ever = [player for _, players, _ in declared.in_force for player in players]
    taken = None
    if ("--serve", "") in again and not _any_is(HUMAN, ever):
        echo_error("goldrush: --serve served nobody: give `human` in --roster")
    if _any_is(LLM, ever):
        from goldrush.replay.journal.usage import usage

        taken = usage(path)
    failures = taken.failures if taken else []
    if as_json:
        models = {
            "failures": [msgspec.structs.asdict(each) for each in failures],
            "models": taken and msgspec.structs.asdict(taken.total),
        }
        echo_json({**summary.as_dict(), **(models if tools.players.answers else {})})
        return
    # A summary would tell a person in the world's words what its wording calls otherwise.
    shown = "" if _any_is(HUMAN, declared.players, "wording") else str(summary)
    asked = [f"\n{taken.total}"] if taken else []
    shown = "\n".join([shown, *asked, *format_failures(failures)]).strip("\n")
    name, size = quoted_path(path), os.stat(path).st_size
    of = _text_of(again, _VERIFY_TAKES[:2])  # the code of the world
    shows = [f"replay {name} --at {vocabulary.number(info.closed)}{of}", f"view {name}{of}"]
    commands = [
        *([] if parent is None else [f"diff {quoted_path(parent)} {name}{of}"]),
        *(shows if info.closed else []),  # without a unit there is nothing to show
        f"verify {name}{_text_of(again, _VERIFY_TAKES)}",
    ]
    if shown:
        echo_text(f"{shown}\n")
    click.echo(f"journal: {name} ({size:,} bytes)")
    click.echo("next:    " + "\n         ".join(f"{program()} {line}" for line in commands))


def _text_of(again: Again, names: Sequence[str]) -> str:
    """The options of these names, as text; a switch has no value."""
    return "".join(
        f" {option} {quoted(value)}" if value else f" {option}"
        for option, value in again
        if option in names
    )


def _any_is(policy: str, players: Iterable[object], *options: str) -> bool:
    """Whether one of these players is of a policy, and has these options."""
    return any(
        isinstance(player, Mapping)
        and player.get("policy") == policy
        and all(option in player.get("options", ()) for option in options)
        for player in players
    )


def _stamp(path: str) -> tuple[int, int, int] | None:
    """Inode, size and time of change of the file at a path; None if there is none."""
    try:
        file = os.stat(path)
    except OSError:
        return None
    return file.st_ino, file.st_size, file.st_mtime_ns


def _kept(out: str, again: Again, reached: str) -> str:
    """What the journal of a run that stopped early holds, and the command that continues it.
    `reached`: the option whose limit stopped the run; empty if none did.
    """
    from goldrush.kernel.errors import GoldrushError
    from goldrush.replay.journal.outline import held

    path = quoted_path(out)
    goes_on = f"go on with `{program()} resume {path}{typed_again(again, reached)}`"
    try:
        holds = held(out)
    except GoldrushError:  # a torn tail, where the system did not let it be taken back
        return goes_on
    return f"{path} holds {holds}; {goes_on}"


def _mend(out: str, again: Again, *, is_new: bool) -> str:
    """What the journal of a run whose recorded source has failed holds, and how it goes on with
    mended code, with which no run can be resumed. `is_new`: it can be recorded again.
    """
    from goldrush.replay.journal.outline import held, outline_of

    path, info = quoted_path(out), outline_of(out)
    ways = ["record again with --force"] if is_new else []
    if info.closed:
        last = info.vocabulary.number(info.closed)
        fork = f"`{program()} fork {path} --at {last}{_text_of(again, _VERIFY_TAKES[:2])}`"
        ways.append(f"keep {'them' if is_new else 'these'} by {fork}")
    return f"{path} holds {held(out)}; mend it and {', or '.join(ways)}"


def estimated(estimates: Sequence[Estimate], reach: ReachOptions, as_json: bool) -> int:
    """Print how many questions and tokens a run or a study would take, and their cost, beside the
    ceilings.
    """
    from msgspec.structs import asdict

    from goldrush.replay.estimate import format_estimates

    text = format_estimates(estimates)
    for name in ("max_tokens", "max_cost", "max_requests") if estimates else ():
        if (most := getattr(reach, name)) is not None:
            text += f"\nceiling: --{name.replace('_', '-')} {most:,}"
    echo(as_json, lambda: [*map(asdict, estimates)], lambda: text)
    return DONE


def settings_of(pairs: tuple[str, ...], named: Mapping[str, object]) -> dict[str, Any]:
    """Settings by name: those of --set, and `named`: options of their own, None if not given."""
    from goldrush.kernel.errors import BadInput
    from goldrush.kernel.settings import parsed_value, separated

    chosen = {name: value for name, value in named.items() if value is not None}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise BadInput(f"--set {pair} has no value", "write --set NAME=VALUE")
        several = separated(text, " --set ")
        if several is not None:
            raise BadInput(f"--set {pair} has several settings", f"write --set {name}={several}")
        if name in chosen:
            raise BadInput(f"{name} is set twice", "set it once")
        chosen[name] = parsed_value(text)
    return chosen


def new_journal(out: str | None, stem: str) -> str:
    """The path of a journal to record: `out`, else a free one of this stem in journals/.

    Raises BadInput if that folder cannot be made.
    """
    from goldrush.kernel.errors import BadInput
    from goldrush.replay.folders import make_folder

    if out is not None:
        return out
    try:
        make_folder(str(JOURNALS))
    except OSError as error:
        raise BadInput(f"cannot make {JOURNALS}/: {error.strerror}", "give --out") from None
    path, number = JOURNALS / f"{stem}.journal", 1
    while path.exists():
        number += 1
        path = JOURNALS / f"{stem}-{number}.journal"
    return str(path)
