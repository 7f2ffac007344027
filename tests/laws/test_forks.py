"""What holds of every fork, whatever the run, wherever it leaves it, and whatever it changes."""

from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldrush.agents.roster import Entry, Roster
from goldrush.kernel.forking import changes
from goldrush.kernel.journal import FORK
from goldrush.kernel.worlds.mining.config import MiningConfig, config_of
from goldrush.kernel.worlds.mining.events import KINDS
from goldrush.kernel.worlds.mining.fork import FORKS
from goldrush.replay.journal.verify import verify
from tests.golden import MODELS, NAMES, path_of
from tests.journals import commits_of
from tests.laws.strategies import configs, hostile_plans, rosters
from tests.mining import fork, record, resume

ROUNDS = 6
few = settings(max_examples=max(6, settings().max_examples // 2))  # each records and forks runs


@attrs.frozen
class Run:
    """A run of scripted policies, and a round of it."""

    config: MiningConfig
    roster: tuple[str, ...]
    at: int

    def recorded(self, path: Path) -> Path:
        record(path, self.config.as_dict(), roster_of(self.roster), force=True)
        return path


def roster_of(names: tuple[str, ...]) -> Roster:
    return Roster(tuple(Entry(agent, name) for agent, name in enumerate(names)))


@st.composite
def runs(draw: st.DrawFn) -> Run:
    config = attrs.evolve(draw(configs()), rounds=ROUNDS)
    return Run(config, draw(rosters(config.agents, hostile=False)), draw(st.integers(0, ROUNDS)))


@attrs.frozen
class Change:
    """What a fork changes: settings, who plays, and what is put in by hand."""

    settings: dict[str, Any]
    roster: tuple[str, ...] | None
    replace: list[dict[str, Any]]

    @property
    def given(self) -> dict[str, Any]:
        """The arguments of `fork`."""
        roster = self.roster and ",".join(self.roster)
        return {"settings": self.settings, "roster": roster, "replace": self.replace}


@st.composite
def changes_of(draw: st.DrawFn, run: Run, *, plans: int = 4) -> Change:
    """Any of the settings that may change, any roster, any plans for some of the rounds to come."""
    other = draw(configs()).as_dict()
    kept = set(FORKS.fixed) | draw(st.sets(st.sampled_from(sorted(other))))
    agents, plots = run.config.agents, run.config.plots
    other["rounds"] = draw(st.integers(max(1, run.at), ROUNDS + 2))
    if other["stamina_by_agent"]:
        other["stamina_by_agent"] = (other["stamina_by_agent"] * agents)[:agents]
    if other["alpha_by_plot"]:
        other["alpha_by_plot"] = (other["alpha_by_plot"] * plots)[:plots]
    different = {name: value for name, value in other.items() if name not in kept}
    config = config_of({**run.config.as_dict(), **different})
    places = [(at, a) for at in range(run.at + 1, config.rounds + 1) for a in range(agents)]
    replace = [
        {"round": at, "agent": agent, "actions": named(draw(hostile_plans(config))), "memo": "m"}
        for at, agent in draw(
            st.sets(st.sampled_from(places), max_size=plans) if places else st.just([])
        )
    ]
    return Change(different, draw(st.none() | rosters(run.config.agents, hostile=False)), replace)


def named(plan: Any) -> list[Any]:
    return [action and [KINDS[action[0]], *action[1:]] for action in plan]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples; files in it are overwritten."""
    return tmp_path_factory.mktemp("forks")


def without_forks(path: Path) -> list[bytes]:
    """The bodies of a journal's commits, digests and all, but for forks."""
    return [commit.raw for commit in commits_of(path) if commit.kind != FORK]


@few
@given(runs())
def test_without_a_change_every_event_and_digest_comes_again(folder: Path, run: Run) -> None:
    parent, out = run.recorded(folder / "parent"), folder / "out"
    fork(parent, run.at, out, force=True)
    forked = commits_of(out)[run.at + 1]

    assert without_forks(out) == without_forks(parent)
    assert (forked.kind, forked.digest) == (FORK, commits_of(parent)[run.at].digest)
    assert verify(out).holds


@pytest.mark.parametrize(
    "path",
    sorted(path_of(name) for name in NAMES - {MODELS}),  # a model is asked anew by a fork
    ids=lambda path: path.stem,
)
def test_a_golden_journal_forked_at_any_round_without_a_change_comes_again(
    path: Path, tmp_path: Path
) -> None:
    commits = commits_of(path)
    forked = max([0, *(commit.unit for commit in commits if commit.kind == FORK)])
    for at in range(forked, commits[-1].unit + 1):
        fork(path, at, tmp_path / "out", force=True)

        assert without_forks(tmp_path / "out") == without_forks(path), at


@few
@given(st.data())
def test_a_fork_of_any_kind_keeps_the_past_and_verifies(folder: Path, data: st.DataObject) -> None:
    run = data.draw(runs())
    change = data.draw(changes_of(run))
    parent, out = run.recorded(folder / "parent"), folder / "out"
    state = fork(parent, run.at, out, force=True, **change.given)
    common = commits_of(parent)[run.at].end
    verdict = verify(out)

    assert out.read_bytes()[:common] == parent.read_bytes()[:common]
    assert (verdict.broken, verdict.finished, verdict.not_asked) == (None, True, ())
    assert state.config == config_of({**run.config.as_dict(), **change.settings})
    assert tuple(entry["policy"] for entry in state.roster) == (change.roster or run.roster)


@few
@given(st.data())
def test_a_fork_of_any_kind_that_broke_off_is_resumed_byte_for_byte(
    folder: Path, data: st.DataObject
) -> None:
    run = data.draw(runs())
    change = data.draw(changes_of(run))
    parent, out = run.recorded(folder / "parent"), folder / "out"
    fork(parent, run.at, out, force=True, **change.given)
    whole = out.read_bytes()
    cut = data.draw(st.integers(commits_of(out)[run.at + 1].end, len(whole) - 1))
    out.write_bytes(whole[:cut])
    resume(out)

    assert out.read_bytes() == whole


@few
@given(st.data())
def test_what_is_changed_and_changed_back_comes_again(folder: Path, data: st.DataObject) -> None:
    run = data.draw(runs())
    change = data.draw(changes_of(run, plans=0))
    parent, there, back = run.recorded(folder / "parent"), folder / "there", folder / "back"
    fork(parent, run.at, there, force=True, **change.given)
    changed = config_of({**run.config.as_dict(), **change.settings})
    fork(
        there, run.at, back, settings=changes(changed, run.config), roster=",".join(run.roster),
        force=True,
    )  # fmt: skip

    assert without_forks(back) == without_forks(parent)


@few
@given(st.data())
def test_changes_in_one_fork_or_in_one_after_the_other_are_the_same(
    folder: Path, data: st.DataObject
) -> None:
    run = data.draw(runs())
    change = data.draw(changes_of(run))
    parent, first, second = run.recorded(folder / "parent"), folder / "first", folder / "second"
    fork(parent, run.at, first, settings=change.settings, force=True)
    fork(first, run.at, second, **{**change.given, "settings": {}}, force=True)
    fork(parent, run.at, first, **change.given, force=True)

    assert without_forks(second) == without_forks(first)
