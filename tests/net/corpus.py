"""The journals and folders that the commands of the net read: small, and made anew by commands.

`files/` has what a person would have written, `texts/corpus.txt` the commands that record with it.
What no command makes follows from these: journals cut, damaged, and forged under right checksums.
The same code makes the same bytes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

from goldrush.agents.plugins import ARENAS, BENCHES, COMMANDS, POLICIES, WORLDS
from goldrush.games import public_goods
from goldrush.kernel.journal import Header
from goldrush.kernel.world import Batch
from goldrush.kernel.worlds.competition.events import CODES, Scored
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import MINING_SETTLED
from tests import journals, seasons
from tests.cli.helpers import ROOT
from tests.golden import FOLDER, RULES_1, SEASONS
from tests.journals import commits_of
from tests.llm.seasons import playing as arguing
from tests.llm.servers import Asked, Reply, completion, serving
from tests.plugins.installed import dist_info

FILES = Path(__file__).with_name("files")
GOLDEN = {
    "golden.journal": FOLDER / "forked.journal",
    "rules-1.journal": RULES_1 / "baseline.journal",
    "golden-season.journal": SEASONS / "every-code.journal",
}
PLUGINS = {
    "goldrush-commons": {
        WORLDS: {"commons": "goldrush_commons.fishery:Commons"},
        POLICIES: {"mining/settler": "goldrush_commons.settler:Settler"},
        COMMANDS: {"quota": "goldrush_commons.command:quota"},
    },
    "goldrush-orchard": {
        ARENAS: {"orchard": "goldrush_orchard.rules:ARENA"},
        BENCHES: {"orchard": "goldrush_orchard.bench:BENCH"},
    },
}


def install(folder: Path) -> None:
    """The plugin packages, as if installed."""
    for name, points in PLUGINS.items():
        package = name.replace("-", "_")
        source = ROOT / "tests" / "plugins" / name.removeprefix("goldrush-") / package
        shutil.copytree(source, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
        dist_info(folder, points, package, "0.1.0")


@contextmanager
def models_serving() -> Iterator[str]:
    """The address of a server that answers the questions of both worlds."""
    with serving(_answer) as server:
        yield server.address


def _answer(asked: Asked) -> Reply:
    if asked.agent is None:
        return arguing(asked)
    chance = crc32(asked.text.encode())
    plot = chance % 9
    kinds = ("claim", "mine", "raid", "defend")
    actions = [{"type": kinds[(chance >> 8) % 4], "plot": plot, "stamina": 1}]
    actions += [{"type": "claim", "plot": (plot + 4) % 9, "stamina": 1}]
    text = json.dumps({"actions": actions}) if chance % 11 else "I will wait."
    return completion(text, usage=(len(asked.text), len(text)))


def write_files(folder: Path) -> None:
    """What the first command finds: golden journals, and files of a person."""
    shutil.copytree(FILES, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name, path in GOLDEN.items():
        shutil.copy(path, folder / name)
    goods = Path(public_goods.__file__).read_text()
    (folder / "goods.py").write_text(goods)
    (folder / "other.py").write_text(goods.replace("share * sum", "share / 2 * sum"))
    (folder / "broken.py").write_text(goods.replace("class State(", "class Place("))


def write_specimens(folder: Path) -> None:
    """What no command makes, of what commands have recorded."""
    _cut(folder, "mixed", -4, "cut")
    _cut(folder, "talked", 5, "talked-cut")
    _cut(folder, "argued", 9, "argued-cut")
    _damage(folder)
    _forge(folder)


def _cut(folder: Path, name: str, commit: int, cut: str) -> None:
    path = folder / f"{name}.journal"
    end = commits_of(path)[commit].end
    (folder / f"{cut}.journal").write_bytes(path.read_bytes()[:end])


def _damage(folder: Path) -> None:
    data = (folder / "short.journal").read_bytes()
    where = len(data) // 2
    flipped = bytes((*data[:where], data[where] ^ 1, *data[where + 1 :]))
    for name, damaged in {
        "torn": data[:-3], "half": data[:where], "flipped": flipped, "empty": b"",
        "foreign": b"PK\x03\x04" + data, "zeroed": data + bytes(4096), "header": data[:20],
        "repeated": data + data[-200:], "start": data[:60],
    }.items():  # fmt: skip
        (folder / f"{name}.journal").write_bytes(damaged)
    journals.write(
        folder / "elsewhere.journal", commits_of(folder / "short.journal")[:3], Header("else", 1)
    )


def _forge(folder: Path) -> None:
    """Journals whose checksums and digests hold and whose events are false."""
    short, season = folder / "short.journal", folder / "season.journal"
    gold = journals.changed(commits_of(short), MINING_SETTLED, _more, first=True)
    journals.forged(folder / "forged.journal", MINING, gold)
    other = journals.played_again(commits_of(short), MINING, inputs=_idle)
    journals.write(folder / "forged-plan.journal", other)
    score = seasons.changed(season, CODES[Scored], 1, _better)
    seasons.forged(folder / "forged-season.journal", score, season)


def _more(row: list[Any]) -> None:
    row[3] += 99


def _idle(unit: int, batches: Sequence[Batch]) -> Sequence[Batch]:
    """The plans of a round, but none of agent 0 in the second."""
    return [
        (code, [(row[0], (), *row[2:]) if (unit, row[0]) == (2, 0) else row for row in rows])
        for code, rows in batches
    ]


def _better(row: list[Any]) -> None:
    row[5] += 1
