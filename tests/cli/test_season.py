"""`goldrush season`, and what the other commands say of a season."""

import json
from pathlib import Path

import pytest

from goldrush.agents.competition.players import record
from tests.cli.helpers import assert_refused, goldrush

SIZE = ("--set", "test_agents=4", "--set", "test_rounds=6", "--set", "test_seeds=1")
SMALL = ("season", "--seed", 2, "--assignments", 3, *SIZE)


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("seasons") / "s.journal"
    size = {"test_agents": 4, "test_rounds": 6, "test_seeds": 1}
    record(path, {"seed": 2, "assignments": 3, **size})
    return path


def test_a_season_is_recorded_byte_for_byte_and_holds_at_every_level(
    journal: Path, tmp_path: Path
) -> None:
    ran = goldrush(*SMALL, "--out", "s.journal", cwd=tmp_path)
    verified = goldrush("verify", "s.journal", cwd=tmp_path)

    assert (0, "") == (ran.code, ran.err)
    assert ran.out.startswith("3 assignments, 3 tables of 6 workers at most, seed 2: ")
    assert "next:    python -m goldrush replay s.journal --round 2" in ran.out
    assert journal.read_bytes() == (tmp_path / "s.journal").read_bytes()
    assert (0, "s.journal: holds at levels 1 to 4: 3 assignments, ") == (
        verified.code, verified.out[:50]
    )  # fmt: skip


def test_the_summary_for_programs(journal: Path, tmp_path: Path) -> None:
    summary = json.loads(goldrush(*SMALL, "--out", "s.journal", "--json", cwd=tmp_path).out)

    assert (3, True) == (summary["assignments"], summary["finished"])
    assert 6 <= len(summary["workers"])
    assert {"objective", "conduct", "treatment", "times", "adopted"} == set(
        summary["conclusions"][0]
    )


def test_a_season_lands_in_journals_by_default(tmp_path: Path) -> None:
    goldrush("season", "--assignments", 1, *SIZE, cwd=tmp_path)

    assert (tmp_path / "journals" / "season-seed0.journal").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--workers", 2), "workers is 2; it must be a whole number from 3 to 1000"),
        (("--set", "move=3"), "did you mean moves?"),
        (("--set", "worker_tiers=[5,4,3,2]"), "none smaller than the one before"),
        (("--cast", "zoe=scripted"), "casts nobody"),
        (("--cast", "judge=nonsense"), "there is no policy 'nonsense'"),
        (("--assignments", 0), "assignments is 0"),
        (("--seed", 2**53), "seed is 9007199254740992"),
    ],
)
def test_what_no_season_can_be_is_refused(
    arguments: tuple[object, ...], says: str, tmp_path: Path
) -> None:
    ran = goldrush("season", *SIZE, "--out", "s.journal", *arguments, cwd=tmp_path)

    assert_refused(ran, says)
    assert not list(tmp_path.iterdir())


def test_a_policy_that_fails_leaves_what_is_whole_and_says_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from goldrush.agents.competition.worker import Worker\n"
        "class Tired(Worker):\n"
        "    def speak(self, seen, draws):\n"
        "        if seen.assignment == 1: raise OSError('tired')\n"
        "        return super().speak(seen, draws)\n"
    )
    ran = goldrush(*SMALL, "--out", "s.journal", "--cast", "ada=mine:Tired", cwd=tmp_path)
    before = goldrush("verify", "s.journal", "--trust", "mine:Tired", cwd=tmp_path)
    (tmp_path / "mine.py").write_text(
        "from goldrush.agents.competition.worker import Worker\nclass Tired(Worker):\n    pass\n"
    )
    refused = goldrush("resume", "s.journal", cwd=tmp_path)
    resumed = goldrush("resume", "s.journal", "--trust", "mine:Tired", cwd=tmp_path)
    after = goldrush("verify", "s.journal", "--trust", "mine:Tired", cwd=tmp_path)

    assert 1 == ran.code
    assert "failed in assignment 1: speak: OSError: tired" in ran.err
    assert "s.journal holds assignments 0 to 0, whole; go on with" in ran.err
    assert "unfinished" in before.out
    assert_refused(refused, "--trust")
    assert (0, 0) == (resumed.code, after.code)


@pytest.mark.parametrize("policy", ["mine:Typo", "nowhere:Worker", "mine:Half"])
def test_a_policy_that_cannot_be_made_leaves_what_is_there(
    policy: str, journal: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text("class Half:\n    def open(self, seen, draws): ...\n")
    there = tmp_path / "s.journal"
    there.write_bytes(journal.read_bytes())
    ran = goldrush(*SMALL, "--out", there, "--force", "--cast", f"ada={policy}", cwd=tmp_path)
    fresh = goldrush(*SMALL, "--out", "new.journal", "--cast", f"ada={policy}", cwd=tmp_path)

    assert_refused(ran, policy)
    assert_refused(fresh, policy)
    assert journal.read_bytes() == there.read_bytes()
    assert not (tmp_path / "new.journal").exists()


def test_replay_shows_who_is_there_and_what_was_said(journal: Path, tmp_path: Path) -> None:
    ran = goldrush("replay", journal, "--round", 1, cwd=tmp_path)
    shown = json.loads(goldrush("replay", journal, "--round", 1, "--json", cwd=tmp_path).out)

    assert ran.out.startswith("assignment 1, 3 in all, digest ")
    assert "admin opens the assignment (day 0, project 0): " in ran.out
    assert "table 0 concludes " in ran.out
    assert "therapist rates ada [" in ran.out
    assert (1, 3) == (shown["assignment"], shown["assignments"])
    assert {"ada", "judge", "user"} <= {agent["name"] for agent in shown["agents"]}
    assert "assignment_closed" == shown["events"][-1]["event"]


@pytest.mark.parametrize(("at", "says"), [(3, "give one from -1 to 2"), (-2, "give one from -1")])
def test_replay_of_an_assignment_that_there_is_not(
    at: int, says: str, journal: Path, tmp_path: Path
) -> None:
    assert_refused(goldrush("replay", journal, "--round", at, cwd=tmp_path), says)


def test_the_start_of_a_season_is_before_assignment_0(journal: Path, tmp_path: Path) -> None:
    ran = goldrush("replay", journal, "--round", -1, cwd=tmp_path)

    assert "a season of the competition world starts (rules 1)" in ran.out


def test_log_narrows_a_season_down(journal: Path, tmp_path: Path) -> None:
    by_agent = goldrush("log", journal, "--agent", 5, "--rounds", "2", cwd=tmp_path).out
    scores = goldrush(
        "log", journal, "--event", "scored", "--rounds", "-1", "--json", cwd=tmp_path
    ).out.splitlines()

    assert by_agent
    assert all(line.split()[0] == "2" for line in by_agent.splitlines())
    assert all("ada" in line for line in by_agent.splitlines() if " scores " in line)
    assert {0, 1} == {json.loads(line)["assignment"] for line in scores}


def test_fork_and_diff_tell_how_conclusion_and_scores_moved(journal: Path, tmp_path: Path) -> None:
    lines = goldrush(
        "log", journal, "--rounds", "1", "--event", "spoke", "--json", cwd=tmp_path
    ).out
    said = next(s for s in map(json.loads, lines.splitlines()) if s["move"] == "propose")
    (tmp_path / "by_hand.json").write_text(
        json.dumps({**said, "conduct": ["random", None, 0, said["conduct"][3]], "words": "by hand"})
    )
    ran = goldrush("fork", journal, "--at", 0, "--replace-submission", "by_hand.json",
                   "--out", "f.journal", cwd=tmp_path)  # fmt: skip
    found = goldrush("diff", journal, "f.journal", cwd=tmp_path)

    assert 0 == ran.code
    assert f"what agent {said['agent']} said in assignment 1 is put in by hand" in ran.out
    assert 1 == found.code
    assert "differ from assignment 1 on" in found.out
    assert "scores in assignment 1:" in found.out
    assert "after assignment 2:" in found.out


def test_prompt_shows_every_question_of_an_assignment(journal: Path, tmp_path: Path) -> None:
    ran = goldrush("prompt", journal, "--round", 1, "--agent", 5, cwd=tmp_path)
    shown = goldrush("prompt", journal, "--round", 1, "--agent", 5, "--json", cwd=tmp_path).out
    names = [question["name"] for question in json.loads(shown)["questions"]]

    assert 0 == ran.code
    assert len(names) == ran.out.count("--- system ---") == ran.err.count("would be sent: ")
    assert "speak" == names[0]
    assert "answer" in names


def test_what_only_mining_runs_have_is_refused_in_one_line(journal: Path, tmp_path: Path) -> None:
    ran = goldrush("measure", journal, cwd=tmp_path)

    assert_refused(ran, "a run of the competition world")
    refused = goldrush("fork", journal, "--at", 0, "--treatment", "scarce", cwd=tmp_path)

    assert_refused(refused, "seasons have no treatments")
