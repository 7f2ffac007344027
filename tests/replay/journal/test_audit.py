"""Tie-breaks laid open, held against the rules' own page: msgpack and xxhash, nothing of ours."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import msgpack
import pytest
from xxhash import xxh3_64_intdigest

from goldrush.kernel import fold
from goldrush.kernel.errors import BadInput, DamagedJournal, MalformedEvents
from goldrush.kernel.journal import Commit, JournalReader
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import MiningConfig, config_of
from goldrush.kernel.worlds.mining.events import CLAIM_DRAWN, RAID_RESOLVED, RULED
from goldrush.replay.journal.draws import draws, draws_at
from goldrush.replay.journal.tie_break import TieBreak
from goldrush.replay.worlds.mining import audit as audits
from tests.golden import FOLDER, path_of
from tests.journals import changed as rows_changed
from tests.journals import commits_of, forged, write
from tests.lessons import play
from tests.mining import fork, record
from tests.plugins.installed import install_world

GOLDEN = sorted(FOLDER.glob("*.journal"))
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


# Section 3 of kernel/worlds/mining/README.md, written anew.


class Words:
    """The words of a key, in order."""

    def __init__(self, seed: int, round_: int, plot: int, kind: str) -> None:
        self.key = msgpack.packb([seed, round_, plot, kind])
        self.taken: list[int] = []

    def next(self) -> int:
        self.taken.append(xxh3_64_intdigest(self.key, seed=len(self.taken)))
        return self.taken[-1]

    def below(self, n: int) -> int:
        while (word := self.next()) >= RANGE - RANGE % n:
            pass
        return word % n


def redone(seed: int, detection: float, event: dict[str, Any]) -> tuple[object, list[str]]:
    """The outcome of a tie-break and the words taken for it, from its event in logical form."""
    kinds = {"claim_drawn": "claim", "raid_resolved": "raid", "ruled": "authority"}
    words = Words(seed, event["round"], event["plot"], kinds[event["event"]])
    outcome: object = None
    if event["event"] == "ruled":
        outcome = words.next() < int(detection * RANGE)
    elif event["event"] == "claim_drawn" or event["outcome"] == "captured":
        agents = event.get("claimants") or [a for a in event["raiders"] if a != event["owner"]]
        if event.get("defense"):
            for j in range(len(agents) - 1, 0, -1):
                k = words.below(j + 1)
                agents[j], agents[k] = agents[k], agents[j]
            outcome = agents[event["defense"]]
        else:
            outcome = agents[words.below(len(agents)) if len(agents) > 1 else 0]
    return outcome, [f"{word:016x}" for word in words.taken]


def assert_redone(path: Path) -> None:
    """Each audit holds, and says what the events and the rules' page say."""
    found = draws(path)
    with JournalReader(path) as reader:
        for event in (event.as_dict() for event in fold.events(MINING, reader)):
            if event["event"] == "run_started":
                config = event["config"]
            elif event["event"] == "forked":
                config = {**config, **event["changes"]}
            elif event["event"] in ("claim_drawn", "raid_resolved", "ruled"):
                audited = next(found)
                outcome, words = redone(config["seed"], config["detection"], event)

                assert audited.holds
                assert (event["round"], event["plot"]) == (
                    audited.location["round"],
                    audited.location["plot"],
                )
                assert (
                    event["words"]
                    == words
                    == list(audited.draw_words)
                    == list(audited.draw_words_again)
                )
                assert outcome == audited.outcome == audited.outcome_again
                assert outcome == (event["detected"] if "detected" in event else event["winner"])
                key = [config["seed"], event["round"], event["plot"], audited.kind]
                assert key == msgpack.unpackb(bytes.fromhex(audited.key))
    assert [] == list(found)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_draw_of_a_golden_journal_is_what_the_rules_give(path: Path) -> None:
    assert_redone(path)


def test_every_draw_of_a_crowd_is_what_the_rules_give(crowded: Path) -> None:
    shuffled = [a for a in draws(crowded) if len(a.draw_words) >= 2]

    assert_redone(crowded)
    assert {3, 4, 5, 6} <= {len(audited.participants) for audited in shuffled}


def test_the_draw_on_the_rules_page_is_the_one_that_is_laid_open(tmp_path: Path) -> None:
    """Seed 7, round 1, plot 10, claimed by agents 6 and 7."""
    record(tmp_path / "a.journal", {"seed": 7, "rounds": 1})
    [audited] = draws_at(tmp_path / "a.journal", 1, 10)

    assert "9407010aa5636c61696d" == audited.key
    assert (["f433e399f608670d"], 1, 7) == (
        list(audited.draw_words),
        audited.index,
        audited.outcome,
    )
    assert [6, 7] == list(audited.participants)
    assert audited.rule == "below(2): word 0 mod 2 is 1"


def test_one_tie_break_is_the_same_alone_and_among_all(crowded: Path) -> None:
    for audited in draws(crowded):
        [alone] = draws_at(crowded, *audited.location.values(), audited.kind)

        assert audited == alone


def test_all_that_was_decided_on_a_plot_in_a_round_is_told_in_the_order_of_the_rules(
    crowded: Path,
) -> None:
    rounds = {
        a.location["round"]
        for a in draws(crowded)
        if (a.kind, a.location["plot"]) == ("authority", 1)
    }
    found = draws_at(crowded, max(rounds), 1)

    assert ["raid", "authority"] == [audited.kind for audited in found]
    assert ["claim", "raid"] == [audited.kind for audited in draws_at(crowded, 1, 1)][:2]


def test_where_nothing_was_drawn_it_says_why(crowded: Path) -> None:
    undrawn = [a for path in (crowded, *GOLDEN) for a in draws(path) if not a.draw_words]

    assert {
        "one participant wins without a draw",
        "the raid is blocked: nobody wins, nothing is drawn",
    } <= {audited.rule for audited in undrawn}
    assert {None} == {audited.index for audited in undrawn}
    assert all(audited.holds for audited in undrawn)


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


def test_a_word_that_should_have_been_passed_over_does_not_hold(
    words_are: Callable[[Sequence[int]], None],
) -> None:
    words_are([RANGE - 1, 1])
    recorded = audits._claim(under_way(CONFIG), (4, (1, 5, 7), 1, (RANGE - 1,)))
    both = audits._claim(under_way(CONFIG), (4, (1, 5, 7), 1, (RANGE - 1, 1)))

    assert ((1, 5), False) == ((recorded.outcome, recorded.outcome_again), recorded.holds)
    assert ((1, 5), False) == ((both.outcome, both.outcome_again), both.holds)


def test_a_shuffle_passes_words_over_too(
    words_are: Callable[[Sequence[int]], None],
) -> None:
    words_are([RANGE - 1, 4, RANGE - 1, 9])  # of 3: 4 mod 3 is 1; of 2: none over, the last is 1
    row = (4, 8, (1, 5, 7), 1, 3, 7, (RANGE - 1, 4, RANGE - 1))
    audited = audits._raid(under_way(attrs.evolve(CONFIG, defense="pointwise")), row)

    assert (True, None, 7) == (audited.holds, audited.index, audited.outcome_again)
    assert "gives 1, 7, 5; 1 are stopped" in audited.rule


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


def _word(row: list[Any]) -> None:
    row[-1] = (row[-1][0] ^ 1, *row[-1][1:])


def _word_less(row: list[Any]) -> None:
    row[-1] = row[-1][:-1]


def _word_more(row: list[Any]) -> None:
    row[-1] = (*row[-1], 5)


def _all_but(field: int, winner: int) -> Callable[[list[Any]], None]:
    def change(row: list[Any]) -> None:
        row[field] = (row[winner],)  # nobody else took part: then there is no draw, and no word

    return change


def _turned(field: int, winner: int) -> Callable[[list[Any]], None]:
    """The participants the other way round, and who then stands in the winner's place wins."""

    def change(row: list[Any]) -> None:
        others = [agent for agent in row[field] if field == 1 or agent != row[1]]
        row[winner] = others[::-1][others.index(row[winner])]
        row[field] = row[field][::-1]

    return change


def _twice(field: int, winner: int) -> Callable[[list[Any]], None]:
    """The winner stands in every place."""

    def change(row: list[Any]) -> None:
        row[field] = (row[winner],) * len(row[field])

    return change


def _detected(row: list[Any]) -> None:
    row[3] = not row[3]
    row[4] = 0 if row[3] else None


FORGED: dict[str, tuple[int, Callable[[list[Any]], None]]] = {
    "the winner of a claim": (CLAIM_DRAWN, _winner(2)),
    "the winner of a raid": (RAID_RESOLVED, _winner(5)),
    "a word of a claim": (CLAIM_DRAWN, _word),
    "a word of a raid": (RAID_RESOLVED, _word),
    "a word of a ruling": (RULED, _word),
    "a word left out of a claim": (CLAIM_DRAWN, _word_less),
    "a word left out of a raid": (RAID_RESOLVED, _word_less),
    "a word left out of a ruling": (RULED, _word_less),
    "a word too many for a claim": (CLAIM_DRAWN, _word_more),
    "a word too many for a raid": (RAID_RESOLVED, _word_more),
    "the claimants": (CLAIM_DRAWN, _all_but(1, 2)),
    "the raiders": (RAID_RESOLVED, _all_but(2, 5)),
    "the order of the claimants": (CLAIM_DRAWN, _turned(1, 2)),
    "the order of the raiders": (RAID_RESOLVED, _turned(2, 5)),
    "a claimant who stands there again": (CLAIM_DRAWN, _twice(1, 2)),
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
        for a in draws(crowded)
        if a.kind == kind and len(a.draw_words) == 1 and (code == RULED or len(a.participants) > 2)
    )
    commits = changed(crowded, code, *draw.location.values(), change)
    path = forged(tmp_path / "forged.journal", MINING, commits)
    broken = [audited for audited in draws(path) if not audited.holds]
    [alone] = draws_at(path, *draw.location.values(), kind)

    assert [(kind, *draw.location.values())] == [(a.kind, *a.location.values()) for a in broken]
    assert (False, broken[0]) == (alone.holds, alone)


def test_a_winner_where_the_event_says_that_nobody_won_does_not_hold(
    crowded: Path, tmp_path: Path
) -> None:
    draw = next(a for a in draws(crowded) if a.kind == "raid" and a.outcome is None)

    def take_it(row: list[Any]) -> None:
        row[5] = draw.participants[0]

    commits = changed(crowded, RAID_RESOLVED, *draw.location.values(), take_it)
    path = forged(tmp_path / "f", MINING, commits)

    assert [draw.location["plot"]] == [a.location["plot"] for a in draws(path) if not a.holds]


def test_a_draw_whose_digest_is_wrong_is_not_laid_open(crowded: Path, path: Path) -> None:
    """Where the state is not the one of the journal, nothing is said of it."""
    draw = next(a for a in draws(crowded) if len(a.participants) > 2)
    commits = changed(crowded, CLAIM_DRAWN, *draw.location.values(), _word)
    write(path, commits)

    with pytest.raises(MalformedEvents, match="but its events give"):
        draws_at(path, *draw.location.values())
    assert 1 == sum(not audited.holds for audited in draws(path))


# What is not there.


@pytest.mark.parametrize(
    ("round_", "plot", "kind", "says"),
    [
        (-1, 0, None, "no round -1; give one from 1 to 20"),
        (21, 0, None, "no round 21; give one from 1 to 20"),
        (0, 5, None, "no round 0; give one from 1 to 20"),
        (1, 100, None, "no draw at plot 100 in round 1; it has claim on plot"),
        (1, 5, "raid", "no draw of kind raid at plot 5 in round 1"),
        (1, 5, "lottery", "kind of draw 'lottery'; take one of claim, raid, authority"),
    ],
)
def test_what_is_not_there_is_refused(round_: int, plot: int, kind: str | None, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        draws_at(path_of("baseline"), round_, plot, kind)


def test_a_world_without_draws_says_what_else_checks_it(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_world(tmp_path, monkeypatch, "lessons", "tests.lessons:TOOLS")
    play(path)

    for ask in (lambda: draws_at(path, 1, 1), lambda: list(draws(path))):
        with pytest.raises(BadInput, match="no draws to audit; `goldrush verify"):
            ask()


def test_the_draws_before_damage_are_given_and_then_the_damage(path: Path) -> None:
    commits = commits_of(path_of("scarce"))
    data = bytearray(path_of("scarce").read_bytes())
    data[commits[9].offset + 20] ^= 1
    path.write_bytes(data)
    given: list[TieBreak] = []

    with pytest.raises(DamagedJournal, match="commit 9"):
        given.extend(draws(path))
    assert [a for a in draws(path_of("scarce")) if a.location["round"] < 9] == given


# Forks.


def test_a_fork_that_changes_the_seed_is_audited_under_the_new_one_from_there_on(
    tmp_path: Path,
) -> None:
    parent, path = path_of("authority-adjudicate"), tmp_path / "a.journal"
    settings = {"seed": 99, "detection": 0.125, "truce": 0}
    fork(parent, 5, path, settings=settings, roster="raid*5,random*5")
    seeds = {
        (a.location["round"] > 5, msgpack.unpackb(bytes.fromhex(a.key))[0]) for a in draws(path)
    }
    before = [a for a in draws(path) if a.location["round"] <= 5]
    rulings = [a for a in draws(path) if a.kind == "authority" and a.location["round"] > 5]
    alone = [draws_at(path, *a.location.values(), a.kind)[0] for a in rulings]

    assert_redone(path)
    assert {(False, 0), (True, 99)} == seeds
    assert [a for a in draws(parent) if a.location["round"] <= 5] == before
    assert rulings == alone
    assert {str(RANGE // 8)} == {a.rule.split()[-1] for a in alone}


def test_a_fork_that_the_world_does_not_take_is_malformed(path: Path, tmp_path: Path) -> None:
    fork(path_of("scarce"), 5, path, settings={"seed": 99})
    commits = commits_of(path)
    facts = {**(commits[6].setup or {}), "changes": {"rows": 1}}
    commits[6] = Commit(commits[6].kind, 5, commits[6].digest, (), facts)
    bad = tmp_path / "b.journal"
    write(bad, commits)

    with pytest.raises(MalformedEvents, match="commit 6"):
        list(draws(bad))


def test_an_audit_is_plain_enough_for_json(crowded: Path) -> None:
    for audited in draws(crowded):
        shown = json.loads(json.dumps(audited.as_dict()))

        assert (True, audited.key, audited.location["plot"]) == (
            shown["holds"],
            shown["key"],
            shown["plot"],
        )
