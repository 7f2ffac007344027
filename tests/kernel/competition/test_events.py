"""The events of a season, the codes of what is refused, its setup and its settings
(kernel/competition/README.md 2 and 10).
"""

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from goldrush.agents.competition.cast import cast_of
from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.competition import COMPETITION
from goldrush.kernel.competition.config import config_of
from goldrush.kernel.competition.events import (
    ANSWERED,
    CODES,
    CONTRACT_SIGNED,
    EVENTS,
    FATE_CHOSEN,
    RATED,
    SAID,
    SCORED,
    SPOKE,
)
from goldrush.kernel.competition.state import DEBRIEF, IMPROVE, SPEAK
from goldrush.kernel.errors import BadInput
from goldrush.kernel.fold import faults
from goldrush.kernel.world import Block
from tests.kernel.competition.seasons import (
    ADA,
    ADMIN,
    BASELINE,
    BEN,
    FALSE,
    MINERS,
    RAIDERS,
    TRUCE,
    Season,
    challenge,
    given,
    opened,
    propose,
    reviewed,
    silent,
    support,
)

INPUTS = {
    "answered": "who asked answer source",
    "project_proposed": "by subject",
    "project_reviewed": "approved",
    "class_moved": "agent class allowed",
    "team_recommended": "team",
    "assignment_opened": "by day project subjects directive",
    "table_set": "table by team order rounds",
    "tested": "table at part conduct treatment value runs",
    "spoke": "table round id agent move target conduct claim part words source",
    "judged": "table round signal ids reason",
    "digested": "table text dissent rejected",
    "adopted": "table adopted",
    "debriefed": "table agent questions answers extra",
    "trait_recorded": "agent trait from",
    "persona_proposed": "agent persona taken",
    "skill_distilled": "agent skill taken",
    "instructions_rewritten": "agent before after taken",
    "rated": "table agent raw reasons",
    "fate_chosen": "agent fate",
    "interviewed": "agent questions answers",
    "contract_offered": "agent conditions target due",
    "contract_reviewed": "agent approved terms taken",
    "condition_kept": "agent condition kept",
}
DERIVED = {
    "roundtable_opened": "table participants order words rounds",
    "refused": "who act code",
    "concluded": "table proposal conduct stances tied words",
    "scored": "table agent raw steps final total",
    "sparks_moved": "table agent amount balance why",
    "leaderboard_posted": "rows",
    "bottomed": "table agent tied words streak",
    "elimination_faced": "agent cause",
    "relegated": "agent",
    "returned": "agent for",
    "deleted": "agent",
    "joined": "ordinal name inherits",
    "contract_signed": "agent terms",
    "contract_settled": "agent outcome",
    "reward_unlocked": "agent reward",
    "stage_reached": "agent stage",
    "project_completed": "project",
}


@pytest.mark.parametrize(("is_input", "expected"), [(True, INPUTS), (False, DERIVED)])
def test_events_and_their_fields_are_those_of_the_page(
    is_input: bool, expected: dict[str, str]
) -> None:
    found = {e.name: " ".join(e.fields) for e in EVENTS if e.is_input is is_input}

    assert expected == found


# Codes


REFUSALS: dict[str, Callable[[], Season]] = {
    "stage/not-yet": lambda: given().does(opened(ADA)),
    "move/none-left": lambda: out_of_turn(given(moves=1).says(propose(ADA)).judges("clean")),
    "move/unknown-target": lambda: given().says(support(ADA, 0)),
    "move/own": lambda: given().says(propose(ADA)).judges("clean").says(support(ADA, 0)),
    "move/repeated": lambda: (
        given().says(propose(ADA), support(BEN, 0)).judges("clean").says(support(BEN, 0))
    ),
    "move/refuted": lambda: (
        given()
        .worth({MINERS: FALSE})
        .says(propose(ADA), challenge(BEN, 0))
        .judges("clean")
        .says(support(BEN, 0))
    ),
    "conduct/not-canonical": lambda: given().says(propose(ADA, ("mine", "raid", 0, BASELINE))),
    "claim/vacuous": lambda: given().says(propose(ADA, MINERS, 0.4)),
    "signal/not-converged": lambda: given().judges("converged"),
    "team/too-small": lambda: given().does(opened(team=(ADA, BEN))),
    "fate/not-faced": lambda: given().does((FATE_CHOSEN, (ADA, "deletion"))),
    "score/final": lambda: given().closes().does((RATED, (0, ADA, (3, 3, 3, 3), ("", "", "", "")))),
    "contract/not-offered": lambda: given().does(reviewed(ADA)),
    "act/malformed": lambda: given().does(opened(ADMIN, "gold")),
}


def out_of_turn(season: Season) -> Season:
    """Ada, who has spent her moves, speaks all the same."""
    return season.does(season.spoke(propose(ADA, RAIDERS)))


def test_every_code_is_given() -> None:
    assert set(CODES) == set(REFUSALS)


@pytest.mark.parametrize("code", CODES)
def test_a_refusal_has_its_code_and_changes_nothing_else(code: str) -> None:
    season = REFUSALS[code]()

    assert [code] == season.codes
    assert ["refused"] == [e["event"] for e in season.followed() if e["event"] == "refused"]


def test_a_refusal_names_its_author_and_the_place_of_the_act() -> None:
    season = given().does(opened(ADA), opened(), opened(BEN))

    refused = season.followed("refused")

    assert [(ADA, 0), (BEN, 2)] == [(event["who"], event["act"]["place"]) for event in refused]


def test_the_act_of_an_office_is_refused_to_who_holds_it() -> None:
    season = given().to(SPEAK)

    season.does(
        season.judged("clean"), (RATED, (0, ADA, (), ())), reviewed(ADA), season.tested(value=1)
    )

    assert [2, 3, 4, 4] == [event["who"] for event in season.followed("refused")]


def test_what_a_model_answered_is_recorded_and_changes_nothing() -> None:
    season = given().to(SPEAK)

    season.does((ANSWERED, (ADA, "what now?", "propose!", None)), season.spoke(silent(ADA)))

    assert ([], 1) == (season.codes, len(season.table.said))


def nested(lists: int) -> Any:
    """So many lists, each in the next."""
    return () if lists == 1 else (nested(lists - 1),)


@pytest.mark.parametrize(
    ("value", "is_plain"),
    [
        (None, True), (True, True), (1.5, True), (1, True), ("text", True), ((), True),
        ((1, ("a", (None,))), True), (1.0, False), (float("nan"), False), (float("inf"), False),
        ([1], False), ({}, False), (b"", False), ("x" * 10_000, True), ("x" * 10_001, False),
        (nested(5), True), (nested(6), False), ((1,) * 10_000, True),
        ((1,) * 10_001, False),
    ],
)  # fmt: skip
def test_what_is_said_are_plain_values_in_lists(value: Any, is_plain: bool) -> None:
    assert is_plain is SAID.holds(value)


def test_what_is_said_is_shown_as_lists() -> None:
    assert [1, ["a", [None]]] == SAID.show((1, ("a", (None,))))


@pytest.mark.parametrize(
    "row",
    [
        (0, ADA, (1, 1, 1, 1), (("luck", "novelty", 1, 2),), (1, 1, 1, 1), 4),
        (0, ADA, (1, 1, 1, 1), (("relative", "charm", 1, 2),), (1, 1, 1, 1), 4),
        (0, ADA, (1, 1, 1, 1), (("relative", "novelty", 1),), (1, 1, 1, 1), 4),
        (0, ADA, (1, 1, 1, 1), (("relative", "novelty", -1, 2),), (1, 1, 1, 1), 4),
        (0, ADA, (1, 1, 1, -1), (), (1, 1, 1, 1), 4),
    ],
)
def test_a_row_of_other_values_has_a_fault(row: Any) -> None:
    right = (0, ADA, (1, 1, 1, 1), (("relative", "novelty", 1, 2),), (2, 1, 1, 1), 5)

    assert None is EVENTS[SCORED].fault(right)
    assert None is not EVENTS[SCORED].fault(row)


@pytest.mark.parametrize(
    ("terms", "is_right"),
    [
        (((("seat", None), ("objective", "gini")), 1.5, 9), True),
        (((), 0, 9), True),
        (((("gold", None),), 0, 9), False),
        (((("seat", 1),), 0, 9), False),
        (((), None, 9), False),
        (((), 0, -1), False),
        (((), 0), False),
        (None, False),
    ],
)
def test_a_contract_signed_has_terms(terms: Any, is_right: bool) -> None:
    assert is_right is (EVENTS[CONTRACT_SIGNED].fault((ADA, terms)) is None)


def test_the_acts_of_a_whole_season_are_without_faults() -> None:
    season = given().worth({MINERS: FALSE}).to(SPEAK)

    inputs = Block([(SPOKE, [season.spoke(propose(ADA, RAIDERS, 0.7, TRUCE))[1]])])

    assert [] == list(
        faults(COMPETITION, [inputs, Block(COMPETITION.decide(season.state, inputs))])
    )


# Settings


def test_settings_have_the_defaults_of_the_page() -> None:
    assert {
        "seed": 0, "assignments": 40, "assignments_per_day": 2, "assignments_per_project": 5,
        "workers": 6, "moves": 3, "moves_expanded": 5, "rounds_max": 5, "scoring": "relative",
        "rolling_days": 7, "sparks_start": 8, "entry_fee": (4, 5), "passive_income": 2,
        "elimination_bottoms": 3, "worker_tiers": (5, 10, 20, 25), "admin_projects": 3,
        "assistant_stages": (5, 10, 20, 30), "judge_stages": (5, 15, 30),
        "therapist_stages": (5, 15, 30), "test_agents": 10, "test_rounds": 100, "test_seeds": 5,
    } == config_of({}).as_dict()  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("workers", 2), ("workers", 1_001), ("workers", True), ("scoring", "fair"),
        ("entry_fee", (5, 4)), ("entry_fee", (4,)), ("entry_fee", 4), ("assignments", 0),
        ("worker_tiers", (1, 2, 3)), ("judge_stages", (3, 2, 1)), ("elimination_bottoms", 0),
        ("rolling_days", 0), ("moves", 0), ("rounds_max", 21), ("test_seeds", 0), ("luck", 1),
        ("assignments_per_day", 0), ("seed", -1), ("sparks_start", -1),
    ],
)  # fmt: skip
def test_a_setting_out_of_range_is_refused(name: str, value: Any) -> None:
    with pytest.raises(BadInput, match=name):
        config_of({name: value})


def test_days_and_projects_are_counted_from_nothing() -> None:
    config = config_of({"assignments_per_day": 2, "assignments_per_project": 3})

    assert [0, 0, 1, 1, 2, 2, 3] == [config.day(n) for n in range(7)]
    assert [0, 0, 0, 1, 1, 1, 2] == [config.project(n) for n in range(7)]
    assert [2, 5] == [n for n in range(7) if config.is_last_of_project(n)]


# The cast


def broken(change: Callable[[list[dict[str, Any]]], object]) -> Any:
    cast = cast_of(3)
    change(cast)
    return cast


@pytest.mark.parametrize(
    "cast",
    [
        None,
        [],
        broken(lambda cast: cast.pop()),
        broken(lambda cast: cast.append(dict(cast[-1], ordinal=8, name="dov"))),
        broken(lambda cast: cast[7].update(name="ben")),
        broken(lambda cast: cast[7].update(name="")),
        broken(lambda cast: cast[7].update(name="c\n")),
        broken(lambda cast: cast[7].update(name="x" * 61)),
        broken(lambda cast: cast[7].update(name=7)),
        broken(lambda cast: cast[7].update(ordinal=8)),
        broken(lambda cast: cast[7].update(role="king")),
        broken(lambda cast: cast[7].update(role="judge")),
        broken(lambda cast: cast[7].update(policy=None)),
        broken(lambda cast: cast[7].update(options={"a": [1]})),
        broken(lambda cast: cast[7].update(age=7)),
        broken(lambda cast: cast[2].update(role="worker")),
        [*cast_of(3)[:7], "cleo"],
    ],
)
def test_a_cast_that_is_not_whole_is_refused(cast: Any) -> None:
    config = config_of({"workers": 3}).as_dict()

    with pytest.raises(BadInput):
        COMPETITION.initial({"config": config, "cast": cast})


def test_a_setup_has_every_setting_in_order() -> None:
    config = config_of({"workers": 3}).as_dict()

    for setup in (
        {"config": dict(reversed(config.items())), "cast": cast_of(3)},
        {"config": {"workers": 3}, "cast": cast_of(3)},
        {"cast": cast_of(3), "config": config},
    ):
        with pytest.raises(BadInput):
            COMPETITION.initial(setup)


def test_everybody_begins_at_the_beginning() -> None:
    season = given(sparks_start=8)

    found = {a.name: (a.stage, a.sparks, a.class_) for a in season.state.agents.values()}

    assert {
        "admin": (0, 0, "haiku"), "assistant": (1, 0, "haiku"), "judge": (1, 0, "haiku"),
        "therapist": (1, 0, "haiku"), "user": (0, 0, "haiku"), "ada": (0, 8, "haiku"),
        "ben": (0, 8, "haiku"), "cleo": (0, 8, "haiku"),
    } == found  # fmt: skip


# Forks


def forked(season: Season, **facts: Any) -> Any:
    whole = {"parent": "ab" * 32, "changes": {}, "cast": None, "replaced": []} | facts
    assert COMPETITION.fork is not None
    return COMPETITION.fork(season.state, whole, lambda first: ())


def row(table: int = 0, round: int = 0, agent: int = ADA) -> Any:
    return (table, round, 0, agent, "pass", None, None, None, None, "", None)


def test_a_fork_goes_on_under_other_settings() -> None:
    state = forked(given().closes(), changes={"assignments": 1, "moves": 5})

    assert (5, 1, 3) == (state.config.moves, state.config.assignments, state.config.workers)


def test_a_fork_gives_other_policies() -> None:
    cast = [{"ordinal": n, "policy": f"p:{n}", "options": {"n": n}} for n in range(8)]

    state = forked(given(), cast=cast)

    assert [f"p:{n}" for n in range(8)] == [a.policy for a in state.agents.values()]
    assert {"n": 5} == state.agents[ADA].options


def test_a_fork_replaces_contributions_that_are_still_to_come() -> None:
    replaced = [(1, row()), (1, row(round=1)), (2, row(agent=BEN))]

    assert 1 == forked(given().closes(), replaced=replaced).assignment
    assert COMPETITION.show_fork(
        {"parent": "ab" * 32, "changes": {}, "cast": None, "replaced": replaced}
    )["replaced"] == [[1, ADA], [1, ADA], [2, BEN]]


@pytest.mark.parametrize(
    "facts",
    [
        {"parent": "ab"},
        {"parent": "AB" * 32},
        {"parent": None},
        {"changes": {"workers": 4}},
        {"changes": {"luck": 4}},
        {"changes": {"moves": 3}},  # as it was
        {"changes": {"moves": 0}},
        {"changes": {"rounds_max": 4, "moves": 4}},  # in another order than the settings
        {"cast": []},
        {"cast": [{"ordinal": 0, "policy": "p"}]},
        {"cast": [{"ordinal": "0", "policy": "p", "options": {}}]},
        {"replaced": [(0, row())]},  # played already
        {"replaced": [(40, row())]},
        {"replaced": [(1, row()), (1, row())]},
        {"replaced": [(2, row()), (1, row())]},
        {"replaced": [(1, row()[:-1])]},
        {"replaced": [("1", row())]},
        {"extra": 1},
    ],
)
def test_what_a_fork_cannot_change_is_refused(facts: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        forked(given().closes(), **facts)


def test_a_fork_has_no_fewer_assignments_than_are_played() -> None:
    with pytest.raises(BadInput, match="assignments"):
        forked(given().closes(2), changes={"assignments": 1})


# The state


def test_a_state_frozen_and_thawed_is_the_same() -> None:
    season = given(worker_tiers=(0, 0, 0, 0), judge_stages=(0, 0, 0)).closes()
    season.says(propose(ADA)).signs(ADA, (("seat", None),), 1, 9).closes()
    assert COMPETITION.freeze is not None
    assert COMPETITION.thaw is not None

    frozen = unpack(pack(COMPETITION.freeze(season.state)))
    thawed = COMPETITION.thaw(frozen, lambda first: ())

    assert attrs.asdict(season.state) == attrs.asdict(thawed)
    assert COMPETITION.digest(season.state) == COMPETITION.digest(thawed)


def test_the_digest_covers_what_lasts() -> None:
    digests = {
        COMPETITION.digest(season.state)
        for season in (
            given(),
            given(seed=1),
            given().has(ADA, sparks=1),
            given().has(ADA, traits=("calm",)),
            given().has(ADA, memory=({"kind": "skill"},)),
            given().has(ADA, interview_from=1),
            given().closes(),
        )
    }

    assert 7 == len(digests)


def test_a_step_is_counted_within_its_assignment() -> None:
    season = given().to(DEBRIEF)

    assert (7, 0) == (season.state.steps, season.closes().state.steps)


def test_a_copy_shares_nothing_that_changes() -> None:
    season = given().worth({MINERS: FALSE}).says(propose(ADA), challenge(BEN, 0)).to(IMPROVE)
    copy = COMPETITION.copy(season.state)

    copy.table.say(copy.table.said[0])
    copy.table.redirect([0])
    copy.table.raw[ADA] = copy.table.totals[ADA] = (9,)  # type: ignore[assignment]
    copy.table.tests.clear()
    copy.table.bottom = None
    copy.change(ADA, sparks=-1)

    table = season.table
    assert (frozenset(), 1, {}, 6) == (
        table.removed, len(table.tests), table.raw, len(table.said),
    )  # fmt: skip
    assert ({0}, {0: 7}) == (table.standing.refuted, season.state.bottomed)
    assert (998, {5: 2, 6: 5, 7: 0}) == (season.of(ADA).sparks, table.totals)


@pytest.mark.parametrize(
    "settings",
    [
        {"test_agents": 1000, "test_rounds": 1001, "test_seeds": 1},
        {"test_agents": 1000, "test_rounds": 10_000, "test_seeds": 100},
    ],
)
def test_a_test_that_would_take_for_ever_is_no_setting(settings: dict[str, int]) -> None:
    with pytest.raises(BadInput, match="test_agents x test_rounds x test_seeds is"):
        config_of(settings)


@pytest.mark.parametrize(
    "name", ["\x00", "a\nb", "\x9b", "\u202eadmin", "\ufeff", "\ud800", "", "x" * 61]
)
def test_a_name_that_plays_with_a_terminal_is_none(name: str) -> None:
    setup = {"config": config_of({}).as_dict(), "cast": cast_of(6)}
    setup["cast"][5]["name"] = name

    with pytest.raises(BadInput, match="is no name"):
        COMPETITION.initial(setup)


@pytest.mark.parametrize("name", ["Ada Lovelace", "阿达", "ada-2", "🦊"])
def test_a_name_may_be_in_any_script(name: str) -> None:
    setup = {"config": config_of({}).as_dict(), "cast": cast_of(6)}
    setup["cast"][5]["name"] = name

    assert name == COMPETITION.initial(setup).agents[5].name
