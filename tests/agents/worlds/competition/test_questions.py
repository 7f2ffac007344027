"""Questions: the form of every answer, and how what comes back is read, whatever it is."""

import json
import random
from collections.abc import Mapping
from functools import cache
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldrush.agents.llm.failures import NO_ANSWER, NO_JSON, REFUSAL
from goldrush.agents.llm.question import Question
from goldrush.agents.session import PlayedStep, batches
from goldrush.agents.worlds.competition import prompt
from goldrush.agents.worlds.competition.arenas import bench_of, opened_tests, rules_of
from goldrush.agents.worlds.competition.cast import cast_of, questions_of
from goldrush.agents.worlds.competition.formats import format_apart
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.play import SeasonPlay
from goldrush.agents.worlds.competition.players import configured
from goldrush.agents.worlds.competition.questions import QUESTIONS
from goldrush.agents.worlds.competition.script import Scripts, act_of
from goldrush.kernel.world import Block, advance
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition.arena import Arena
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import Role, names_of
from tests.playing import mining, nk, steps

# Everything is unlocked, and everybody in danger, within a few assignments.
EARLY: dict[str, Any] = {
    "workers": 4, "assignments_per_project": 2, "worker_tiers": [1, 2, 3, 4], "admin_projects": 1,
    "assistant_stages": [1, 2, 3, 4], "judge_stages": [1, 2, 3], "therapist_stages": [1, 2, 3],
    "sparks_start": 4,
}  # fmt: skip
ARENAS = {"nk": nk, "mining": mining}
names = pytest.mark.parametrize("name", QUESTIONS)


@attrs.frozen
class Moment:
    """When a question was asked."""

    state: SeasonState
    asked: Question
    arena: Arena

    @property
    def seen(self) -> SeasonObservation:
        return SeasonObservation(self.state, self.asked.agent, bench_of(self.arena))

    def read(self, text: str, error: str | None = None) -> Any:
        return QUESTIONS[self.asked.name].answer(text, error, self.seen)


@cache
def moments(arena: str) -> Mapping[str, Moment]:
    """Every question, as it was asked in a season."""
    found: dict[str, Moment] = {}
    record = ARENAS[arena]()
    scripted = SeasonPlay.answer

    def watched(play: SeasonPlay, asked: Question, number: int) -> Any:
        found.setdefault(asked.name, Moment(play._state.copy(), asked, record))
        return scripted(play, asked, number)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SeasonPlay, "answer", watched)
        for _ in steps({**EARLY, "seed": 5, "assignments": 20, "arena": record}):
            if set(found) == set(QUESTIONS):
                break
    return found


# The form


def test_every_question_is_asked_of_some_role_and_has_its_form() -> None:
    asked = {name for role in names_of(Role) for name in questions_of(role)}

    assert asked == set(QUESTIONS) == set(moments("nk"))


@names
def test_a_prompt_shows_an_example_in_the_form_of_the_schema(name: str) -> None:
    rules = rules_of(mining())
    example = json.loads(QUESTIONS[name].example(rules).replace("...", "null"))
    moment = moments("nk")[name]
    _, question = prompt.messages(moment.seen, name, moment.asked.arguments)

    assert is_like(example, QUESTIONS[name].schema(rules))
    assert QUESTIONS[name].example(moment.seen.rules) in question["content"]


def is_like(example: Any, schema: Mapping[str, Any]) -> bool:
    """Whether an example has the parts that a schema asks for, to the last level."""
    while "anyOf" in schema:
        schema = schema["anyOf"][0]
    if schema["type"] == "object":
        return list(example) == schema["required"] and all(
            is_like(example[key], of) for key, of in schema["properties"].items()
        )
    if schema["type"] == "array":
        return len(example) == 1 and is_like(example[0], schema["items"])
    return example is None


# What is read


def fitting(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Answers that a schema allows."""
    if "anyOf" in schema:
        return st.one_of([fitting(kind) for kind in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema["type"]
    if kind == "object":
        return st.fixed_dictionaries({n: fitting(of) for n, of in schema["properties"].items()})
    if kind == "array":
        return st.lists(fitting(schema["items"]), max_size=4)
    if kind == "integer":
        return st.integers(schema.get("minimum", -2), schema.get("maximum", 12))
    floats = st.floats(allow_nan=False, allow_infinity=False)
    kinds = {"null": st.none(), "boolean": st.booleans(), "number": floats, "string": st.text()}
    return kinds[kind]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda of: st.lists(of, max_size=4) | st.dictionaries(st.text(), of, max_size=4),
    max_leaves=8,
)


@st.composite
def answers(draw: st.DrawFn, name: str) -> str:
    """What may come back to a question: what fits, what fits in parts, anything."""
    schema = QUESTIONS[name].schema(rules_of(nk()))
    found = draw(fitting(schema))
    for field in schema["required"]:
        if draw(st.sampled_from((False, False, True))):
            found[field] = draw(anything)
    text = json.dumps(found)
    return draw(st.sampled_from((text, text, f"So: {text}.", text[1:])) | st.text())


@given(st.data())
def test_what_fits_the_schema_is_an_answer(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(QUESTIONS)))
    moment = moments("nk")[name]
    text = json.dumps(data.draw(fitting(QUESTIONS[name].schema(moment.seen.rules))))

    assert QUESTIONS[name].fault_of(text, moment.seen.rules) is None
    assert moment.read(text) == moment.read(f"I think so.\n```json\n{text}\n```")


@settings(max_examples=settings().max_examples // 3)
@given(st.data())
def test_whatever_comes_back_is_read_and_makes_no_script_or_rule_fail(data: st.DataObject) -> None:
    arena = nk()
    config = configured({**EARLY, "assignments": 2, "arena": arena, "worker_tiers": [1, 1, 1, 1]})
    world = competition(rules_of(arena))
    cast = [seat.as_dict() for seat in cast_of(4)]
    state = world.initial({"config": config.as_dict(), "cast": cast})
    sent = {name: data.draw(st.lists(answers(name), min_size=1, max_size=3)) for name in QUESTIONS}
    chosen = random.Random(data.draw(st.integers(0, 99)))
    with opened_tests(arena) as tests:
        scripts = Scripts(tests)
        while not world.ended(state):
            play = SeasonPlay(state, scripts)
            step = PlayedStep(play)
            while step.asked:
                asked = enumerate(step.asked)
                step.go_on({at: answered(play, one, chosen, sent) for at, one in asked}, {})
            state, _, _ = advance(world, state, Block(batches(step.inputs)))

    assert 2 == state.assignment


def answered(
    play: SeasonPlay, asked: Question, chosen: random.Random, sent: Mapping[str, list[str]]
) -> Any:
    """A scripted answer or one of those sent, as it is read."""
    if chosen.random() < 0.5:
        return play.answer(asked, 0)
    text = chosen.choice(sent[asked.name])
    fault = play.fault_of(asked, text)
    assert fault is None or "\n" not in fault
    return QUESTIONS[asked.name].answer(text, None, play._seen(play._agent(asked)))


CASES: list[tuple[str, Any, Any]] = [
    (
        "speak",
        {"move": " Propose", "conduct": "101", "value": 0.5, "edge": None, "target": 3,
         "part": "base", "trials": True, "words": "Hear\nme\x1b, #99"},
        {"move": "propose", "conduct": "101", "claim": (0.5, None), "words": "Hear me, #99",
         "because": ([], True)},
    ),
    ("speak", {"move": "support", "target": 1, "conduct": "1", "words": 5},
     {"move": "support", "target": 1, "words": "", "because": ([], False)}),
    ("speak", {"move": ["pass"]}, {"move": None, "words": "", "because": ([], False)}),
    ("stand", {"target": 3, "trials": True, "words": "As #0 says, not #99."},
     {"target": 3, "words": "As #0 says, not #99.", "because": ([0], True)}),
    ("stand", {"target": " #3", "words": 5},
     {"target": "#3", "words": "", "because": ([], False)}),
    ("stand", {"words": "Mine."}, None),
    ("try_", {"conduct": None, "treatment": "0.0"}, None),
    ("want_class", {"class": "Sonnet"}, "sonnet"),
    ("want_class", {"class": "haiku"}, None),
    ("want_class", {"class": "opus"}, None),
    (
        "open",
        {"subjects": [{"objective": "value", "treatment": "0.0"}], "team": [5, "6"]},
        {"subjects": [["value", "0.0"]], "team": [5, None], "order": None},
    ),
    ("open", {"subjects": []}, None),
    ("answer", {"answers": ["a", 1, "b\x00c"]}, ["a", "", "bc"]),
    ("answer", {"answers": "alone"}, ["alone"]),
    ("take", {"take": "yes"}, False),
    ("adopt", {"adopted": "yes"}, None),
    ("judge", {"signal": "CLEAN", "ids": [1]}, {"signal": "clean", "ids": [], "reason": ""}),
    (
        "rate",
        {"raw": {"impact": 1, "novelty": 3}, "reasons": ["a", "b", "c", "d"]},
        {"raw": [3, None, 1, None], "reasons": ["a", "b", "c", "d"]},
    ),
    ("trait", {"trait": "", "from": [1]}, None),
    ("skill", {"skill": {"objective": "value", "treatment": "0.0", "conduct": "1", "value": "x"}},
     ("value", "0.0", "1", None)),
    ("rewrite", {"instructions": {"doubt": 9, "care": None, "x": [1]}}, {"doubt": 9}),
    ("improve", {"instructions": "Be bold."}, {"text": "Be bold."}),
    ("improve", {"instructions": {"care": None}}, None),
    (
        "offer_contract",
        {"conditions": ["seat", {"name": "objective", "objective": "value"}], "target": [4, 2]},
        {"conditions": [("seat", None), ("objective", "value")], "target": [4, 2], "due": None},
    ),
    (
        "review_contract",
        {"approved": True, "terms": {"conditions": [], "target": 1, "due": 2}},
        {"approved": True, "terms": None},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "found", "answer"), CASES)
def test_an_answer_is_read_as_its_author_can_have_meant_it(
    name: str, found: Any, answer: Any
) -> None:
    assert answer == moments("nk")[name].read(json.dumps(found))


@pytest.mark.parametrize("target", [[3], {"id": 3}, 1e300])
def test_what_is_no_target_is_no_final_stance_of_none(target: Any) -> None:
    moment = moments("nk")["stand"]
    for answer in (
        moment.read(json.dumps({"target": target})),
        *(QUESTIONS["stand"].shaped(one) for one in (None, {}, {"target": target}, "Mine.")),
    ):
        act = act_of(moment.state, moment.asked, answer)

        assert act is None or act.target is not None  # type: ignore[attr-defined]


@names
def test_without_an_answer_the_neutral_one_stands(name: str) -> None:
    moment = moments("nk")[name]
    question, rules = QUESTIONS[name], moment.seen.rules
    whole = json.dumps(dict.fromkeys(question.fields(rules)))

    assert NO_JSON == question.fault_of("no", rules)
    assert question.neutral == moment.read("no")
    assert question.neutral == moment.read(whole, REFUSAL) == moment.read(whole, NO_ANSWER)


@given(st.lists(st.none() | st.floats(allow_nan=False)))
def test_values_beside_each_other_look_the_same_only_if_they_are(
    values: list[float | None],
) -> None:
    assert len(set(values)) <= len(set(format_apart(*values)))


def test_values_beside_each_other_have_no_more_decimals_than_they_take() -> None:
    assert ["0.4005", "0.41", "no value"] == format_apart(0.40052, 0.41, None)
    assert ["0.40052", "0.40047"] == format_apart(0.40052, 0.40047)
    assert ["0.4005", "0.4005"] == format_apart(0.40047, 0.40047)
    assert ["1e-20", "2e-20"] == format_apart(1e-20, 2e-20)
