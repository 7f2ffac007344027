"""The words of scripted workers: a reason is said once, and who doubts or changes is answered."""

import re
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.competition.sentences import forms_of, speech
from goldrush.agents.worlds.competition.worker import ANSWERS_MAX
from goldrush.kernel.worlds.competition.terms import Move
from tests.journals import events_of
from tests.playing import record

TABLES = 10
SEEDS = range(1, 7)
VALUES = {
    name: str(number)
    for number, name in enumerate(
        (
            "conduct", "value", "trials", "bar", "margin", "claim", "target", "targeted", "shown",
            "by", "left", "lefted", "claimed", "second", "seconded", "nothing",
        )
    )
}  # fmt: skip
FORMS = [id for id, text in speech.formats.items() if "\n" in text]
# Where less is better, they would say the opposite.
ONE_WAY = re.compile(r"\b(above|below|higher?|lower|more|less|least|most|exceeds?|short of)\b")


@cache
def season(seed: int) -> list[Any]:
    settings = {"seed": seed, "assignments": TABLES, "arena": "nk"}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "season.journal"
        record(path, settings, cast_of(6))
        return events_of(path)


def words(seed: int) -> list[str]:
    return [e["words"] for e in season(seed) if e.name in ("spoke", "stood") and e["words"]]


def template(text: str) -> str:
    """A text without its ids, conducts and numbers."""
    masked = re.sub(r"#\d+", "#", text)
    return re.sub(r"-?\d+(\.\d+)?", "N", re.sub(r"\b[01]{12}\b", "C", masked))


@pytest.mark.parametrize("seed", SEEDS)
def test_no_reason_has_the_same_form_more_than_three_times_in_ten_tables(seed: int) -> None:
    counts = Counter(map(template, words(seed)))

    assert sum(counts.values()) > 100
    assert max(counts.values()) <= 3


@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_says_a_thing_twice_at_a_table(seed: int) -> None:
    said = Counter(
        (e.unit, e["table"], e["agent"], e["words"])
        for e in season(seed)
        if e.name == "spoke" and e["words"]
    )

    assert max(said.values()) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_who_challenged_or_amended_a_proposal_is_answered_in_its_next_turn(seed: int) -> None:
    asked: dict[int, set[int]] = {}  # of whose proposal -> ids of challenges and amendments
    authors: dict[int, int] = {}
    answered = 0
    for event in season(seed):
        if event.name == "roundtable_opened":
            asked, authors = {}, {}
        if event.name != "spoke":
            continue
        due = set(sorted(asked.pop(event["agent"], set()))[-ANSWERS_MAX:])
        assert due <= set(event["because"][0])
        assert all(re.search(rf"#{id}\b", event["words"]) for id in due)
        answered += len(due)
        authors[event["id"]] = event["agent"]
        if event["move"] in (Move.AMEND, Move.CHALLENGE):
            asked.setdefault(authors[event["target"]], set()).add(event["id"])

    assert answered > TABLES


@pytest.mark.parametrize("id", FORMS)
def test_each_form_has_only_values_that_sentences_have(id: str) -> None:
    for part in forms_of(id):
        assert len(set(part)) == len(part)
        for form in part:
            assert not set("{}") & set(form.format(**VALUES))
            assert ONE_WAY.search(form.replace("less good", "")) is None
