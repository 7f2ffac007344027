"""What participants are shown of each other until the conclusion: the setting `shown`."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from goldrush.agents.llm.parts import quoted
from goldrush.agents.llm.question import Question
from goldrush.agents.worlds.competition.arenas import bench_of
from goldrush.agents.worlds.competition.formats import with_numbers
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.play import SeasonPlay
from goldrush.agents.worlds.competition.prompt import messages, room
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.walk import Walk
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import Move, Part, Phase, Shown
from goldrush.replay.find import open_world
from goldrush.replay.journal.diff import diff
from goldrush.replay.journal.verify import verify
from tests import playing
from tests.kernel.worlds.competition.seasons import (
    ADA,
    ADMIN,
    BEN,
    CLEO,
    THERAPIST,
    Season,
    amend,
    bits,
    challenge,
    given,
    propose,
    silent,
    support,
)
from tests.playing import nk, steps
from tests.seasons import fork

SETTINGS = {"seed": 3, "assignments": 6}


def asked(shown: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[SeasonState, Question]]:
    """Each question of a season to a participant, with the state in which it was asked."""
    found: list[tuple[SeasonState, Question]] = []
    answer = SeasonPlay.answer

    def watched(play: SeasonPlay, question: Question, number: int) -> object:
        if question.name in ("try_", "speak", "stand"):
            found.append((play._state.copy(), question))
        return answer(play, question, number)

    monkeypatch.setattr(SeasonPlay, "answer", watched)
    for _ in steps({**SETTINGS, "arena": nk(), "shown": shown}):
        yield from found
        found.clear()


def seen(season: Season, agent: int) -> SeasonObservation:
    return SeasonObservation(season.state, agent, bench_of(season.state.arena))


def talked(shown: str) -> Season:
    """Ada and Ben propose, Cleo challenges; then Ada amends Ben's, and Ben supports Ada's."""
    lines = [propose(ADA, bits(1)), propose(BEN, bits(2)), challenge(CLEO, 0)]
    season = given(workers=3, arena=nk(), shown=shown).says(*lines)
    return season.says(amend(ADA, 1, bits(3)), support(BEN, 3))


def test_alone_others_are_passes_and_what_follows_from_them_is_left_out() -> None:
    table = seen(talked(Shown.OWN), ADA).table

    moves = [said.move for said in table.contributions]
    assert [Move.PROPOSE, Move.PASS, Move.PASS, Move.AMEND, Move.PASS] == moves
    assert {ADA: 3} == table.stances.by_agent
    assert not table.tests  # nobody can be challenged who is not shown
    assert {ADA} == table.moves.keys()
    assert [None] * 5 == [said.led for said in table.contributions]


def test_alone_the_tests_of_own_claims_are_told_after_the_proof() -> None:
    season = talked(Shown.OWN).to(Phase.STAND)

    assert {(0, Part.BASE), (3, Part.BASE)} == seen(season, ADA).table.tests.keys()


def test_alone_nobody_is_known_to_the_others() -> None:
    """A conduct that another proposed unseen is new, and leaves nobody's impact to a copy."""
    lines = [propose(ADA, bits(1)), propose(BEN, bits(1)), silent(CLEO)]
    found = {}
    for shown in (Shown.ALL, Shown.OWN):
        season = given(workers=3, arena=nk(), shown=shown).says(*lines).closes()
        found[shown] = [season.scored(BEN, "raw")[0], season.scored(ADA, "raw")[2]]

    assert found[Shown.ALL][0] < found[Shown.OWN][0]
    assert found[Shown.ALL][1] > found[Shown.OWN][1]


def test_alone_a_guess_at_what_others_said_is_a_pass() -> None:
    table = seen(talked(Shown.OWN), BEN).table

    assert Move.PASS == table.contributions[4].move
    assert {BEN: 1} == table.stances.by_agent


def test_alone_nothing_that_others_claim_is_in_a_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    questions = 0
    for state, question in asked(Shown.OWN, monkeypatch):
        observation = SeasonObservation(state, question.agent, bench_of(state.arena))
        before = set(state.known_before(state.table))
        own = {said.conduct for said in state.table.contributions if said.agent == question.agent}
        tried = {trial.conduct for trial in state.table.trials if trial.agent == question.agent}
        others = {s.conduct for s in state.table.proposals()} - own - tried - before
        memory = {fact.conduct for facts in observation.me.memory.values() for fact in facts}
        prompt = messages(observation, question.name, question.arguments)[1]["content"]

        assert not set(re.findall("[01]{12}", prompt)) & (others - memory)
        questions += bool(others - memory)

    assert questions > 100


def test_noise_is_the_reasons_of_the_assignment_before(monkeypatch: pytest.MonkeyPatch) -> None:
    replaced = 0
    for state, question in asked(Shown.NOISE, monkeypatch):
        table = SeasonObservation(state, question.agent, bench_of(state.arena)).table
        for real, said in zip(state.table.contributions, table.contributions, strict=True):
            if said.agent == question.agent or not real.text:
                assert real == said
                continue
            texts = [text for move, text in state.reasons if move == said.move]
            assert (said.text in texts, said.because) == (bool(texts), None)
            assert said.text or not texts
            assert (real.move, real.conduct, real.claim) == (said.move, said.conduct, said.claim)
            replaced += bool(texts)

    assert replaced > 100


def test_noise_changes_nothing_for_who_does_not_read(tmp_path: Path) -> None:
    real, noise = tmp_path / "real.journal", tmp_path / "noise.journal"
    settings = {**SETTINGS, "arena": "nk"}
    ours = playing.record(noise, {**settings, "shown": Shown.NOISE})
    theirs = playing.record(real, settings)

    assert theirs.agents == ours.agents
    assert (True, False) == (bool(ours.reasons), bool(theirs.reasons))
    assert verify(noise).holds


@pytest.mark.parametrize(("before", "after"), [("all", "own"), ("noise", "all")])
def test_a_fork_changes_what_is_shown_and_away_from_noise_leaves_no_reasons(
    before: str, after: str, tmp_path: Path
) -> None:
    """Else a later fork back to it would go on from what no digest in between covers."""
    parent, out = tmp_path / "parent.journal", tmp_path / "fork.journal"
    playing.record(parent, {**SETTINGS, "arena": "nk", "shown": before})
    state = fork(parent, 1, out, settings={"shown": after})
    [cause] = diff(parent, out).causes
    with JournalReader(out) as reader:
        world = open_world(reader)
        states = [state.copy() for commit, state in Walk(world, reader) if commit.unit >= 2]

    assert (after, "shown") == (state.config.shown, cause.name)
    assert {False} == {bool(state.reasons) for state in states if state.config.shown == after}
    assert verify(out).holds


def test_after_the_choice_everybody_is_told_the_final_stances() -> None:
    season = talked(Shown.ALL).stands({ADA: 3, BEN: None}).to(Phase.DEBRIEF)
    arguments = {"questions": ["?"], "table": 0}
    prompt = messages(seen(season, CLEO), "answer", arguments)[1]["content"]

    assert 'Final stances: 5 "ada": #3, 6 "ben": none.' in prompt
    assert " leads." not in prompt


def test_numbers_in_what_others_said_are_written_as_numbers() -> None:
    text = with_numbers(quoted("as #1 says: # HEAD \\u00237", 200))

    assert '"as #1 says: \\u0023 HEAD \\\\u00237"' == text


@pytest.mark.parametrize("who", [ADMIN, THERAPIST, CLEO])
def test_the_admin_and_the_therapist_see_everybody_whole_and_are_told(who: int) -> None:
    season = given(workers=3).has(ADA, persona="bold", traits=("calm",)).to(Phase.SET)
    observed = seen(season, who)
    prompt = messages(observed, "interview", {"agent": ADA})[1]["content"]
    ada = observed.people[ADA]

    assert (who != CLEO) == ((ada.persona, ada.traits) == ("bold", ("calm",)))
    assert (who != CLEO) == ('"bold"' in prompt and '"calm"' in prompt)


def test_who_has_earned_more_is_shown_more() -> None:
    shares = [
        room(seen(given().has(ADA, stage=stage, class_=class_).to(Phase.SET), ADA))
        for stage, class_ in ((0, "haiku"), (1, "haiku"), (0, "sonnet"), (1, "sonnet"))
    ]

    assert [1, 2, 2, 3] == shares
