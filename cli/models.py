"""Options of commands that ask language models; what models were asked, and answered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import click

from goldrush.cli.codes import DIFFERS, DONE
from goldrush.cli.command import command, option
from goldrush.cli.options import FILE, Journal, Json, NumberRange, Test, at_option
from goldrush.cli.text import cut, echo, echo_error, echo_exact, echo_json, shown
from goldrush.kernel.text import escaped
from goldrush.replay.text import TABLE_DIGITS, csv_of_records, format_number, format_table

if TYPE_CHECKING:
    from goldrush.agents.llm.models import Models
    from goldrush.replay.asked.file import AskedFile
    from goldrush.replay.tools import RebuiltPrompt

ANSWER_MAX = 65_536  # characters of a text that are shown, as many as goldrush records
FACT_MAX = 200  # characters of a fact about an answer

MODELS_FILE: Final = option(
    "--models", "FILE", "TOML file of language models and their prices.", type=FILE
)
MAX_TOKENS: Final = option(
    "--max-tokens", "N", "Stop when the answers together have taken, or may take, N tokens.",
    type=click.IntRange(0),
)  # fmt: skip
MAX_COST: Final = option(
    "--max-cost", "COST", "Stop when they have cost this, by the prices in --models.",
    type=NumberRange(0),
)  # fmt: skip
ModelsFile = Annotated[str | None, MODELS_FILE]


class ReachOptions(NamedTuple):
    """How language models are reached, and when a run stops."""

    models: str | None = MODELS_FILE
    base_url: str | None = option("--base-url", "URL", "Server of the models (default: OpenAI's).")
    concurrency: int | None = option("--concurrency", "N", "Questions asked at once (default: 16).")
    patience: float | None = option(
        "--patience", "MINUTES",
        "Wait so long for a server that is down or refuses all questions, then stop; `resume` "
        "goes on (default: 10).",
    )  # fmt: skip
    record_failures: bool | None = option(
        "--record-failures", default=None,
        help="Do not wait for such a server: record its answers as missing.",
    )  # fmt: skip
    fail_over: str | None = option(
        "--fail-over", "PERCENT%",
        "Stop if more than this share of a model's answers fails, such as 20%; judged from "
        "its 21st answer on.",
    )  # fmt: skip
    max_tokens: int | None = MAX_TOKENS
    max_cost: float | None = MAX_COST
    max_requests: int | None = option(
        "--max-requests", "N", "Stop before more than N requests are sent, tries included.",
        type=click.IntRange(0),
    )  # fmt: skip


def models_of(reach: ReachOptions) -> Models:
    """The models that these options describe. Raises BadInput."""
    from goldrush.agents.llm.models import Models, read_models

    options = {**reach._asdict(), "fail_over": _percent(reach.fail_over)}
    path = options.pop("models")
    return Models(
        by_name=read_models(path) if path else {},
        warn=_tell,
        **{name: value for name, value in options.items() if value is not None},
    )


def _percent(text: str | None) -> float | None:
    """`20%` as a share, 0.2. Raises BadInput for any other form."""
    from goldrush.kernel.errors import BadInput, format_value

    if text is None:
        return None
    if re.fullmatch(r"\d{1,3}(\.\d{1,9})?%", text, re.ASCII) is None or float(text[:-1]) > 100:
        raise BadInput(f"--fail-over is {format_value(text)}", "write a percentage up to 100%: 20%")
    return float(f"{text[:-1]}e-2")  # rounded once, so that 39.9% is 399 of 1,000


def _tell(line: str) -> None:  # by its name, for models go to workers
    echo_error(f"goldrush: {line}")


@command()
def prompt(
    *,
    journal: Journal,
    at: int | None = at_option("Round, or other unit, that is asked for."),
    agent: str | None = option(
        "--agent", "AGENT", "Agent, by number or name; of a program, a caller."
    ),
    answer: bool = option(
        "--answer", help="Show what was answered, too: reasoning, text, tokens, how it ended."
    ),
    test: Test,
    as_json: Json,
) -> int:
    """Show what an agent was asked, and what it answered.

    --answer adds what the agent answered. Of an agent that no model plays, the prompt is what a
    model would be sent. Of a program, give an exchange (--at), or a caller (--agent) for all that
    it asked. Exit code: 1 if the journal records the digest of another prompt.

    \b
    Examples:
      goldrush prompt run.journal --at 3 --agent 0
      goldrush prompt run.journal --at 3 --agent 0 --answer
    """
    from goldrush.agents.players import Resources
    from goldrush.kernel.errors import BadInput
    from goldrush.replay.journal.rebuild import world_at
    from goldrush.replay.journal.story import agent_of, names_of
    from goldrush.replay.run import Run

    run = Run(journal, Resources(program=test))
    found = run.prompts(at, agent)
    versions = next((each.versions for each in found if each.question is None), None)
    if versions is not None and not answer:
        raise BadInput(f"agent {agent} was {versions}", "see what it answered by --answer")
    is_named = agent is None or any(each.who for each in found)  # a program's caller
    who = agent if is_named else agent_of(journal, str(agent))
    if as_json:
        questions = [each.as_dict() for each in found]
        value = {run.tools.vocabulary.unit: at, "agent": who, "questions": questions}
        answers = [_answer_as_dict(each) for each in found]
        echo_json({**value, "answers": answers} if answer else value)
    unit = world_at(journal).vocabulary.unit
    if not found:
        name = names_of(journal).get(agent_of(journal, str(agent)), f"agent {who}")
        echo_error(f"{name} was not asked in {unit} {at}")
    code = DONE
    for each in found:
        place = each.who or f"agent {agent}, {unit} {at}"
        code = max(code, _show(each, place, silent=as_json))
        if answer and not as_json:
            _show_answer(each)
    return code


def _answer_as_dict(prompt: RebuiltPrompt) -> dict[str, object] | None:
    """What was answered: its reasoning, the text, and the facts of it, in this order."""
    answer = prompt.answer
    if answer is None:
        return None
    facts = {**answer.source(prompt.question)}
    for name in ("raw", "prompt", "reasoning"):
        facts.pop(name, None)
    named = {} if answer.player is None else {"name": answer.player}
    head = {"reasoning": answer.reasoning, "text": answer.text, "error": answer.error}
    return {**head, **named, **facts}


def _show_answer(prompt: RebuiltPrompt) -> None:
    """Print an answer, escaped: an echo to a pipe drops the escape sequences of a terminal."""
    facts = _answer_as_dict(prompt)
    if facts is None:
        echo_error("no answer of a model or a person is recorded")
        return
    for name, role in (("reasoning", "reasoning"), ("text", "answer")):
        text = facts.pop(name)
        if isinstance(text, str):
            left = len(text) - ANSWER_MAX
            more = f"\n({left:,} more characters; see `goldrush export`)" if left > 0 else ""
            body = escaped(text[:ANSWER_MAX], "\n\t")
            click.echo(f"--- {role} ---\n{body}{more}")
    click.echo("--- about the answer ---")
    for name, value in facts.items():
        if value is not None:
            click.echo(f"{name}: {escaped(str(value)[:FACT_MAX])}")


def _show(prompt: RebuiltPrompt, who: str, *, silent: bool) -> int:
    """Print one prompt; return DIFFERS if the journal has the digest of another one."""
    question = prompt.question
    if question is None:
        echo_error(f"{who}: {prompt.versions}")
        return DONE
    for message in () if silent else question.messages:
        click.echo(f"--- {message['role']} ---\n{shown(message['content'])}")
    identity = f"{who}, sha256 {question.digest}"
    if prompt.recorded is not None and prompt.recorded != question.digest:
        echo_error(f"goldrush: {identity}; but the journal has {prompt.recorded}")
        return DIFFERS
    if not silent:
        sent = "was sent" if prompt.recorded else "would be sent"
        what = "" if prompt.is_model else " (not a language model)"
        echo_error(f"{sent}: {identity}{what}")
    return DONE


PRINTED = ("decisions", "differences", "variance", "codes")
TOLD = ("round", "agent", "sample", "error", "text")
SHOWN_MAX = 40  # rows of a table, and characters of a cell


def show_asked(
    files: Sequence[AskedFile], as_json: bool, table: str | None = None, codes: str | None = None
) -> int:
    """Print the tables of files of `reask` and `interview`; `table`: one, as CSV; `codes`: a CSV
    file in which a person has coded the table of answers.
    """
    from goldrush.kernel.errors import unknown
    from goldrush.kernel.files import read_input
    from goldrush.replay.asked.file import SIZE_MAX
    from goldrush.replay.asked.tables import codes_in, tables

    by_hand = "" if codes is None else read_input(codes, SIZE_MAX, "give a table of answers")
    found = tables(files, codes_in(by_hand))
    if table is not None:
        if table not in found:
            raise unknown("table", table, found)
        echo_exact([csv_of_records(found[table])])
        return DONE
    rows = {name: found[name] for name in PRINTED if found[name]}
    rows = rows or {"answers": [{n: row[n] for n in TOLD} for row in found["answers"]]}
    told = [f"{name}:\n{_format(each)}" for name, each in rows.items() if each]
    if not found["variance"]:
        told += ["Nothing is compared: no decision was answered by each model with each wording."]
    echo(as_json, lambda: found, lambda: "\n\n".join(told))
    return DONE


def _format(rows: Sequence[dict[str, object]]) -> str:
    cells = [[*rows[0]], *(map(_cell, row.values()) for row in rows)]
    return format_table([[*each] for each in cells], most=SHOWN_MAX)


def _cell(value: object) -> str:
    if isinstance(value, float) or value is None:
        return format_number(value, TABLE_DIGITS)
    return cut(str(value), SHOWN_MAX)
