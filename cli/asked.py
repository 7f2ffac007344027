"""`goldrush reask` and `goldrush interview`: what models are asked afterwards, and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from goldrush.cli.codes import DIFFERS, INTERRUPTED, TROUBLE
from goldrush.cli.command import argument, command, option
from goldrush.cli.models import ReachOptions, models_of, show_asked
from goldrush.cli.options import (
    Journal,
    Journals,
    Json,
    Output,
    at_option,
    journals_of,
    refuse,
)
from goldrush.cli.text import echo_error

if TYPE_CHECKING:
    from goldrush.agents.llm.afterwards import QuestionAbout
    from goldrush.replay.asked.file import AskedFile


class AskedOf(NamedTuple):
    """Which decisions are asked about, and how."""

    at: int | None = at_option("Round, or other unit, of the decisions.")
    every: int | None = option(
        "--every", "N", "Every N-th round, from the first.", type=click.IntRange(1)
    )
    agents: str | None = option(
        "--agents --agent", "LIST", "Agents, by number or name: 0,3 (default: all models)."
    )
    times: int = option(
        "--times", "N", "How often each (default: 1).", type=click.IntRange(1, 10_000), default=1
    )
    sample: int | None = option(
        "--sample", "N", "First sample, for seeds (default: the one after the run's)."
    )
    model: str | None = option("--model", "NAME", "Model that is asked in place of the agent's.")
    temperature: float | None = option("--temperature", "T", "In place of the model's.")
    out: str | None = option(
        "--out", "FILE", "File of answers (default: NAME.asked.jsonl beside the journal).",
        type=Output(),
    )  # fmt: skip


@command()
def reask(
    *, journals: Journals, asked: AskedOf,
    wording: str | None = option("--wording", "NAME|FILE.toml", "In place of the agent's."),
    reach: ReachOptions, as_json: Json,
) -> int:  # fmt: skip
    """Ask models again for recorded decisions: how much they vary.

    The prompt is the recorded one, but for --wording. Answers are read as moves and recorded in
    NAME.asked.jsonl beside the journal, which stays as it is; `goldrush verify` checks that file,
    `goldrush measure` compares several. The same command continues one that was stopped, and asks
    nothing twice.

    \b
    Examples:
      goldrush reask models.journal --round 9 --agent 0 --times 20
      goldrush reask models.journal --every 5 --times 4 --wording para-1 --out para.asked.jsonl
    """
    return _ask(journals_of(journals), asked, reach, as_json, wording=wording)


@command()
def interview(
    *, journal: Journal, question: str | None = argument("[QUESTION]", required=False),
    asked: AskedOf,
    questions: str | None = option(
        "--questions", "NAME|FILE.toml", "Questionnaire: `awareness`, or a file of your own."
    ),
    reach: ReachOptions, as_json: Json,
) -> int:  # fmt: skip
    """Ask models about recorded decisions.

    Each is asked with its prompt and what it answered in front, and answers as in `goldrush reask`.

    \b
    Examples:
      goldrush interview models.journal --round 9 --agent 0 'Why the raid?' --out why.asked.jsonl
      goldrush interview models.journal --every 9 --questions awareness --out aware.asked.jsonl
    """
    from goldrush.agents.llm.afterwards import QuestionAbout
    from goldrush.replay.asked.asking import questionnaire

    if (question is None) == (questions is None):
        raise click.UsageError("give a question, or --questions")
    about = [QuestionAbout("question", str(question))]
    about = about if questions is None else questionnaire(questions)
    return _ask([journal], asked, reach, as_json, about=about)


def _ask(
    paths: Sequence[str], asked: AskedOf, reach: ReachOptions, as_json: bool,
    about: Sequence[QuestionAbout] = (), wording: str | None = None,
) -> int:  # fmt: skip
    from goldrush.agents.llm.usage import RecordedAnswer
    from goldrush.agents.players import Resources
    from goldrush.kernel.errors import RunStopped, WriteFailed
    from goldrush.replay.asked.asking import AskedRequest, ask
    from goldrush.replay.journal.story import agent_of

    if (asked.at is None) == (asked.every is None):
        raise click.UsageError("give --round N, or --every N")
    if len(paths) > 1:
        refuse({"--out": asked.out}, "each journal has a file of its own")
    resources, paid = Resources(models=models_of(reach)), list[RecordedAnswer]()
    found: list[AskedFile] = []
    how = {**asked._asdict(), "about": about, "wording": wording}
    out = how.pop("out")
    try:
        for path in paths:
            names = None if asked.agents is None else asked.agents.split(",")
            agents = None if names is None else [agent_of(path, name) for name in names]
            request = AskedRequest(**{**how, "agents": agents})
            found.append(ask(path, request, out, resources=resources, earlier=paid))
    except KeyboardInterrupt:
        echo_error(f"stopped: {_KEPT}")
        return INTERRUPTED
    except (RunStopped, WriteFailed) as error:
        echo_error(f"goldrush: {error}; {_KEPT}")
        return DIFFERS if isinstance(error, RunStopped) else TROUBLE
    return show_asked(found, as_json)


_KEPT = "what was answered is kept; the same command asks the rest"
