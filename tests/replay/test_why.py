"""Explanations, whatever the world they are of."""

import json
import shlex

from goldrush.replay.why import Change


def test_a_command_gives_the_submissions_to_a_fork_whatever_they_say() -> None:
    said = "it's $(rm) `x` \"y\" \\n %s\n\x1b[31m\u202e; ' | sh"
    given = [{"round": 7, "agent": 3, "actions": [], "say": said}, {"round": 7, "agent": 4}]
    command = Change("", 3, 7, given).command("-a b.journal")
    words = shlex.split(command)

    assert ["printf", "%s\\n"] == words[:2]
    assert given == [json.loads(word) for word in words[2:4]]
    assert ["|", "goldrush", "fork", "./-a b.journal", "--at", "6"] == words[4:10]
    assert ["--replace-submission", "-"] == words[10:]
    assert command.isprintable()
