"""The first sentences of a report: of studies that found something, nothing, and could not."""

import re

import attrs
import pytest

from goldrush.kernel.measures import mean
from goldrush.kernel.text import is_visible
from goldrush.replay.report.answer import StudyAnswer, answer_of
from goldrush.replay.report.numbers import bounds, number, p_value, rounded
from goldrush.replay.report.page import StudyPage
from goldrush.replay.report.reported import study_of
from goldrush.replay.report.tables import Marked
from goldrush.replay.report.values import answers
from goldrush.replay.study.outcomes import TREATMENTS
from goldrush.replay.study.records import Cell
from goldrush.replay.worlds.mining.study import MiningResults
from tests.replay.study.made_up import made, results
from tests.replay.study.test_outcomes import Gold, noise, run, study

MIXED = "greedy-mine*5,raid*5"


def asked(gold: Gold, seeds: int = 20, **others: tuple[str, ...]) -> StudyAnswer:
    return answer_of(study(gold, seeds, **others))


def no_effect(treatment: str, roster: str, seed: int, agent: int) -> float:
    return 100 + noise(treatment, roster, seed)


def planted(treatment: str, roster: str, seed: int, agent: int) -> float:
    return no_effect(treatment, roster, seed, agent) + 7 * (treatment == "scarce") + (agent < 5)


def test_a_planted_difference_is_found_with_its_size_and_how_sure_it_is() -> None:
    _, two, three = asked(planted, rosters=(MIXED,)).sentences
    size = re.search(
        r"Treatments differ, most scarce − baseline for (.+): ([\d.]+) ± ([\d.]+)", three
    )

    assert size is not None, three
    assert float(size[2]) == pytest.approx(7, abs=1)
    assert float(size[3]) < 1.5
    assert three.endswith("(95% interval; p < 0.001).")
    assert two.startswith(f"The highest gold is that of {MIXED} under scarce, 107")
    assert f"; of the policies the first is greedy-mine in {MIXED} under baseline (10" in two


def test_of_several_comparisons_the_largest_and_the_most_certain_is_told() -> None:
    """The largest whichever its sign; of none, the smallest p and what all could have found."""
    rosters = ("raid", "mine", "defend")

    def gold(treatment: str, roster: str, seed: int, agent: int) -> float:
        more = {"raid": 3, "mine": -9}.get(roster, 0) * (treatment == "scarce")
        return no_effect(treatment, roster, seed, agent) + more

    *_, three = asked(gold, rosters=rosters).sentences
    assert three.startswith(
        "Treatments differ in 2 of 3 comparisons, most scarce − baseline for mine: −"
    )

    def same(treatment: str, roster: str, seed: int, agent: int) -> float:
        return 4.0 if roster == "raid" else no_effect(treatment, roster, seed, agent)

    found = asked(same, rosters=rosters)
    compared = found.comparisons[TREATMENTS]
    smallest = min(one.holm for one in compared if one.holm is not None)
    most = max(one.detectable for one in compared if one.detectable is not None)
    assert f"was found in 3 comparisons (p = {p_value(smallest)} after" in found.sentences[2]
    assert f"could have found one of {number(most, 2)} or more" in found.sentences[2]


def test_a_study_that_found_nothing_says_what_it_could_have_found() -> None:
    *_, three = asked(no_effect, rosters=("raid",)).sentences
    found = re.fullmatch(
        r"No difference between treatments was found in 1 comparison \(p = (0\.\d+)\); the study "
        r"could have found one of ([\d.]+) or more with 80% power\.",
        three,
    )

    assert found is not None, three
    assert float(found[1]) >= 0.05
    assert 0.5 < float(found[2]) < 2  # the differences have a deviation of about 1.4


def test_studies_without_an_effect_rarely_claim_one() -> None:
    """One in twenty, however many comparisons each has: here of four, in thirty studies."""
    every = [
        asked(lambda *key: noise(number, *key[:3]), 8, rosters=("raid", "mine", "claim", "defend"))  # noqa: B023
        for number in range(30)
    ]
    claims = sum("was found" not in found.sentences[2] for found in every)

    assert claims <= 3


def test_a_study_that_is_too_small_says_how_many_seeds_it_needs() -> None:
    *_, three = asked(planted, 3, rosters=("raid", "mine")).sentences

    assert "3 seeds: in 2 comparisons the least possible p is 0.500; at least 7 seeds" in three


def test_a_difference_of_nothing_is_told_as_such() -> None:
    _, two, three = asked(lambda *_: 4.0, rosters=("raid",)).sentences

    assert two.startswith("All have the same gold, 4 ± 0 (95% interval of 20 seeds)")
    assert three == "Treatments make no difference: every pair of runs has the same outcome."


def test_one_run_is_no_study_and_nothing_is_claimed() -> None:
    found = answer_of(results(run(planted, "scarce", "raid", 0)))
    value = found.standings[0].values.mean

    assert f"The mean gold is {value:.3g} " in found.sentences[1]
    assert "policies" not in found.sentences[1]
    assert found.sentences[2].startswith("There is nothing to compare")


def test_with_one_treatment_rosters_are_compared_and_with_one_roster_policies() -> None:
    rosters = asked(planted, treatments=("scarce",), rosters=("raid", "mine")).sentences
    policies = asked(planted, treatments=("scarce",), rosters=(MIXED,)).sentences

    assert "between rosters was found" in rosters[2]
    assert policies[2].startswith(
        f"Policies differ, most raid − greedy-mine for {MIXED} under scarce: −1 ± 0"
    )


def test_what_cannot_change_is_said() -> None:
    found = asked(no_effect, treatments=("baseline", "history-1"), rosters=("raid",))

    assert found.sentences[2].startswith("There is nothing to compare")
    assert ["baseline"] == [one.cell.treatment for one in found.standings]


def test_an_outcome_without_values_claims_nothing() -> None:
    runs = [
        made(Cell(t, "raid", 9), seed, run={"respect": None})
        for t in ("baseline", "scarce")
        for seed in range(9)
    ]
    _, two, three = answer_of(results(*runs), "respect").sentences

    assert two.startswith("No run has a value")
    assert "cannot be told" in three


# the page


def page_of(found: MiningResults) -> StudyPage:
    return StudyPage(study_of(found))


def test_a_row_of_a_table_has_the_numbers_of_its_comparison_and_its_agents() -> None:
    page = page_of(study(planted, 8, rosters=("raid", "mine", MIXED)))
    standings, compared = (
        [dict(zip(table.head, row, strict=True)) for row in table.rows]
        for table in (page.tables["outcome"], page.tables["treatments"])
    )

    assert {"all agents": "10", "greedy-mine": "5", "raid": "5"} == {
        row["policy"]: row["agents"] for row in standings if row["roster"] == MIXED
    }
    numbers = ("mean of a", "mean of b", "difference ± 95%", "p", "Holm")
    for row, one in zip(compared, page.study.comparisons[TREATMENTS], strict=True):
        assert [
            rounded(one.change.first), rounded(one.change.second), bounds(one.change.difference),
            p_value(one.p), p_value(one.holm),
        ] == [row[name] for name in numbers]  # fmt: skip
        assert isinstance(row["result"], Marked)
        assert one.differs == (row["result"].verdict == "differs")


def test_answers_have_every_run_and_say_which_comparisons_differ() -> None:
    found = study(planted, 8, rosters=("raid", "mine", "defend"))
    given = answers(study_of(found))

    assert 48 == given["runs"] == len(given["outcome"]["runs"])
    assert [one.differs for one in answer_of(found).comparisons[TREATMENTS]] == [
        row["differs"] for row in given["comparisons"][TREATMENTS]
    ]


def test_the_data_of_single_runs_names_their_treatment_roster_and_seed() -> None:
    found = study(planted, 3, rosters=(MIXED, "claim"))
    rows = page_of(found).figures["by-run"].data

    assert {
        (cell.treatment, cell.roster, f"seed {run.seed}"): mean(run.by_agent["gold"])
        for cell, runs in found.by_cell.items()
        for run in runs
    } == {(row["x"], row["series"], row["label"]): row["y"] for row in rows}
    assert len(rows) == 12


def test_no_invisible_character_of_a_name_reaches_a_terminal() -> None:
    reported = page_of(study(planted, 3, rosters=("a\x1b[31mb\u202e", "claim"))).study
    texts = [*reported.sentences, *repr(reported).split("\n")]

    assert any(r"a\x1b[31mb\u202e" in text for text in texts)
    assert all(map(is_visible, filter(None, texts)))


@pytest.mark.parametrize(("lost", "told"), [(0, "No run is excluded."), (2, "and pairs: 2 runs: ")])
def test_runs_without_a_value_are_named(lost: int, told: str) -> None:
    runs = [run for of_cell in study(planted, 4).by_cell.values() for run in of_cell]
    kept = [attrs.evolve(run, by_agent={"gold": [None] * 10}) for run in runs[:lost]]

    assert told in page_of(results(*kept, *runs[lost:])).html()


def test_where_nobody_plays_no_roster_is_named() -> None:
    runs = [
        attrs.evolve(made(Cell(t, "mixed", 9), seed, run={"gini": 0.1 * len(t)}), policies=())
        for t in ("baseline", "scarce")
        for seed in range(3)
    ]
    page = StudyPage(study_of(results(*runs), "gini"))
    sentences = " ".join(page.study.sentences)

    assert "with 3 seeds" in sentences
    assert "mixed" not in sentences
    assert not {"roster", "policy", "agents"} & {
        name
        for table in page.tables.values()
        if table.name != "trade-off"  # of mining, where somebody always plays
        for name in table.head
    }
    assert {0.1 * len("baseline"), 0.1 * len("scarce")} == {
        row["y"] for row in page.figures["answer"].data
    }


def test_each_difference_stands_in_the_row_of_its_pair() -> None:
    names = ("baseline", "own-1", "own-2")
    runs = [
        made(Cell(t, "raid", 9), seed, run={"gini": 0.1 * n**2}, settings={"alpha": 1.0 + n})
        for n, t in enumerate(names)
        for seed in range(3)
    ]
    page = StudyPage(study_of(results(*runs), "gini"))

    assert {"own-1 − baseline": 0.1, "own-2 − baseline": 0.4, "own-2 − own-1": 0.3} == {
        row["x"]: pytest.approx(row["y"]) for row in page.figures["differences"].data
    }
