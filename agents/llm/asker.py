"""Asks the models of a run, unit after unit, within its limits.

A run stops by itself, before it asks, if the questions of a unit could exceed a ceiling of tokens
or cost, or if too many answers of a model failed.

An outage is no behaviour of a model: where no answer arrives because of the network or a server,
the run waits and asks again, and stops before the unit is complete if that lasts. Only the answers
that arrived are recorded. An answer that arrives and cannot be used is recorded as it is.

Before a run begins, a short question to each server decides the form of requests. Servers differ:
whether they enforce a JSON schema on answers, how they name the limit on the length of an answer,
whether they take a seed, and whether their template opens the reasoning of a model. A wrong
address, key or model name is told before anything is written. The result goes into the roster. The
text of that question contradicts its schema: an answer of the schema's form proves that the schema
is enforced, an answer as in the text that it is ignored. A model that thinks first may answer
without text; it is asked once more, with more tokens.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Final, TypeVar

import attrs
import msgspec

from goldrush.agents.llm.budget import Budget
from goldrush.agents.llm.client import Client
from goldrush.agents.llm.failures import (
    CUT,
    FIRST,
    Failures,
    format_kinds,
    merge_failures,
)
from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Endpoint, Models, ServerDown
from goldrush.agents.llm.options import (
    AUTO,
    FIELD,
    FRAMING,
    LIMITS,
    OPEN,
    OPTION,
    RUN,
    SCHEMA,
    TEXT,
)
from goldrush.agents.llm.question import (
    LENGTH,
    Answer,
    Message,
    Question,
    Whole,
    opens_reasoning,
    reasoned,
)
from goldrush.agents.llm.usage import RecordedAnswer
from goldrush.agents.llm.versions import PromptVersion, subject_of
from goldrush.kernel.errors import BadInput, RunStopped
from goldrush.kernel.shape import Schema

PAUSES: Final = 1.0, 60.0  # seconds of the first wait for a server, doubled each time; the maximum

T = TypeVar("T")


class Asker:
    """The models of a run and their limits. Call `close` at the end."""

    def __init__(
        self, chosen: Sequence[Model], models: Models, earlier: Sequence[RecordedAnswer] = (),
        prompt: PromptVersion | None = None,
    ) -> None:  # fmt: skip
        """Open connections to the models that will be asked. `earlier`: answers that the run has;
        `prompt`: of its world.

        Raises BadInput for a missing key, for a model whose table in the file of models is missing,
        and for a ceiling of cost without prices.
        """
        self._models = models
        self._endpoints = {model.name: models.endpoint_of(model) for model in chosen}
        secrets = [secret for each in self._endpoints.values() for secret in each.secrets()]
        for model in chosen:
            _check_secrets(model, secrets)
        self._prompt = prompt
        taken = [each.charged for each in earlier]
        requests = sum(each.answer.tries for each in earlier)
        self._budget = Budget(models, list(self._endpoints), taken, requests)
        self._client = Client(models.concurrency, models.warn)
        self._failures: dict[str, Failures] = {}  # by subject
        self._count_failures((each.asked.subject, each.answer.failure) for each in earlier)
        self._warned: set[tuple[str, str]] = set()  # (name of a model, what was told of it)

    def close(self) -> None:
        """Cancel the questions that are not answered yet."""
        self._client.close()

    def warn_of_ignored(self, chosen: Sequence[Model]) -> None:
        """Warn of what the file of models says otherwise than a run that goes on."""
        lines = (self._models.ignored(model, f"llm:{self.subject(model)}") for model in chosen)
        for line in dict.fromkeys(chain(*lines)):
            self._models.warn(line)

    def endpoint(self, model: Model) -> Endpoint:
        """The endpoint of a model of the run."""
        return self._endpoints[model.name]

    def resolve(self, chosen: Collection[Model], schema: Schema) -> dict[Model, Model]:
        """Models with their request options resolved: see `resolve_form`. One short question is
        asked for all models with the same form of requests.

        Warns of secrets that are sent unencrypted, and of short ones. Raises BadInput if a model
        does not answer.
        """
        for name, endpoint in self._endpoints.items():
            for line in endpoint.warnings():
                self._models.warn(f"llm:{name}: {line}")
        forms = {}
        for form in dict.fromkeys(map(form_of, chosen)):
            endpoint = self._endpoints[form.name]
            made = forms[form] = resolve_form(self._client, form, endpoint, schema)
            if (form.seed_from, made.seed_from) == (AUTO, OPTION):
                self._models.warn(
                    f"llm:{form.name}: its server takes no seeds, so requests have none "
                    f"(seed_from = '{OPTION}')"
                )
            if (form.reasoning, made.reasoning) == (AUTO, OPEN):
                self._models.warn(
                    f"llm:{form.name}: its server's template opens the reasoning of answers "
                    f"(reasoning = '{OPEN}'), which have up to {made.max_tokens:,} tokens"
                )
        names = ("max_tokens", "answer", "limit", "seed_from", "reasoning")
        return {
            model: attrs.evolve(model, **{name: getattr(made, name) for name in names})
            for model, made in ((model, forms[form_of(model)]) for model in chosen)
        }

    def answers(
        self,
        unit: str,
        questions: Sequence[Question],
        form: Callable[[int, Answer], tuple[T, str | None]],
    ) -> Iterator[list[T]]:
        """Ask the questions of a unit and yield results as answers arrive. Waits during an outage.

        Args:
            unit: label of the unit, as in "round 3".
            form: makes of (index of the question, answer) a result and the error to record.

        Yields:
            Results of answers that arrived together.

        Raises RunStopped, before anything is asked, if a limit is reached; later, without a result
        for each question, if an outage lasts longer than `Models.patience` or its tries reach a
        ceiling.
        """
        for model in dict.fromkeys(question.asked_model for question in questions):
            self._check(model, unit)
        errors: dict[int, str | None] = {}
        troubles: list[str] = []
        left, pauses = list(range(len(questions))), _pauses(self._models.patience)
        while left:
            asked, lost = [questions[index] for index in left], dict[int, str]()
            for arrived in self._client.together(asked, self._budget, unit):
                results = []
                for at, answer in arrived:
                    index, trouble = left[at], answer.trouble or "it has no text"
                    if answer.is_outage and not self._models.record_failures:
                        lost[index] = trouble
                        continue
                    if answer.text is None:
                        troubles.append(trouble)
                    self._warn(questions[index], answer)
                    result, errors[index] = form(index, answer)
                    results.append(result)
                yield results
            if len(lost) < len(left):
                pauses = _pauses(self._models.patience)
            left = sorted(lost)
            if lost:
                self._wait(unit, list(lost.values()), next(pauses, None))
        for line in _missing(troubles):
            self._models.warn(f"{unit}: {line}")
        self._count_failures(
            (self.subject(questions[index].asked_model), error) for index, error in errors.items()
        )

        for model in {question.asked_model for question in questions}:
            counts = self._failures[self.subject(model)]
            if counts.answers >= FIRST and counts.hardly_played:
                failed = f"{format_kinds(counts.kinds)} of {counts.answers:,}"
                self._once(model, "failed", f"most answers failed: {failed}; --fail-over stops it")

    def _wait(self, unit: str, troubles: Sequence[str], pause: float | None) -> None:
        """Wait so many seconds for servers; None: no longer. Raises RunStopped."""
        lost = "; ".join(_missing(troubles))
        if pause is None:
            waited = f"waited {self._models.patience:g} minutes: " if self._models.patience else ""
            raise RunStopped(unit, waited + lost, "--patience")
        self._models.warn(f"{unit}: {lost}; asked again in {pause:.2g} s (--patience)")
        time.sleep(pause)

    def _count_failures(self, answers: Iterable[tuple[str, str | None]]) -> None:
        """Count answers, given as (subject, error)."""
        outcomes = [Failures.of(subject, error) for subject, error in answers]
        counts = merge_failures([*self._failures.values(), *outcomes])
        self._failures = {each.model: each for each in counts}

    def subject(self, model: Model) -> str:
        """What the answers of a model are counted by: see `versions.subject_of`."""
        return subject_of(model.name, model.as_options(), self._prompt)

    def _check(self, model: Model, unit: str) -> None:
        """Raises RunStopped if a model's answers failed too often."""
        counts, most = self._failures.get(self.subject(model)), self._models.fail_over
        if counts and most is not None and counts.answers >= FIRST and counts.share > most:
            what = f"{counts}, over {100 * most:g}%{_advice(model, counts.kinds)}"
            raise RunStopped(unit, what, "--fail-over")

    def _warn(self, question: Question, answer: Answer) -> None:
        """Warn, once each, that a model's answers are cut off, with the limit to raise, that they
        have more tokens than they may, as its server counts, or by their size where it does not
        count them, and that a server seems to have cut a question off.
        """
        model = question.asked_model
        size = question.upper_bound.tokens_in
        if (answer.tokens_in or size) * _TOKEN_MAX < size:
            line = (
                f"its server counts {answer.tokens_in:,} tokens in a question of about {size:,} "
                "bytes: it may have left out a part; raise its context (num_ctx of Ollama)"
            )
            self._once(model, "context", line)
        tokens = answer.uncounted if answer.tokens_out is None else answer.tokens_out
        if tokens > model.max_tokens:
            by = ", by its size (its server reports none, or too few)"
            line = (
                f"an answer has {tokens:,} tokens{by if answer.tokens_out is None else ''}, over "
                f"max_tokens ({model.max_tokens:,}): a unit can pass a ceiling before the run stops"
            )
            self._once(model, "more", line)
        if answer.finish != LENGTH:
            return
        if answer.tokens_out is not None and answer.tokens_out < model.max_tokens:
            where = (
                f"after {answer.tokens_out:,} tokens by its server, whose own limit is below "
                f"max_tokens ({model.max_tokens:,}): raise that one"
            )
        else:
            where = f"at {model.max_tokens:,} tokens{_advice(model, {CUT: 1})}"
        self._once(model, CUT, f"an answer was cut off {where}")

    def _once(self, model: Model, what: str, line: str) -> None:
        if (model.name, what) not in self._warned:
            self._warned.add((model.name, what))
            self._models.warn(f"llm:{model.name}: {line}")


def _pauses(minutes: float) -> Iterator[float]:
    """Growing pauses, in seconds, until so many minutes have passed since the first."""
    until, (pause, longest) = time.monotonic() + 60 * minutes, PAUSES
    while (left := until - time.monotonic()) > 0:
        yield min(pause, left)
        pause = min(2 * pause, longest)


def _missing(troubles: Sequence[str]) -> list[str]:
    """A line for each reason why answers are missing, with their number."""
    return [
        f"no answer for {'one agent' if count == 1 else f'{count} agents'}: {trouble}"
        for trouble, count in Counter(troubles).items()
    ]


def _advice(model: Model, kinds: Mapping[str, int]) -> str:
    """Advice if answers were cut off: `max_tokens` is fixed during a run."""
    if CUT not in kinds:
        return ""
    return (
        f"; raise max_tokens in the table [{model.name}] of the file of models (--models), for a "
        "new run or a fork"
    )


def _check_secrets(model: Model, secrets: Sequence[str]) -> None:
    """Raises BadInput if a journal would keep one of these secrets in an option."""
    for name, value in model.as_options().items():
        escaped = [json.dumps(secret)[1:-1] for secret in secrets]  # as in an option that is JSON
        if any(secret in str(value) for secret in (*secrets, *escaped)):
            whose = "a model" if name == "name" else model.name  # its name may be the secret
            raise BadInput(
                f"the {name.removesuffix('_text')} of {whose} has the value of a key or header in "
                "use",
                "leave it out: a journal would keep it",
            )


_TOKEN_MAX: Final = 8  # bytes of a token, on the average of a question

# Statuses that another form of the question cannot change: no connection, no or wrong key.
_HOPELESS: Final = (None, 401, 403)
_MALFORMED: Final = (400, 422)  # the server does not take a field of the request
_TOKENS: Final = 200  # of the answer to the short question
_TOKENS_MORE: Final = 2_000  # at least, if a model has spent those on thinking
_TEXT: Final = 'Answer with this JSON object and nothing else: {"ready": true}'
_MESSAGES: Final[Sequence[Message]] = ({"role": "user", "content": _TEXT},)
# The beginning of an object that is cut off: its first key, which may be cut off too.
_BEGUN: Final = re.compile(r'\{\s*(?:"([^"]*)("?).*)?', re.DOTALL)


def form_of(model: Model) -> Model:
    """The model with what alone shapes its requests: of models of one form one is asked."""
    bare = Model(model.name, model.model)
    same = {name: getattr(bare, name) for name in ("prompt", *FRAMING, "sample")}
    return attrs.evolve(model, **same)


def resolve_form(client: Client, model: Model, endpoint: Endpoint, schema: Schema) -> Model:
    """The model with what is AUTO resolved by a short question to its server:

    - `answer`, with `limit`
    - `seed_from`: `option` if the server refuses seeds
    - `reasoning`: `open` if the server's template opens it, with `max_tokens` for it

    `model`: in its form, see `form_of`; `schema`: of an object without a field `ready`. Raises
    BadInput if no form of the question is answered.
    """
    schema = reasoned(schema) if model.reasoning == FIELD else schema
    may_think = model.reasoning == AUTO
    ask = partial(_answered, client, endpoint=endpoint, schema=schema, may_think=may_think)
    shown: dict[str, str] = {}
    usual = model.resolved()
    form, reply = ask(usual)
    if reply.trouble is not None and form.seed_from == RUN and reply.status in _MALFORMED:
        without, other = ask(attrs.evolve(usual, seed_from=OPTION))
        if other.trouble is None:
            if model.seed_from == RUN:
                raise BadInput(
                    f"model {model.model} at {_place(endpoint)} takes no seed: {reply.trouble}",
                    f"write seed_from = '{OPTION}' where it has that, for a new run or a fork, or "
                    "seed_name = 'random_seed', if the server calls it so",
                )
            form, reply, shown["seed_from"] = without, other, OPTION
    if reply.trouble is not None:
        raise (ServerDown if reply.is_outage else BadInput)(
            f"model {model.model} at {_place(endpoint)} does not answer: {reply.trouble}",
            "check the server, the name of the model and the key, or set `answer` of the model",
        )
    if opens_reasoning(reply.text or ""):
        shown["reasoning"] = OPEN
    return attrs.evolve(model, answer=form.answer, limit=form.limit).resolved(**shown)


def _place(endpoint: Endpoint) -> str:
    return endpoint.base_url or "OpenAI"


def _answered(
    client: Client,
    model: Model,
    *,
    endpoint: Endpoint,
    schema: Schema,
    may_think: bool,
) -> tuple[Model, Answer]:
    """The form in which the short question is answered, and the answer; or the last that was tried,
    with its trouble. `may_think`: the template may open the reasoning of answers.
    """
    reply, form, more = Answer(0), model, max(_TOKENS_MORE, model.max_tokens)
    is_open = model.answer == AUTO
    for answer in (SCHEMA, TEXT) if is_open else (model.answer,):
        for limit in dict.fromkeys((model.limit, *LIMITS)) if is_open else (model.limit,):
            form = attrs.evolve(model, answer=answer, limit=limit)
            reply = _asked(client, form, endpoint, schema, _TOKENS)
            told = reply.trouble or ""
            if reply.status in _MALFORMED and "tokens" in told and LIMITS[1] not in told:
                reply = _asked(client, form, endpoint, schema, more)
            if reply.trouble is None:
                held = is_open and answer == SCHEMA
                thinks = held and not (reply.text or "").strip()
                if thinks or (may_think and _may_think(reply)):
                    reply = _asked(client, form, endpoint, schema, more)
                if held and not _is_held(reply, schema):
                    form = attrs.evolve(form, answer=TEXT)
                return form, msgspec.structs.replace(reply, trouble=None)
            if LIMITS[1] not in reply.trouble:
                break  # the error is not about the name of the limit
        if reply.status in _HOPELESS:
            break
    return form, reply


def _may_think(answer: Answer) -> bool:
    """Whether an answer may have been cut off before the end of reasoning that its text begins
    with.
    """
    text = answer.text or ""
    return (
        answer.finish == LENGTH and not opens_reasoning(text) and not text.lstrip().startswith("{")
    )


def _asked(client: Client, form: Model, endpoint: Endpoint, schema: Schema, tokens: int) -> Answer:
    """The answer to the short question, of at most `tokens` tokens."""
    question = Question(
        0, model=attrs.evolve(form, max_tokens=tokens), messages=_MESSAGES,
        make_schema=lambda: schema, seed=0, server=endpoint,
    )  # fmt: skip
    [(_, answer)] = chain.from_iterable(client.together([question], Budget(Models(), ())))
    return answer


def _is_held(answer: Answer, schema: Schema) -> bool:
    """Whether an answer, which may be cut off, has exactly the schema's fields."""
    text = Whole.of(None, 1).parted(answer.text or "", None)[0].strip()
    fields = schema["properties"]
    if answer.finish == LENGTH:
        begun = _BEGUN.fullmatch(text)
        if begun is None:
            return False
        name, is_whole = begun[1] or "", begun[2]
        return name in fields if is_whole else any(field.startswith(name) for field in fields)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.keys() == fields.keys()
