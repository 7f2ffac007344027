"""The events of a season and the codes of what is refused (kernel/worlds/competition/README.md 2,
10).
"""

from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.world import Block
from goldrush.kernel.worlds import competition
from goldrush.kernel.worlds.competition import arrange
from goldrush.kernel.worlds.competition.events import (
    CODES,
    EVENTS,
    Answered,
    FateChosen,
    Refused,
    Spoke,
    Stood,
)
from goldrush.kernel.worlds.competition.terms import Move, Phase, Refusal, names_of
from tests.kernel.worlds.competition.seasons import (
    ADA,
    BEN,
    CLEO,
    given,
    propose,
    silent,
)

PAGE = Path(competition.__file__).with_name("README.md").read_text("utf-8")


def test_the_rows_on_the_page_are_the_events() -> None:
    expected = "".join(
        f"{code} {event.name}{' (input)' if event.is_input else ''}\n"
        + "".join(f"    {name}: {kind.name}\n" for name, kind in event.fields.items())
        for code, event in enumerate(EVENTS)
    )

    assert expected in PAGE


def test_the_page_names_every_code_phase_and_move() -> None:
    names = [*names_of(Refusal), *names_of(Phase)[:-1], *names_of(Move)]

    assert [] == [name for name in names if f"`{name}`" not in PAGE]


# Codes


# Answers


def test_answers_are_arranged_by_who_was_asked_what() -> None:
    spoke = (CODES[Spoke], [tuple(given().to(Phase.SPEAK).spoke(silent(ADA)))])
    late = Answered(BEN, "speak", "b", {"prompt": "2"})
    rows = [late, Answered(BEN, "speak", "c", {"prompt": "1"}), Answered(ADA, "speak", "d", None)]
    answers = (CODES[Answered], list(map(tuple, rows)))

    arranged = arrange(Block([answers, spoke]))

    (_, found), other = arranged.batches
    assert (["d", "c", "b"], spoke) == ([row[2] for row in found], other)
    for unchanged in (
        Block([(answers[0], answers[1][:1])]),
        Block([spoke]),
        Block([(answers[0], [*answers[1], ("no", "row")])]),
    ):
        assert unchanged.batches == arrange(unchanged).batches


def test_final_stances_are_arranged_by_agent_and_refused_after_the_last() -> None:
    season = given().says(propose(ADA)).to(Phase.STAND)
    rows = [tuple(season.stood(agent, target)) for agent, target in ((CLEO, 9), (BEN, 0), (ADA, 9))]
    stood = Block([(CODES[Stood], rows)])

    arranged = arrange(stood)
    refused = [(code, row[0]) for code, (row,) in season.world.decide(season.state, arranged)]

    assert [(CODES[Stood], rows[::-1])] == arranged.batches
    assert [(CODES[Refused], ADA), (CODES[Refused], CLEO)] == refused[:2]
    broken = Block([(CODES[Stood], [*rows, (0, "ada")])])
    assert broken.batches == arrange(broken).batches


# Rows


@pytest.mark.parametrize(
    ("act", "is_right"),
    [
        ((0, CODES[FateChosen], (ADA, "deletion")), True),
        ((-1, CODES[FateChosen], (ADA, "deletion")), False),
        ((0, len(EVENTS), (ADA, "deletion")), False), ((0, CODES[FateChosen], (ADA,)), False),
        (None, False),
    ],
)  # fmt: skip
def test_a_refusal_holds_a_whole_act(act: Any, is_right: bool) -> None:
    assert is_right is (EVENTS[CODES[Refused]].fault((ADA, act, "act/malformed")) is None)
