"""Every writer, killed and stopped where it is held: what was there stays, nothing else is left.

Writers take turns, because all write by kernel.files: no other module writes.
"""

import ast
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import pytest

from goldrush.kernel.files import MARK, is_temporary
from goldrush.replay.study.backend import processes
from goldrush.replay.study.carry_out import carry_out
from goldrush.replay.study.plan import plan_of
from tests.cli.helpers import ROOT, assert_refused, goldrush
from tests.journals import tree
from tests.mining import record
from tests.playing import record as record_season
from tests.quick_disk import make_old
from tests.waiting import HANGS

# A command that tells of the call that would give NAME to a file, and then waits.
HELD = """
import os, signal, sys
from msgspec.structs import replace
from goldrush.replay import workers
from goldrush.kernel import files

workers.GRACE = 600.0  # a busy machine lets who is told to end wait
call, name, told, wait, hangup = sys.argv[1:6]
signal.signal(signal.SIGHUP, getattr(signal, hangup))  # whether or not these tests ignore it
real = getattr(files.system, call)

def held(one, other):
    if other.endswith(name):
        os.write(int(told), b".")
        os.read(int(wait), 1)
    real(one, other)

files.system = replace(files.system, **{call: held})
sys.argv[1:] = sys.argv[6:]
from goldrush.cli.main import main
main()
"""


@attrs.frozen
class Writer:
    """A command, and the call with which it gives `name` to what it writes."""

    call: str
    name: str
    command: str
    before: str = ""  # a file that gets its name before that


WRITERS = {
    "record": Writer("link", "run.journal", "record --rounds 2 --out run.journal"),
    "record over": Writer("rename", "a.journal", "record --rounds 2 --out a.journal --force"),
    "fork": Writer("link", "b.journal", "fork a.journal --at 2 --out b.journal"),
    "season": Writer("link", "t.journal", "season --assignments 1 --out t.journal"),
    "tables": Writer("rename", "tables", "export a.journal --format csv --out tables"),
    "season's folder": Writer("rename", "x", "leaderboard s.journal --to x"),
    "report": Writer("link", "report.html", "report study"),
    "manifest": Writer(
        "link", "manifest.json",
        "study --out new --treatment baseline --roster random --seeds 1 --rounds 2",
    ),
    "run": Writer(
        "link", "seed-0000.journal.unfinished",
        "study --out new --treatment baseline --roster random --seeds 1 --rounds 2",
        "new/manifest.json",
    ),
}  # fmt: skip
SIGNALS = {signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, a season and a study, which no test changes."""
    folder = tmp_path_factory.mktemp("kept")
    record(folder / "a.journal", {"seed": 1, "rounds": 4})
    record_season(folder / "s.journal", {"seed": 1, "assignments": 1})
    plan = plan_of(treatments=["scarce"], rosters=["random"], seeds=1, rounds=[4])
    carry_out(plan, folder / "study", backend=processes(1))
    return folder


@pytest.fixture
def room(kept: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kept, tmp_path / "room"))


def left_in(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if is_temporary(path.name)]


@contextmanager
def held(
    writer: Writer, room: Path, hangup: str = "SIG_DFL"
) -> Iterator[tuple[subprocess.Popen, int]]:
    """The command at the call, waiting, and the descriptor by which it is let go on."""
    (hears, told), (wait, go_on) = os.pipe(), os.pipe()
    process = subprocess.Popen(
        [
            sys.executable, "-c", HELD, writer.call, writer.name, str(told), str(wait),
            hangup, *writer.command.split(),
        ],
        cwd=room, env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"},
        pass_fds=(told, wait), start_new_session=True, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    os.close(told)
    os.close(wait)
    try:
        if os.read(hears, 1) != b".":
            raise AssertionError(process.communicate())
        yield process, go_on
    finally:
        os.close(go_on)
        process.kill()
        process.communicate()
        os.close(hears)


@pytest.mark.turns
@pytest.mark.parametrize(
    "name", [name for name in WRITERS if "report" not in WRITERS[name].command]
)
def test_what_a_kill_leaves_is_removed_by_the_next_one_a_day_later(name: str, room: Path) -> None:
    writer, before = WRITERS[name], tree(room)
    with held(writer, room) as (process, _):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        now = {path: data for path, data in tree(room).items() if ".goldrush-" not in path}

        assert [] != left_in(room)
        assert before == {path: now[path] for path in before}
        assert {writer.before} - {""} == now.keys() - before.keys()
    make_old(room)
    ran = goldrush(*writer.command.split(), cwd=room)

    assert (0, []) == (ran.code, left_in(room)), ran.err
    assert any(writer.name.removesuffix(".unfinished") == path.name for path in room.rglob("*"))


@pytest.mark.turns
@pytest.mark.parametrize(
    ("name", "number", "to_all"),
    [
        *((name, signal.SIGTERM, False) for name in WRITERS),
        *((name, signal.SIGHUP, False) for name in ("record", "tables", "run")),
        *((name, signal.SIGTERM, True) for name in ("record over", "report", "run")),
    ],
)
def test_who_is_stopped_by_a_signal_leaves_nothing(
    name: str, to_all: bool, number: signal.Signals, room: Path
) -> None:
    writer, before = WRITERS[name], tree(room)
    with held(writer, room) as (process, _):
        os.killpg(process.pid, number) if to_all else process.send_signal(number)
        _, err = process.communicate(timeout=HANGS)
        now = tree(room)

    assert SIGNALS[number] == process.returncode, err
    assert [] == left_in(room)
    assert before == {path: now[path] for path in before}
    assert {writer.before} - {""} == now.keys() - before.keys()
    assert err.strip().startswith("stopped")
    assert 1 == len(err.strip().splitlines())


@pytest.mark.turns
@pytest.mark.parametrize("name", ["record", "fork", "season"])
def test_a_recorder_that_lost_its_path_to_another_is_told_so_and_not_to_use_force(
    name: str, room: Path
) -> None:
    writer = WRITERS[name]
    forced = attrs.evolve(writer, command=f"{writer.command} --force")
    with held(forced, room) as (process, go_on):
        assert 0 == goldrush(*writer.command.split(), cwd=room).code
        before = tree(room)[writer.name]
        os.write(go_on, b".")
        _, err = process.communicate(timeout=HANGS)

    assert "wait until it ends" in err
    assert (2, False, before) == (process.returncode, "--force" in err, tree(room)[writer.name])


# What --force replaces.

FORCED = {
    "record": ("run.journal", "record --rounds 2 --out run.journal"),
    "csv": ("tables/rounds.csv", "export a.journal --format csv --out tables"),
    "parquet": ("tables/rounds.parquet", "export a.journal --format parquet --out tables"),
    "page": ("a.html", "view a.journal"),
    "report": ("study/report.html", "report study"),
    "figures": ("figures/answer.png", "report study --figures figures"),
    "tables of a report": ("paper/outcome.tex", "report study --tables paper"),
}  # fmt: skip


# It quotes what goldrush writes into its files, further down.
THESIS = f"""\
# My thesis
{9 * "It is about gold and about those who rush. "}
{MARK} <meta name="generator" content="goldrush view">
<testsuites><testsuite name="goldrush verify"/></testsuites>
"""


@pytest.mark.turns
@pytest.mark.parametrize("name", FORCED)
def test_force_replaces_what_goldrush_wrote_and_nothing_else(name: str, room: Path) -> None:
    target, command = FORCED[name]
    path = room / target
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(THESIS)
    before = tree(room)
    ran = goldrush(*command.split(), "--force", cwd=room)

    assert_refused(ran, "not recognised", "move it away")
    assert before == {key: data for key, data in tree(room).items() if key in before}
    path.unlink()
    for _ in range(2):
        assert 0 == goldrush(*command.split(), "--force", cwd=room).code


@pytest.mark.parametrize("text", [THESIS, '{"name": "an app", "icons": []}'])
def test_a_study_refuses_a_manifest_that_is_not_of_goldrush(text: str, room: Path) -> None:
    (room / "new").mkdir()
    (room / "new" / "manifest.json").write_text(text)
    before = tree(room)
    ran = goldrush(*WRITERS["manifest"].command.split(), cwd=room)

    assert_refused(ran, "new/manifest.json is not the manifest of a study", "in a new folder")
    assert before == tree(room)


def test_a_run_that_is_stopped_before_it_began_says_so(room: Path) -> None:
    with held(WRITERS["record over"], room) as (process, _):
        process.terminate()
        _, err = process.communicate(timeout=HANGS)

    assert "stopped: nothing was recorded\n" == err


def test_a_hangup_that_is_ignored_from_the_start_still_is(room: Path) -> None:
    with held(WRITERS["record"], room, "SIG_IGN") as (process, go_on):
        os.killpg(process.pid, signal.SIGHUP)
        os.write(go_on, b".")
        _, err = process.communicate(timeout=HANGS)

        assert (0, "") == (process.returncode, err)
    assert (room / "run.journal").exists()


# Who writes at all.

ROOMS = ("kernel", "replay", "agents", "cli")
METHODS = {"write_text", "write_bytes", "mkdir", "rmdir", "unlink", "touch", "rename",
           "symlink_to", "hardlink_to", "link_to", "truncate", "chmod"}  # fmt: skip
ALLOWED = {
    "agents/llm/budget.py": ["open", "open"],  # in a temporary folder: what runs share
    "agents/pool.py": ["open"],  # standard error once more
    "cli/main.py": ["open"],  # a standard file that is closed
    "replay/repeats/attached.py": ["write_bytes", "touch", "open"],  # in a temporary folder
    "replay/repeats/child.py": ["fdopen"],  # a pipe
    "replay/journal/elsewhere.py": ["fdopen"],  # a pipe
}


def writes(source: str) -> list[str]:
    """What a module calls that could write a file, but for what the linter refuses."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    named = [(*ast.unparse(call.func).rpartition(".")[::2], call) for call in calls]
    return [name for of, name, call in named if is_written_by(of, name, call)]


def is_written_by(of: str, name: str, call: ast.Call) -> bool:
    if name == "fdopen" or (of, name) == ("", "open"):
        mode = mode_of(call, 1)
        return not isinstance(mode, ast.Constant) or is_for_writing(mode)
    if of in ("os", "files.system"):  # os: see the linter's banned-api
        return False
    if name == "open":
        mode = mode_of(call, 0)
        return isinstance(mode, ast.Constant) and is_for_writing(mode)
    return name in METHODS or (name == "replace" and len(call.args) == 1 and not call.keywords)


def mode_of(call: ast.Call, place: int) -> ast.expr:
    named = [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    return [*call.args[place : place + 1], *named, ast.Constant("r")][0]


def is_for_writing(mode: ast.Constant) -> bool:
    return bool(set(str(mode.value)) & set("wax+"))


def test_kernel_files_alone_writes_files() -> None:
    modules = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    found = {str(path.relative_to(ROOT)): writes(path.read_text()) for path in modules}
    found.pop("kernel/files.py")

    assert ALLOWED == {path: said for path, said in found.items() if said}


def test_what_writes_is_seen() -> None:
    writing = "open(p, mode='a'); open(p, m); p.open('x'); p.mkdir(); p.replace(q); os.fdopen(f, m)"
    reading = "open(p, 'rb'); p.open(); 'a'.replace('b', 'c'); files.system.unlink(p); os.fdopen(f)"

    assert ["open", "open", "open", "mkdir", "replace", "fdopen"] == writes(writing)
    assert [] == writes(reading)
