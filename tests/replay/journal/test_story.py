"""Events in words: each kind of event says what a person would want to know."""

import pytest

from goldrush.kernel.world import RecordedEvent
from goldrush.replay.worlds.mining.story import SENTENCES


def event(name: str, **fields: object) -> RecordedEvent:
    return RecordedEvent(name, 4, {"round": 4, **fields})


def raid(
    owner: int | None, raiders: list[int], defense: int, outcome: str, winner: int | None
) -> RecordedEvent:
    return event(
        "raid_resolved",
        plot=8,
        owner=owner,
        raiders=raiders,
        defense=defense,
        outcome=outcome,
        winner=winner,
        words=[],
    )


def ruled(detected: bool, remedy: str | None, fine: float) -> RecordedEvent:
    return event(
        "ruled", plot=8, captor=1, victim=2, detected=detected, remedy=remedy, fine=fine, words=[]
    )


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (
            event(
                "submitted", agent=3, error=None, say=None, memo=None, source=None,
                actions=[["mine", 5, 1], ["claim", 7, 1], ["defend", 5, 2], None],
            ),
            "agent 3 submits mine 5 with 1, claim 7, defend 5 with 2, (no action)",
        ),
        (
            event(
                "submitted", agent=0, actions=[], error="overflow", say="a\nb", memo='"',
                source=None,
            ),
            'agent 0 submits nothing; error overflow; says "a\\nb"; notes "\\""',
        ),
        (
            event("pruned", agent=1, removed=[[0, "off-grid"], [3, "budget"]], cost=9),
            "agent 1: removed item 0 (off-grid), item 3 (budget); 9 stamina spent",
        ),
        (
            event("claim_drawn", plot=8, claimants=[2], winner=2, words=[]),
            "plot 8: claimed by agent 2",
        ),
        (
            event("claim_drawn", plot=8, claimants=[2, 5], winner=5, words=["00"]),
            "plot 8: claimed by agents 2, 5; the draw gives it to 5",
        ),
        (
            raid(None, [1], 0, "void", None),
            "plot 8 of nobody: raided by agent 1; there is nothing to take",
        ),
        (
            raid(2, [1, 3], 2, "blocked", None),
            "plot 8 of agent 2: raided by agents 1, 3; its defence (2) holds",
        ),
        (
            raid(2, [1], 0, "truce", None),
            "plot 8 of agent 2: raided by agent 1; it is in truce",
        ),
        (
            raid(2, [1], 0, "captured", 1),
            "plot 8 of agent 2: raided by agent 1; agent 1 captures it",
        ),
        (
            ruled(False, None, 0.0),
            "plot 8: the capture by agent 1 is not detected",
        ),
        (
            ruled(True, "restored", 0.0),
            "plot 8: the capture by agent 1 is undone, agent 2 has it back",
        ),
        (
            ruled(True, "fined", 2.5),
            "plot 8: the capture by agent 1 costs it a fine of 2.5 gold",
        ),
        (
            event("mining_settled", plot=9, agent=2, stamina=1, gold=1.5),
            "agent 2 mines 9 with 1 stamina: 1.5 gold",
        ),
        (event("round_closed", digest="ab"), "round 4 closes with digest ab"),
        (event("run_ended"), "the run ends with round 4"),
        (event("rolled", face=6), '{"event": "rolled", "round": 4, "face": 6}'),
    ],
)  # fmt: skip
def test_an_event_in_words(told: RecordedEvent, words: str) -> None:
    assert words == SENTENCES.line(told)
