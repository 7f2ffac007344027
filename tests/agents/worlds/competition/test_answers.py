"""Answers from outside in the journal: found again whatever the order in which they came."""

import random

from hypothesis import given
from hypothesis import strategies as st

from goldrush.agents.llm.question import Answer, Question
from goldrush.agents.session import row_of
from goldrush.agents.worlds.competition.arenas import opened_tests, rules_of
from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.competition.check import Repeated
from goldrush.agents.worlds.competition.play import ANSWERED, SeasonPlay
from goldrush.agents.worlds.competition.players import configured, prepared
from goldrush.agents.worlds.competition.script import Scripts
from goldrush.kernel.world import Block
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


questions = st.builds(
    question, st.integers(0, 3), st.sampled_from(("try_", "rate")), st.sampled_from("abc")
)
answered = st.lists(st.tuples(questions, st.text(max_size=3)), min_size=1, max_size=6)


@given(answered, st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(
    pairs: list[tuple[Question, str]], chance: random.Random
) -> None:
    rows = [row_of(PLAY, asked, Answer(0, text=text)) for asked, text in pairs]
    shuffled = chance.sample(rows, len(rows))
    blocks = [
        Block([(ANSWERED, some), (ADOPTED[0], [ADOPTED[1]]), (ANSWERED, rows[:1])])
        for some in (rows, shuffled)
    ]

    assert arrange(blocks[0]).packed == arrange(blocks[1]).packed
    assert sorted(map(repr, acts_in(blocks[1].batches))) == sorted(
        map(repr, acts_in(arrange(blocks[1]).batches))
    )


def test_a_debrief_without_answers_is_asked_again_as_older_seasons_recorded_it() -> None:
    scripts = Repeated(opened_tests(nk()))
    scripts.read([(CODES[Debriefed], tuple(Debriefed(0, 5, ("Why?",), (), False)))])

    assert [(), ("",)] == [scripts.paired(asked, ()) for asked in (("Why?",), ("How?",))]
