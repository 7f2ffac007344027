"""What workers do, in whole seasons of each arena: claims, trials, challenges, reasons."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import attrs
import pytest

from goldrush.agents.llm.question import Question
from goldrush.agents.worlds.competition.arenas import bench_of, rules_of
from goldrush.agents.worlds.competition.cast import RANDOM, SCRIPTED, cast_of
from goldrush.agents.worlds.competition.formats import DIGITS
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.play import SeasonPlay
from goldrush.agents.worlds.competition.players import configured
from goldrush.agents.worlds.competition.sentences import forms_of, speech
from goldrush.kernel.worlds.competition import events as kinds
from goldrush.kernel.worlds.competition.state import initial
from goldrush.kernel.worlds.competition.terms import Move, Part
from tests.laws.seasons import Step
from tests.playing import events, mining, nk, steps

ASSIGNMENTS = {"mining": 8, "nk": 20}
CONDUCTS = (Move.PROPOSE, Move.AMEND)


@attrs.frozen
class Turn:
    """What a worker saw when it was asked, and what it answered."""

    seen: SeasonObservation
    did: Any

    @property
    def table(self) -> Any:
        return self.seen.table

    def own(self, conduct: Any) -> list[float]:
        """What its own trials of a conduct gave, for the subject."""
        return [
            trial.value
            for trial in self.table.trials
            if (trial.conduct, trial.treatment) == (conduct, self.table.treatment)
            and trial.value is not None
        ]


@attrs.frozen
class Played:
    """A season, and the turns of its workers by the question."""

    steps: list[Step]
    turns: Mapping[str, list[Turn]]

    def that(self, *moves: str) -> list[Turn]:
        """Turns in which one of these moves was made."""
        found = [turn for turn in self.turns["speak"] if turn.did["move"] in moves]
        assert found
        return found


Play = Callable[[str, str], Played]


@pytest.fixture(scope="module")
def play() -> Play:
    """Plays a season in an arena by a cast, once for all tests."""
    return cache(season)


def season(arena: str, policy: str) -> Played:
    turns = {name: list[Turn]() for name in ("speak", "try_", "stand")}
    record, scripted = {"mining": mining, "nk": nk}[arena](), SeasonPlay.answer
    bench = bench_of(record)

    def watched(play: SeasonPlay, asked: Question, number: int) -> Any:
        did = scripted(play, asked, number)
        if asked.name in turns:
            was = SeasonObservation(play._state.copy(), asked.agent, bench)
            turns[asked.name].append(Turn(was, did))
        return did

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SeasonPlay, "answer", watched)
        settings = {"seed": 1, "assignments": ASSIGNMENTS[arena], "arena": record}
        return Played(list(steps(settings, cast_of(6, [policy]))), turns)


arenas = pytest.mark.parametrize("arena", ASSIGNMENTS)
casts = pytest.mark.parametrize("policy", [SCRIPTED, RANDOM])


@casts
@arenas
def test_nothing_that_anybody_does_is_refused(play: Play, arena: str, policy: str) -> None:
    assert [] == [no for step in play(arena, policy).steps for no in events(step, kinds.Refused)]


@arenas
def test_what_is_kept_of_the_trials_is_spent_beside_the_best_that_was_heard(
    play: Play, arena: str
) -> None:
    near = total = 0
    for turn in play(arena, SCRIPTED).turns["try_"]:
        if turn.did is None or turn.seen.is_early:
            continue
        heard = [said for said in turn.table.proposals() if said.agent != turn.seen.me.ordinal]

        assert turn.table.round > 0 or not turn.table.proposals()
        if not heard:
            continue
        distances = [turn.seen.rules.distance(turn.did["conduct"], h.conduct) for h in heard]
        near, total = near + (min(distances) <= 1), total + 1

    assert near > total / 3


@arenas
def test_a_claim_is_better_than_the_bar_and_never_beyond_what_trials_gave(
    play: Play, arena: str
) -> None:
    for turn in play(arena, SCRIPTED).that(*CONDUCTS):
        claim, _ = turn.did["claim"]
        own, subject = turn.own(turn.did["conduct"]), turn.table.subject

        assert subject.holds(sum(own) / len(own), claim)
        assert subject.beats(claim, turn.table.bar)
        assert round(claim, DIGITS) == claim


@arenas
def test_nobody_challenges_what_its_own_trials_confirm(play: Play, arena: str) -> None:
    for turn in play(arena, SCRIPTED).that(Move.CHALLENGE):
        target = turn.table.contributions[turn.did["target"]]
        own = turn.own(target.conduct)

        assert not own or not turn.table.subject.holds(sum(own) / len(own), target.claimed)
        assert (target.id, Part.BASE) not in turn.table.tests


@arenas
def test_reasons_are_earlier_contributions_that_the_words_name(play: Play, arena: str) -> None:
    for turn in play(arena, SCRIPTED).turns["speak"]:
        ids, is_own = turn.did["because"]

        assert all(0 <= id < len(turn.table.contributions) for id in ids)
        assert {str(id) for id in ids} <= set(re.findall(r"#(\d+)\b", turn.did["words"]))
        assert not is_own or turn.table.trials


@arenas
def test_workers_stand_by_the_best_tested_their_own_among_equals_then_the_lowest_id(
    play: Play, arena: str
) -> None:
    for turn in play(arena, SCRIPTED).turns["stand"]:
        table, me = turn.table, turn.seen.me.ordinal
        tested = {said.id: table.tests[said.id, Part.BASE] for said in table.unrefuted()}
        best = [id for id in tested if tested[id] == table.subject.best(tested.values())]
        own = [id for id in best if table.contributions[id].agent == me]

        assert min(own or best) == turn.did["target"]


def test_random_workers_stand_by_any_that_hold_or_none_and_the_silent_never(play: Play) -> None:
    places = set()
    for turn in play("nk", RANDOM).turns["stand"]:
        ids = [None, *(said.id for said in turn.table.unrefuted())]
        places.add(ids.index(turn.did["target"]))
    played = steps({"arena": nk(), "assignments": 2}, cast_of(6, ["ada=silent"]))

    assert {0, 1, 2} <= places
    assert set(range(6, 11)) == {row.agent for step in played for row in events(step, kinds.Stood)}


@pytest.mark.parametrize("arena", ["nk", "mining[seeds=4]"])
def test_the_agenda_takes_each_family_once_a_turn_in_a_drawn_order(arena: str) -> None:
    orders = set()
    for seed in range(5):
        config = configured({"seed": seed, "arena": arena, "assignments": 40})
        setup = {"config": config.as_dict(), "cast": [seat.as_dict() for seat in cast_of(6)]}
        seen = SeasonObservation(initial(setup, rules_of(config.arena)), 0, bench_of(config.arena))
        families = config.arena.families
        size = len(families)
        for turn in range(3):
            agenda = [seen.agenda(turn * size + index) for index in range(size)]
            orders.add(tuple(subject.family for subject in agenda))

            assert sorted(s.key for s in agenda) == sorted(f[turn % len(f)].key for f in families)

    assert len(orders) > 5


# What they say.

VALUES = dict.fromkeys(
    ("conduct", "value", "trials", "bar", "margin", "claim", "target", "targeted", "shown", "by",
     "other", "others", "claimed", "nothing"), "7",
)  # fmt: skip
FORMS = [id for id, text in speech.formats.items() if "\n" in text]
# Where less is better, they would say the opposite.
ONE_WAY = re.compile(r"\b(above|below|higher?|lower|more|less|least|most|exceeds?|short of)\b")


@pytest.mark.parametrize("id", FORMS)
def test_each_form_has_only_values_that_sentences_have(id: str) -> None:
    for part in forms_of(id):
        assert len(set(part)) == len(part)
        for form in part:
            assert not set("{}") & set(form.format(**VALUES))
            assert ONE_WAY.search(form.replace("less good", "")) is None
