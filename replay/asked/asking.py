"""Decisions of models asked again, and interviews about them: asked, recorded, and verified.

Asking and verifying go through `Asking`, so both make the same prompts and read answers alike.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

import msgspec

from goldrush.agents.llm import afterwards
from goldrush.agents.llm.afterwards import Changes, QuestionAbout
from goldrush.agents.llm.failures import NO_JSON
from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Models
from goldrush.agents.llm.question import Answer, Question
from goldrush.agents.llm.usage import AskedModel, RecordedAnswer
from goldrush.agents.llm.versions import PromptVersion, subject_of, wording_label
from goldrush.agents.llm.wording_rosters import WORDED
from goldrush.agents.players import Facts, Resources
from goldrush.agents.session import Play, row_of
from goldrush.kernel import fold
from goldrush.kernel.errors import BadInput, GoldrushError
from goldrush.kernel.files import read_toml
from goldrush.kernel.journal import JournalReader, sha256_of
from goldrush.kernel.records import Record
from goldrush.kernel.shape import Kind
from goldrush.kernel.text import format_count
from goldrush.kernel.world import Block, World
from goldrush.replay.asked.file import (
    INTERVIEW,
    REASK,
    SUFFIX,
    AskedAnswer,
    AskedFile,
    AskedHead,
    AskedOptions,
    Key,
    appending,
    encoded,
    read,
)
from goldrush.replay.data.columns import TEXT, type_of
from goldrush.replay.find import open_world, tools_of
from goldrush.replay.journal.batch import SUFFIX as JOURNAL
from goldrush.replay.journal.batch import BatchResult
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.usage import asked_by
from goldrush.replay.tools import Tools, lacks

SHIPPED: Final = ("awareness",)  # questionnaires
FILE_MAX: Final = 1 << 16  # bytes of one
UNSAID: Final = "(no answer)"  # in an interview, where the server gave none
_NOT_IN_LABELS: Final = (*WORDED, "sample")
_FACTS: Final = ("agent", "error", "source")  # of a submission: who, and how it was answered


class AskedRequest(Record, frozen=True):
    """What a user wants to ask.

    Attributes:
        about: the questions of an interview; empty: decisions are asked again.
        at, every: the unit; or every so many units from the first on.
        agents: None: all models.
        sample: see `AskedOptions`; None: the one after the greatest that the run asked with.
        model, wording, temperature: see `afterwards.changes_of`.
    """

    about: Sequence[QuestionAbout] = ()
    at: int | None = None
    every: int | None = None
    agents: Collection[int] | None = None
    times: int = 1
    sample: int | None = None
    model: str | None = None
    wording: str | None = None
    temperature: float | None = None


class Decision(Record, frozen=True):
    """A recorded decision. `question`: as it is asked again; `said`: what was answered."""

    question: Question
    play: Play
    said: str | None


class Asking:
    """Decisions of a journal as they are asked again, or asked about.

    Attributes:
        decisions: by unit, agent and number of the question.
        models: that are asked, each once.
        labels, moves: `decisions` and `moves` of AskedOptions.
    """

    def __init__(
        self, path: str, places: Sequence[tuple[int, int]], changes: Changes,
        about: Sequence[QuestionAbout], resources: Resources,
    ) -> None:  # fmt: skip
        """Make the prompts. `places`: unit and agent of each decision. Raises BadInput, also where
        a prompt without changes is not the recorded one; JournalError.
        """
        tools, self._world, self.version = _opened(path)
        self._about, self.decisions = about, dict[tuple[int, int, int], Decision]()
        for place in places:
            found = tools.prompts(path, *place, resources, changes)
            asked = [each for each in found if each.recorded is not None]
            for number, each in enumerate(asked):
                question, play, answer = each.question, each.play, each.answer
                if question is None or not (changes or question.digest == each.recorded):
                    raise BadInput(
                        f"{path}: no prompt of agent {place[1]} in {place[0]} can be made again",
                        "use the goldrush, and the file of the game, that recorded the run",
                    )
                assert play is not None
                decision = Decision(question, play, None if answer is None else answer.text)
                self.decisions[*place, len(asked) if about else number] = decision
        models = {key[:2]: each.question.asked_model for key, each in self.decisions.items()}
        self.models = list(dict.fromkeys(models.values()))
        self.labels = tuple((*place, *self._label(model)) for place, model in models.items())
        codes = () if about else getattr(tools.players, "submitted", ())
        kinds = [*(each.fields for each in about), *(self._world.events[n].fields for n in codes)]
        fields = [field for each in kinds for field in each.items()]
        moves = [name for name, kind in fields if name not in _FACTS and not _is_free(kind)]
        self.moves = tuple(dict.fromkeys(moves))

    def _label(self, model: Model) -> tuple[str, str]:
        worded = wording_label(str(model.wording), model.wording_sha256, self.version)
        options = {n: v for n, v in model.as_options().items() if n not in _NOT_IN_LABELS}
        return subject_of(model.name, options, self.version), worded

    def keys(self, options: AskedOptions) -> Iterator[Key]:
        """What is asked, decision by decision; of an interview first its first question."""
        for part in range(max(1, len(self._about))):
            for place in self.decisions:
                for sample in range(options.sample, options.sample + options.times):
                    yield (*place, sample, part)

    def question(self, key: Key, answers: Mapping[Key, AskedAnswer]) -> Question:
        """A question as it is put, after these answers."""
        of, part = self.decisions[key[:3]], key[4]
        before = [answers.get((*key[:4], each)) for each in range(part)]
        said = [of.said, *(None if each is None else each.text for each in before)]
        texts = [text or UNSAID for text in said]
        return afterwards.put(of.question, of.play, key[2] + part, key[3], self._about, texts)

    def units(
        self, options: AskedOptions, answers: Mapping[Key, AskedAnswer]
    ) -> Iterator[tuple[str, Sequence[tuple[Key, Question]]]]:
        """The questions without an answer, those of a decision together, with a label."""
        left = (key for key in self.keys(options) if key not in answers)
        for (unit, agent, *_), keys in groupby(left, lambda key: (*key[:3], key[4])):
            label = f"decision of agent {agent} in {self._world.vocabulary.unit} {unit}"
            yield label, [(key, self.question(key, answers)) for key in keys]

    def line(self, key: Key, question: Question, answer: Answer) -> AskedAnswer:
        """What is recorded of an answer that has arrived, or is read again."""
        play = self.decisions[key[:3]].play
        submission: Facts | None
        if self._about:
            item, error = self._about[key[4]], answer.early_error
            submission = item.read(answer.text)
            error = error or (NO_JSON if item.fields and submission is None else None)
        else:
            row = row_of(play, question, answer)
            error, act = play.answer_in(row).failure, play.read(question, row)
            [event] = fold.block_events(self._world, 0, Block([(play.code, [row])]))
            _, *fields = event.fields.items()  # without the unit
            submission = {name: value for name, value in fields if name not in _FACTS}
            submission = submission if act is None else {"answer": act}
        line = AskedAnswer(*key, question.seed, error, dict(answer.source(question)), submission)
        return msgspec.json.decode(encoded(line), type=AskedAnswer)  # as it is read


def _is_free(kind: Kind | list[str]) -> bool:
    """Whether a field of a submission, or of a form (with what it can be), has free text."""
    if isinstance(kind, list):
        return not kind
    return type_of(kind.schema) is TEXT and "enum" not in kind.schema


def _opened(path: str) -> tuple[Tools, World[object], PromptVersion]:
    """The tools and the world of a journal, and the version of its prompts."""
    with JournalReader(path) as reader:
        tools = tools_of(reader)
        if tools.players.prompt is None:
            raise lacks(tools, path, "decisions that can be asked again")
        return tools, open_world(reader), tools.players.prompt


@reader_of
def places_in(path: str, request: AskedRequest) -> list[tuple[int, int]]:
    """Unit and agent of the decisions of models that a request names. Raises BadInput if there are
    none, or none of an agent that it names; JournalError.
    """
    noun = _opened(path)[1].vocabulary
    with JournalReader(path) as reader:
        found = sorted({(each.unit, each.answer.agent) for each in asked_by(reader)})
    first, last = (found[0][0], found[-1][0]) if found else (0, 0)
    units = [request.at] if request.every is None else range(first, last + 1, request.every)
    who = sorted({agent for _, agent in found})
    agents = who if request.agents is None else request.agents
    taken = [(unit, agent) for unit, agent in found if unit in units and agent in agents]
    missing = {*(request.agents or ())} - {agent for _, agent in taken}
    if missing or not taken:
        whose = f" as agent {min(missing)}" if missing else ""
        when = "" if request.at is None else f" in {noun.unit} {request.at}"
        some = f"{', '.join(map(str, who))}, in {noun.units} {first} to {last}" if found else "none"
        known = f"models answered as agents {some}"
        raise BadInput(f"{path} has no answer of a model{whose}{when}", known)
    return taken


def ask(
    path: str, request: AskedRequest, out: str | None = None, *,
    resources: Resources = Resources(), earlier: list[RecordedAnswer] | None = None,
) -> AskedFile:  # fmt: skip
    """Ask what a request says, and record it in a file beside the journal, or in `out`; a file that
    was begun so is continued, and nothing in it is asked again.

    `earlier`: answers that count towards ceilings, to which those of this file are added. Raises
    BadInput, RunStopped, WriteFailed, JournalError.
    """
    out, models = out or path.removesuffix(JOURNAL) + SUFFIX, resources.models or Models()
    places, (*_, version) = places_in(path, request), _opened(path)
    found = read(out) if os.path.exists(out) else None
    given = request.model, request.wording, request.temperature
    changes = {**afterwards.changes_of(models, version, *given)}
    if found is not None and found.head.options.changes.keys() != changes.keys():
        raise _begun_otherwise(out)
    if "name" in changes:
        model = Model(**changes)
        if found is not None:
            then = found.head.options.changes
            changes |= {name: then.get(name) for name in model.unresolved}
        else:
            new = afterwards.resolved([model], models)[model]
            changes |= {name: getattr(new, name) for name in model.unresolved}
    asking = Asking(path, places, changes, request.about, resources)
    sample = request.sample
    if sample is None:
        usual = 1 + max(model.sample for model in asking.models)
        sample = usual if found is None else found.head.options.sample
    options = AskedOptions(request.times, sample, asking.labels, changes, asking.moves)
    kind = INTERVIEW if request.about else REASK
    head = AskedHead(sha256_of(path), kind, tuple(request.about), options)
    if found is not None and found.head != head:
        raise _begun_otherwise(out)
    _ask(asking, head, out, found, models, [] if earlier is None else earlier)
    return read(out)


def _begun_otherwise(out: str) -> BadInput:
    return BadInput(
        f"{out} was begun with other options, or for another journal",
        "give the options it was begun with, or another file (--out)",
    )


def _ask(
    asking: Asking, head: AskedHead, out: str, found: AskedFile | None, models: Models,
    earlier: list[RecordedAnswer],
) -> None:  # fmt: skip
    answers = {} if found is None else dict(found.answers)

    def paid(key: Key, question: Question, answer: Answer) -> None:
        model = question.asked_model
        subject = subject_of(model.name, model.as_options(), asking.version)
        asked = AskedModel(subject, question.upper_bound)
        earlier.append(RecordedAnswer(answer, asked, key[0], 0).without_text())

    for key, line in answers.items():
        question = asking.question(key, answers)
        paid(key, question, _recorded(line, question))
    if found is not None and found.is_complete:
        return
    if any(key not in answers for key in asking.keys(head.options)):
        afterwards.resolved(asking.models, models)  # a wrong server is an error now, not an answer
    with appending(out, head, found) as append:

        def keep(
            asked: Sequence[tuple[Key, Question]], at: int, answer: Answer
        ) -> tuple[None, str | None]:
            key, question = asked[at]
            answers[key] = asking.line(key, question, answer)
            append(answers[key])
            paid(key, question, answer)
            return None, answers[key].error

        units = asking.units(head.options, answers)
        afterwards.ask(units, asking.models, models, [*earlier], asking.version, keep)


def _recorded(line: AskedAnswer, question: Question) -> Answer:
    answer = Answer.recorded(line.agent, question.name, line.text, line.error, line.source)
    return answer.parted(question.whole)


def verify(
    path: str, journals: Sequence[str] = (), resources: Resources = Resources()
) -> BatchResult:
    """Whether a file holds: every prompt in it is that of the journal, and every answer is read as
    it was. The journal is beside it, or among `journals`, by its SHA-256.
    """
    if not os.path.exists(path):
        return BatchResult(path, None, f"cannot read {path}: there is no such file")
    try:
        found = read(path)
        beside = path.removesuffix(SUFFIX) + JOURNAL
        for journal in filter(os.path.isfile, [beside, *journals]):
            if sha256_of(journal) == found.head.journal:
                return _verified(found, journal, resources)
    except GoldrushError as error:
        return BatchResult(path, None, None, [str(error)])
    text = f"{path} is of a journal with the SHA-256 {found.head.journal}, which is not there"
    return BatchResult(path, None, f"{text}: give its path, too")


def _verified(found: AskedFile, journal: str, resources: Resources) -> BatchResult:
    head, options = found.head, found.head.options
    places = [(unit, agent) for unit, agent, *_ in options.decisions]
    asking = Asking(journal, places, options.changes, head.question, resources)
    samples, faults = range(options.sample, options.sample + options.times), list[str]()
    count = len(asking.decisions) * options.times * max(1, len(head.question))
    if (asking.labels, asking.moves) != (options.decisions, options.moves):
        faults.append("its first line is not what the journal gives")
    are_asked = all(k[:3] in asking.decisions and k[3] in samples for k in found.answers)
    if not are_asked or (found.is_complete and len(found.answers) != count):
        faults.append("its answers are not those to its questions")
    for key, line in found.answers.items() if not faults else ():
        question = asking.question(key, found.answers)
        if asking.line(key, question, _recorded(line, question)) != line:
            place = f"round {line.round}, agent {line.agent}, sample {line.sample}"
            is_other = question.digest != line.source.get("prompt")
            what = "its prompt is another" if is_other else "it is not what its text gives"
            faults.append(f"{place}: {what}")
    note = format_count(len(found.answers), "answer")
    is_open = not (faults or found.is_complete)
    trouble = f"{found.path} is unfinished: {note} so far" if is_open else None
    return BatchResult(found.path, None, trouble, faults[:1], note=note)


class Questionnaire(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of a file of questions."""

    question: list[QuestionAbout]


def questionnaire(name: str) -> list[QuestionAbout]:
    """The questions of a shipped questionnaire, or of a TOML file. Raises BadInput."""
    path = os.path.join(os.path.dirname(__file__), f"{name}.toml") if name in SHIPPED else name
    wanted = f"give {', '.join(SHIPPED)}, or a TOML file"
    example = "[[question]], id = 'why' and text = 'Why?'"
    try:
        found = msgspec.convert(read_toml(path, FILE_MAX, wanted, example), Questionnaire).question
        for code in [code for each in found for code in each.codes.values()]:
            re.compile(code)
    except (msgspec.ValidationError, re.error) as error:
        raise BadInput(f"{path}: {error}", f"write {example}") from None
    if len({each.id for each in found}) < max(1, len(found)):
        raise BadInput(f"{path} has no question, or two of one id", f"write {example}")
    return found
