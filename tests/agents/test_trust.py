"""User-defined policies: which names are imported, and when."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from goldrush.agents.roster import Entry, Roster
from goldrush.agents.targets import import_policy
from goldrush.agents.trust import check_trust, import_names
from goldrush.agents.worlds.competition.arenas import bench_of, rules_of
from goldrush.agents.worlds.competition.players import configured
from goldrush.agents.worlds.mining.roster import POLICY_SET
from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.journal.verify import verify
from goldrush.replay.study.carry_out import carry_out
from goldrush.replay.study.manifest import read_manifest
from goldrush.replay.study.plan import plan_of, read_plan
from goldrush.replay.study.study import Study
from tests.faults.sentinel import SENTINEL, leave, played_by_it
from tests.mining import fork, prepare, record, resume

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module `sentinel` that can be imported and leaves this file when it is."""
    (tmp_path / "lib").mkdir()
    left = leave(tmp_path / "lib")
    monkeypatch.syspath_prepend(tmp_path / "lib")
    yield left
    sys.modules.pop("sentinel", None)


def plan_file(folder: Path, text: str) -> Path:
    path = folder / "plan.toml"
    path.write_text(f'treatments = "baseline"\nseeds = 1\nrounds = 2\n{text}\n')
    return path


# Names.


OTHERS = ("raid", "llm:m", "recorded:m", "a:b:c", "m:", ":C", "1:C", "m:C ", "", "m:C.x")


def test_names_of_ones_own_are_those_of_a_class_in_a_module_each_once_in_order() -> None:
    own = ("b:B", "a.b.c:C", "_m:_C")

    assert own == import_names([own[0], *OTHERS, *own])
    for name in OTHERS:
        with pytest.raises(BadInput, match="there is no policy"):
            import_policy(name, [name])


def test_only_a_name_that_is_trusted_is_imported_and_made_afresh(mark: Path) -> None:
    with pytest.raises(BadInput, match=f"ada plays '{SENTINEL}', a user-defined"):
        check_trust(SENTINEL, [], "ada")
    with pytest.raises(BadInput, match=f"--trust {SENTINEL}"):
        import_policy(SENTINEL, ["other:run", "sentinel:runs"])
    assert not mark.exists()
    one, other = import_policy(SENTINEL, [SENTINEL], ["plan"]), import_policy(SENTINEL, [SENTINEL])

    assert type(one) is type(other)
    assert one is not other
    assert mark.exists()


# What a user names to be run, and constructors written of the names of fields.
NAMED = {"agents/modules.py", "kernel/game/records.py"}


def test_names_become_imports_at_the_gate_alone() -> None:
    """Entry points apart, which nobody names but the distributions that are installed, and checks
    of kinds, whose text is written in one module of names of its own and of integers.
    """
    importing, checking = set(), []
    for room in ("kernel", "agents", "replay", "cli"):
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                name = getattr(node, "id", None) or getattr(node, "attr", None)
                if name not in ("import_module", "__import__", "exec", "eval", "run_module"):
                    continue
                if path == ROOT / "kernel" / "shape.py":
                    checking.append(name)
                else:
                    importing.add(str(path.relative_to(ROOT)))

    # The names of these stand in the code alone.
    importing -= {"agents/plugins.py", "replay/extras.py", "cli/main.py"}
    importing -= {"cli/command.py", "replay/repeats/child.py"}

    assert NAMED == importing
    assert ["eval", "exec"] == sorted(checking)


# Rosters.


def test_a_text_that_is_typed_is_trusted_and_an_entry_alone_is_not(mark: Path) -> None:
    _, roster = prepare({}, f"{SENTINEL}*2,raid*1")

    assert (SENTINEL,) == roster.trust
    for entries in (roster.entries, (Entry(0, SENTINEL),)):
        with pytest.raises(BadInput, match="--trust sentinel:run"):
            POLICY_SET.factory_of(entries[0], Roster(entries))
    assert not mark.exists()


@pytest.mark.parametrize(
    "text",
    [f'rosters = ["{SENTINEL}"]', f'rosters = ["p"]\n[roster]\np = "raid,{SENTINEL}"'],
)
def test_a_plan_in_a_file_makes_nothing_run(text: str, tmp_path: Path, mark: Path) -> None:
    path = plan_file(tmp_path, text)
    with pytest.raises(BadInput, match=f"a user-defined policy.*--trust {SENTINEL}"):
        carry_out(read_plan(path), tmp_path / "out")

    assert not mark.exists()
    assert not (tmp_path / "out").exists()


WORLD = """import os
from goldrush.games.fishery import Fishery
open(os.environ["MARK"], "a").close()
class Own(Fishery):
    pass
"""


@pytest.fixture
def world_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file `own_world.py` in the working folder that leaves this file when it is run."""
    (tmp_path / "own_world.py").write_text(WORLD)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("MARK", str(tmp_path / "ran"))
    monkeypatch.setattr("goldrush.agents.given._GIVEN", {})
    yield tmp_path / "ran"
    sys.modules.pop("own_world", None)


@pytest.mark.parametrize("world", ["own_world.py", "own_world:Own", "own_world:Own-v0"])
def test_a_plan_runs_no_world_that_it_names(world: str, world_mark: Path) -> None:
    Path("plan.toml").write_text(f'world = "{world}"\nrosters = "share*2"\nseeds = 1\n')
    with pytest.raises(BadInput, match=f"user-defined code.*--world {world}"):
        Study.play("plan.toml", "out")
    with pytest.raises(BadInput, match=f"another was given.*--world {world}"):
        Study.play("plan.toml", "out", world="mining")

    assert not world_mark.exists()
    assert not Path("out").exists()


def test_a_manifest_runs_no_world_that_it_names(world_mark: Path) -> None:
    carry_out(plan_of(treatments=["baseline"], seeds=1, rounds=2), "out")
    manifest = Path("out/manifest.json")
    text = manifest.read_text()
    manifest.write_text(text.replace('"world": "mining"', '"world": "own_world.py"'))
    with pytest.raises(BadInput, match=r"world 'own_world\.py'"):
        read_manifest("out")

    assert not world_mark.exists()


def test_a_manifest_is_no_reason_to_import(tmp_path: Path, mark: Path) -> None:
    """A folder whose manifest has the sentinel: the plan is asked, which has it from a file."""
    plan = plan_of(treatments=["baseline"], rosters=[SENTINEL], seeds=1, rounds=2)
    carry_out(plan, tmp_path / "out")
    mark.unlink()
    sys.modules.pop("sentinel")
    with pytest.raises(BadInput, match="--trust"):
        carry_out(read_plan(plan_file(tmp_path, f'rosters = ["{SENTINEL}"]')), tmp_path / "out")

    assert not mark.exists()


# Journals.


def test_a_journals_roster_makes_nothing_run(tmp_path: Path, mark: Path) -> None:
    record(tmp_path / "parent.journal", {"rounds": 3}, "raid*2")
    path = played_by_it(tmp_path / "named.journal", tmp_path / "parent.journal", MINING, [0, 1])
    out = tmp_path / "out.journal"
    acts = (
        lambda: resume(path),
        lambda: resume(path, trust=["sentinel:other"]),
        lambda: fork(path, 1, out),
    )

    before = path.read_bytes()
    for act in acts:
        with pytest.raises(BadInput, match=r"'sentinel:run'.* a user-defined policy"):
            act()

    assert before == path.read_bytes()
    assert (False, False) == (out.exists(), mark.exists())
    verdict = verify(path)
    assert ("sentinel:run (2 agents)",) == verdict.not_asked
    assert (3, None) == (verdict.level, verdict.level_in_part)


def test_a_conduct_plays_installed_policies_alone(mark: Path) -> None:
    arena = configured({"arena": "mining[agents=2;rounds=2;seeds=1]"}).arena
    for conduct in ((SENTINEL, None, 0, "baseline"), ("raid", SENTINEL, 5, "baseline")):
        assert not rules_of(arena).is_canonical(conduct, "baseline")
        with pytest.raises(BadInput):
            bench_of(arena).test(conduct, "baseline", "gini", 1)

    assert not mark.exists()
