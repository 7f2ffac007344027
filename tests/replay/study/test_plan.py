"""Plans: what people write, what it comes to, what is refused, and names that are hostile."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.mining.treatments import TREATMENTS
from goldrush.replay import study
from goldrush.replay.study.plan import (
    FILE_MAX,
    RUNS_MAX,
    _plan_of_table,
    plan_of,
    read_plan,
    seeds_of,
)
from goldrush.replay.study.records import Cell, cells_of
from goldrush.replay.worlds.mining.study import BASELINES
from tests.mining import record

ONE: dict[str, Any] = {"treatments": ["baseline"], "rosters": ["random"], "seeds": 1, "rounds": 5}


def written(folder: Path, text: str) -> Path:
    path = folder / "plan.toml"
    path.write_text(text)
    return path


def says(error: pytest.ExceptionInfo[BadInput]) -> str:
    """The message, which is a line that can be read."""
    text = str(error.value)

    assert "\n" not in text
    assert len(text) < 1000
    return text


# What a plan comes to.


def test_without_a_word_it_is_the_study_of_the_rules() -> None:
    plan = plan_of()
    runs = plan.runs()

    assert (tuple(TREATMENTS), BASELINES) == (plan.treatments, tuple(plan.rosters))
    assert (tuple(range(20)), (200,)) == (plan.seeds, plan.rounds)
    assert len(TREATMENTS) * 5 * 20 == len(runs) == len({run.path for run in runs})


def test_runs_come_cell_by_cell_and_their_configurations_are_those_of_record(
    tmp_path: Path,
) -> None:
    plan = plan_of(
        treatments=["alpha-rich", "agents-20"], rosters=["mixed", "raid"], seeds=[7, 3],
        rounds=[2, 4], settings={"fine": 5},
    )  # fmt: skip
    runs = plan.runs()
    expected = [
        (Cell(treatment, roster, rounds), seed)
        for treatment in ("alpha-rich", "agents-20")
        for roster in ("mixed", "raid")
        for rounds in (2, 4)
        for seed in (7, 3)
    ]

    assert expected == [(run.cell, run.seed) for run in runs]
    assert [2] * 8 == [len(members) for members in cells_of(runs).values()]
    for run in (runs[0], runs[5], runs[-1]):
        state = record(
            tmp_path / "x.journal",
            {"fine": 5, "rounds": run.cell.rounds, "seed": run.seed},
            None if run.cell.roster == "mixed" else run.cell.roster,
            run.cell.treatment,
            force=True,
        )

        assert state.config == run.config
        assert [dict(item) for item in state.roster] == run.prepared.roster.as_setup()
        assert run.setup["config"] == run.config.as_dict()


def test_rosters_of_a_file_have_their_names_or_are_those_of_the_rules(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        rosters = ["baselines", "pirates", "raid*4"]
        [roster]
        pirates = "greedy-mine,raid"
        unused = "random"
        """,
    )
    rosters = {"baselines": "baselines", "pirates": "greedy-mine,raid", "raid*4": "raid*4"}
    plan = read_plan(path)

    assert plan_of(rosters=rosters) == plan
    assert (*BASELINES, "pirates", "raid*4") == tuple(plan.rosters)


def test_the_plan_of_the_page_is_one() -> None:
    page = Path(study.__file__).with_name("README.md").read_text()
    [text] = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    plan = _plan_of_table(tomllib.loads(text), "mining")

    assert (*BASELINES, "greedy-mine*8,raid*2", "pirates") == tuple(plan.rosters)
    assert 3 * 7 * 20 * 2 == len(plan.runs())


def test_a_wording_and_its_file_are_found_beside_the_plan_wherever_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    (folder / "own.toml").write_text('[messages]\nquestion = "Now?"')
    path = written(
        folder,
        """
        treatments = "baseline"
        rosters = ["llm:m[wording=own.toml]*2", "raid,llm:m[wording=plain]", "told"]
        seeds = 1
        [roster]
        told = "llm:m[wording=own.toml],llm:m[wording=told;notes=false]"
        """,
    )
    monkeypatch.chdir(tmp_path)
    plan = read_plan("a b/plan.toml")
    wordings = [
        {option.get("wording") for option in (e.options for e in run.prepared.roster.entries)}
        for run in plan.runs()
    ]

    assert ["llm:m[wording=own.toml]*2", "raid,llm:m[wording=plain]", "told"] == list(plan.rosters)
    assert [{"own"}, {None, "plain"}, {"own", "told"}] == wordings
    assert plan.as_dict() == read_plan(path).as_dict()
    assert "a b" not in str(plan.as_dict())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("20", 20), ("0-4,7", [0, 1, 2, 3, 4, 7]), (" 3 - 3 , 1", [3, 1]),
        (f"{2**53 - 2}-{2**53 - 1}", [2**53 - 2, 2**53 - 1]),
    ],
)  # fmt: skip
def test_seeds_are_how_many_or_which(text: str, expected: int | list[int]) -> None:
    assert expected == seeds_of(text)


@pytest.mark.parametrize(
    "text", ["", "-1", "1.5", "4-0", "1,,2", "0-", "٣", f"0-{RUNS_MAX}", "0-99999999999999"]
)  # fmt: skip
def test_seeds_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match="the seeds") as error:
        seeds_of(text)

    assert says(error)


# What is refused.


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"treatments": ["scarse"]}, "'scarse'; did you mean scarce?"),
        ({"treatments": ["all", "baseline"]}, "'baseline' twice"),
        ({"treatments": []}, "no treatment"),
        ({"rosters": ["baselines", "random"]}, "'random' twice"),
        ({"rosters": ["gready-mine"]}, "'gready-mine'"),
        ({"treatments": ["agents-20"], "rosters": ["raid*10"]}, "10 agents, not 20"),
        ({"rosters": ["recorded:missing.journal"]}, "missing.journal"),
        ({"seeds": 0}, "seeds is 0"),
        ({"seeds": [1, 1]}, "seed 1 twice"),
        ({"seeds": [2**53]}, "seed is"),
        ({"rounds": 1_000_001}, "rounds is 1000001"),
        ({"settings": {"trice": 1}}, "'trice'; did you mean truce?"),
        ({"settings": {"seed": 1}}, "--seeds"),
        ({"settings": {"rounds": 1}}, "given twice"),
        ({"settings": {"rows": 10**6, "cols": 2}}, "the grid"),
        ({"own": {"x": {"rounds": 1}}}, "for the whole study"),
        ({"own": {"dense": {}, "Dense": {}}}, "'Dense'"),
        ({"seeds": 50_000, "rounds": [1, 2, 3]}, "150,000 runs"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_in_a_line(changed: dict[str, Any], expected: str) -> None:
    with pytest.raises(BadInput) as error:
        plan_of(**{**ONE, **changed}).runs()

    assert expected in says(error)


@pytest.mark.parametrize(
    "name",
    ["", "Baseline", "ALL", "a/b", "..", ".x", "manifest.json", "x\n", "x\0", "é", "x" * 81],
)  # fmt: skip
def test_a_treatment_of_ones_own_has_a_name_that_any_file_system_takes(name: str) -> None:
    with pytest.raises(BadInput, match="cannot be called") as error:
        plan_of(own={name: {}})

    assert says(error)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("treatments = [", "is not valid TOML"),
        ("\xff", "cannot read"),
        ("a = " + "[" * 5000, "is not valid TOML"),
        ("#" * (FILE_MAX + 1), "more than 1,048,576 bytes"),
        ("tretments = []", "did you mean treatments?"),
        ("treatments = [['baseline']]", "a treatment is"),
        ("[roster]\nmixed = 'raid'", "'mixed'"),
        ("seeds = 1.5", "seeds is '1.5'"),
        ("[treatment]\nx = 1", "must be a table"),
        ("treatments = 'baseline'\n[treatment.x]\ntruce = 1979-05-27", "truce is"),
    ],
)
def test_a_file_that_is_no_plan_is_refused_by_its_name(
    tmp_path: Path, text: str, expected: str
) -> None:
    path = tmp_path / "plan.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(BadInput) as error:
        read_plan(path).runs()

    assert str(path) in says(error)
    assert expected in says(error)


# Names of rosters are anybody's.

HOSTILE = [
    "../../etc/passwd", "..", ".", "a/b", "a b", "A B", "a_b", "A_b", "a_b-2", "\x1b[2J\x00\n",
    "\u202e", "日本", "-rf", "x" * 5000, "x" * 5000 + "y", "X" * 5000, "con", "a.", "*", "",
]  # fmt: skip


def test_folders_of_rosters_are_plain_short_and_unique_whatever_the_names() -> None:
    plan = plan_of(**{**ONE, "rosters": dict.fromkeys(HOSTILE, "random")})
    runs = plan.runs()
    folders = [run.path.split("/") for run in runs]

    assert HOSTILE == [run.cell.roster for run in runs]
    assert {4} == {len(parts) for parts in folders}
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,110}", parts[1]) for parts in folders)
    assert len(HOSTILE) == len({run.path.lower() for run in runs})
    assert "a_b" == folders[HOSTILE.index("a/b")][1]
