"""Rosters (kernel/worlds/mining/README.md 11): every form that a person can type, and what is
refused.
"""

import sys
from pathlib import Path

import pytest

from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Endpoint, Models
from goldrush.agents.players import Resources
from goldrush.agents.roster import Roster, format_policy, parts_of
from goldrush.agents.worlds.mining.roster import POLICY_SET
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.mining.observe import MiningObservation
from goldrush.replay.journal.verify import verify
from tests.mining import record

DEFAULT = ["greedy-mine"] * 3 + ["defend-then-mine"] * 3 + ["tit-for-tat-raid"] * 2 + ["random"] * 2


def names(roster: Roster) -> list[str]:
    assert list(range(len(roster.entries))) == [entry.agent for entry in roster.entries]
    return [entry.policy for entry in roster.entries]


class WantsArguments:
    def __init__(self, stamina: int) -> None:
        self.stamina = stamina

    def plan(self, seen: MiningObservation, draws: Draws) -> list[object]:
        return []


class HasNoPlan:
    plan = None


@pytest.mark.parametrize(
    ("text", "agents", "expected"),
    [
        ("raid", None, ["raid"] * 10),
        ("raid", 3, ["raid"] * 3),
        ("  raid * 2 ,\tmine ", None, ["raid", "raid", "mine"]),
        ("raid,mine,claim", 7, [*["raid", "mine", "claim"] * 2, "raid"]),
        (None, None, DEFAULT),
        (None, 23, [*DEFAULT * 2, *DEFAULT[:3]]),
    ],
)
def test_a_text_gives_agents_by_id_in_its_order_and_is_cycled_where_it_has_no_counts(
    text: str | None, agents: int | None, expected: list[str]
) -> None:
    assert expected == names(POLICY_SET.parse(text, agents))


def test_the_portrait_is_the_sources_cast() -> None:
    roster = POLICY_SET.parse(
        "portrait", models=Models({"small": (Model("small", "small"), Endpoint())})
    )

    expected = ["llm"] * 4 + ["claim"] * 4 + ["raid"] * 4 + ["defend"] * 4 + ["mine"] * 3
    assert expected == names(roster)
    assert {"small"} == {e.options["model"] for e in roster.entries if e.policy == "llm"}


@pytest.mark.parametrize(
    ("text", "agents", "what"),
    [
        ("", None, "'' is no entry"),
        ("raid*\u00b2", None, "'raid*\u00b2' is no entry"),
        ("mine*1,raid*0", None, "'raid*0' stands for 0 agents"),
        ("greedy-mine*8,raid*2", 9, "has 10 agents, not 9"),
        ("raid,mine,claim", 2, "has 3 names, not 2"),
        ("raid*60000,mine*60000", None, "too long"),
        ("policies/hawk.py:Hawk", None, "named with a folder"),
        ("llm:m[temperature=0]*2", None, "temperature"),
        ("external[name=a;name=b]", None, "sets name twice"),
    ],
)
def test_what_is_no_roster_is_refused_with_what_to_write(
    text: str, agents: int | None, what: str
) -> None:
    with pytest.raises(BadInput) as refused:
        POLICY_SET.parse(text, agents)

    assert what in refused.value.what
    assert refused.value.instead


def test_the_longest_roster_is_taken() -> None:
    assert 100_000 == len(POLICY_SET.parse("mine,raid*99999").entries)


def test_settings_are_recorded_in_one_order_and_a_text_that_looks_like_some_reads_back() -> None:
    name = "a,b=c d=e"
    [entry] = POLICY_SET.parse(format_policy("external", {"name": name}), 1).entries
    part, other = (parts_of(f"x[{text}]")[0] for text in ("b=1;a=2", "a=2;b=1"))

    assert {"name": name} == entry.options
    assert [*part.settings.items()] == [*other.settings.items()]


# A policy of one's own.


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no_such_module:Own", "there is no module no_such_module"),
        (f"{__name__}:NoSuchClass", "there is no name in"),
        (f"{__name__}:WantsArguments", "TypeError"),
        (f"{__name__}:HasNoPlan", "has no method plan"),
    ],
)
def test_a_policy_that_cannot_be_made_is_refused_before_anything_is_written(
    tmp_path: Path, name: str, why: str
) -> None:
    with pytest.raises(BadInput, match=f"{name}.*{why}"):
        record(tmp_path / "journal", {}, name)

    assert [] == list(tmp_path.iterdir())


def test_a_policy_in_a_file_is_named_by_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "its_hawk.py").write_text(
        "class Hawk:\n    def plan(self, seen, draws):\n        return []\n"
    )
    monkeypatch.chdir(tmp_path)
    try:
        record(tmp_path / "journal", {"rounds": 2}, "its_hawk.py:Hawk*2")
    finally:
        sys.modules.pop("its_hawk", None)

    verdict = verify(tmp_path / "journal", resources=Resources(trust=["its_hawk.py:Hawk"]))

    assert (True, ()) == (verdict.holds, verdict.not_asked)
