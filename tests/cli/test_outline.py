"""`ls` and `info`: which journals there are, and what a run says of itself."""

import json
import re
from itertools import groupby
from pathlib import Path

from goldrush.kernel.draws import Draws
from goldrush.kernel.journal import FORK, START, Commit
from tests.cli.helpers import goldrush, in_terminal
from tests.golden import path_of
from tests.journals import commits_of, write
from tests.mining import record


def test_info_shows_how_models_are_asked_and_their_variants(tmp_path: Path) -> None:
    start, *rest = commits_of(path_of("forked"))
    text = json.dumps({"messages": {"none": ["a", "b", "c"]}}, separators=(",", ":"))
    roster = [
        {
            "agent": agent, "policy": "llm",
            "options": {
                "name": "m", "prompt": 3, "wording": "own", "wording_sha256": "0" * 64,
                **({"wording_text": text} if agent == 0 else {}),
            },
        }
        for agent in range(10)
    ]  # fmt: skip
    setup = {**(start.setup or {}), "roster": tuple(roster)}
    facts = {"parent": "0" * 64, "changes": {}, "roster": None, "replaced": ()}
    fewer = [*roster[:9], {"agent": 9, "policy": "raid", "options": {}}]
    forks = [
        Commit(FORK, commit.unit, commit.digest, setup={**facts, **changed})
        for commit, changed in zip(
            rest[:2], ({"changes": {"seed": 5}}, {"roster": tuple(fewer)}), strict=True
        )
    ]
    whole = [Commit(START, 0, start.digest, setup=setup), rest[0], forks[0], rest[1], forks[1]]
    write(tmp_path / "forked.journal", whole)
    rows = goldrush("info", "forked.journal", cwd=tmp_path).out.split("\n\n")[1].splitlines()[1:]
    told = json.loads(goldrush("info", "forked.journal", "--json", cwd=tmp_path).out)
    drawn = {s: [Draws(s, 0, agent, "wording").below(3) for agent in range(10)] for s in (0, 5)}

    assert "llm:m[wording=own@0000;notes=false;order=fixed]" in rows[0]
    assert drawn[0][:9] != drawn[5][:9]
    for first, each in zip((1, 2, 3), (drawn[0], drawn[5], drawn[5][:9]), strict=True):
        found = [re.search(r"variant=(\d)", row) for row in rows if row.startswith(f"{first} ")]
        shown = [int(variant[1]) for variant in found if variant]
        assert [variant for variant, _ in groupby(each)] == shown
        by_agent = {str(agent): variant for agent, variant in enumerate(each)}
        assert {"from": first, "by_agent": by_agent} == told["variants"][first - 1]


def test_ls_lists_the_journals_of_the_current_folder_beside_those_of_journals(
    tmp_path: Path,
) -> None:
    kept = tmp_path / "journals" / "kept"
    kept.mkdir(parents=True)
    (kept / "h-link.journal").symlink_to("nowhere")
    for path in (kept / "i-\x1b[31m.journal", tmp_path / "run.journal"):
        path.write_bytes(path_of("forked").read_bytes())
    ran = goldrush("ls", cwd=tmp_path)
    rows = json.loads(goldrush("ls", "--json", cwd=tmp_path).out)

    assert (0, "", False) == (ran.code, ran.err, "\x1b" in ran.out)
    assert ["cannot be read", "finished", "finished"] == [row["state"] for row in rows]
    assert ["h-link.journal", "run.journal"] == [Path(rows[n]["journal"]).name for n in (0, 2)]


def test_rosters_are_cut_in_a_terminal_alone_and_stay_different(tmp_path: Path) -> None:
    rosters = [",".join([*["random,raid"] * 4, each, "raid"]) for each in ("mine", "claim")]
    for number, roster in enumerate([*rosters, rosters[0]]):
        roster = ",".join([roster, *["random,raid"] * 10])
        record(tmp_path / f"{number}.journal", {"rounds": 1}, roster)
    piped = goldrush("ls", cwd=tmp_path).out.splitlines()[1:]
    shown = in_terminal("ls", cwd=tmp_path).out.splitlines()[1:]
    cells = [line.split()[3:-4] for line in shown]

    assert [[f"  {rosters[n]}," in line for n in (0, 1)] for line in piped] == [
        [True, False], [False, True], [True, False],
    ]  # fmt: skip
    assert [60, 60] == [len(cell[0]) for cell in cells[:2]]
    assert cells[0] == cells[2]
    assert [*cells[0], "(2)"] == cells[1]
