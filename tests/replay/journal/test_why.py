"""Explanations, whatever the world they are of."""

import json
import shlex
from pathlib import Path

from goldrush.kernel.world import Row
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.why import PlanChange
from goldrush.replay.worlds.mining.why import explained
from tests.golden import MODELS, WORDED, path_of
from tests.journals import commits_of, write
from tests.llm.runs import played_again


def test_a_command_gives_the_submissions_to_a_fork_whatever_they_say() -> None:
    said = "it's $(rm) `x` \"y\" \\n %s\n\x1b[31m\u202e; ' | sh"
    given = [{"round": 7, "agent": 3, "actions": [], "say": said}, {"round": 7, "agent": 4}]
    command = PlanChange("", 3, 7, given).command("-a b.journal")
    words = shlex.split(command)

    assert ["printf", "%s\\n"] == words[:2]
    assert given == [json.loads(word) for word in words[2:4]]
    assert ["|", "goldrush", "fork", "./-a b.journal", "--at", "6"] == words[4:10]
    assert ["--replace-submission", "-"] == words[10:]
    assert command.isprintable()


def test_what_models_answered_then_is_put_in_by_hand_too() -> None:
    path = path_of(MODELS)
    recorded = {
        (event.unit, event["agent"]): event for event in log(path, Query(names=["submitted"]))
    }
    changes = [one.change for one in explained(path) if one.change is not None]
    for change in changes:
        first, *others = change.submissions

        assert change.agent == first["agent"]
        assert sorted({0, 1, 2} - {change.agent}) == [other["agent"] for other in others]
        for other in others:
            event = recorded[change.unit, other["agent"]]
            assert other == {
                name: value
                for name, value in event.fields.items()
                if value is not None and name != "source"
            }
    assert changes


def test_an_answer_that_failed_is_told_in_place_of_a_plan(tmp_path: Path) -> None:
    def failed(unit: int, row: Row) -> Row:
        return row if row[0] == 3 or unit < 4 else (row[0], (), "no-json", *row[3:])

    commits = played_again(commits_of(path_of("mining", WORDED)), failed)
    told = [line for each in explained(write(tmp_path / "x", commits)) for line in each.account]

    assert any(line.endswith("'s plan: no usable answer (no-json)") for line in told)
