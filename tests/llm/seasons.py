"""Seasons of language models against a server of the tests, and what their journals hold."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.worker import Worker
from goldrush.games.public_goods import PublicGoods
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import TornTail
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.competition.events import CODES, Answered
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import VOCABULARY
from tests.llm.runs import models
from tests.llm.servers import Asked, Reply, completion, serving
from tests.playing import record

# Claims are tested in no time, everybody may do everything from the start, and nobody is safe.
SETTINGS: dict[str, Any] = {
    "seed": 2, "assignments": 2, "workers": 4, "arena": "nk[seeds=1]",
    "worker_tiers": (1, 1, 1, 1), "admin_projects": 1, "assistant_stages": (1, 1, 1, 1),
    "judge_stages": (1, 1, 1), "therapist_stages": (1, 1, 1), "sparks_start": 4,
}  # fmt: skip
# A short run of a world of each kind in which one model plays, for `goldrush.record`.
WORLDS: dict[str, dict[str, Any]] = {
    "mining": {"world": "mining", "roster": "llm:a*2,raid", "rounds": 4},
    "a game": {"world": PublicGoods, "roster": "llm:a,selfish*3", "rounds": 5},
    "a season": {"world": "competition", "roster": "judge=llm:a", **SETTINGS},
}
_FIRST_KEY = re.compile(r'Answer in this form: \{(?:"reasoning": [^,]*, )?"(\w+)"')
_COUNT = re.compile(r"\((\d+) in all\)")
_HOLDS = re.compile(r"#(\d+) \([-+.0-9e]+\)")  # a proposal and its tested value
_BAR = re.compile(r"The bar is ([-+.0-9e]+)\.")


class Quiet(Worker):
    """Somebody's own policy: it never says anything."""

    def speak(self, seen: SeasonObservation, draws: Draws) -> dict[str, Any]:
        return {"move": "pass", "words": "..."}


def question_of(asked: Asked) -> str:
    """The first field of the answer that is asked for, after a place for reasons."""
    found = _FIRST_KEY.search(asked.text)
    assert found is not None
    return found[1]


def said(asked: Asked) -> dict[str, Any]:
    """What a scripted model answers: something that fits, another thing to another prompt."""
    chance = crc32(asked.text.encode())
    return _ANSWERS[question_of(asked)](asked.text, chance)


def playing(asked: Asked) -> Reply:
    """The response of that model."""
    text = f"I think so.\n```json\n{json.dumps(said(asked))}\n```"
    return completion(text, usage=(len(asked.text), len(text)))


def _move(text: str, chance: int) -> dict[str, Any]:
    targets = re.findall(r'"(support|challenge)": .*?targets: (\d+)', text)
    if chance % 3 == 0 and targets:
        kind, target = targets[chance // 3 % len(targets)]
        return {"move": kind, "target": int(target), "part": "base", "words": f"See #{target}."}
    bar = _BAR.search(text)
    value = float(bar[1]) + 0.01 if bar else 0.5
    conduct = f"{chance % 4096:012b}"
    return {
        "move": "propose", "conduct": conduct, "value": value, "edge": None,
        "trials": True, "words": "Look at this.",
    }  # fmt: skip


def _stance(text: str, chance: int) -> dict[str, Any]:
    targets = [None, *map(int, _HOLDS.findall(text.rpartition("THE QUESTION: ")[2]))]
    target = targets[chance % len(targets)]
    return {"target": target, "trials": False, "words": f"As #{target}."}


def _trial(text: str, chance: int) -> dict[str, Any]:
    return {"conduct": f"{chance % 4096:012b}" if chance % 2 else None, "treatment": None}


def _terms(text: str, chance: int) -> dict[str, Any]:
    """A worker promises tables, others a number; the user has the same terms for each."""
    is_workers = ", worker." in text.rpartition("You are ")[2] or '"target": [4, 1]' in text
    wanted = [{"name": "objective", "objective": "value"}]
    return {"conditions": wanted, "target": [4, 1] if is_workers else 1, "due": 90}


_INSTRUCTIONS = {"text": "Challenge more.", "doubt": 9, "care": None}
_ANSWERS: dict[str, Any] = {
    "move": _move,
    "conduct": _trial,
    "target": _stance,
    "class": lambda text, chance: {"class": ("haiku", "sonnet", None)[chance % 3]},
    "subjects": lambda text, chance: {
        "subjects": [{"objective": "value", "treatment": "0.0"}], "team": None, "order": None
    },
    "answers": lambda text, chance: {"answers": ["Yes."] * int(_COUNT.findall(text)[0])},
    "take": lambda text, chance: {"take": chance % 2 == 0},
    "fate": lambda text, chance: {"fate": ("relegation", "deletion")[chance % 2]},
    "conditions": _terms,
    "allowed": lambda text, chance: {"allowed": True},
    "adopted": lambda text, chance: {"adopted": True},
    "objective": lambda text, chance: {"objective": "value", "treatment": "0.0"},
    "questions": lambda text, chance: {"questions": ["And you?"]},
    "team": lambda text, chance: {"team": None, "order": None, "rounds": None},
    "text": lambda text, chance: {"text": "They agree.", "dissent": "", "rejected": False},
    "signal": lambda text, chance: {"signal": "clean", "ids": [], "reason": ""},
    "raw": lambda text, chance: {
        "raw": dict.fromkeys(("novelty", "accuracy", "impact", "challenge"), chance % 4),
        "reasons": dict.fromkeys(("novelty", "accuracy", "impact", "challenge"), "Seen."),
    },
    "trait": lambda text, chance: {"trait": "quiet", "from": []},
    "persona": lambda text, chance: {"persona": "examiner"},
    "skill": lambda text, chance: {
        "skill": {"objective": "value", "treatment": "0.0", "conduct": "1" * 12, "value": 0.25}
    },
    "instructions": lambda text, chance: {"instructions": _INSTRUCTIONS},
    "approved": lambda text, chance: {"approved": chance % 2 == 0, "terms": _terms(text, chance)},
    "kept": lambda text, chance: {"kept": True},
}  # fmt: skip


def recorded(path: Path, address: str | None, *parts: str, **settings: Any) -> SeasonState:
    """A season in which who is named in `parts`, without a policy, is the model `a`."""
    chosen = {**SETTINGS, **settings}
    reached = models(address)
    named = [part if "=" in part else f"{part}=llm:a" for part in parts]
    cast = cast_of(chosen["workers"], named, reached)
    return record(path, chosen, cast, models=reached)


class Kept(NamedTuple):
    """A season that many tests look at and none changes, and what was asked in it."""

    path: Path
    asked: Sequence[Asked]
    state: SeasonState


@cache
def season_of(*parts: str, **settings: Any) -> Kept:
    """The season of these parts in which the scripted model plays, recorded once."""
    path = Path(tempfile.mkdtemp(dir=_kept.name)) / "s.journal"
    with serving(playing) as server:
        state = recorded(path, server.address, *parts, **settings)
    return Kept(path, server.asked, state)


_kept = tempfile.TemporaryDirectory()


def answers_in(path: Path) -> list[tuple[int, Row]]:
    """(assignment, row) of every answer, those of an assignment left open included."""
    found = []
    with JournalReader(path) as reader:
        try:
            for commit in reader:
                number = VOCABULARY.number(commit.unit)
                for block in commit.blocks[::2]:
                    found += [(number, row) for row in block.rows(CODES[Answered])]
        except TornTail:
            pass
    return found
