"""The records of a question to an agent and of its answer, as models are asked and answer.

Policies are asked such questions, too, so nothing here imports what asks a model.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec

from goldrush.agents.llm.failures import CUT, NO_ACTION, NO_ANSWER, REFUSAL
from goldrush.agents.llm.options import (
    FIELD,
    MAX_TOKENS_MAX,
    NAME_MAX,
    NONE,
    OPEN,
    RUN,
    SAMPLE_MAX,
    SCHEMA,
)
from goldrush.agents.llm.parts import cut
from goldrush.agents.trust import HUMAN
from goldrush.kernel.codec import pack
from goldrush.kernel.draws import Draws
from goldrush.kernel.records import Record
from goldrush.kernel.settings import INTEGER_MAX
from goldrush.kernel.shape import Schema

if TYPE_CHECKING:
    from goldrush.agents.llm.model import Model
    from goldrush.agents.llm.models import Endpoint
    from goldrush.agents.llm.versions import PromptVersion
    from goldrush.kernel.world import Block, Row

WRAPPING: Final = 256  # tokens that a server's template may add to a question
SCHEMA_MAX: Final = 4_096  # greatest size of an answer's schema, in bytes
AROUND_MAX: Final = SCHEMA_MAX + WRAPPING  # tokens of a question in addition to its prompt
TEXT_MAX: Final = 65_536  # characters of an answer that are kept
REASONING_MAX: Final = 16_384  # characters of its reasoning that are kept
REPORTED_MAX: Final = 1_000_000  # tokens of a question, or an answer, that a server can report
FINGERPRINT_MAX: Final = 200  # characters of a server's fingerprint
ROUND_MAX: Final = 1 << 24  # bytes of the answers of all models to one question each

# Compiled when an answer is read.
_BEGUN: Final = r"(?ai)\s*<think>"
_THOUGHT: Final = r"(?ai)</think>"

_BYTES: Final = 4  # of a token, as usual

REFUSED: Final = (400, 413, 422)  # statuses of a question that a server never takes

LENGTH: Final = "length"  # why a server stopped, where the answer was cut off

Message = Mapping[str, str]  # role and content
Source = Mapping[str, object]  # what a journal keeps of an answer: see `Answer.source`


def digest(messages: Sequence[Message], schema: Schema) -> str:
    """The SHA-256 of a prompt, in hex: of its packed (role, content) pairs and the schema."""
    from hashlib import sha256

    pairs = [(m["role"], m["content"]) for m in messages]
    return sha256(pack((pairs, schema))).hexdigest()


def opens_reasoning(text: str) -> bool:
    """Whether a text has the end of reasoning whose beginning the server's template has written."""
    return re.search(_THOUGHT, text) is not None and re.match(_BEGUN, text) is None


def reasoned(schema: Schema) -> Schema:
    """The schema of an answer whose first field is for reasoning."""
    fields = {"reasoning": {"type": "string"}, **schema["properties"]}
    return {**schema, "properties": fields, "required": ["reasoning", *schema["required"]]}


def drawn_seed(model: Model, seed: int, unit: int, agent: int, number: int) -> int | None:
    """The seed of a request that has it from the run's `seed`; None: the model's option counts.

    `unit`: as displayed; `number`: of the question among those to the agent in this unit, from 0.
    A repeated try has the same.
    """
    if model.seed_from != RUN:
        return None
    return Draws(seed, unit, agent, "model", number, model.sample).word() & SAMPLE_MAX


def estimated(text: str | None, reasoning: str | None) -> int:
    """An estimate of the tokens of an answer, from the size of its text and of its reasoning."""
    return sum(len((part or "").encode()) for part in (text, reasoning)) // _BYTES


class Whole(msgspec.Struct, frozen=True):
    """How the answer of a model is kept: its reasoning apart from its text, and all facts of the
    server.

    Attributes:
        size: greatest size of the text, and of the reasoning, in bytes.
        reasoning: see model.Model.
    """

    size: int
    reasoning: str = NONE

    @classmethod
    def of(cls, reasoning: object, models: int) -> Self:
        """For an agent with this option. `models`: the agents of its roster that are models."""
        return cls(ROUND_MAX // max(1, models), reasoning if type(reasoning) is str else NONE)

    def parted(self, text: str, reasoning: str | None) -> tuple[str, str | None]:
        """The text and the reasoning of an answer, of its text as it arrived and of what the server
        gave apart from it. A text that came out without reasoning comes out the same again.
        """
        is_open = self.reasoning == OPEN and reasoning is None
        is_begun = is_open or re.match(_BEGUN, text) is not None
        if is_begun or not text.lstrip().startswith(("{", "[", "`")):
            end = re.search(_THOUGHT, text)
            if end is not None or is_begun:
                thought = text if end is None else text[: end.start()]
                text = "" if end is None else text[end.end() :]
                reasoning = thought if reasoning is None else f"{reasoning}\n{thought}"
        return self.cut(text, reasoning)

    def cut(self, text: str, reasoning: str | None) -> tuple[str, str | None]:
        """Text and reasoning up to their limits."""
        kept = None if reasoning is None else cut(reasoning[:REASONING_MAX], self.size)
        return cut(text[:TEXT_MAX], self.size), kept


class Amount(msgspec.Struct, frozen=True):
    """Tokens of questions and answers of one model, named as in the roster."""

    name: str
    tokens_in: int
    tokens_out: int

    @property
    def tokens(self) -> int:
        """Of questions and answers."""
        return self.tokens_in + self.tokens_out

    def reported(self, answer: Answer) -> Amount:
        """The usage of a question with this upper bound, as a server reports it with its answer;
        what it does not report is that of the bound, or estimated from the answer, if that is more.
        """
        tokens_in, tokens_out = answer.tokens_in, answer.tokens_out
        return Amount(
            self.name,
            self.tokens_in if tokens_in is None else tokens_in,
            max(self.tokens_out, answer.uncounted) if tokens_out is None else tokens_out,
        )


class Question(Record, frozen=True, dict=True):  # with cached properties
    """A question to an agent; with a prompt, in the form for a model or a person.

    Attributes:
        name: what is asked for; empty in worlds with one question.
        arguments: in addition to what the agent observes.
        model: it is asked, or a policy plays in its place; None: a person, or a policy.
        messages: of the prompt; empty: there is none.
        make_schema: gives the JSON schema of the answer, without reasoning.
        whole: how a model's answer is kept; None: its text alone.
        is_believed: nobody is asked, the recorded row stands as it is.
        seed: of the request, if the model has its seeds from that of the run.
        server: where the model is reached; None: it is not sent.
    """

    agent: int
    name: str = ""
    arguments: Mapping[str, Any] = {}
    model: Model | None = None
    messages: Sequence[Message] = ()
    make_schema: Callable[[], Schema] = dict
    whole: Whole | None = None
    is_believed: bool = False
    seed: int | None = None
    server: Endpoint | None = None

    @cached_property
    def digest(self) -> str:
        """The digest of messages and schema; empty if there are no messages."""
        return digest(self.messages, self.schema) if self.messages else ""

    @cached_property
    def schema(self) -> Schema:
        """The JSON schema of the answer."""
        schema = self.make_schema()
        has_field = self.whole is not None and self.whole.reasoning == FIELD
        return reasoned(schema) if has_field else schema

    @cached_property
    def upper_bound(self) -> Amount:
        """The upper bound of the tokens of one try."""
        model = self.asked_model
        texts = [message["content"] for message in self.messages] + [json.dumps(self.schema)]
        size = sum(len(text.encode()) for text in texts)
        return Amount(model.name, size + WRAPPING, model.max_tokens)

    @property
    def asked_model(self) -> Model:
        """The model, of a question to one."""
        assert self.model is not None
        return self.model

    @property
    def endpoint(self) -> Endpoint:
        """The server, of a question that is sent."""
        assert self.server is not None
        return self.server

    def request(self) -> dict[str, Any]:
        """The body of the request."""
        model = self.asked_model
        body: dict[str, Any] = {"model": model.model, "messages": list(self.messages)}
        seed_name = "seed" if self.server is None else self.server.seed_name
        sampling = {
            "temperature": model.temperature,
            seed_name: self.seed if model.seed_from == RUN else model.seed,
            "top_p": model.top_p,
            "reasoning_effort": model.reasoning_effort,
        }
        body.update({name: value for name, value in sampling.items() if value is not None})
        body[model.limit] = model.max_tokens
        if model.answer == SCHEMA:
            form = {"name": "answer", "strict": True, "schema": dict(self.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        more: dict[str, Any] = {} if model.extra_body is None else json.loads(model.extra_body)
        return {**body, **more}


class Answer(msgspec.Struct, frozen=True):
    """The answer to a question, as it arrived or as a journal has it.

    Attributes:
        agent, name: of the question.
        text: None: there is none.
        error: as recorded; of an answer that arrives, REFUSAL if the text is one, or None.
        finish: the server's reason for stopping (`stop`, `length`, `content_filter`, ...).
        model: the name of the model that the server reports.
        tokens_in, tokens_out: of the question, and of the answer with its reasoning; None: not
            reported, or impossible. They may be more than was asked for.
        tokens_reasoning, tokens_cached: of these, tokens of reasoning, and those of the question
            that the server had; None: not reported.
        tries: how often the question was sent since the run last waited for its server.
        fingerprint: of the server's system.
        created: the server's clock, in seconds.
        reasoning: given apart from the text, or split off; None: neither.
        uncounted: an estimate of the tokens of the answer, where `tokens_out` is None; otherwise 0.
        trouble: the reason why no answer arrived; None: one did.
        status: of HTTP, if the question was not accepted.
        prompt: the digest of the prompt, as recorded.
        player: the name of the model in its roster, or HUMAN, where the record has it.
        is_asked: a model's or a person's; otherwise the record has what a policy submitted.
        is_unread: it has actions, of which none could be read.
    """

    agent: int
    name: str = ""
    text: str | None = None
    error: str | None = None
    finish: str | None = None
    model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tries: int = 1
    fingerprint: str | None = None
    created: int | None = None
    reasoning: str | None = None
    tokens_reasoning: int | None = None
    tokens_cached: int | None = None
    uncounted: int = 0
    trouble: str | None = None
    status: int | None = None
    prompt: str | None = None
    player: str | None = None
    is_asked: bool = True
    is_unread: bool = False

    @classmethod
    def recorded(
        cls, agent: int, name: str, text: str | None, error: object, source: Source | None
    ) -> Self:
        """The answer that a row records. `source`: as `Answer.source`; None: it is a policy's.

        The source of a forged row may be anything: what no answer can have is replaced or left out,
        so that a row made again of the answer differs.
        """
        facts = source or {}
        tokens_in = counted(facts.get("tokens_in"), 1, REPORTED_MAX)
        tokens_out = counted(facts.get("tokens_out"), 0, REPORTED_MAX)
        reasoning = facts.get("reasoning")
        reasoning = reasoning if type(reasoning) is str and text is not None else None
        return cls(
            agent, name, text,
            error=_text(error),
            finish=_text(facts.get("finish"), NAME_MAX),
            model=_text(facts.get("model")),
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            tries=counted(facts.get("tries"), 1) or 1,
            fingerprint=_text(facts.get("fingerprint"), FINGERPRINT_MAX),
            created=counted(facts.get("created"), 0, INTEGER_MAX),
            reasoning=reasoning,
            tokens_reasoning=counted(
                facts.get("tokens_reasoning"), 0, tokens_out or MAX_TOKENS_MAX
            ),
            tokens_cached=counted(facts.get("tokens_cached"), 0, tokens_in or INTEGER_MAX),
            uncounted=estimated(text, reasoning) if tokens_out is None else 0,
            prompt=_text(facts.get("prompt")),
            player=_text(facts.get("name")),
            is_asked=source is not None,
        )  # fmt: skip

    @property
    def early_error(self) -> str | None:
        """The error that is known before the text is read."""
        if self.text is None:
            return NO_ANSWER
        if self.error == REFUSAL:
            return REFUSAL
        return CUT if self.finish == LENGTH else None

    @property
    def is_outage(self) -> bool:
        """Whether no answer arrived for a reason of the network or the server, not of what was
        asked: later the same question may be answered.
        """
        return self.trouble is not None and self.status not in REFUSED

    @property
    def failure(self) -> str | None:
        """What a recorded answer counts as: NO_ACTION, or its error."""
        return NO_ACTION if self.is_unread else self.error

    def parted(self, whole: Whole | None) -> Self:
        """A recorded answer with text and reasoning as they are kept now."""
        if whole is None or self.text is None:
            return self
        is_parted = self.reasoning is not None or self.error == REFUSAL
        text, reasoning = (whole.cut if is_parted else whole.parted)(self.text, self.reasoning)
        return msgspec.structs.replace(self, text=text, reasoning=reasoning)

    def source(self, question: Question | None) -> Source:
        """The facts of the answer that a journal keeps, in addition to what is read from it.
        `question`: None where only a journal knows it.
        """
        asked = None if question is None else question.model
        source = {
            "model": self.model or (HUMAN if asked is None else asked.model),
            "prompt": self.prompt if question is None else question.digest,
            "raw": self.text,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "tries": self.tries,
        }
        is_whole = question is None or question.whole is not None
        more = {name: getattr(self, name) for name in MORE} if is_whole else {}
        return {**source, **{name: fact for name, fact in more.items() if fact is not None}}


class AnswerFields(Record, frozen=True):
    """Where a world's journals have the answers of models and people.

    Attributes:
        codes: of the events.
        answer_in: the answer that a row records.
        player: the key of an agent's id in the setup's list of players.
        prompt: the version of the prompt; that of a journal may be another.
    """

    codes: Sequence[int]
    answer_in: Callable[[Row], Answer]
    player: str
    prompt: PromptVersion

    def of_models(self, inputs: Block) -> Iterator[Answer]:
        """The answers of models among these inputs; forged ones may be of others, too."""
        for row in [row for code in self.codes for row in inputs.rows(code)]:
            answer = self.answer_in(row)
            if answer.is_asked and answer.player != HUMAN:
                yield answer


# The facts of models' answers that are kept where they are known.
MORE: Final = (
    "finish", "fingerprint", "created", "reasoning", "tokens_reasoning", "tokens_cached",
)  # fmt: skip


def _text(value: object, most: int | None = None) -> str | None:
    """A recorded text, up to its greatest number of characters; None: there is none."""
    return value[:most] or None if type(value) is str else None


def counted(count: object, low: int, high: float = math.inf) -> int | None:
    """A count of a server or a journal; None if it is none, or not from `low` to `high`."""
    return count if type(count) is int and low <= count <= high else None
