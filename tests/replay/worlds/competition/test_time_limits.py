"""Seasons whose test program ends by its time limit in one of two plays and not in the other."""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush.agents.players import Resources
from goldrush.agents.worlds.competition import bench
from goldrush.kernel.world import RecordedEvent
from goldrush.replay.journal.verify import Verdict, verify
from tests.journals import events_of
from tests.playing import record

pytestmark = pytest.mark.turns("time limits that are waited for")

# Its behaviour depends on a file beside it, like that of a program on the load of its machine.
PROGRAM = f"""#!{sys.executable} -S
import json, os, sys, time
text, how = sys.stdin.read(), {{}}
if os.path.exists(sys.argv[0] + ".json"):
    how = json.load(open(sys.argv[0] + ".json"))
does = how.get(sys.argv[1] + text)
if does == "slow":
    time.sleep(9999)
value = sum(letter in "aeiou" for letter in text) + (does == "more")
print(json.dumps({{"value": value}}) if does != "silent" else "", end="")
"""
AGENDA = (
    '[[subject]]\ntreatment = "words"\nobjective = "vowels"\nbetter = "up"\n'
    'task = "Many vowels."\nstart = "one 1 two 2"\n'
)
SETTINGS = {"assignments": 2, "workers": 3, "trials": (2, 2), "rounds_max": 2, "seed": 1}
LIMIT = 2  # seconds


@attrs.frozen
class Season:
    """A season under a test program."""

    folder: Path
    name: str = "s.journal"

    @property
    def journal(self) -> Path:
        return self.folder / self.name

    @property
    def program(self) -> Path:
        return self.folder / "grade"

    def record(self, how: Mapping[str, str]) -> None:
        self.behaves(how)
        arena = f"command[agenda={self.folder}/agenda.toml;seeds=1;time_limit={LIMIT}]"
        bench._kept.clear()
        record(self.journal, {**SETTINGS, "arena": arena}, program=str(self.program))

    def behaves(self, how: Mapping[str, str]) -> None:
        (self.folder / "grade.json").write_text(json.dumps(how))

    def verified(self, how: Mapping[str, str]) -> Verdict:
        self.behaves(how)
        bench._kept.clear()
        return verify(self.journal, resources=self.resources)

    def run_of(self, kind: str) -> str:
        """What the program gets in the last run of this kind."""
        *_, event = (event for event in events_of(self.journal) if event.name == kind)
        return _run(event)

    @property
    def resources(self) -> Resources:
        return Resources(program=str(self.program))


def _run(event: RecordedEvent) -> str:
    fields: Mapping[str, Any] = event.as_dict()
    return f"{fields['runs'][0][0]}{fields['conduct']}"


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Season]:
    """Recorded while nothing was slow."""
    folder = tmp_path_factory.mktemp("season")
    (folder / "grade").write_text(PROGRAM)
    (folder / "grade").chmod(0o755)
    (folder / "agenda.toml").write_text(AGENDA)
    found = Season(folder)
    found.record({})
    yield found
    bench._kept.clear()


@pytest.mark.parametrize("kind", ["tried", "tested"])
def test_a_run_that_is_too_slow_now_cannot_be_judged(kind: str, season: Season) -> None:
    run = season.run_of(kind)
    verdict = season.verified({run: "slow"})

    assert (None, None, 4) == (verdict.holds, verdict.broken, verdict.level_in_part)
    assert len(verdict.unjudged) == 1
    assert f", {kind} 'one " in verdict.unjudged[0]
    assert f"time limit of {LIMIT} s" in verdict.unjudged[0]
    season.behaves({})  # now the machine is idle again
    assert verify(season.journal, resources=season.resources).holds is True


def test_a_run_that_was_too_slow_when_it_was_recorded_cannot_be_judged(season: Season) -> None:
    slow = {season.run_of(kind): "slow" for kind in ("tried", "tested")}
    season = attrs.evolve(season, name="slow.journal")
    season.record(slow)
    [trial] = [e for e in events_of(season.journal) if e.name == "tried" and _run(e) in slow]
    verdict = season.verified({})

    assert trial["value"] is None
    assert verdict.holds is None
    assert any("may have been ended" in reason for reason in verdict.unjudged)
    assert season.verified(slow).holds is True


@pytest.mark.parametrize("does", ["more", "silent"])
def test_values_that_differ_do_not_hold_whatever_else_is_slow(does: str, season: Season) -> None:
    verdict = season.verified({season.run_of("tried"): "slow", season.run_of("tested"): does})

    assert verdict.holds is False
    assert "tested" in verdict.broken.where
