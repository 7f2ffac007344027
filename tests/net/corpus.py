"""The journals and folders that the net's commands read, made anew by commands alone.

Goldens, runs of every world and arena (those of plugins too), seasons and forks, runs whose answers
came from a server, cut after every commit, studies, what is damaged, and what is forged under right
checksums. The same code makes the same bytes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from zlib import crc32

from goldrush.agents.plugins import ARENAS, BENCHES, COMMANDS, POLICIES, WORLDS
from goldrush.games import public_goods
from goldrush.kernel.journal import FORK, START, JournalReader
from tests.cli.helpers import ROOT, goldrush
from tests.faults import forge
from tests.faults.hostile import EVENTS_OF
from tests.faults.hostile_seasons import forgeries as season_forgeries
from tests.faults.journals import forked, small
from tests.golden import FOLDER, SEASONS
from tests.llm.seasons import playing as arguing
from tests.llm.servers import Asked, Reply, completion, serving
from tests.plugins.installed import dist_info

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
MODELS = """[test]
model = "test-1"
answer = "text"
max_tokens = 2000
price_in = 2.5
price_out = 10.0
"""
TALKS = {"rounds": 4, "rows": 3, "cols": 3, "stamina": 4, "truce": 0}
ARGUES = {
    "worker_tiers": [1, 1, 1, 1], "admin_projects": 1, "assistant_stages": [1, 1, 1, 1],
    "judge_stages": [1, 1, 1], "therapist_stages": [1, 1, 1], "sparks_start": 4,
}  # fmt: skip
PLAN = """treatments = ["scarce", "cap-2"]
rosters = ["greedy-mine*3,raid", "random*4"]
seeds = 3
rounds = 20
"""
FORGED_EVERY = 97  # of the tens of thousands of forged seasons


def installed_in(folder: Path) -> Path:
    """Where the plugin packages lie, as if installed."""
    installed = folder / "installed"
    for name, points in PLUGINS.items():
        package = name.replace("-", "_")
        source = ROOT / "tests" / "plugins" / name.removeprefix("goldrush-") / package
        shutil.copytree(source, installed / package, ignore=shutil.ignore_patterns("__pycache__"))
        dist_info(installed, points, package, "0.1.0")
    return installed


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


class Corpus:
    """A folder with all that the commands read."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder = folder
        self.address = address
        self.installed = installed_in(folder)

    def make(self) -> None:
        """Fill the folder."""
        shutil.copytree(
            FOLDER, self.folder / "golden", ignore=shutil.ignore_patterns("seasons", "worded")
        )
        shutil.copytree(SEASONS, self.folder / "golden-seasons")
        (self.folder / "models.toml").write_text(MODELS)
        (self.folder / "plan.toml").write_text(PLAN)
        self._record()
        self._ask()
        self._break()
        self._forge()
        shutil.rmtree(self.folder / ".cache", ignore_errors=True)

    def _run(self, *words: object) -> None:
        ran = goldrush(*words, cwd=self.folder, installed=self.installed)
        if ran.code:
            raise RuntimeError(f"{words}: {ran.err}")

    def _record(self) -> None:
        run = self._run
        mixed = "greedy-mine*2,raid*2,random,defend"
        run("record", "--seed", 5, "--rounds", 30, "--roster", mixed, "--out", "mixed.journal")
        run(
            "record",
            "--seed",
            1,
            "--rounds",
            12,
            "--treatment",
            "scarce",
            "--out",
            "scarce.journal",
        )
        run("record", "--seed", 5, "--rounds", 30, "--roster", "recorded:mixed.journal*6",
            "--out", "again.journal")  # fmt: skip
        run("record", "--seed", 2, "--rounds", 4, "--roster", "random*3", "--out", "short.journal")
        (self.folder / "by-hand.json").write_text(
            '{"round": 14, "agent": 3, "actions": [["raid", 20, 1], ["claim", 20, 1]]}\n'
        )
        run("fork", "mixed.journal", "--at", 10, "--set", "authority=punish", "--roster",
            "random*3,raid*3", "--replace-submission", "by-hand.json", "--out",
            "forked.journal")  # fmt: skip
        nk = ("--seed", 3, "--assignments", 6, "--arena", "nk[seeds=2]", "--workers", 4)
        run("season", *nk, "--out", "season.journal")
        run("fork", "season.journal", "--at", 2, "--set", "moves=2", "--out", "offshoot.journal")
        run("record", "--world", "commons", "--seed", 3, "--roster", "share*5", "--out",
            "commons.journal")  # fmt: skip
        run("season", "--seed", 4, "--assignments", 3, "--workers", 4, "--arena",
            "orchard[hectares=2]", "--out", "orchard.journal")  # fmt: skip
        source = Path(public_goods.__file__).read_text()
        (self.folder / "goods.py").write_text(source)
        (self.folder / "other.py").write_text(source.replace("share * sum", "share / 2 * sum"))
        (self.folder / "broken.py").write_text(source.replace("class State(", "class Place("))
        # Not *.journal, which all that reads the folder would come across, and needs no file.
        run("record", "goods.py", "--seed", 3, "--rounds", 4, "--out", "goods.run")
        run("study", "plan.toml", "--jobs", 1, "--out", "mined")
        run("study", "--world", "competition", "--set", "arena=nk[seeds=1]", "--set", "workers=4",
            "--rounds", 3, "--treatment", "all", "--seeds", 2, "--jobs", 1, "--out",
            "argued-over")  # fmt: skip

    def _ask(self) -> None:
        """Runs whose answers came from the server, and each of them cut after every commit."""
        reach = ("--models", "models.toml", "--base-url", self.address, "--concurrency", 1,
                 "--patience", 99)  # fmt: skip
        self._run("record", "--seed", 8, *settings(TALKS), "--roster",
                  "llm:test*2,raid,greedy-mine", *reach, "--out", "talked.journal")  # fmt: skip
        self._run("season", "--seed", 2, "--assignments", 1, "--workers", 4, "--arena",
                  "nk[seeds=1]", *settings(ARGUES), "--cast", "llm:test", *reach,
                  "--out", "argued.journal")  # fmt: skip
        for name in ("talked", "argued"):
            path = self.folder / f"{name}.journal"
            data = path.read_bytes()
            with JournalReader(path) as reader:
                ends = [commit.end for commit in reader]
            for number, end in enumerate(ends[:-1]):
                (self.folder / f"{name}-{number:03}.journal").write_bytes(data[:end])

    def _break(self) -> None:
        data = (self.folder / "short.journal").read_bytes()
        where = len(data) // 2
        flipped = bytes((*data[:where], data[where] ^ 1, *data[where + 1 :]))
        for name, broken in {
            "torn": data[:-3], "half": data[:where], "flipped": flipped, "empty": b"",
            "foreign": b"PK\x03\x04" + data, "zeroed": data + bytes(4096), "header": data[:20],
            "repeated": data + data[-200:],
        }.items():  # fmt: skip
            (self.folder / f"{name}.journal").write_bytes(broken)

    def _forge(self) -> None:
        folder = self.folder / "forged"
        folder.mkdir()
        made: list[tuple[str, Callable[[], bytes]]] = []
        for name, code in EVENTS_OF.items():
            made += [
                (f"{name}", maker) for _, maker in forge.event_makers(small(), code, forge.FEW)
            ]
        for sound, kind in ((small(), START), (forked(), FORK)):
            every = forge.setup_makers(sound, kind, every=False)
            made += [("setup", maker) for _, maker in islice(every, 0, None, 5)]
        made += [
            ("season", maker) for _, (_, maker) in islice(season_forgeries(), 0, None, FORGED_EVERY)
        ]
        for number, (what, maker) in enumerate(made):
            (folder / f"{number:03}-{what}.journal").write_bytes(maker())


def settings(chosen: dict[str, object]) -> list[str]:
    """As options of a command."""
    return [word for name, value in chosen.items()
            for word in ("--set", f"{name}={json.dumps(value)}")]  # fmt: skip
