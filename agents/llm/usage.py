"""The questions to models in a run and their usage, read from a journal of any world."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs
from xxhash import xxh3_64_intdigest

from goldrush.agents.llm.budget import Amount
from goldrush.agents.llm.failures import NO_ANSWER
from goldrush.agents.llm.model import MAX_TOKENS_MAX
from goldrush.agents.llm.question import AROUND_MAX, LENGTH, REPORTED_MAX, About, counted, estimated
from goldrush.agents.llm.versions import PromptVersion, shown_name, subject_of
from goldrush.agents.trust import HUMAN, LLM
from goldrush.kernel import fold
from goldrush.kernel.errors import TornTail
from goldrush.kernel.journal import FORK, JournalReader
from goldrush.kernel.world import Block, Row, World

# Upper bounds of questions, by the name of the model and the digest of the prompt.
Bounds = Mapping[tuple[str, str], Amount]


@attrs.frozen
class RecordedAnswer:
    """One answer of a model.

    Attributes:
        round: displayed number of the unit.
        error: as recorded, or NO_ACTION (see `About.failure`).
        model, subject: its name in the roster or cast; with its options, see `versions.subject_of`.
        tokens_in, tokens_out: of the question and of the answer; None: not reported, or impossible.
        tries: how often the question was sent.
        most_in, max_tokens: upper bounds of the tokens of the question and of the answer.
        forks: number of FORK commits before it in the journal.
        prompt: the digest of the prompt, as recorded.
        text: a digest of the answer; None: there is no text.
        tokens_cached: of the question, those that the server had already; 0: not reported.
        is_cut: whether the server stopped before the end of the answer, where that is recorded.
        uncounted: an estimate of the tokens of the answer as it is recorded, where `tokens_out` is
            None; otherwise 0.
    """

    round: int
    agent: int
    model: str
    subject: str
    error: str | None
    tokens_in: int | None
    tokens_out: int | None
    tries: int
    most_in: int
    max_tokens: int
    forks: int
    prompt: str | None
    text: int | None
    tokens_cached: int
    is_cut: bool
    uncounted: int

    @property
    def amount(self) -> Amount:
        """The usage, as far as it was reported."""
        return Amount(self.model, self.tokens_in or 0, self.tokens_out or 0, self.tokens_cached)


@attrs.frozen
class FirstAnswer:
    """A model's answer in the first unit of a run, with digests of the prompt and of the answer."""

    model: str
    prompt: str
    text: int


@attrs.frozen
class AnswerFields:
    """Where a world's journals have the answers of models and people.

    Attributes:
        codes: of the events.
        about: the facts of a row.
        player: the key of an agent's id in the setup's list of players.
        prompt: the version of the prompt; that of a journal may be another.
        models: the options of each model that plays an agent, of the options in its entry.
    """

    codes: Sequence[int]
    about: Callable[[Row], About]
    player: str
    prompt: PromptVersion
    models: Callable[[Mapping[str, object]], Iterable[Mapping[str, object]]] = lambda each: [each]

    def of_models(self, inputs: Block) -> Iterator[About]:
        """The answers of models among these inputs; forged ones may be of others, too."""
        for row in [row for code in self.codes for row in inputs.rows(code)]:
            about = self.about(row)
            if about.source is not None and about.model != HUMAN:
                yield about


def answers_in(
    reader: JournalReader, world: World[Any], answers: AnswerFields
) -> Iterator[RecordedAnswer]:
    """All answers of models in a journal, which is read from its start, in the order of commits.

    Includes those of an unclosed unit; stops at a torn tail. Raises JournalError.
    """
    chosen: Mapping[int, _Models] = {}
    forks = 0
    vocabulary = world.vocabulary
    try:
        for commit in reader:
            if commit.setup is not None:
                event = fold.setup_event(world, reader, commit)
                forks += commit.kind == FORK
                if event[vocabulary.players] is not None:
                    chosen = _models_of(event[vocabulary.players], answers)
            if next(fold.faults(world, commit.blocks[::2], is_input=True), None):
                raise fold.malformed(world, reader.path, commit)
            for block in commit.blocks[::2]:
                for about in answers.of_models(block):
                    asked = _asked(answers, chosen, about)
                    if asked is not None:
                        unit = vocabulary.number(commit.unit)
                        yield _recorded(unit, about, asked, forks)
    except TornTail:
        return


def lacks_usage(answers: AnswerFields, inputs: Block) -> bool:
    """Whether the usage of an answer among these inputs was not reported in full."""
    sources = (about.source or {} for about in answers.of_models(inputs))
    return any(None in (of.get("tokens_in"), of.get("tokens_out")) for of in sources)


def earlier_in(
    reader: JournalReader,
    world: World[Any],
    answers: AnswerFields,
    forks: int,
    bounds: Bounds,
) -> list[RecordedAnswer]:
    """The answers after `forks` FORK commits: those that the run itself paid for.

    Usage that was not reported is replaced by the upper bound of the question, or of the longest
    question if it is not in `bounds`; for an answer that is longer, by an estimate.
    """
    return [
        _counted(answer, bounds)
        for answer in answers_in(reader, world, answers)
        if answer.forks == forks
    ]


def _counted(answer: RecordedAnswer, bounds: Bounds) -> RecordedAnswer:
    """The answer with all its usage."""
    if answer.error == NO_ANSWER and answer.tokens_in is answer.tokens_out is None:
        return answer
    most = bounds.get((answer.model, answer.prompt or ""))
    if most is None:
        most = Amount(answer.model, answer.most_in, answer.max_tokens)
    used = most.reported(
        answer.tokens_in, answer.tokens_out, answer.tokens_cached, answer.uncounted
    )
    return attrs.evolve(answer, tokens_in=used.tokens_in, tokens_out=used.tokens_out)


@attrs.frozen
class _Asked:
    """A model of an agent: its name, what its failures are counted by, and the upper bounds of
    tokens, for options of any version.
    """

    name: str
    subject: str
    most_in: int
    most_out: int


_Models = Mapping[str, _Asked]  # of an agent, by name


def shared_names(
    models: Iterable[Collection[Mapping[str, object]]], prompt: PromptVersion | None
) -> set[str]:
    """The names under which an agent has several models, whose subjects differ: an answer has the
    name of its model, so all answers under such a name are counted together, by the name alone.

    `models`: of each agent, their options; `prompt`: the version of the prompt.
    """
    shared: set[str] = set()
    for own in models:
        subjects: dict[str, str] = {}
        for options in own:
            name = str(options.get("name"))
            subject = subject_of(name, options, prompt)
            if subjects.setdefault(name, subject) != subject:
                shared.add(name)
    return shared


def _models_of(players: Any, answers: AnswerFields) -> dict[int, _Models]:
    by_agent = {
        entry[answers.player]: list(answers.models(entry["options"]))
        for entry in players
        if entry["policy"] == LLM
    }
    shared = shared_names(by_agent.values(), answers.prompt)
    models: dict[int, _Models] = {}
    for agent, several in by_agent.items():
        own: dict[str, _Asked] = {}
        for options in several:
            asked = _model_of(options, answers, shared)
            name = str(options.get("name"))
            own[name] = max(own.get(name, asked), asked, key=lambda each: each.most_out)
        models[agent] = own
    return models


def _model_of(
    options: Mapping[str, object], answers: AnswerFields, shared: Collection[str]
) -> _Asked:
    most = counted(options.get("max_tokens"), 1)
    size = answers.prompt.longest + AROUND_MAX
    most = MAX_TOKENS_MAX if most is None else most
    name = str(options.get("name"))
    subject = subject_of(name, {} if name in shared else options, answers.prompt)
    return _Asked(shown_name(name), subject, size, most)


def _asked(answers: AnswerFields, chosen: Mapping[int, _Models], about: About) -> _Asked | None:
    """The model of an answer: the one that its row names, or else the agent's first."""
    own = chosen.get(about.agent, {})
    if about.model is None:
        return next(iter(own.values()), None)
    if about.model in own:
        return own[about.model]
    called = [models[about.model] for models in chosen.values() if about.model in models]
    if not called:
        size = answers.prompt.longest + AROUND_MAX
        name = shown_name(str(about.model))
        return _Asked(name, name, size, MAX_TOKENS_MAX)
    return max(called, key=lambda asked: asked.most_out)


def _recorded(unit: int, about: About, asked: _Asked, forks: int) -> RecordedAnswer:
    source, prompt = about.source or {}, about.prompt
    tokens_in = counted(source.get("tokens_in"), 1, REPORTED_MAX)
    tokens_out = counted(source.get("tokens_out"), 0, REPORTED_MAX)
    reasoning = source.get("reasoning")
    thought = reasoning if type(reasoning) is str else None
    return RecordedAnswer(
        unit, about.agent, asked.name, asked.subject,
        error=about.failure if type(about.failure) is str else None,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        tries=counted(source.get("tries"), 1) or 1,
        most_in=asked.most_in,
        max_tokens=asked.most_out,
        forks=forks,
        prompt=prompt if type(prompt) is str else None,
        text=None if about.text is None else xxh3_64_intdigest(about.text.encode()),
        tokens_cached=counted(source.get("tokens_cached"), 0, tokens_in or 0) or 0,
        is_cut=source.get("finish") == LENGTH,
        uncounted=estimated(about.text, thought) if tokens_out is None else 0,
    )  # fmt: skip
