"""The proof of a table and the choice after it, as `replay` shows them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import format_count
from goldrush.kernel.worlds.competition.events import CODES, Stood
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.story import narrator
from goldrush.replay.journal.verify import verify
from goldrush.replay.text import plain
from goldrush.replay.worlds.competition.audit import audit
from goldrush.replay.worlds.competition.measures import measured
from goldrush.replay.worlds.competition.proof import Proof, proofs
from goldrush.replay.worlds.competition.show import format_proof, format_summary, unit_as_dict
from goldrush.replay.worlds.competition.story import names_in
from goldrush.replay.worlds.competition.summary import summarise
from tests.journals import events_of
from tests.seasons import changed, forged, kept
from tests.stances import ASSIGNMENTS, HOSTILE, apart, odd, silent


@pytest.fixture(scope="module")
def every() -> list[tuple[int, Proof]]:
    """The proofs of several seasons, with their assignments."""
    seasons = [(odd(), ASSIGNMENTS), (kept("rich"), 16), (apart(), 4)]
    return [(unit, proof) for path, units in seasons for unit in range(units)
            for proof in proofs(path, unit)]  # fmt: skip


def test_a_proof_says_which_claims_hold_and_what_refuted_the_others(
    every: list[tuple[int, Proof]],
) -> None:
    refuted = set()
    for _, proof in every:
        is_up = proof.subject[1] == "up"
        for each in proof.proposals:
            assert each.tested is not None
            assert each.held == (
                each.tested >= each.claimed if is_up else each.tested <= each.claimed
            )
            assert each.held == (each.refuted is None)
            refuted.add(each.refuted)
    assert {None, "proof", "challenge"} == refuted


def test_a_conclusion_has_most_final_stances_and_of_these_the_best_test(
    every: list[tuple[int, Proof]],
) -> None:
    reasons = Counter[str]()
    for _, proof in every:
        names = {side.agent: f"agent-{side.agent}" for side in proof.sides}
        last = format_proof(proof, names).splitlines()[-2 if proof.proposals else -1]
        counts = Counter(side.final for side in proof.sides if side.final is not None)
        if proof.conclusion is None:
            assert not counts
            assert last.startswith(("no conclusion: nobody stands by", "nobody proposed"))
            continue
        foremost = [p for p in proof.proposals if counts[p.id] == max(counts.values())]
        best = max(p.tested or 0 for p in foremost)
        [chosen] = [p for p in foremost if p.id == proof.conclusion]

        assert chosen.tested == best
        assert last.startswith(f"concluded on #{chosen.id} of {names[chosen.agent]}, tested ")
        most, seats = counts[chosen.id], len(proof.sides)
        assert f": {most} of {seats} stand by it" in last
        reason = last.rsplit(" stand by it", 1)[1].split("#", 1)[0]
        assert (len(foremost) > 1) == reason.startswith((", and of", ", as many"))
        assert (most == seats) == (reason == "")
        assert (len(counts) == 1 and most < seats) == (reason == ", and nobody by another")
        reasons[reason] += 1
    assert len(reasons) >= 3


def test_replay_of_an_assignment_shows_the_proof_and_the_choice_above_the_events() -> None:
    path = odd()
    names = names_in(path)
    for unit in range(ASSIGNMENTS):
        rebuilt = rebuild(path, unit)
        [proof] = proofs(path, unit)
        given = sum(side.stood is not None for side in proof.sides)
        changed = [names[side.agent] for side in proof.sides if side.changed]
        shown = rebuilt.format(plain)

        assert format_proof(proof, names) in shown
        choice = f"the choice: {given} of 6 gave a final stance; {len(changed)} changed sides "
        assert (choice if given else "no final stances: ") in shown
        assert [line.split()[0] for line in shown.splitlines()
                if line.endswith("changed sides")] == changed  # fmt: skip
        assert [proof.as_dict()] == unit_as_dict(rebuilt)["tables"]
        json.dumps(unit_as_dict(rebuilt)["tables"])


def test_where_nobody_is_asked_it_is_said_so() -> None:
    for path, says in (
        (apart(), "no final stances: everybody stands where the proof left it"),
        (silent(), "nobody proposed anything that counts, so nothing is concluded"),
    ):
        assert says in rebuild(path, 1).format(plain)
        assert 0 == summarise(path).counts.stood


def test_the_start_and_what_there_is_not_have_no_proof() -> None:
    assert [] == unit_as_dict(rebuild(odd(), -1))["tables"]
    with pytest.raises(BadInput):
        proofs(odd(), ASSIGNMENTS)


def test_a_final_stance_is_told_on_one_line_whatever_its_words_are() -> None:
    events = [event for event in events_of(odd()) if event.name in ("stood", "refused")]
    told = list(narrator(odd()).lines(events))
    hostile = [line for line in told if "rm -rf" in line]

    assert len(events) == len(told)
    assert hostile
    assert all("dov stands by no proposal in the end" in line for line in hostile)
    assert all(json.dumps(HOSTILE) in line for line in hostile)
    for line in told:
        assert not set(line) & set("\n\x1b\u202e")
    for code in ("move/unknown-target", "move/refuted", "act/malformed"):
        assert any(f"(stood), {code}" in line for line in told)


def test_a_summary_counts_final_stances_and_changes_of_side() -> None:
    summary = summarise(odd())
    refused = Counter(e["code"] for e in events_of(odd()) if e.name == "refused")
    made = sum(e.name == "stood" for e in events_of(odd()))
    changed = sum(s.changed for unit in range(ASSIGNMENTS) for p in proofs(odd(), unit)
                  for s in p.sides)  # fmt: skip

    assert (made - sum(refused.values()), changed) == (summary.counts.stood, summary.counts.changed)
    assert f"Final stances: {summary.counts.stood} were given" in format_summary(summary)
    assert dict(refused) == summary.refused
    assert format_count(changed, "time").partition(" ")[0] in format_summary(summary)


def test_the_words_of_a_season_are_those_of_its_final_stances_too() -> None:
    path = odd()
    refused = [e["act"] for e in events_of(path) if e.name == "refused"]
    kept_words = Counter[int]()
    for event in events_of(path):
        act = {**event.fields, "event": event.name}
        is_refused = any(all(a[n] == act.get(n) for n in a if n != "index") for a in refused
                         if a["event"] == event.name)  # fmt: skip
        if event.name in ("spoke", "stood") and not is_refused:
            kept_words[event.unit] += len(str(event["words"]).split())
    with JournalReader(path) as reader:
        assert list(kept_words.values()) == measured(reader).values["words"]


def test_a_path_is_all_that_is_read(tmp_path: Path) -> None:
    copy = tmp_path / "copy.journal"
    copy.write_bytes(odd().read_bytes())

    assert proofs(odd(), 2) == proofs(copy, 2)


def test_forged_final_stances_are_found_in_the_conclusion(tmp_path: Path) -> None:
    def by_nothing(row: list[Any]) -> None:
        row[Stood._fields.index("target")] = None

    path = kept("rich")
    unit = next(e.unit for e in events_of(path) if e.name == "stood" and e["target"] is not None)
    commits = changed(path, CODES[Stood], unit, by_nothing)
    fake = forged(tmp_path / "forged.journal", commits, path)

    assert audit(path, unit, 0, "conclude")[0].holds
    assert not audit(fake, unit, 0, "conclude")[0].holds
    assert not verify(fake).holds
