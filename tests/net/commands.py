"""The commands of the net: what is typed at which journals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

Words = tuple[str, ...]

MINING = ("golden/baseline", "golden/forked", "mixed", "talked")  # told in every way
SEASONS = ("golden-seasons/forked", "golden-seasons/every-code", "offshoot", "argued", "orchard")
CUT = re.compile(r"(talked|argued)-\d{3}")
BROKEN = (
    "empty", "flipped", "foreign", "half", "header", "repeated", "torn", "zeroed", "absent",
)  # fmt: skip

# What tells of any journal; `{}` is its path.
EVERY = (
    "info {}", "info {} --json", "verify {}", "verify {} --json", "replay {}", "log {}",
    "export {}",
)  # fmt: skip
WHOLE = (
    "ls {}", "ls --json {}", "replay {} --json", "replay {} --at 1",
    "log {} --json", "log {} --at 1-2", "log {} --agent 1", "measure {}", "measure {} --json",
    "measure {} --by-round --json", "measure {} --usage", "measure {} --usage --json",
    "why {}", "why {} --json", "audit {} --all", "audit {} --all --json",
    "audit {} --at 1 --json", "prompt {} --at 1 --agent 1", "prompt {} --at 2 --agent 0 --json",
    "export {} --format csv --out tables", "export {} --format parquet --out tables",
    "view {} --out page.html", "view {} --at 2-3 --out page.html --json",
    "diff {} {}", "verify {} --level 1", "verify {} --level 2 --json", "verify {} --level 3",
    "verify {} --strict",
)  # fmt: skip
OF_MINING = (
    "replay {} --at 3", "log {} --plot 3,1", "log {} --event raid_resolved --json",
    "why {} --at 2", "why {} --at 3 --json",
    "audit {} --at 2", "replay {} --at 99", "leaderboard {}",
)  # fmt: skip
OF_SEASONS = (
    "leaderboard {}", "leaderboard {} --json", "replay {} --at 0",
    "audit {} --at 0", "score {} --at 1 --agent ada", "score {} --at 0 --agent ada --json",
    "leaderboard {} --to agents", "why {} --at 0", "why {} --at 1 --json",
    "prompt {} --at 1 --agent ada", "log {} --agent ada",
)  # fmt: skip
PAIRS = (
    ("mixed", "forked"), ("mixed", "again"), ("season", "offshoot"), ("mixed", "season"),
    ("golden/baseline", "golden/forked"), ("golden/cap-2", "golden/cap-4"), ("mixed", "half"),
    ("talked", "talked-005"), ("argued", "argued-012"),
)  # fmt: skip
OF_PAIRS = (
    "diff {} {}", "diff {} {} --json", "diff {} {} --by-round",
    "view {} --against {} --out page.html",
)  # fmt: skip
OF_STUDIES = (
    "measure {}", "measure {} --json", "measure {} --by-run --json", "report {} --out report.html",
    "report {} --criteria --json", "report {} --json",
    "ls {}", "verify {}", "view {} --out page.html",
    "export {} --format csv --out tables", "audit {} --all",
    "study --out {}", "report {} --out report.html",
)  # fmt: skip
# `{}` is a journal with the file of its game, `{}.run` the journal alone; see `Corpus`.
OF_GAMES = (
    *EVERY, *(line for line in WHOLE if line != "diff {} {}"), "diff {} {}.run",
    "replay {} --at 2", "audit {} --at 2", "log {} --event fined", "source {}", "source {} --json",
    "fork {} --at 2 --roster selfish*4 --out new.journal", "fork {} --at 9 --out new.journal",
    "info {}.run", "log {}.run", "verify {}.run --level 1", "verify {}.run", "source {}.run",
    "log {}.run --world other.py", "verify {}.run --world other.py",
    "fork {}.run --at 2 --world other.py --out new.journal",
)  # fmt: skip
ALONE = (
    "record goods.py --rounds 2 --out new.journal --json", "record goods.py --out goods.run",
    "record goods.py --roster nobody*3 --out new.journal", "record broken.py --out new.journal",
    "record goods.py --set tokens=0 --out new.journal", "policies --world goods.py",
    "settings goods.py", "treatments --world goods.py --json", "conform goods.py --set rounds=2",
    "new Harbour",
    "study --world goods.py --rounds 2 --seeds 2 --jobs 1 --out new",
    "--help", "--version", "policies", "policies --json", "policies competition",
    "policies --world competition --json", "treatments", "treatments --json",
    "treatments --world competition", "settings", "settings --json", "settings --world competition",
    "settings --world commons", "arenas", "arenas --json", "plugins", "plugins --json",
    "conform mining", "conform commons", "conform --arena orchard", "ls",
    "ls --json", "record --seed 7 --rounds 3 --out new.journal",
    "record --seed 7 --rounds 3 --out new.journal --json",
    "record --seed 1 --rounds 5 --treatment all --out new.journal",
    "record --seed 1 --rounds 5 --set alpha=2 --set cap=3 --roster raid*4 --out new.journal",
    "record --world commons --seed 1 --out new.journal --json",
    "record --world nowhere --out new.journal", "record --roster nobody*3 --out new.journal",
    "record --roster raid*0 --out new.journal", "record --roster llm:test*2 --dry-run",
    "record --roster llm:test*2 --models models.toml --dry-run --json",
    "record --roster recorded:mixed.journal*6 --rounds 31 --out new.journal",
    "record --roster recorded:absent.journal --out new.journal",
    "record --roster nothing:Here --out new.journal", "record --roster human --out new.journal",
    "record --agents 3 --roster raid*4 --out new.journal", "record --out mixed.journal",
    "record --set nothing=3 --out new.journal", "record --rounds 0 --out new.journal",
    "season --seed 1 --assignments 2 --arena nk --out new.journal --json",
    "season --seed 1 --assignments 2 --arena nk --cast judge=nobody --out new.journal",
    "season --seed 1 --assignments 2 --arena nowhere --out new.journal",
    "season --seed 1 --assignments 2 --arena nk --cast llm:test --models models.toml --dry-run",
    "season --seed 1 --assignments 2 --arena nk --cast ada=silent --out new.journal",
    "season --seed 1 --assignments 2 --arena nk --cast human --out new.journal",
    "fork mixed.journal --at 5 --roster raid*6 --out new.journal",
    "fork mixed.journal --at 5 --roster raid*5 --out new.journal",
    "fork mixed.journal --at 29 --set alpha=2 --out new.journal --json",
    "fork mixed.journal --at 31 --out new.journal",
    "fork mixed.journal --at 10 --replace-submission by-hand.json --out new.journal",
    "fork mixed.journal --at 20 --replace-submission by-hand.json --out new.journal",
    "fork again.journal --at 5 --out new.journal",
    "fork again.journal --at 5 --source mixed.journal --out new.journal",
    "fork season.journal --at 1 --roster judge=judge --out new.journal",
    "fork season.journal --at 3 --set seed=4 --out new.journal",
    "fork commons.journal --at 3 --out new.journal",
    "fork orchard.journal --at 0 --out new.journal",
    "verify again.journal --source mixed.journal", "verify again.journal --strict",
    "verify golden", "verify golden golden-seasons --json --jobs 1", "verify forged --level 2",
    "measure golden", "measure golden --by-run --json", "quota commons.journal",
    "diff mixed.journal", "why mixed.journal --at 999", "nothing",
    "study --seeds 2 --rounds 5 --roster raid*3 --treatment scarce --jobs 1 --out new",
    "study plan.toml --jobs 1 --out new", "study --seeds 0 --out new",
)  # fmt: skip

CORE = ("verify", "resume", "record", "season", "fork")


def commands(folder: Path) -> Iterator[Words]:
    """All commands, for a corpus that lies in `folder`."""
    found = sorted(path.relative_to(folder) for path in folder.rglob("*.journal"))
    names = [str(path.with_suffix("")) for path in found]
    single = [n for n in names if not n.startswith(("forged/", "mined/", "argued-over/"))]
    for line in ALONE:
        yield tuple(line.split())
    for line in OF_GAMES:
        filled = line.replace("{}.run", "goods.run").replace("{}", "goods.run --world goods.py")
        yield tuple(filled.split())
    for name in (*single, "absent"):
        yield from _filled(EVERY, name)
    told = [n for n in single if not CUT.fullmatch(n) and n not in BROKEN]
    for name in told:
        is_rich = name in MINING or name in SEASONS or not name.startswith("golden")
        yield from _filled(WHOLE if is_rich else WHOLE[::4], name)
    for name in MINING:
        yield from _filled(OF_MINING, name)
    for name in SEASONS:
        yield from _filled(OF_SEASONS, name)
    for name in (n for n in single if CUT.fullmatch(n) or n in BROKEN):
        yield ("resume", f"{name}.journal")
        if CUT.fullmatch(name):
            yield ("resume", f"{name}.journal", *_reached(), "--json")
            yield ("prompt", f"{name}.journal", "--at", "1", "--agent", "0")
            yield ("measure", f"{name}.journal", "--usage")
            yield ("diff", f"{name}.journal", f"{name[:6]}.journal")
    for a, b in PAIRS:
        for line in OF_PAIRS:
            yield tuple(line.format(f"{a}.journal", f"{b}.journal").split())
    for study in ("mined", "argued-over"):
        for line in OF_STUDIES:
            yield tuple(line.format(study).split())
    forged = [n for n in names if n.startswith("forged/")]
    for name in forged:
        yield from _filled(("verify {} --json",), name)
    for number, name in enumerate(islice(forged, 0, None, 3)):
        yield from _filled((EVERY[number % len(EVERY)],), name)
    for name in islice(forged, 0, None, 7):
        yield ("view", f"{name}.journal", "--out", "page.html")
        yield ("resume", f"{name}.journal")


def _filled(lines: Sequence[str], name: str) -> Iterator[Words]:
    for line in lines:
        yield tuple(word.replace("{}", f"{name}.journal") for word in line.split())


def _reached() -> Words:
    return ("--models", "models.toml", "--base-url", "{address}", "--concurrency", "1",
            "--patience", "99")  # fmt: skip


def is_core(words: Words) -> bool:
    """Whether a command stands in the core of the net, which takes a minute."""
    if words[0] not in CORE:
        return False
    return (
        not words[1:2] or not words[1].startswith("forged/") or words[1].endswith("0-setup.journal")
    )
