"""Rosters (kernel/worlds/mining/README.md 11): every form that a person can type, and what is
refused.
"""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

import goldrush
from goldrush.agents.llm.models import Models
from goldrush.agents.players import Resources
from goldrush.agents.roster import Entry, Roster, format_policy
from goldrush.agents.worlds.mining.roster import POLICIES, POLICY_SET
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, NotAJournal
from goldrush.kernel.journal import sha256_of
from goldrush.kernel.worlds.mining.observe import MiningObservation
from goldrush.replay.journal.verify import verify
from tests.mining import prepare, record

DEFAULT = ["greedy-mine"] * 3 + ["defend-then-mine"] * 3 + ["tit-for-tat-raid"] * 2 + ["random"] * 2


def names(roster: Roster) -> list[str]:
    assert list(range(len(roster.entries))) == [entry.agent for entry in roster.entries]
    return [entry.policy for entry in roster.entries]


def refusal(text: str, agents: int | None = None) -> BadInput:
    with pytest.raises(BadInput) as refused:
        POLICY_SET.parse(text, agents)
    return refused.value


class Own:
    """A policy of one's own."""

    def plan(self, seen: MiningObservation, draws: Draws) -> list[object]:
        return []


class WantsArguments:
    def __init__(self, stamina: int) -> None:
        self.stamina = stamina

    def plan(self, seen: MiningObservation, draws: Draws) -> list[object]:
        return []


class Raises:
    def __init__(self) -> None:
        raise RuntimeError("not today")


class HasNoPlan:
    plan = None


# One policy for all.


@pytest.mark.parametrize("name", POLICIES)
def test_one_policy_is_for_all(name: str) -> None:
    assert [name] * 10 == names(POLICY_SET.parse(name))
    assert [name] * 3 == names(POLICY_SET.parse(name, 3))


def test_one_policy_with_a_count_is_for_as_many() -> None:
    assert ["raid"] * 4 == names(POLICY_SET.parse("raid*4"))


# A mix.


def test_a_mix_gives_agents_by_id_in_its_order() -> None:
    assert ["greedy-mine"] * 8 + ["raid"] * 2 == names(POLICY_SET.parse("greedy-mine*8,raid*2"))


def test_in_a_mix_with_counts_a_policy_without_one_counts_once() -> None:
    assert ["raid", "mine", "mine"] == names(POLICY_SET.parse("raid,mine*2"))


def test_spaces_in_a_mix_do_not_matter() -> None:
    assert ["raid", "raid", "mine"] == names(POLICY_SET.parse("  raid * 2 ,\tmine*1 "))


@pytest.mark.parametrize("agents", [1, 9, 11])
def test_a_mix_of_another_length_than_asked_for_is_refused_with_both(agents: int) -> None:
    error = refusal("greedy-mine*8,raid*2", agents)

    assert f"the roster has 10 agents, not {agents}" == error.what
    assert f"add up to {agents}" in error.instead


# A list without counts.


def test_a_list_of_names_is_an_agent_for_each() -> None:
    assert ["raid", "mine", "claim"] == names(POLICY_SET.parse("raid,mine,claim"))
    assert ["raid", "raid"] == names(POLICY_SET.parse("raid,raid"))


def test_one_name_is_played_by_all_agents() -> None:
    assert ["raid"] * 10 == names(POLICY_SET.parse("raid"))


@pytest.mark.parametrize("agents", [3, 7])
def test_a_list_without_counts_is_cycled_to_the_number_asked_for(agents: int) -> None:
    expected = list(itertools.islice(itertools.cycle(["raid", "mine", "claim"]), agents))

    assert expected == names(POLICY_SET.parse("raid,mine,claim", agents))


@pytest.mark.parametrize("agents", [1, 2])
def test_more_names_than_agents_are_refused_with_both_numbers(agents: int) -> None:
    error = refusal("raid,mine,claim", agents)

    assert f"the roster has 3 names for {agents} agent{'s' * (agents > 1)}" == error.what
    assert f"give at most {agents}" in error.instead
    run = goldrush.record(roster="raid*2", rounds=2)
    with pytest.raises(BadInput, match="has 3 names for 2 agents"):
        run.fork(at=1, roster="raid,mine,claim")


def test_a_longer_list_without_counts_is_played_whole() -> None:
    assert ["raid", "mine"] * 6 == names(POLICY_SET.parse(",".join(["raid,mine"] * 6)))


# The default.


def test_the_default_is_the_mix_of_the_rules() -> None:
    assert DEFAULT == names(POLICY_SET.parse(None))


@pytest.mark.parametrize("agents", [1, 4, 10, 20, 23])
def test_the_default_is_cycled_to_the_number_of_agents(agents: int) -> None:
    expected = list(itertools.islice(itertools.cycle(DEFAULT), agents))

    assert expected == names(POLICY_SET.parse(None, agents))


# The source's cast.


def test_the_portrait_is_the_sources_cast() -> None:
    roster = POLICY_SET.parse("portrait", models=Models(default="small"))

    expected = ["llm"] * 4 + ["claim"] * 4 + ["raid"] * 4 + ["defend"] * 4 + ["mine"] * 3
    assert expected == [entry.policy for entry in roster.entries]
    assert {"small"} == {e.options["model"] for e in roster.entries if e.policy == "llm"}


@pytest.mark.parametrize("text", ["llm", "llm*4", "greedy-mine*3,llm*1", "portrait"])
def test_a_language_model_needs_a_name(text: str) -> None:
    error = refusal(text)

    assert "`llm` alone names no model" in error.what
    assert "llm:MODEL" in error.instead


# What is no roster.


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "''"),
        (",", "''"),
        ("raid,,mine", "''"),
        ("raid*", "'raid*'"),
        ("*3", "'*3'"),
        ("raid*x", "'raid*x'"),
        ("raid*-1", "'raid*-1'"),
        ("raid*1.5", "'raid*1.5'"),
        ("raid*2*2", "'raid*2*2'"),
        ("mine,raid*1234567", "'raid*1234567'"),
        ("raid*²", "'raid*²'"),
    ],
)
def test_an_entry_that_is_none_is_refused_by_itself(text: str, part: str) -> None:
    error = refusal(text)

    assert f"{part} is no entry of a roster" == error.what
    assert "greedy-mine*8,raid*2" in error.instead


def test_an_entry_that_counts_no_agent_is_refused() -> None:
    assert "'raid*0' stands for 0 agents" == refusal("mine*1,raid*0").what


@pytest.mark.parametrize("text", ["raid*100001", "raid*60000,mine*60000", "raid*999999"])
def test_a_roster_longer_than_any_run_is_refused(text: str) -> None:
    assert "at most 100000 agents" in refusal(text).instead


@pytest.mark.parametrize("text", ["raid*100000", "mine,raid*99999"])
def test_the_longest_roster_is_taken(text: str) -> None:
    assert 100_000 == len(POLICY_SET.parse(text).entries)


@pytest.mark.parametrize(("text", "meant"), [("greedy_mine", "greedy-mine"), ("Raid", "raid")])
def test_a_policy_that_nobody_knows_is_refused_with_the_one_meant(text: str, meant: str) -> None:
    error = refusal(text)

    assert f"there is no policy {text!r}" == error.what
    assert error.instead.startswith(f"did you mean {meant}? ")


@pytest.mark.parametrize("text", ["zzz", "recorded", "a b", "os.path", "x:", ":y", "1x:Y", "a:b:c"])
def test_a_name_like_no_other_is_refused_with_all_there_are(text: str) -> None:
    error = refusal(text)

    assert f"there is no policy {text!r}" == error.what
    assert all(name in error.instead for name in (*POLICIES, "recorded:", "FILE.py:Class"))


@pytest.mark.parametrize("folder", ["policies/", "./", "/home/me/"])
def test_a_policy_that_is_named_with_a_folder_is_refused_with_what_to_write(folder: str) -> None:
    error = refusal(f"{folder}hawk.py:Hawk")

    assert f"the policy {f'{folder}hawk.py:Hawk'!r} is named with a folder" == error.what
    assert "go to that folder and write hawk.py:Hawk" in error.instead


# A policy of one's own.


def test_a_policy_of_ones_own_is_named_by_module_and_class() -> None:
    name = f"{__name__}:Own"

    roster = POLICY_SET.parse(f"{name}*2,raid*1")

    assert [name, name, "raid"] == names(roster)
    assert isinstance(POLICY_SET.factory_of(roster.entries[0], roster)(), Own)


def test_every_agent_has_a_policy_of_its_own() -> None:
    roster = POLICY_SET.parse(f"{__name__}:Own*2")
    first, second = (POLICY_SET.factory_of(entry, roster)() for entry in roster.entries)

    assert first is not second


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no_such_module:Own", "there is no module no_such_module"),
        (f"{__name__}:NoSuchClass", "there is no name in"),
        (f"{__name__}:WantsArguments", "TypeError"),
        (f"{__name__}:Raises", "RuntimeError: not today"),
        (f"{__name__}:HasNoPlan", "has no method plan"),
        ("itertools:count", "has no method plan"),
    ],
)
def test_a_policy_that_cannot_be_made_is_refused_before_anything_is_written(
    tmp_path: Path, name: str, why: str
) -> None:
    with pytest.raises(BadInput) as refused:
        record(tmp_path / "journal", {}, name)

    assert name in refused.value.what
    assert why in refused.value.what
    assert [] == list(tmp_path.iterdir())


def test_a_policy_in_a_file_is_named_by_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "its_hawk.py").write_text(
        "class Hawk:\n    def plan(self, seen, draws):\n        return []\n"
    )
    monkeypatch.chdir(tmp_path)
    try:
        record(tmp_path / "journal", {"rounds": 2}, "its_hawk.py:Hawk*2")
    finally:
        sys.modules.pop("its_hawk", None)

    verdict = verify(tmp_path / "journal", resources=Resources(trust=["its_hawk.py:Hawk"]))

    assert (True, ()) == (verdict.holds, verdict.not_asked)


def test_a_module_that_leaves_python_while_it_is_imported_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "leaves_at_once.py").write_text("raise SystemExit(3)\n")
    monkeypatch.syspath_prepend(tmp_path)

    entry = Entry(0, "leaves_at_once:Own")
    with pytest.raises(BadInput, match="SystemExit: 3"):
        POLICY_SET.factory_of(entry, Roster([entry], trust=["leaves_at_once:Own"]))


def test_a_module_beside_which_one_stands_is_found(tmp_path: Path) -> None:
    (tmp_path / "homebody.py").write_text(
        "class Homebody:\n    def plan(self, seen, draws):\n        return []\n"
    )
    code = (
        "from tests.mining import record; record('journal', {'rounds': 1}, 'homebody:Homebody*2')"
    )

    subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        check=True,
    )

    assert (tmp_path / "journal").stat().st_size > 0


# Rosters and configurations.


def test_the_number_of_agents_follows_the_roster() -> None:
    config, roster = prepare({}, "raid*4")

    assert (4, 4) == (config.agents, len(roster.entries))


def test_a_number_of_agents_that_is_given_goes_before_the_ten_of_a_list() -> None:
    config, roster = prepare({"agents": 4}, "raid,mine")

    assert (4, ["raid", "mine", "raid", "mine"]) == (config.agents, names(roster))


def test_a_treatment_may_ask_for_the_number_of_agents() -> None:
    assert DEFAULT * 2 == names(prepare({}, None, "agents-20")[1])
    assert ["raid"] * 20 == names(prepare({}, "raid", "scarce-20")[1])
    with pytest.raises(BadInput, match="not 20"):
        prepare({}, "raid*4", "agents-20")


def test_a_roster_already_made_is_taken_as_it_is() -> None:
    roster = POLICY_SET.parse("raid*2,mine*1")

    config, taken = prepare({}, roster)

    assert (3, roster) == (config.agents, taken)
    assert 3 == prepare({"agents": 3}, roster)[0].agents


def test_a_roster_already_made_that_does_not_fit_is_refused() -> None:
    with pytest.raises(BadInput, match="the roster has 3 agents"):
        prepare({"agents": 4}, POLICY_SET.parse("raid*2,mine*1"))


def test_an_entry_of_a_journal_that_names_no_policy_is_refused() -> None:
    with pytest.raises(BadInput, match="there is no policy 'gone'"):
        POLICY_SET.factory_of(Entry(0, "gone"))


# Another journal's submissions; how they are played is tested in test_recorded.py.


def test_a_recording_stands_in_the_roster_by_its_digest_not_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "source"
    record(path, {"rounds": 2}, "raid*2")

    roster = POLICY_SET.parse(f"recorded:{path}*2,mine*1")

    digest = sha256_of(path)
    assert [("recorded", {"journal": digest})] * 2 + [("mine", {})] == [
        (entry.policy, entry.options) for entry in roster.entries
    ]
    assert [digest] == [recording.sha256 for recording in roster.recordings]


@pytest.mark.parametrize("text", ["llm:m[temperature=0]*2", "mine[days=3]"])
def test_settings_that_nobody_has_are_refused(text: str) -> None:
    assert any(word in refusal(text).what for word in ("settings", "sets temperature"))


def test_settings_that_no_semicolon_separates_are_refused_with_one_between_them() -> None:
    error = refusal("raid,external[name=Hawk, days=3]*2")

    assert "a semicolon separates them: external[name=Hawk;days=3]*2" == error.instead


def test_a_text_that_looks_like_settings_is_labelled_so_that_it_reads_back() -> None:
    settings = {"name": "a,b=c d=e"}
    text = format_policy("external", settings)
    [entry] = POLICY_SET.parse(text, 1).entries

    assert settings == entry.options


@pytest.mark.parametrize("text", ["recorded:", "recorded:no/such/file"])
def test_a_recording_that_cannot_be_read_is_refused(text: str) -> None:
    assert "cannot read" in refusal(text).what


def test_a_recording_that_is_no_journal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("hello")

    with pytest.raises(NotAJournal):
        POLICY_SET.parse(f"recorded:{path}")
