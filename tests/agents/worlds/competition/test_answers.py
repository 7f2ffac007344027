"""Answers from outside in the journal: found again whatever the order in which they came."""

import random
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from goldrush.agents.llm.question import Answer, Question
from goldrush.agents.session import RecordedAnswers, row_again, row_of
from goldrush.agents.worlds.competition.arenas import opened_tests, rules_of
from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.competition.check import Repeated
from goldrush.agents.worlds.competition.play import ANSWERED, SeasonPlay
from goldrush.agents.worlds.competition.players import configured, prepared
from goldrush.agents.worlds.competition.script import Scripts
from goldrush.kernel.world import Block, Row
from goldrush.kernel.worlds.competition import arrange
from goldrush.kernel.worlds.competition.events import CODES, Adopted, Debriefed
from goldrush.kernel.worlds.competition.evolve import acts_in
from goldrush.kernel.worlds.competition.state import initial
from tests.playing import nk

START = prepared(configured({"arena": nk(), "workers": 3}), cast_of(3)).setup
PLAY = SeasonPlay(initial(START, rules_of(nk())), Scripts(opened_tests(nk())))
ADOPTED = (CODES[Adopted], tuple(Adopted(0, True)))


def question(agent: int, name: str, says: str) -> Question:
    return Question(agent, name, messages=({"role": "user", "content": says},))


def row_by_hand(asked: Question, text: str) -> Row:
    """What a person answered."""
    return row_of(PLAY, asked, Answer(0, text=text))


questions = st.builds(
    question, st.integers(0, 3), st.sampled_from(("try_", "rate")), st.sampled_from("abc")
)
answered = st.lists(st.tuples(questions, st.text(max_size=3)), min_size=1, max_size=6)


def rows_of(pairs: Sequence[tuple[Question, str]]) -> list[Row]:
    return [row_by_hand(asked, text) for asked, text in pairs]


@given(answered, st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(
    pairs: list[tuple[Question, str]], chance: random.Random
) -> None:
    rows = rows_of(pairs)
    shuffled = chance.sample(rows, len(rows))
    blocks = [
        Block([(ANSWERED, some), (ADOPTED[0], [ADOPTED[1]]), (ANSWERED, rows[:1])])
        for some in (rows, shuffled)
    ]

    assert arrange(blocks[0]).packed == arrange(blocks[1]).packed
    assert sorted(map(repr, acts_in(blocks[1].batches))) == sorted(
        map(repr, acts_in(arrange(blocks[1]).batches))
    )


@given(answered, st.randoms(use_true_random=False))
def test_each_question_finds_an_answer_to_its_own_words_and_each_answer_is_taken_once(
    pairs: list[tuple[Question, str]], chance: random.Random
) -> None:
    rows = rows_of(pairs)
    recorded = RecordedAnswers(chance.sample(rows, len(rows)), PLAY.answer_in)
    asked = {at: one for at, (one, _) in enumerate(pairs)}
    found = recorded.take(asked)

    assert sorted(map(repr, rows)) == sorted(map(repr, found.values()))
    assert all(row_again(PLAY, asked[at], row) == row for at, row in found.items())
    assert {} == recorded.take(asked)


def test_what_was_answered_to_other_words_is_found_and_shows() -> None:
    asked, other = question(1, "rate", "a"), question(1, "rate", "b")
    row = row_by_hand(other, "{}")
    recorded = RecordedAnswers([row], PLAY.answer_in)

    assert {0: row} == recorded.take({0: asked})
    assert row != row_again(PLAY, asked, row)


def test_a_debrief_without_answers_is_asked_again_as_older_seasons_recorded_it() -> None:
    scripts = Repeated(opened_tests(nk()))
    scripts.read([(CODES[Debriefed], tuple(Debriefed(0, 5, ("Why?",), (), False)))])

    assert [(), ("",)] == [scripts.paired(asked, ()) for asked in (("Why?",), ("How?",))]


def test_nobody_elses_answer_counts() -> None:
    recorded = RecordedAnswers([row_by_hand(question(1, "rate", "a"), "{}")], PLAY.answer_in)

    assert {} == recorded.take({0: question(2, "rate", "a"), 1: question(1, "try_", "a")})
    assert (2, "rate", "", None) == row_again(PLAY, question(2, "rate", "a"), None)
