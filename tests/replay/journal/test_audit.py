"""Tie-breaks laid open, held against the program of replay/README.md, which needs nothing of
ours.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import msgpack
import pytest

from goldrush.kernel import fold
from goldrush.kernel.errors import BadInput, MalformedEvents
from goldrush.kernel.journal import Commit, JournalReader
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import MiningConfig, config_of
from goldrush.kernel.worlds.mining.events import CLAIM_DRAWN, RAID_RESOLVED, RULED
from goldrush.replay.journal.draws import draws_at
from goldrush.replay.worlds.mining import audit as audits
from tests.golden import path_of
from tests.journals import changed as rows_changed
from tests.journals import commits_of, forged, write
from tests.mining import fork, record
from tests.redraw import redraw

RANGE = 2**64

# Everybody claims what is nobody's; more and fewer of them raid each plot from round to round. Who
# owns a plot of an even number defends it with two points. In the first round who claims a plot
# raids it too, and so the winner of the claim is among the raiders, and left out.
CROWD = """
class Crowd:
    def plan(self, seen, draws):
        defended = [("defend", plot, 2) for plot in seen.own if plot % 2 == 0]
        claims = [("claim", plot, 1) for plot in seen.unowned]
        prey = [plot for plot in range(4) if plot not in seen.own]
        some = [plot for plot in prey if seen.agent <= (seen.round + plot) % 8]
        raids = prey if seen.round == 1 else some
        return defended + claims + [("raid", plot, 1) for plot in raids]
"""
SETTINGS: dict[str, Any] = {
    "seed": 2**53 - 1,
    "rounds": 24,
    "rows": 1,
    "cols": 4,
    "truce": 0,
    "defense": "pointwise",
    "authority": "adjudicate",
    "detection": 0.5,
}


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which every kind of draw occurs, shuffles of up to six raiders too."""
    folder = tmp_path_factory.mktemp("journals")
    (folder / "crowds.py").write_text(CROWD)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        record(folder / "a.journal", SETTINGS, "crowds:Crowd*7")
    return folder / "a.journal"


def redone(seed: int, detection: float, event: dict[str, Any]) -> tuple[object, list[str]]:
    """The outcome of a tie-break and the words taken for it, from its event in logical form."""
    kinds = {"claim_drawn": "claim", "raid_resolved": "raid", "ruled": "authority"}
    key = msgpack.packb([seed, event["round"], event["plot"], kinds[event["event"]]])
    again = redraw(key.hex())
    outcome: object = None
    if event["event"] == "ruled":
        outcome = again.chance(detection)
    elif event["event"] == "claim_drawn" or event["outcome"] == "captured":
        agents = event.get("claimants") or [a for a in event["raiders"] if a != event["owner"]]
        if event.get("defense"):
            outcome = again.shuffled(agents)[event["defense"]]
        else:
            outcome = agents[again.below(len(agents)) if len(agents) > 1 else 0]
    return outcome, [f"{word:016x}" for word in again.words]


def assert_redone(path: Path) -> None:
    """Each audit holds, and says what the events and the rules' page say."""
    found = iter(draws_at(path))
    with JournalReader(path) as reader:
        for event in (event.as_dict() for event in fold.events(MINING, reader)):
            if event["event"] == "run_started":
                config = event["config"]
            elif event["event"] == "forked":
                config = {**config, **event["changes"]}
            elif event["event"] in ("claim_drawn", "raid_resolved", "ruled"):
                audited = next(found)
                outcome, words = redone(config["seed"], config["detection"], event)

                place = event["round"], event["plot"]

                assert audited.holds
                assert place == (audited.location["round"], audited.location["plot"])
                assert event["words"] == words == list(audited.draw_words)
                assert audited.draw_words == audited.draw_words_again
                assert outcome == audited.outcome == audited.outcome_again
                assert outcome == (event["detected"] if "detected" in event else event["winner"])
                key = [config["seed"], event["round"], event["plot"], audited.kind]
                assert key == msgpack.unpackb(bytes.fromhex(audited.key))
    assert [] == list(found)


def test_every_draw_of_a_crowd_is_what_the_rules_give(crowded: Path) -> None:
    shuffled = [a for a in draws_at(crowded) if len(a.draw_words) >= 2]

    assert_redone(crowded)
    assert {3, 4, 5, 6} <= {len(audited.participants) for audited in shuffled}
    for audited in shuffled:
        assert [audited] == draws_at(crowded, *audited.location.values(), audited.kind)


# Words that are passed over: one in 2^62 or so, so they are made up here.


@pytest.fixture
def words_are(monkeypatch: pytest.MonkeyPatch) -> Callable[[Sequence[int]], None]:
    """Word i of whatever key is the one that stands there."""

    def give(words: Sequence[int]) -> None:
        monkeypatch.setattr(
            "goldrush.kernel.draws.xxh3_64_intdigest", lambda key, seed=0: words[seed]
        )

    return give


CONFIG = config_of({"seed": 5, "agents": 9, "detection": 0.25})


def under_way(config: MiningConfig) -> Any:
    """What a draw of round 2 depends on of the state."""
    return SimpleNamespace(config=config, round=1)


def test_words_that_are_passed_over_are_shown_and_the_next_one_decides(
    words_are: Callable[[Sequence[int]], None],
) -> None:
    words_are([RANGE - 1, RANGE - 1, 3 * 10**18 + 2])
    row = (4, (1, 5, 7), 7, (RANGE - 1, RANGE - 1, 3 * 10**18 + 2))
    audited = audits._claim(under_way(CONFIG), row)

    assert (True, 3, 2) == (audited.holds, len(audited.draw_words_again), audited.index)
    assert audited.rule == "below(3): word 2 mod 3 is 2"


@pytest.mark.parametrize(("defense", "raiders"), [("absolute", (1, 5, 7)), ("pointwise", (7,))])
def test_a_capture_of_a_plot_whose_defence_stops_all_does_not_hold(
    defense: str, raiders: tuple[int, ...]
) -> None:
    row = (4, 8, raiders, 1, 3, 7, ())
    audited = audits._raid(under_way(attrs.evolve(CONFIG, defense=defense)), row)

    assert (False, None) == (audited.holds, audited.outcome_again)


@pytest.mark.parametrize(("word", "detected"), [(RANGE // 4 - 1, True), (RANGE // 4, False)])
def test_a_chance_is_met_by_words_under_its_share_of_all(
    words_are: Callable[[Sequence[int]], None], word: int, detected: bool
) -> None:
    words_are([word])
    audited = audits._ruling(under_way(CONFIG), (4, 1, 2, detected, None, 0, (word,)))

    assert (True, detected) == (audited.holds, audited.outcome_again)
    assert audited.rule.endswith(f"where the word is under {RANGE // 4}")


# Forgeries under right checksums, and right digests too.


def changed(
    path: Path, code: int, round_: int, plot: int, change: Callable[[list[Any]], None]
) -> list[Commit]:
    """The commits of a journal with the row of one plot in a round changed."""
    commits = commits_of(path)
    return rows_changed(commits, code, change, unit=round_, is_meant=lambda row: row[0] == plot)


def _winner(field: int) -> Callable[[list[Any]], None]:
    def change(row: list[Any]) -> None:
        others = [
            agent for agent in row[1 if field == 2 else 2] if agent not in (row[field], row[1])
        ]
        row[field] = others[0]

    return change


def _turned(field: int, winner: int) -> Callable[[list[Any]], None]:
    """The participants the other way round, and who then stands in the winner's place wins."""

    def change(row: list[Any]) -> None:
        others = [agent for agent in row[field] if field == 1 or agent != row[1]]
        row[winner] = others[::-1][others.index(row[winner])]
        row[field] = row[field][::-1]

    return change


def _detected(row: list[Any]) -> None:
    row[3] = not row[3]
    row[4] = 0 if row[3] else None


FORGED: dict[str, tuple[int, Callable[[list[Any]], None]]] = {
    "the winner of a claim": (CLAIM_DRAWN, _winner(2)),
    "the winner of a raid": (RAID_RESOLVED, _winner(5)),
    "a word of a ruling": (RULED, lambda row: row.append((row.pop()[0] ^ 1,))),
    "a word too many for a claim": (CLAIM_DRAWN, lambda row: row.append((*row.pop(), 5))),
    "the order of the claimants": (CLAIM_DRAWN, _turned(1, 2)),
    "the order of the raiders": (RAID_RESOLVED, _turned(2, 5)),
    "whether a capture was noticed": (RULED, _detected),
}


@pytest.mark.parametrize(("code", "change"), FORGED.values(), ids=FORGED)
def test_what_was_forged_in_a_draw_does_not_hold(
    crowded: Path,
    tmp_path: Path,
    code: int,
    change: Callable[[list[Any]], None],
) -> None:
    kind = {CLAIM_DRAWN: "claim", RAID_RESOLVED: "raid", RULED: "authority"}[code]
    draw = next(
        a
        for a in draws_at(crowded)
        if a.kind == kind and len(a.draw_words) == 1 and (code == RULED or len(a.participants) > 2)
    )
    commits = changed(crowded, code, *draw.location.values(), change)
    path = forged(tmp_path / "forged.journal", MINING, commits)
    broken = [audited for audited in draws_at(path) if not audited.holds]
    [alone] = draws_at(path, *draw.location.values(), kind)

    assert [(kind, *draw.location.values())] == [(a.kind, *a.location.values()) for a in broken]
    assert (False, broken[0]) == (alone.holds, alone)


def test_a_draw_whose_digest_is_wrong_is_not_laid_open(crowded: Path, path: Path) -> None:
    """Where the state is not the one of the journal, nothing is said of it."""
    draw = next(a for a in draws_at(crowded) if len(a.participants) > 2)
    commits = changed(crowded, CLAIM_DRAWN, *draw.location.values(), _winner(2))
    write(path, commits)

    with pytest.raises(MalformedEvents, match="but its events give"):
        draws_at(path, *draw.location.values())
    assert 1 == sum(not audited.holds for audited in draws_at(path))


# What is not there.


@pytest.mark.parametrize(
    ("round_", "plot", "kind", "says"),
    [
        (21, 0, None, "no round 21"),
        (1, 100, None, "no draw at plot 100 in round 1"),
        (1, 5, "raid", "no draw of kind raid at plot 5 in round 1"),
        (1, 5, "lottery", "take one of claim, raid, authority"),
    ],
)
def test_what_is_not_there_is_refused(round_: int, plot: int, kind: str | None, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        draws_at(path_of("baseline"), round_, plot, kind)


# Forks.


def test_a_fork_that_changes_the_seed_is_audited_under_the_new_one_from_there_on(
    tmp_path: Path,
) -> None:
    parent, path = path_of("authority-adjudicate"), tmp_path / "a.journal"
    settings = {"seed": 99, "detection": 0.125, "truce": 0}
    fork(parent, 5, path, settings=settings, roster="raid*5,random*5")
    by_seed = {
        (a.location["round"] > 5, msgpack.unpackb(bytes.fromhex(a.key))[0]) for a in draws_at(path)
    }
    chances = {
        a.rule.split()[-1]
        for a in draws_at(path)
        if a.kind == "authority" and a.location["round"] > 5
    }

    assert_redone(path)
    assert {(False, 0), (True, 99)} == by_seed
    assert {str(RANGE // 8)} == chances
