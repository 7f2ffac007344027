"""`goldrush record` and `goldrush resume`: play a run into a journal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import click

from cli.codes import DIFFERS, DONE, INTERRUPTED, TROUBLE
from cli.models import check_model, model_options, models_file, models_of, reach_options
from cli.paths import Output
from cli.progress import progress
from cli.text import echo_json, printable, program, table
from kernel.text import quoted, quoted_path

OnRound = Callable[[int, Any], None]

JOURNALS = Path("journals")  # where runs land by default

# Who plays on, by the name of the world: modules with `resume`, as `agents.mining` has it.
RESUMED_BY: Final[Mapping[str, str]] = {
    "mining": "agents.mining",
    "competition": "cli.record_season",
}
# What is said of a run that is played: modules with `progress(unit, state)`, what is under way, how
# much of it is done and of how much; `summarise(path)`, a summary with `as_dict()`; and
# `told(summary)`.
TOLD_BY: Final[Mapping[str, str]] = {
    "mining": "cli.record_mining",
    "competition": "cli.record_season",
}


@click.command()
@click.option("--out", type=Output(), help="The journal to write (default: in journals/).")
@click.option("--seed", type=int, help="The seed of all draws (default 0).")
@click.option("--rounds", type=int, help="How many rounds to play (default 200).")
@click.option("--agents", type=int, help="How many agents play (default: as the roster has).")
@click.option("--roster", help="Who plays: greedy-mine, or greedy-mine*8,raid*2 (default: a mix).")
@click.option("--treatment", default="baseline", help="A named configuration; see treatments.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="One setting by name.")
@model_options
@click.option("--dry-run", is_flag=True, help="Only estimate what language models would take.")
@click.option("--force", is_flag=True, help="Replace an existing journal once the run begins.")
@click.option("--fsync", is_flag=True, help="Wait for the disk after every round.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def record(
    out: str | None,
    seed: int | None,
    rounds: int | None,
    agents: int | None,
    roster: str | None,
    treatment: str,
    settings: tuple[str, ...],
    dry_run: bool,
    force: bool,
    fsync: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Play a mining run and record it in a journal.

    Language models (llm:NAME in a roster) are asked over the OpenAI protocol; keys come from the
    environment (OPENAI_API_KEY, or what the file of models names).

    \b
    Example: goldrush record --seed 7 --roster greedy-mine*8,raid*2 --out run.journal
    """
    from agents import mining
    from agents.roster import names_in

    named = {"seed": seed, "rounds": rounds, "agents": agents}
    chosen = settings_of(settings, {k: v for k, v in named.items() if v is not None})
    own = allow_own_policies([], names_in(roster) if roster else [])
    models = models_of(**options)
    check_model(options["model"], roster)
    config, players = mining.prepare(chosen, roster, treatment, models)
    if dry_run:
        return _estimated(config, players, models, as_json)
    from cli import record_mining

    if out is None:
        out = free_path(f"mining-{treatment}-seed{config.seed}")
    return carried_out(
        out,
        lambda on_round: mining.play(
            out, config, players, models=models, force=force, fsync=fsync, on_round=on_round
        ),
        as_json,
        again=how_again(own, [recording.path for recording in players.recordings], options),
        told_by=record_mining,
    )


@click.command()
@click.argument("journal", type=click.Path())
@click.option("--trust", multiple=True, metavar="MODULE:CLASS", help="Let your own policy play on.")
@click.option(
    "--source",
    "sources",
    multiple=True,
    type=click.Path(),
    help="Journal whose submissions the `recorded` policy replays.",
)
@models_file
@reach_options
@click.option("--fsync", is_flag=True, help="Wait for the disk after every round.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def resume(
    journal: str,
    trust: tuple[str, ...],
    sources: tuple[str, ...],
    fsync: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Go on with a run that was interrupted, from its last whole commit.

    Language models whose answers are in the journal already are not asked again.

    \b
    Example: goldrush resume run.journal
    """
    from replay.by_world import module_for

    allow_own_policies(trust)
    models = models_of(**options)
    players = module_for(journal, RESUMED_BY, "resume")
    return carried_out(
        journal,
        lambda on_round: players.resume(
            journal, models=models, trust=trust, sources=sources, fsync=fsync, on_round=on_round
        ),
        as_json,
        again=how_again(trust, sources, options),
        told_by=module_for(journal, TOLD_BY, "resume"),
        began=True,
    )


def how_again(
    trust: Sequence[str], sources: Sequence[str], models: Mapping[str, Any] | None = None
) -> list[tuple[str, str]]:
    """The options with which a run goes on: who is trusted, what recorded agents play, how models
    are reached and within which limits.
    """
    options = [("--trust", name) for name in trust] + [("--source", path) for path in sources]
    names = (
        "models_path", "base_url", "concurrency", "patience", "fail_over", "max_tokens", "max_cost",
    )  # fmt: skip
    for name in names if models else ():
        if models and models[name] is not None:
            option = "--models" if name == "models_path" else f"--{name.replace('_', '-')}"
            options.append((option, str(models[name])))
    return list(dict.fromkeys(options))


def carried_out(
    out: str,
    play: Callable[[OnRound | None], object],
    as_json: bool,
    *,
    again: Sequence[tuple[str, str]],
    told_by: ModuleType,
    began: bool = False,
) -> int:
    """Play, with progress; then say what happened, however it ended.

    `again`: the options with which `resume` goes on. `told_by`: the module of TOLD_BY for the run's
    world. `began`: the journal is there already.
    """
    from kernel.errors import JournalLost, PolicyFailed, RunStopped, WriteFailed

    before = _stamp(out)

    def kept(error: Exception | None = None) -> str:
        if isinstance(error, JournalLost):
            return "what was recorded is lost with it"
        if not began and _stamp(out) == before:
            return "nothing was recorded"
        return _kept(out, again, error.option if isinstance(error, RunStopped) else "")

    try:
        # What a policy prints is not part of the summary.
        with progress() as step, redirect_stdout(sys.stderr):
            play(lambda unit, state: step(*told_by.progress(unit, state)))
    except KeyboardInterrupt:
        click.echo(f"stopped: {kept()}", err=True)
        return INTERRUPTED
    except (PolicyFailed, RunStopped, WriteFailed) as error:
        click.echo(f"goldrush: {printable(str(error))}; {kept(error)}", err=True)
        return TROUBLE if isinstance(error, WriteFailed) else DIFFERS
    summary = told_by.summarise(out)
    if as_json:
        echo_json(summary.as_dict())
    else:
        click.echo(told_by.told(summary))
    return DONE


def _stamp(path: str) -> tuple[int, int, int] | None:
    """Which file lies at a path, as far as a change of it can be seen."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _kept(out: str, again: Sequence[tuple[str, str]], reached: str) -> str:
    """What a run that broke off has left behind, and how it goes on; `reached` is the option whose
    limit it has come to, if it has.
    """
    from kernel.errors import GoldrushError

    path = quoted_path(out)
    is_ceiling = reached in ("--max-tokens", "--max-cost", "--fail-over")
    options = [
        f" {option} {'MORE' if is_ceiling and option == reached else quoted(value)}"
        for option, value in again
    ]
    goes_on = f"go on with `{program()} resume {path}{''.join(options)}`"
    try:
        holds = _held(out)
    except GoldrushError:  # a torn tail, where the system did not let it be taken back
        return goes_on
    return f"{path} holds {holds}; {goes_on}"


def _held(path: str) -> str:
    """What a journal holds of a run. Raises what reading it raises."""
    from kernel.journal import UNIT, JournalReader
    from kernel.worlds import world_of

    closed = waiting = 0
    with JournalReader(path) as reader:
        words = world_of(reader).vocabulary
        for commit in reader:
            if commit.digest is not None:
                closed, waiting = commit.unit, 0
            elif commit.kind == UNIT:
                waiting += sum(len(rows) for block in commit.blocks[::2] for _, rows in block)
    holds = f"the start, but no {words.unit} yet"
    if closed:
        holds = f"{words.units} {words.first} to {words.number(closed)}, whole"
    if waiting:
        answers = "1 answer" if waiting == 1 else f"{waiting} answers"
        holds += f", and {answers} of {words.called(closed + 1)}"
    return holds


def _estimated(config: Any, players: Any, models: Any, as_json: bool) -> int:
    """Tell what a run would take."""
    import attrs

    from agents.llm.estimate import estimates

    found = estimates(config, players, models)
    if as_json:
        echo_json([attrs.asdict(one) for one in found])
        return DONE
    if not found:
        click.echo("no language model plays: nothing would be asked")
        return DONE
    head = ("model", "questions", "tokens in, about", "at most", "tokens out, at most", "cost")
    rows: list[Sequence[str]] = [head]
    for one in found:
        cost = "no price given" if one.most_cost is None else f"at most {one.most_cost:,.2f}"
        numbers = (one.questions, one.tokens_in, one.most_in, one.most_out)
        rows.append((printable(one.model), *(f"{number:,}" for number in numbers), cost))
    click.echo(table(rows, numbers=range(1, 6)))
    return DONE


def allow_own_policies(trust: Sequence[str], typed: Iterable[str] = ()) -> list[str]:
    """Let the policies of somebody's own that were named at the keyboard be found in the current
    folder, behind everything that is installed; without one, nothing there is imported.

    `trust`: what --trust was given; `typed`: names of policies in rosters and casts that were
    typed. Returns the names of somebody's own. Raises BadInput for a name in `trust` that is none.
    """
    from agents.trust import is_own, own_among
    from kernel.errors import BadInput

    for name in trust:
        if not is_own(name):
            raise BadInput(f"--trust {name} names no policy of your own", "write module:Class")
    own = own_among([*trust, *typed])
    if own:
        # Our own folder first: an editable installation is asked only after all of the path.
        rooms = str(Path(__file__).resolve().parents[1])
        sys.path += [folder for folder in (rooms, os.getcwd()) if folder not in sys.path]
    return list(own)


def settings_of(pairs: tuple[str, ...], named: dict[str, Any]) -> dict[str, Any]:
    from kernel.errors import BadInput

    chosen = dict(named)
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise BadInput(f"--set {pair} has no value", "write --set name=value")
        if name in chosen:
            raise BadInput(f"{name} is set twice", "set it once")
        try:
            chosen[name] = json.loads(text)
        except (ValueError, RecursionError):
            chosen[name] = text
    return chosen


def free_path(stem: str) -> str:
    from kernel.errors import BadInput
    from kernel.files import make_folder

    try:
        make_folder(str(JOURNALS))
    except OSError as error:
        raise BadInput(f"cannot make {JOURNALS}/: {error.strerror}", "give --out") from None
    path = JOURNALS / f"{stem}.journal"
    number = 1
    while path.exists():
        number += 1
        path = JOURNALS / f"{stem}-{number}.journal"
    return str(path)
