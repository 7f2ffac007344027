"""The proof of a table and the choice after it, as `replay` shows them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import goldrush
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.worlds.competition.events import CODES, Stood
from goldrush.replay.journal.draws import draws_at
from goldrush.replay.journal.story import narrator
from goldrush.replay.journal.verify import verify
from goldrush.replay.worlds.competition.measures import measured
from goldrush.replay.worlds.competition.proof import Proof, proofs
from goldrush.replay.worlds.competition.right import (
    explained,
    format_conclusion,
    format_right,
)
from goldrush.replay.worlds.competition.story import names_in
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
        last = format_conclusion(proof, names.__getitem__)
        counts = Counter(side.final for side in proof.sides if side.final is not None)
        if proof.conclusion is None:
            assert not counts
            assert last.startswith("no conclusion: nobody stands by")
            continue
        foremost = [p for p in proof.proposals if counts[p.id] == max(counts.values())]
        best = max(p.tested or 0 for p in foremost)
        [chosen] = [p for p in foremost if p.id == proof.conclusion]

        assert chosen.tested == best
        assert last.startswith(f"concluded on #{chosen.id} of {names[chosen.agent]}, tested ")
        most, seats = counts[chosen.id], len(proof.sides)
        assert f": {most} of {seats} stand by it" in last
        reason = last.rsplit(" stand by it", 1)[1].split("#", 1)[0]
        assert (", as by the others of " if len(foremost) > 1 else "") == reason
        reasons[reason] += 1
    assert len(reasons) == 2


def test_why_an_assignment_concluded_what_it_did() -> None:
    path = odd()
    names = names_in(path)
    for unit in range(ASSIGNMENTS):
        [proof] = proofs(path, unit)
        [one] = explained(path, unit, unit)
        given = sum(side.stood is not None for side in proof.sides)
        changed = sum(side.changed for side in proof.sides)
        text = str(one)

        assert (unit, 0, sorted(side.agent for side in proof.sides)) == (
            one.unit, one.location, list(one.agents)
        )  # fmt: skip
        assert format_right(proof, names.__getitem__) in text
        choice = f"the choice: {given} of 6 gave a final stance; {changed} changed sides "
        assert (choice if given else "no final stances: ") in text
        assert json.loads(json.dumps(one.as_dict()))["account"] == list(one.account)
    assert [*range(ASSIGNMENTS)] == [one.unit for one in explained(path)]


def test_explanations_are_of_one_table_or_of_those_where_an_agent_sat() -> None:
    path = apart()
    tables = {proof.table: {side.agent for side in proof.sides} for proof in proofs(path, 0)}
    agent = min(min(seated) for seated in tables.values())
    where = [table for table, seated in tables.items() if agent in seated]

    run = goldrush.open(path)

    assert [*tables] == [each.location for each in run.why(0)]
    assert where == [each.location for each in run.why(0, agent=agent)]
    assert [0] == [each.location for each in run.why(0, 0)]
    assert 0 in {each.unit for each in run.why(None, 0, agent)}
    assert [] == run.why(0, 99) == run.why(0, None, 99) == run.why(location=99)


def test_where_nobody_is_asked_it_is_said_so() -> None:
    for path, says in (
        (apart(), "no final stances: everybody stands where the proof left it"),
        (silent(), "nobody proposed anything that counts, so nothing is concluded"),
    ):
        assert says in "\n".join(map(str, explained(path, 1, 1)))


def test_what_there_is_not_has_no_proof() -> None:
    for unit in (-1, ASSIGNMENTS):
        with pytest.raises(BadInput):
            proofs(odd(), unit)


def test_a_final_stance_is_told_on_one_line_whatever_its_words_are() -> None:
    events = [event for event in events_of(odd()) if event.name in ("stood", "refused")]
    told = list(narrator(odd())(events))
    hostile = [line for line in told if "rm -rf" in line]

    assert len(events) == len(told)
    assert hostile
    assert all("dov stands by no proposal in the end" in line for line in hostile)
    assert all(json.dumps(HOSTILE) in line for line in hostile)
    for line in told:
        assert not set(line) & set("\n\x1b\u202e")
    for code in ("move/unknown-target", "move/refuted", "act/malformed"):
        assert any(f"(stood), {code}" in line for line in told)


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

    assert draws_at(path, unit, 0, "conclude")[0].holds
    assert not draws_at(fake, unit, 0, "conclude")[0].holds
    assert not verify(fake).holds
