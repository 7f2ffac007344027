"""What `verify` says of environments: that they repeat here, or where they do not."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import goldrush
from goldrush.agents.given import making
from goldrush.agents.targets import RegisteredEnvironment
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import START
from goldrush.kernel.worlds.episode.config import MODEL
from goldrush.kernel.worlds.episode.events import ACTED
from goldrush.kernel.worlds.episode.world import episode_world
from goldrush.replay.find import typed, world_named
from goldrush.replay.journal.batch import format_result, verify_all
from tests.journals import changed, commits_of, forged
from tests.kernel.worlds.episode.scripted import Scripted, recorded, reset, setup_of, world_on
from tests.replay.worlds.episode.envs import MAKE, Hunt, NoisyWalk, play

kinds = pytest.mark.parametrize("kind", MAKE)


def driven(path: Path, kind: str = "environment", **how: Any) -> Path:
    env = goldrush.wrap(MAKE[kind], path, **how)
    play(env, kind, 20)
    env.close()
    return path


def said(path: Path, make: Callable[..., object] | None = None) -> tuple[bool | None, str]:
    """Whether a journal holds, and what is said of it."""
    with making(make):
        [result] = verify_all([str(path)])
    return result.holds, format_result(result) if result.verdict else result.error or ""


def test_it_names_versions_that_differ(tmp_path: Path) -> None:
    def other(setup: dict[str, Any]) -> None:
        setup["subject"]["versions"] |= {"gymnasium": "0.1", "no-such-thing": "7"}

    path = with_setup(driven(tmp_path / "run.journal"), other)
    holds, text = said(path, NoisyWalk)

    assert holds
    assert f"gymnasium {gymnasium.__version__} (recorded under 0.1)" in text
    assert "no-such-thing absent (recorded under 7)" in text

    broken = said(path, lambda: NoisyWalk(drift=1e-6, at=3))[1]
    failing = said(path, lambda: NoisyWalk(fails=3))[1]

    assert f"gymnasium {gymnasium.__version__} (recorded under 0.1)" in broken
    assert f"gymnasium {gymnasium.__version__} (recorded under 0.1)" in failing


_INSTALLED = {
    "rings/__init__.py": "",
    "rings/parts.py": "import tails\nclass Ring:\n    pass\n",
    "rings/extra.py": "import idle\n",
    "tails.py": "",
    "idle.py": "",
    "Ring_Works-2.5.dist-info/METADATA": "Metadata-Version: 2.1\nName: Ring-Works\nVersion: 2.5\n",
    "Ring_Works-2.5.dist-info/RECORD": "rings/__init__.py,,\nrings/parts.py,,\n",
    "tails-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tails\nVersion: 1.0\n",
    "tails-1.0.dist-info/RECORD": "tails.py,,\n",
    "idle-3.dist-info/METADATA": "Metadata-Version: 2.1\nName: idle\nVersion: 3\n",
    "idle-3.dist-info/RECORD": "idle.py,,\n",
    "elsewhere/afar.py": "",
    "afar-4.dist-info/METADATA": "Metadata-Version: 2.1\nName: afar\nVersion: 4\n",
    "afar-4.dist-info/direct_url.json": '{"url":"file:///afar","dir_info":{"editable":true}}',
    "elsewhere/odd.py": "",  # of one's own: what is known of an installed one says nothing
    "odd-5.dist-info/METADATA": "Metadata-Version: 2.1\nName: odd\nVersion: 5\n",
    "odd-5.dist-info/direct_url.json": '{"url": "odd", "dir_info": ["editable"',
}  # fmt: skip


def test_versions_are_those_of_all_that_the_code_imports(tmp_path: Path) -> None:
    for name, text in _INSTALLED.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "iniconfig.py").write_text("")  # of one's own: an installed one is called so
    (tmp_path / "helps.py").write_text("from rings.parts import Ring\n")
    (tmp_path / "mine.py").write_text(
        "import afar, iniconfig, odd, rings\nfrom helps import Ring\n"
        "class Mine:\n    def __init__(self, seed=0): self.n = seed\n"
        "    def step(self): self.n += 1\n"
        "def made(seed=0): return Mine(seed)\n"
    )
    code = (
        "import idle, rings.extra\nimport goldrush, mine\n"
        "goldrush.wrap(mine.Mine, 'class.journal', steps=2)\n"
        "goldrush.wrap(mine.made, 'made.journal', steps=2)\n"
    )
    path = os.pathsep.join([str(tmp_path), str(tmp_path / "elsewhere"), os.getcwd()])
    subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": path},
        cwd=tmp_path,
        check=True,
    )
    expected = {"afar": "4", "numpy": np.__version__, "ring-works": "2.5", "tails": "1.0"}
    for name in "class", "made":
        versions = commits_of(tmp_path / f"{name}.journal")[0].setup["subject"]["versions"]

        assert {"python": platform.python_version(), **expected} == versions


def test_without_what_makes_it_events_are_not_judged(tmp_path: Path) -> None:
    path = driven(tmp_path / "run.journal")
    holds, text = said(path)

    assert holds is None
    assert "give what makes it: --env module:make" in text
    assert "repeats" not in text
    assert goldrush.open(path).verify(level=2).holds


@kinds
def test_it_says_that_a_run_repeats_here_or_which_reward_differs(kind: str, tmp_path: Path) -> None:
    path = driven(tmp_path / "run.journal", kind)
    repeats, here = said(path, MAKE[kind])
    holds, text = said(path, lambda: MAKE[kind](drift=1e-12, at=3))

    assert (True, False) == (repeats, holds)
    assert f"it repeats here, under python {sys.version.split()[0]}, " in here
    assert "step 3, " in text
    assert '"event": "gave"' in text


def raises(**parameters: object) -> object:
    raise OSError("no display\nis here")


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("environment", raises),
        ("environment", Hunt),
        ("environment", lambda: 7),
        ("environment", lambda: NoisyWalk(fails=3)),
        ("parallel", lambda: Hunt(agents=2)),
    ],
)
def test_what_makes_something_else_is_refused_in_one_line(
    kind: str, make: Callable[..., object], tmp_path: Path
) -> None:
    holds, text = said(driven(tmp_path / "run.journal", kind), make)

    assert holds is None
    assert "\n" not in text


@pytest.mark.parametrize(
    ("kind", "parameters", "says"),
    [
        ("environment", {"num_envs": 10**9}, "cannot be made"),
        ("vector environment", {"num_envs": 10**9}, "cannot be made"),
        ("model", {"max_episode_steps": 10**9}, "was 'model', and is 'environment' here"),
    ],
)
def test_a_journal_has_nothing_made_of_another_kind_and_no_forged_number(
    kind: str, parameters: dict[str, Any], says: str, tmp_path: Path, monkeypatch: Any
) -> None:
    made: list[Any] = []
    monkeypatch.setattr(gymnasium, "make_vec", lambda *name, **given: made.append(given) or 1 // 0)
    monkeypatch.setattr(gymnasium, "make", lambda *name, **given: made.append(given) or 1 // 0)
    path = tmp_path / "run.journal"
    agents = 0 if kind == MODEL else 1
    setup = setup_of(kind, agents)
    setup["config"] |= parameters  # type: ignore[operator]
    setup["subject"] |= {"report": ()} if kind == MODEL else {}  # type: ignore[operator]
    recorded(path, world_on(partial(Scripted, kind, agents)), setup, [reset(1)])
    holds, text = said(path, RegisteredEnvironment("CartPole-v1"))

    assert holds is None
    assert {**made[0], "num_envs": 1} == {"num_envs": 1} if made else kind == MODEL
    assert says in text


@pytest.mark.parametrize(
    "action",
    [7.5, None, ("array", "<f4", (2, 2), b"\0" * 16), ("type", "os.system")],
)
def test_a_forged_action_of_another_type_is_no_crash(action: Any, tmp_path: Path) -> None:
    def forge(row: list[Any]) -> None:
        row[1] = action

    path = driven(tmp_path / "run.journal")
    commits = changed(commits_of(path), ACTED, forge, unit=4)
    holds, text = said(forged(tmp_path / "forged.journal", episode_world(), commits), NoisyWalk)

    assert holds is not True
    assert "step 3" in text
    assert "\n" not in text


def with_setup(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The journal with another START."""
    commits = commits_of(path)
    assert commits[0].kind == START
    change(commits[0].setup)  # type: ignore[arg-type]
    return forged(path, episode_world(), commits)


@pytest.mark.parametrize("name", ["its_trap.py:make", "its_trap:Trap-v0"])
def test_a_journal_imports_nothing_by_naming_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "its_trap.py").write_text("raise SystemExit('it was imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    path = with_setup(
        driven(tmp_path / "run.journal"), lambda setup: setup["subject"].update(name=name)
    )
    run = goldrush.open(path)

    assert run.verify().holds is None
    assert [*run.events("acted")]
    assert run.at(3).state.about.name == name
    assert typed(path)
    with pytest.raises((BadInput, goldrush.JournalError)):
        run.fork(3, tmp_path / "fork.journal")
    assert "its_trap" not in sys.modules


class Idle:
    """A model and nothing else: `id` is a text of its own."""

    def __init__(self, seed: int, id: object) -> None:
        self.id = id

    def step(self) -> None:
        pass


def first_of(id: Any) -> object:
    return gymnasium.make(id if isinstance(id, str) else id[0])


@pytest.mark.parametrize("name", ["its_trap:Trap-v0", ["its_trap:Trap-v0"]])
@pytest.mark.parametrize("make", [partial(gymnasium.make), first_of])
def test_a_journal_has_what_is_given_import_nothing(
    make: Callable[..., object], name: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "its_trap.py").write_text("raise SystemExit('it was imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    env = goldrush.wrap(lambda id: NoisyWalk(), tmp_path / "walk.journal", id=name)  # noqa: A006
    env.reset(seed=1)
    goldrush.wrap(Idle, tmp_path / "idle.journal", steps=1, id=name)

    for journal in ("walk.journal", "idle.journal"):
        holds, text = said(tmp_path / journal, make)
        assert holds is None
        assert "'its_trap:Trap" in text
        assert "whose module would be imported" in text
    with pytest.raises(BadInput, match="whose module would be imported"):
        env.fork(0, tmp_path / "fork.journal")
    assert "its_trap" not in sys.modules


def test_it_says_that_another_environment_is_given_where_the_run_does_not_repeat(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.journal"
    env = goldrush.wrap("CartPole-v1", path)
    env.reset(seed=1)
    env.close()
    world_named("Pendulum-v1")
    holds, text = said(path)
    same = goldrush.open(path, world=lambda: gymnasium.make("CartPole-v1"))
    differs = goldrush.open(path, world=lambda: Signed(0.0)).verify()

    assert not holds
    assert ", by Pendulum-v1 in place of the recorded CartPole-v1" in text
    assert same.verify().holds
    assert f"by {Signed.__module__}:Signed in place of the recorded" in differs.rests_on


def test_it_tells_numbers_that_differ_in_their_sign_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    env = goldrush.wrap(lambda: Signed(0.0), path, values=True)
    env.reset(seed=1)
    env.close()
    verdict = goldrush.open(path, world=lambda: Signed(-0.0)).verify()

    assert verdict.broken is not None
    assert "-0.0" in verdict.broken.expected
    assert "-0.0" not in verdict.broken.found


class Signed(NoisyWalk):
    """Observes a zero."""

    def __init__(self, zero: float) -> None:
        super().__init__()
        self.zero = zero

    def seen(self) -> Any:
        return np.array([7.0, self.zero])


class Vague(NoisyWalk):
    """Observes a set, and gives something of no encoding and no reward."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return {1, 2}, {"time": object()}

    def step(self, action: Any) -> Any:
        return {1, 2}, 0.0, False, False, {"time": object()}


def test_it_says_what_was_not_compared(tmp_path: Path) -> None:
    env = goldrush.wrap(Vague, tmp_path / "run.journal", ignore="info[score]")
    env.reset(seed=1)
    for _ in range(2):
        env.step(1)
    env.close()
    holds, text = said(tmp_path / "run.journal", Vague)

    assert holds
    assert (
        "; not compared: 6 values of which the type alone is recorded: observation (set), "
        "info[time] (object); what was left out: info[score]"
    ) in text


def test_where_nothing_was_compared_it_does_not_say_that_a_run_repeats(tmp_path: Path) -> None:
    env = goldrush.wrap(Vague, tmp_path / "run.journal")
    env.reset(seed=1)
    env.close()
    holds, text = said(tmp_path / "run.journal", Vague)

    assert holds is None
    assert "could not be judged in full (nothing that it gave was compared)" in text
    assert "repeats" not in text


_TICKS = count()


class Stamped:
    """A model with a stamp beside its play, of another value in each run."""

    def __init__(self, seed: int = 0, skill: int = 1) -> None:
        self.stamp, self._skill = next(_TICKS), skill
        self.game = {"uuid": next(_TICKS), "bots": [{"at": seed, "time": next(_TICKS)}]}

    def step(self) -> None:
        self.game["bots"][0]["at"] += self._skill  # type: ignore[index]


@pytest.mark.parametrize(
    "ignore",
    [
        ("stamp", "game['uuid']", "game['bots'][0]['time']"),
        ("stamp", "game[uuid]", "game[bots][*][time]"),
    ],
)  # fmt: skip
def test_paths_within_attributes_are_left_out(ignore: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    whole = goldrush.wrap(Stamped, path, steps=2, ignore="variable[stamp]").path
    found = said(Path(whole), Stamped)

    assert found[0] is False
    assert "attributes[game]" in found[1]

    goldrush.wrap(Stamped, path, steps=2, ignore=ignore, force=True)
    holds, text = said(path, Stamped)

    assert holds
    assert f"not compared: what was left out: {ignore[0]}, {ignore[1]}, {ignore[2]}" in text
    differing = said(path, partial(Stamped, skill=2))  # what is not left out is compared
    assert differing[0] is False


def test_paths_within_infos_match_with_quotes(tmp_path: Path) -> None:
    def make() -> Any:
        return NoisyWalk(info={"episode": {"t": next(_TICKS), "r": 1}})

    path = tmp_path / "run.journal"
    for ignore in "info['of']['episode']['t']", "info[of][*][t]", "info[of][episode][t]":
        env = goldrush.wrap(make, path, ignore=ignore, force=True)
        play(env, "environment", 3)
        env.close()

        assert said(path, make)[0]
    assert "info[of][episode][r]" in path.read_bytes().decode("latin-1")
