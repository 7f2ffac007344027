"""Sentences of events: what a template becomes, whatever stands in the fields."""

import pytest

from goldrush.kernel import shape
from goldrush.kernel.world import OTHER, EventType, RecordedEvent, Vocabulary, if_given
from goldrush.replay.sentences import EventSentences

FISHED = EventType(
    "fished",
    {
        "agent": shape.AGENT,
        "with": shape.AGENTS,
        "plot": shape.PLOT,
        "fish": shape.AMOUNT,
        "words": shape.TEXT,
        "kept": shape.optional(shape.BOOLEAN),
    },
    text="{agent} and {with} take {fish:amount} from {plot}{kept}{words:quoted}",
    cases={"kept": {None: "; ", True: " and keep it; ", False: " and lose it to {agent:plain}; "}},
)
TYPES = (FISHED, EventType("slept", {"agent": shape.AGENT}))
SENTENCES = EventSentences(TYPES, Vocabulary(unit="day", ended="trip_ended"))


def event(name: str = "fished", **fields: object) -> RecordedEvent:
    usual = {"agent": 2, "with": [3, 5], "plot": 8, "fish": 1234.5, "words": "", "kept": None}
    return RecordedEvent(name, 4, {"day": 4, **usual, **fields})


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({}, 'agent 2 and agents 3, 5 take 1,234.5 from 8; ""'),
        ({"with": None}, 'agent 2 and nobody take 1,234.5 from 8; ""'),
        ({"kept": False}, 'agent 2 and agents 3, 5 take 1,234.5 from 8 and lose it to 2; ""'),
        ({"words": "{agent}\x1b"}, 'agent 2 and agents 3, 5 take 1,234.5 from 8; "{agent}\\u001b"'),
    ],
)
def test_fields_are_shown_by_their_kind_or_in_the_form_that_is_named(
    fields: dict[str, object], line: str
) -> None:
    assert line == SENTENCES.line(event(**fields))


def test_a_case_is_that_of_the_value_and_an_empty_list_is_none() -> None:
    met = EventType(
        "met",
        {"with": shape.AGENTS, "kept": shape.optional(shape.BOOLEAN)},
        text="they meet{with}{kept}",
        cases={"with": if_given(" {with}"), "kept": {True: ", kept", OTHER: ", not kept"}},
    )
    sentences = EventSentences([met], Vocabulary())

    assert "they meet, kept" == sentences.line(RecordedEvent("met", 1, {"with": [], "kept": True}))
    assert "they meet agent 3, not kept" == sentences.line(
        RecordedEvent("met", 1, {"with": [3], "kept": 1})  # 1 is no truth value
    )
