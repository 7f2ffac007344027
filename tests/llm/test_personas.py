"""Personas in a table: which agent gets which, in a run, a study, a season and a fork."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from goldrush.agents.llm.models import Models
from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import JournalReader
from goldrush.replay.find import players_of, tools_for
from goldrush.replay.run import Run
from goldrush.replay.study.plan import read_plan
from goldrush.replay.study.study import Study
from tests.llm.servers import Asked, Reply, plan, serving

BOLD = 'persona,trait\nYou raid.,y\nnever,x\n"a,\nb",z\n'
TEXTS = ("You raid.", "never", "a,\nb")


def of_roster(folder: Path, table: str, roster: str = "llm:m[personas={}]*3", seed: int = 7) -> Any:
    (folder / "p.csv").write_bytes(table.encode(errors="surrogateescape"))
    players = players_of(tools_for("mining"))
    roster = roster.replace("{}", str(folder / "p.csv"))
    return players.configured({"seed": seed}, roster, models=Models())[1].entries


def personas(entries: Any) -> list[str]:
    return [entry.options.get("persona") for entry in entries]


def drawn(seed: int, agents: range) -> list[str]:
    return [TEXTS[Draws(seed, 0, agent, "persona").below(3)] for agent in agents]


def test_personas_are_drawn_by_seed_and_agent_or_stand_with_the_agent(tmp_path: Path) -> None:
    by_agent = of_roster(tmp_path, "\ufeffagent,persona\r\n2,c\r\n0,a\r\n1,b\r\n\r\n9,a\r\n")
    mixed = of_roster(tmp_path, BOLD, "random,llm:m[order=agent;personas={}],human[personas={}]")

    assert ["a", "b", "c"] == personas(by_agent)
    assert [None, *drawn(7, range(1, 3))] == personas(mixed)
    assert ["persona", "order"] == list(mixed[1].options)[-2:]
    for seed in range(5):
        assert drawn(seed, range(3)) == personas(of_roster(tmp_path, BOLD, seed=seed))


def test_workers_of_a_season_have_theirs(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(BOLD)
    part = f"llm:m[personas={tmp_path}/p.csv]"
    cast = cast_of(
        4, [f"worker={part},sonnet={part.replace('llm:m', 'llm:n')}", "ada=random"], None, 3
    )

    assert [*[None] * 6, *drawn(3, range(6, 9))] == personas(cast)


@pytest.mark.parametrize(
    ("table", "error"),
    [
        ("", "line 0: its header is"),
        ("persona,persona\na,b\n", "line 1: its header is"),
        ("persona\n", "has no row"),
        ("persona\n" + "x" * 4001, "line 2: persona is"),
        ("persona\na\x1b[2J\n", "line 2: persona is"),
        ("persona\na,b\n", "line 2: it has more or fewer columns"),
        ('persona\n"a', "unexpected end of data"),
        ("persona\na\nb\na\n", "line 4: an earlier row is for the same agent or persona"),
        ("agent,persona\n0,a\n0,b\n", "line 3: an earlier row is for the same agent"),
        ("agent,persona\n-1,a\n", "line 2: agent is '-1'"),
        ("agent,persona\n0,a\n1,b\n", "has no row for agent 2"),
        ("persona\n" + "\n".join(map(str, range(10_001))), "line 10002: there are over 10,000"),
        ("persona\n" + "x" * 200_000, "field larger"),
        ("persona\n\udcff\n", "cannot read"),
    ],
)
def test_a_table_that_cannot_be_used_is_told_in_a_line(
    table: str, error: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput) as told:
        of_roster(tmp_path, table)

    assert error in str(told.value)
    assert "p.csv" in str(told.value)
    assert str(told.value).isprintable()
    assert len(str(told.value)) < 5_000


def test_tables_are_an_axis_of_a_study_and_nothing_reads_them_again(tmp_path: Path) -> None:
    def respond(asked: Asked) -> Reply:
        is_raider = any(text in asked.text for text in TEXTS)
        return plan(*[("claim", asked.agent or 0, 1)] * is_raider)

    (tmp_path / "bold.csv").write_text(BOLD)
    (tmp_path / "shy.csv").write_text("agent,persona\n0,shy\n1,timid\n")
    (tmp_path / "plan.toml").write_text(
        "treatments = ['baseline']\nseeds = 2\nrounds = 2\n"
        "rosters = ['llm:m[personas=bold.csv]*2', 'llm:m[personas=shy.csv]*2']\n"
    )
    planned = read_plan(tmp_path / "plan.toml")
    with serving(respond) as server:
        models = Models(base_url=server.address)
        Study.play(planned, tmp_path / "study", models=models, jobs=1)
        asked = len(server.asked)
        study = Study.play(planned, tmp_path / "study", models=models, jobs=1)

        assert asked == len(server.asked) == 16
        (tmp_path / "bold.csv").unlink()
        run = Run.open(study.runs()[0].path, models=models)
        fork = run.fork(1, tmp_path / "fork.journal", seed=9)
    with JournalReader(fork.path) as reader:
        roster = next(iter(reader)).setup["roster"]

    assert drawn(0, range(2)) == [entry["options"]["persona"] for entry in roster]
    assert fork.verify().holds
