"""What workers do, in whole seasons of each arena: claims, trials, challenges, reasons."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush.agents.worlds.competition import worker
from goldrush.agents.worlds.competition.arenas import bench_of, rules_of
from goldrush.agents.worlds.competition.cast import RANDOM, SCRIPTED, cast_of
from goldrush.agents.worlds.competition.formats import DIGITS
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.players import configured
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.competition import events as kinds
from goldrush.kernel.worlds.competition.state import initial
from goldrush.kernel.worlds.competition.terms import Move, Part, Phase
from tests.journals import events_of
from tests.laws.seasons import Step
from tests.playing import events, mining, nk, steps
from tests.seasons import kept

ASSIGNMENTS = {"mining": 12, "nk": 30, "command": 6}
# The value of a text is the number of its characters that are an e, give or take.
GRADER = """#!/bin/sh
read -r text
only=$(printf %s "$text" | tr -cd e)
printf '{"value": %s.%s}' "${#only}" "$(($1 % 7))"
"""
AGENDA = """[[subject]]
treatment = "short"
objective = "letters"
better = "up"
task = "Write."
start = "the bee sees eleven trees"
"""
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
    """A season, and the turns of its workers."""

    steps: list[Step]
    spoke: list[Turn]
    tried: list[Turn]
    stood: list[Turn]

    def that(self, *moves: str) -> list[Turn]:
        """Turns in which one of these moves was made."""
        found = [turn for turn in self.spoke if turn.did["move"] in moves]
        assert found
        return found


Play = Callable[[str, str], Played]


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Play:
    """Plays a season in an arena by a cast, once for all tests."""
    played: dict[tuple[str, str], Played] = {}
    folder = tmp_path_factory.mktemp("command")

    def play_(arena: str, policy: str) -> Played:
        if (arena, policy) not in played:
            played[arena, policy] = season(arena, policy, folder)
        return played[arena, policy]

    return play_


def season(arena: str, policy: str, folder: Path) -> Played:
    program = command(folder) if arena == "command" else None
    found = Played([], [], [], [])
    base = {SCRIPTED: worker.Worker, RANDOM: worker.RandomWorker}[policy]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "speak", watched(base.speak, found.spoke))
        patch.setattr(base, "try_", watched(base.try_, found.tried))
        patch.setattr(base, "stand", watched(base.stand, found.stood))
        settings = {
            "seed": 1,
            "assignments": ASSIGNMENTS[arena],
            "arena": {"mining": mining, "nk": nk}[arena]()
            if program is None
            else f"command[agenda={folder / 'agenda.toml'};seeds=2]",
        }
        found.steps.extend(steps(settings, cast_of(6, [policy]), program=program))
    return found


def command(folder: Path) -> str:
    """The path of a program that grades, with an agenda beside it."""
    (folder / "agenda.toml").write_text(AGENDA)
    grader = folder / "grade"
    grader.write_text(GRADER)
    grader.chmod(0o755)
    return str(grader)


def watched(method: Any, turns: list[Turn]) -> Any:
    def answer(self: Any, seen: SeasonObservation, draws: Draws) -> Any:
        was = SeasonObservation(seen._state.copy(), seen.me.ordinal, seen._bench)
        turns.append(Turn(was, method(self, seen, draws)))
        return turns[-1].did

    return answer


arenas = pytest.mark.parametrize("arena", ASSIGNMENTS)
casts = pytest.mark.parametrize("policy", [SCRIPTED, RANDOM])


@casts
@arenas
def test_nothing_that_anybody_does_is_refused(play: Play, arena: str, policy: str) -> None:
    assert [] == [no for step in play(arena, policy).steps for no in events(step, kinds.Refused)]


@casts
@arenas
def test_at_most_half_of_the_trials_are_ordered_before_the_talk(
    play: Play, arena: str, policy: str
) -> None:
    found = play(arena, policy)
    kept_back = False
    for step in found.steps:
        ordered = [trial.agent for trial in events(step, kinds.Tried)]
        for agent in ordered:
            most = step.before.config.trials_of(step.before.agents[agent].class_)
            count = step.after.tried[agent]

            assert count.early <= (most + 1) // 2
            assert count.count <= most
        kept_back |= bool(ordered) and step.before.phase == Phase.SPEAK

    assert kept_back


def test_trials_are_kept_for_the_tables_that_come_after() -> None:
    season = events_of(kept("rich"))
    twice = {e["assignment"] for e in season if e.name == "assignment_opened" and e["subjects"][1:]}
    scripted = set(range(7, 11))  # ada and ben play random, and so do who came after them
    sat = {
        (e["assignment"], e["table"], agent)
        for e in season
        if e.name == "roundtable_opened" and e["assignment"] in twice
        for agent in scripted.intersection(e["participants"])
    }
    ordered = {(e["assignment"], e["table"], e["agent"]) for e in season if e.name == "tried"}

    assert {0, 1} == {table for _, table, _ in sat}
    assert sat <= ordered


def test_an_interview_has_an_answer_to_each_question() -> None:
    season = events_of(kept("rich"))
    interviews = [e for e in season if e.name == "interviewed" and e["agent"] not in (5, 6)]

    assert interviews
    for event in interviews:
        assert len(event["questions"]) == len(set(event["answers"])) == 2


@arenas
def test_what_is_kept_of_the_trials_is_spent_beside_the_best_that_was_heard(
    play: Play, arena: str
) -> None:
    near = total = 0
    for turn in play(arena, SCRIPTED).tried:
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
def test_a_claim_is_rounded_to_the_safe_side_and_never_beyond_what_trials_gave(
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
    challenges = [t for t in play(arena, SCRIPTED).spoke if t.did["move"] == Move.CHALLENGE]
    assert challenges or arena == "command"
    for turn in challenges:
        target = turn.table.contributions[turn.did["target"]]
        own = turn.own(target.conduct)

        assert not own or not turn.table.subject.holds(sum(own) / len(own), target.claimed)
        assert (target.id, Part.BASE) not in turn.table.tests


@arenas
def test_reasons_are_earlier_contributions_that_the_words_name(play: Play, arena: str) -> None:
    for turn in play(arena, SCRIPTED).spoke:
        ids, is_own = turn.did["because"]

        assert all(0 <= id < len(turn.table.contributions) for id in ids)
        assert {str(id) for id in ids} <= set(re.findall(r"#(\d+)\b", turn.did["words"]))
        assert not is_own or turn.table.trials


@casts
@arenas
def test_all_who_sat_are_asked_where_they_stand_before_anybody_answered(
    play: Play, arena: str, policy: str
) -> None:
    asked: dict[tuple[int, int], list[int]] = {}
    seats = {}
    for turn in play(arena, policy).stood:
        key = turn.seen.assignment, turn.table.number
        asked.setdefault(key, []).append(turn.seen.me.ordinal)
        seats[key] = list(turn.table.participants)

        assert ({}, []) == (turn.table.stood, turn.table.untested())

    assert seats
    assert seats == asked


@arenas
def test_workers_stand_by_the_best_tested_their_own_among_equals_then_the_lowest_id(
    play: Play, arena: str
) -> None:
    for turn in play(arena, SCRIPTED).stood:
        table, me = turn.table, turn.seen.me.ordinal
        tested = {said.id: table.tests[said.id, Part.BASE] for said in table.unrefuted()}
        best = [id for id in tested if tested[id] == table.subject.best(tested.values())]
        own = [id for id in best if table.contributions[id].agent == me]

        assert min(own or best) == turn.did["target"]


def test_random_workers_stand_by_any_that_hold_or_none(play: Play) -> None:
    places = set()
    for turn in play("nk", RANDOM).stood:
        ids = [None, *(said.id for said in turn.table.unrefuted())]
        places.add(ids.index(turn.did["target"]))

    assert {0, 1, 2} <= places


def test_the_silent_have_no_final_stance() -> None:
    played = list(steps({"arena": nk(), "assignments": 4}, cast_of(6, ["ada=silent"])))
    stood = [row for step in played for row in events(step, kinds.Stood)]

    assert set(range(6, 11)) == {row.agent for row in stood}


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


@arenas
def test_trials_do_not_use_the_seeds_of_tests(play: Play, arena: str) -> None:
    found = play(arena, SCRIPTED).steps
    trials = {run[0] for step in found for row in events(step, kinds.Tried) for run in row.runs}
    tests = {run[0] for step in found for row in events(step, kinds.Tested) for run in row.runs}

    assert max(trials) < 2**52 <= min(tests) <= max(tests) < 2**53
