"""Answers of models as scripts take them: read leniently, and to nothing that scripts choke on."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest
from goldrush.agents.competition.forms import FORMS, read

from goldrush.agents.competition.questions import QUESTIONS
from goldrush.agents.competition.seen import Seen
from goldrush.agents.llm.failures import NO_ANSWER, REFUSAL

SEEN = cast(
    Seen,
    SimpleNamespace(table=SimpleNamespace(treatment="scarce"), me=SimpleNamespace(class_="haiku")),
)
CONDUCT = ("mine", "raid", 2, "scarce")
CASES: list[tuple[str, Any, Any]] = [
    (
        "speak",
        {"move": "Propose", "conduct": {"majority": "mine", "minority": "raid", "share": 2},
         "claim": {"value": 0.5, "edge": None}, "target": 3, "part": "base", "words": "Hear\nme"},
        {"move": "propose", "conduct": CONDUCT, "claim": (0.5, None), "words": "Hear me"},
    ),
    (
        "speak",
        {"move": "amend", "conduct": ["mine", "raid", 2], "claim": 0.5, "target": 3},
        {"move": "amend", "target": 3, "conduct": CONDUCT, "claim": (0.5, None), "words": ""},
    ),
    (
        "speak",
        {"move": "support", "target": 1, "conduct": {"majority": "mine"}, "words": 5},
        {"move": "support", "target": 1, "words": ""},
    ),
    ("speak", {"move": ["pass"]}, {"move": None, "target": None, "conduct": None, "claim": None,
                                   "part": None, "words": ""}),
    ("want_class", {"class": "Sonnet"}, "sonnet"),
    ("want_class", {"class": "haiku"}, None),
    ("want_class", {"class": "opus"}, None),
    (
        "open",
        {"subjects": [{"objective": "gini", "treatment": "scarce"}], "team": [5, "6"]},
        {"subjects": [("gini", "scarce")], "team": [5, None], "order": None},
    ),
    ("open", {"subjects": []}, None),
    ("answer", {"answers": ["a", 1, "b\x00c"]}, ["a", "", "bc"]),
    ("answer", {"answers": "alone"}, ["alone"]),
    ("take", {"take": "yes"}, False),
    ("take", {"take": True}, True),
    ("adopt", {"adopted": "yes"}, None),
    ("judge", {"signal": "CLEAN"}, {"signal": "clean", "ids": [], "reason": ""}),
    ("digest", {"text": "So."}, {"text": "So.", "dissent": "", "rejected": False}),
    (
        "rate",
        {"raw": {"impact": 1, "novelty": 3}, "reasons": ["a", "b", "c", "d"]},
        {"raw": [3, None, 1, None], "reasons": ["a", "b", "c", "d"]},
    ),
    ("trait", {"trait": "", "from": [1]}, None),
    ("persona", {"persona": ["examiner"]}, None),
    (
        "skill",
        {"skill": {"objective": "gini", "treatment": "scarce", "majority": "mine", "share": 0}},
        {"objective": "gini", "treatment": "scarce", "majority": "mine", "minority": None,
         "share": 0, "value": None},
    ),
    ("skill", {"skill": {"majority": "mine"}}, None),
    ("skill", {"skill": {"objective": "gini", "treatment": "scarce", "majority": "mine",
                         "minority": "mine", "share": 9}}, None),
    ("rewrite", {"instructions": {"doubt": 9, "care": None, "x": [1]}}, {"doubt": 9}),
    ("improve", {"instructions": "Be bold."}, {"text": "Be bold."}),
    ("improve", {"instructions": {"care": None}}, None),
    ("offer_contract", {"conditions": None, "target": 3, "due": 4}, None),
    (
        "offer_contract",
        {"conditions": ["seat", {"name": "objective", "objective": "gini"}], "target": 3},
        {"conditions": [("seat", None), ("objective", "gini")], "target": 3, "due": None},
    ),
    (
        "review_contract",
        {"approved": True, "terms": {"conditions": [], "target": 1, "due": 2}},
        {"approved": True, "terms": None},
    ),
    ("propose_project", {"objective": None, "treatment": None}, None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "found", "answer"), CASES)
def test_an_answer_is_read_as_its_author_can_have_meant_it(
    name: str, found: Any, answer: Any
) -> None:
    assert answer == read(name, json.dumps(found), None, SEEN)


@pytest.mark.parametrize("name", FORMS)
def test_without_an_answer_the_neutral_one_stands(name: str) -> None:
    whole = json.dumps(dict.fromkeys(FORMS[name].fields))

    assert FORMS[name].neutral == read(name, "no", None, SEEN)
    assert FORMS[name].neutral == read(name, whole, REFUSAL, SEEN)
    assert FORMS[name].neutral == read(name, whole, NO_ANSWER, SEEN)


def test_every_question_has_its_words_and_its_form() -> None:
    assert list(QUESTIONS) != []
    assert set(QUESTIONS) == set(FORMS)


@pytest.mark.parametrize("name", FORMS)
def test_the_example_names_the_fields_of_the_schema(name: str) -> None:
    form = FORMS[name]

    assert all(f'"{field}": ' in form.example for field in form.fields)
    assert list(form.fields) == form.schema()["required"]
