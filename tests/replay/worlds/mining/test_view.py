"""What the page of a mining run has of each round is what the state and the events are."""

from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.worlds.mining.state import BY_CLAIM
from goldrush.replay.find import tools_at
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.view.shown import shown_of
from goldrush.replay.worlds.mining.view import view
from tests.golden import path_of
from tests.mining import record
from tests.replay.view.test_fields import values


def shown(path: Path) -> list[dict[str, Any]]:
    """The fields of a page by round, from round 1 on."""
    return values(shown_of(path, tools_at(path), (None, None)).as_dict())


@pytest.mark.parametrize("name", ["baseline", "defense-pointwise", "forked"])
def test_a_round_has_its_owners_gold_truces_and_defences(name: str) -> None:
    journal = path_of(name)
    in_truce = defended = 0
    for unit, fields in enumerate(shown(journal), 1):
        state = rebuild(journal, unit).state
        truce = [
            plot for plot in range(state.config.plots)
            if state.how[plot] == BY_CLAIM and unit - state.since[plot] < state.config.truce
        ]  # fmt: skip
        defences = [0] * state.config.plots
        for event in log(journal, Query(unit, unit)):
            if event.name == "raid_resolved" and event["defense"]:
                defences[event["plot"]] = event["defense"]

        assert list(state.owner) == fields["owner"]
        assert pytest.approx(list(state.gold)) == fields["gold"]
        assert truce == fields["truce"]
        raided = [plot for plot, points in enumerate(defences) if points]
        assert [defences[plot] for plot in raided] == [fields["defence"][plot] for plot in raided]
        in_truce, defended = in_truce + len(truce), defended + len(raided)
    assert defended
    assert in_truce or name != "baseline"


def test_removed_actions_do_not_defend() -> None:
    journal = path_of("language-models")
    removed = 0
    for unit, fields in enumerate(shown(journal), 1):
        events = list(log(journal, Query(unit, unit)))
        gone = {e["agent"]: dict(e["removed"]) for e in events if e.name == "pruned"}
        kept = {
            plot
            for e in events if e.name == "submitted"
            for index, (kind, plot, _) in enumerate(e["actions"])
            if kind == "defend" and index not in gone.get(e["agent"], {})
        }  # fmt: skip
        removed += len(gone)

        assert kept == {plot for plot, points in enumerate(fields["defence"]) if points}
    assert removed


def test_a_very_large_map_is_a_grid_of_policies(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "MAP_MAX", 15)
    record(path, {"rounds": 3, "agents": 2, "rows": 4, "cols": 4}, "greedy-mine,raid")
    fields = shown(path)[-1]
    owner = rebuild(path, 3).state.owner
    policies = ["" if each is None else ("greedy-mine", "raid")[each] for each in owner]

    assert "owner" not in fields
    assert [policies[at : at + 4] for at in range(0, 16, 4)] == fields["policies of owners"]
