"""Contrasts of a study of language models: a raider that heeds the wording, a settler that does
not, and a server that ignores seeds.
"""

from __future__ import annotations

import csv
import json
import os
import random
import re
import shutil
from pathlib import Path
from statistics import fmean

import attrs
import pytest

from goldrush.agents.players import Resources
from goldrush.kernel.errors import BadInput
from goldrush.replay.asked.asking import AskedRequest, ask
from goldrush.replay.asked.tables import tables
from goldrush.replay.journal.usage import usage, usage_by_cell
from goldrush.replay.report.models import model_tables
from goldrush.replay.report.page import StudyPage
from goldrush.replay.report.report import report
from goldrush.replay.report.reported import ReportedStudy, study_of
from goldrush.replay.report.values import answers
from goldrush.replay.study.carry_out import estimate_study
from goldrush.replay.study.contrasts import DEPENDS, SHARES, over_wordings, shares_of
from goldrush.replay.study.judging import NOT_SUPPORTED, SUPPORTED, UNDECIDED
from goldrush.replay.study.listing import StudyFolders
from goldrush.replay.study.measuring import results_of
from goldrush.replay.study.plan import plan_of
from goldrush.replay.study.study import Study
from tests.cli.helpers import goldrush
from tests.llm.runs import models
from tests.llm.servers import Asked, Reply, completion, serving

# From 3.12 on Python warns of a fork beside threads, which the test runner has.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

MANY = {"raider": 4, "settler": 3, "seedless": 2}  # of the wordings
WORDINGS = ("", "[sample=1]", "[wording=plain]", "[wording=told]")
PLAN = plan_of(
    treatments=["scarce"],
    rosters=[f"llm:{name}{of}*3" for name, many in MANY.items() for of in WORDINGS[:many]],
    seeds=5,
    rounds=4,
    settings={"agents": 3},
    contrasts=["plain-default", "told-default", "null-default"],
)
WHO = re.compile(r"(?:agent|participant) (\d+)\. This is round (\d+)")
PLAIN = ("choices", "kind", "option", "units")


def respond(asked: Asked) -> Reply:
    """All claim a plot a round and mine what they have, mostly; the raider also raids, under the
    default alone, what the next one claimed in the round before.
    """
    rules, name = asked.body["messages"][0]["content"], asked.body["model"][:-2]
    agent, round = map(int, WHO.search(asked.text).groups())  # type: ignore[union-attr]
    drawn = random.Random(f"{agent} {round} {0 if name == 'seedless' else asked.body['seed']}")
    is_plain, is_told = "participants" in rules, "REQUEST" in rules
    plan = [("claim", 8 * agent + round, 1)]
    plan += [("mine", 8 * agent + at, 1) for at in range(1, round) if drawn.random() < 0.8]
    if name == "raider" and (is_plain or is_told):
        plan = plan[:1]
    kinds = {"claim": "pick", "mine": "use"} if is_plain else {"claim": "claim", "mine": "mine"}
    keys = PLAIN if is_plain else ("actions", "type", "plot", "stamina")
    items = [dict(zip(keys[1:], (kinds[kind], *more), strict=True)) for kind, *more in plan]
    return completion(json.dumps({keys[0]: items}), usage=(1_000 + agent, 20))


ASKED: list[Asked] = []  # of the study, as the server counted


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studies") / "study"
    with serving(respond) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda fd: None)
        Study.play(PLAN, folder, jobs=1, models=models(server.address, *MANY))
    ASKED[:] = server.answered
    return folder


@pytest.fixture(scope="module")
def found(study: Path) -> ReportedStudy:
    return study_of(results_of(study, jobs=1))


def test_the_raiders_wording_is_told_from_noise_and_the_settlers_is_not(
    found: ReportedStudy,
) -> None:
    compared = {
        (each.where.partition(" ")[0], each.b): each for each in found.comparisons["wordings"]
    }
    raider, settler = compared["llm:raider", "plain"], compared["llm:settler", "plain"]
    interval, noise = raider.change.difference, compared["llm:raider", "null"].change.difference

    assert (interval.low or 0) <= -1.0
    assert not raider.is_noise
    assert raider.floor == max(abs(noise.low or 0), abs(noise.high or 0)) > 0
    assert (raider.detectable or 0.0) > raider.floor
    assert [3, 2, 1] == [compared[f"llm:{name}", "null"].tests for name in MANY]
    assert settler.is_noise
    assert compared["llm:raider", "null"].is_noise
    assert 0.0 == compared["llm:seedless", "null"].floor


def test_a_report_says_so_and_names_controls_and_what_is_not_measured(
    found: ReportedStudy, study: Path, tmp_path: Path
) -> None:
    page, path = report(study, tmp_path / "page.html", jobs=1)
    results = {row[1]: str(row[-1]) for row in page.tables["wordings"].rows if "settler" in row[0]}
    shares = {row[0]: row[2:] for row in page.tables["variance"].rows}

    assert found.sentences[2].startswith("Wordings: 1 of 5 differences beyond the noise")
    assert "The positive control: 1 of 1 difference beyond" in found.sentences[2]
    assert {"not told from noise"} == {*results.values()}
    assert {"llm:raider", "llm:settler"} == shares.keys()
    assert all(row[-2] == "not measured" for row in shares.values())
    assert "(positive control: asked not to raid)" in path.read_text("utf-8")
    assert json.loads(json.dumps(answers(found)))["comparisons"]["wordings"][0]["tests"] == 3


def test_the_variance_has_the_noise_of_decisions_that_were_asked_again(
    found: ReportedStudy, study: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(study, tmp_path / "study")
    path = next(folder.glob("*/llm_raider_3/*/*0000.journal"))
    other = next(folder.glob("*/llm_settler_3/*/*0000.journal"))
    with serving(lambda asked: respond(asked) if asked.body["seed"] % 2 else completion("{")) as s:
        reach = Resources(models=models(s.address, *MANY))
        asked = ask(str(path), AskedRequest(every=1, times=4), resources=reach)
        ask(str(other), AskedRequest(every=1, times=4, temperature=1.0), resources=reach)
    noise = fmean(row["noise"] for row in tables([asked])["decisions"])  # type: ignore[misc]
    told = answers(study_of(results_of(folder, jobs=1)))["variance"]
    before = answers(found)["variance"]

    assert 0 < noise < 1
    assert {"llm:raider": noise, "llm:settler": None} == {v["model"]: v["decision"] for v in told}
    assert [{**each, "decision": None} for each in told] == before
    assert 1.0 == pytest.approx(sum(told[0][name] or 0.0 for name in SHARES))


def test_tokens_and_cost_by_cell_add_up_to_the_servers_own_count(
    found: ReportedStudy, study: Path
) -> None:
    reached = models("http://models.example:8000/v1", *MANY, price_in=2.0, price_out=50.0)
    told = attrs.evolve(found, models=reached, names_hosts=True)
    used, asked = (table.csv.splitlines() for table in model_tables(told))
    rows = list(csv.DictReader(used))
    total = sum(1_000 + int(WHO.search(one.text)[1]) for one in ASKED)  # type: ignore[index]

    cells = usage_by_cell(map(usage, study.rglob("*.journal")), StudyFolders())
    [raider, *_] = estimate_study(PLAN, reached)

    assert raider.questions == sum(t.answers for *_, t in cells if "raider" in t.model)
    assert len(rows) == len(cells)
    assert total == sum(taken.tokens_in for *_, taken in cells)
    assert len(ASKED) == sum(int(row["answers"].replace(",", "")) for row in rows)
    assert total == sum(int(row["tokens in"].replace(",", "")) for row in rows)
    cost = total * 2e-6 + len(ASKED) * 20 * 50e-6
    assert abs(cost - sum(float(row["cost"]) for row in rows)) < 1e-3
    shown = goldrush("measure", "--usage", "--csv", study, cwd=study).out.splitlines()
    *_, last = csv.DictReader(shown)
    assert (str(total), "test-1", "") == (last["tokens_in"], last["reported"], last["errors"])
    for row in csv.DictReader(asked):
        assert "models.example:8000" == row["host"]
        assert "test-1" == row["reported"]
        assert "temperature not sent" in row["options"]
    assert "models.example" not in StudyPage(found).html()
    assert "same bytes" not in StudyPage(found).html()


def test_a_contrast_that_the_study_does_not_have_is_told_before_anybody_is_asked(
    tmp_path: Path,
) -> None:
    plan = plan_of(rosters="llm:a*4", seeds=1, treatments="scarce", contrasts=["plane-default"])
    with serving(respond) as server, pytest.raises(BadInput, match="no contrast 'plane-default'"):
        Study.play(plan, tmp_path / "study", models=models(server.address))

    assert [] == server.asked
    assert 0 == server.greeted


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ((SUPPORTED, SUPPORTED), SUPPORTED),
        ((NOT_SUPPORTED, NOT_SUPPORTED), NOT_SUPPORTED),
        ((SUPPORTED, UNDECIDED), DEPENDS),
        ((SUPPORTED, NOT_SUPPORTED), DEPENDS),
        ((UNDECIDED, UNDECIDED), UNDECIDED),
    ],
)
def test_a_verdict_is_over_all_wordings_but_controls(
    outcomes: tuple[str, str], verdict: str
) -> None:
    controls = {"told": NOT_SUPPORTED, "null": UNDECIDED, "plain;sample=2": UNDECIDED}

    assert verdict == over_wordings({"default": outcomes[0], "plain": outcomes[1], **controls})


def test_shares_of_the_variance_are_those_that_were_planted() -> None:
    seed, wording, sample, rest = shares_of(
        {"default": [1.0, 3.0], "plain": [5.0, 7.0], "null": [1.0, 3.0], "told": [0.0, 99.0]}
    ) or ()  # fmt: skip

    assert (0.2, 0.8, 0.0, 0.0) == (seed, wording, sample, rest)
    assert shares_of({"default": [1.0, 3.0], "null": [2.0, 3.0]}) is None
    assert shares_of({"default": [1.0, 1.0], "plain": [1.0, 1.0]}) is None
