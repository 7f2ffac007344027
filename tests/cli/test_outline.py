"""`ls` and `info`: which journals there are, and what a run says of itself."""

import json
import re
from itertools import groupby
from pathlib import Path

import pytest

from goldrush.kernel.draws import Draws
from goldrush.kernel.journal import FORK, START, Commit, Header
from tests.cli.helpers import goldrush, in_terminal
from tests.golden import path_of
from tests.journals import commits_of, write
from tests.mining import record


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Journals of all kinds, most of them broken."""
    kept = tmp_path / "journals" / "kept"
    kept.mkdir(parents=True)
    whole = path_of("forked").read_bytes()
    commits = commits_of(path_of("forked"))
    names = {
        "a-finished": whole,
        "b-short": whole[: commits[7].end],
        "c-torn": whole[:-3],
        "d-damaged": whole[: commits[9].offset + 40] + b"?" + whole[commits[9].offset + 41 :],
        "e-text": b"no journal",
        "f-empty": b"",
    }
    for name, data in names.items():
        (kept / f"{name}.journal").write_bytes(data)
    write(kept / "g-plugin.journal", commits[:3], Header("elsewhere", 1))
    (kept / "h-link.journal").symlink_to("nowhere")
    (kept / "i-\x1b[31m.journal").write_bytes(whole)
    return tmp_path


def test_ls_has_a_row_for_whatever_is_there(folder: Path) -> None:
    ran = goldrush("ls", cwd=folder)
    rows = [re.split("  +", line) for line in ran.out.splitlines()]
    shown = json.loads(goldrush("ls", "journals", "--json", cwd=folder).out)
    states = ["finished", "unfinished", "torn tail", "DAMAGED at byte", "not a journal",
              "not a journal", "not known here", "cannot be read", "finished"]  # fmt: skip

    assert (0, "") == (ran.code, ran.err)
    assert len(states) == len(rows) - 1 == len(shown)
    assert all(
        any(state in cell for cell in row) for state, row in zip(states, rows[1:], strict=True)
    )
    others = 'visibility=8 authority="punish" detection=0.5'
    assert ["journals/kept/a-finished.journal", "mining", others, "random*5,raid*5", "0", "20",
            "finished", f"{path_of('forked').stat().st_size:,}"] == rows[1]  # fmt: skip
    assert "7 of 20" in rows[2]
    assert "\x1b" not in ran.out
    assert [True, False, False, False, False, False, False, False, True] == [
        one["finished"] for one in shown
    ]
    assert [row[-2] for row in rows[1:]] == [one["state"] for one in shown]
    changed = {"seed": 0, "rounds": 20, "visibility": 8, "authority": "punish", "detection": 0.5}
    told = [f"{k}={json.dumps(v)}" for k, v in shown[0]["changed"].items() if k != "rounds"]
    assert changed == {"seed": 0, **shown[0]["changed"]}
    assert (others, {}) == (" ".join(told), shown[4]["changed"])
    assert "install its package" in shown[6]["trouble"]
    assert (2, 1) == (shown[6]["units"], shown[0]["forks"])


def test_info_shows_first_in_what_models_of_one_label_differ(tmp_path: Path) -> None:
    start, *rest = commits_of(path_of("forked"))
    same = {"name": "m", "model": "x" * 99, "seed": None}
    options = [{**same, "prompt": 1}, {**same, "prompt": 2, "notes": True, "seed_from": "run"}]
    roster = [{"agent": a, "policy": "llm", "options": options[a % 2]} for a in range(10)]
    setup = {**(start.setup or {}), "roster": tuple(roster)}
    write(tmp_path / "run.journal", [Commit(START, 0, start.digest, setup=setup), *rest[:1]])
    rows = goldrush("info", "run.journal", cwd=tmp_path).out.split("\n\n")[1].splitlines()[1:]

    assert 10 == len(rows)
    for agent, row in enumerate(rows):
        assert ('llm:m   prompt=2 seed_from="run" model="xxx' in row) == (agent % 2 == 1)
        assert ('llm:m   prompt=1 model="xxx' in row) == (agent % 2 == 0)


def test_info_shows_how_models_are_asked_and_their_variants(tmp_path: Path) -> None:
    start, *rest = commits_of(path_of("forked"))
    text = json.dumps({"messages": {"none": ["a", "b", "c"]}}, separators=(",", ":"))
    roster = [
        {
            "agent": agent, "policy": "llm",
            "options": {
                "name": "m", "prompt": 2, "wording": "own", "wording_sha256": "0" * 64,
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

    assert "llm:m[wording=own@0000;notes=false]" in rows[0]
    assert drawn[0][:9] != drawn[5][:9]
    for first, each in zip((1, 2, 3), (drawn[0], drawn[5], drawn[5][:9]), strict=True):
        found = [re.search(r"variant=(\d)", row) for row in rows if row.startswith(f"{first} ")]
        shown = [int(variant[1]) for variant in found if variant]
        assert [variant for variant, _ in groupby(each)] == shown
        by_agent = {str(agent): variant for agent, variant in enumerate(each)}
        assert {"from": first, "by_agent": by_agent} == told["variants"][first - 1]


def test_ls_lists_the_journals_of_the_current_folder_beside_those_of_journals(
    folder: Path,
) -> None:
    (folder / "run.journal").write_bytes(path_of("forked").read_bytes())
    rows = json.loads(goldrush("ls", "--json", cwd=folder).out)
    below = json.loads(goldrush("ls", "journals", "--json", cwd=folder).out)

    assert [*(row["journal"] for row in below), "run.journal"] == [row["journal"] for row in rows]


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


def test_info_shows_what_is_whole_and_then_where_it_breaks(folder: Path) -> None:
    damaged = "journals/kept/d-damaged.journal"
    ran = goldrush("info", damaged, cwd=folder)

    assert 2 == ran.code
    assert re.search(r"^units +8 rounds of 20, DAMAGED at byte \d+$", ran.out, re.MULTILINE)
    assert "d-damaged.journal: commit 9 at byte" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ["verify"], ["log"], ["diff", path_of("forked")], ["view", "--out", "page.html"],
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_every_command_tells_the_way_out_of_damage(words: list[str], folder: Path) -> None:
    damaged = "journals/kept/d-damaged.journal"
    ran = goldrush(*words, damaged, cwd=folder)

    assert "commit 9 at byte" in ran.out + ran.err
    assert f"goldrush fork {damaged} --at 7` keeps what is intact" in ran.out + ran.err
