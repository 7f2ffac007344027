"""A run in numbers, counted once more from the exported events."""

from pathlib import Path

from goldrush.agents.worlds.mining.players import record
from goldrush.kernel import fold
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.worlds.mining.show import format_summary
from goldrush.replay.worlds.mining.summary import summarise
from tests.golden import path_of


def test_the_counts_are_those_of_the_events(path: Path) -> None:
    record(path, {"rounds": 40, "truce": 0}, "raid*3,claim*3,random*4")
    with JournalReader(path) as reader:
        events = list(fold.events(MINING, reader))
    claims = [event for event in events if event.name == "claim_drawn"]
    raids = [event for event in events if event.name == "raid_resolved"]
    summary = summarise(path)

    assert (40, True, path.stat().st_size) == (summary.rounds, summary.finished, summary.bytes)
    assert len(claims) == summary.claims
    assert sum(len(event["claimants"]) > 1 for event in claims) == summary.contested > 0
    assert len(raids) == summary.raids
    assert sum(event["outcome"] == "captured" for event in raids) == summary.captures > 0
    assert 0.4 == summary.pressure
    assert sum(e["gold"] for e in events if e.name == "mining_settled") == summary.mined
    assert ["raid", "claim", "random"] == [policy.policy for policy in summary.policies]
    assert [3, 3, 4] == [policy.agents for policy in summary.policies]
    assert summary.owned == sum(policy.plots for policy in summary.policies)
    assert all(sum(p.spent.values()) <= 10 * 40 * p.agents for p in summary.policies)


def test_an_unfinished_journal_is_summed_up_as_far_as_it_goes(tmp_path: Path) -> None:
    path, cut = tmp_path / "a.journal", tmp_path / "cut.journal"
    record(path, {"rounds": 10})
    with JournalReader(path) as reader:
        ends = [commit.end for commit in reader]
    cut.write_bytes(path.read_bytes()[: ends[4]])
    summary = summarise(cut)

    assert (4, False) == (summary.rounds, summary.finished)


def test_the_table_of_a_fork_says_since_when_its_policies_play() -> None:
    since = "These policies play from round 11 on; gold and stamina count from round 1."

    assert format_summary(summarise(path_of("forked"))).endswith(since)
    assert "These policies" not in format_summary(summarise(path_of("baseline")))
