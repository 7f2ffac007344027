"""The gallery's own code, and that its page is whole. Nothing is installed here."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from goldrush.replay.repeats.trace import KINDS
from tests.gallery.installing import ROOT
from tests.gallery.judging import judged
from tests.gallery.packages import HERE, Subject, gallery
from tests.gallery.page import PAGE, REPORTS, SOURCES, counts, page, read, write


def test_each_kind_of_cause_has_a_name():
    assert KINDS.keys() == SOURCES.keys()


@pytest.mark.turns
@pytest.mark.parametrize(
    ("body", "repeats", "why"),
    [
        ("import os; os._exit(3)", None, "ended its process with code 3"),
        ("raise LookupError('no data')", None, "no data"),
        ("return __import__('uuid').uuid4().hex", False, ""),
        ("return seed", True, ""),
    ],
)
def test_each_subject_gets_a_row_whatever_it_does(tmp_path, body, repeats, why):
    path = tmp_path / "subject.py"
    path.write_text(f"def make(seed):\n    {body}\n")
    row = judged(Subject("x", f"{path}:make", steps=2), Path(sys.executable))

    assert row.repeats is repeats
    assert why in row.why
    causes = [(one.where.rpartition("/")[2], one.kind, one.is_confirmed) for one in row.causes]
    assert causes == ([("subject.py:2", "system-random", True)] if repeats is False else [])


def test_newest_versions_and_models_are_listed(tmp_path):
    (tmp_path / "mesa.py").write_text("class Model: pass\n")
    models = tmp_path / "models" / "town"  # without an __init__.py, as one of Mesa's
    models.mkdir(parents=True)
    (tmp_path / "models" / "__init__.py").write_text("")
    (models / "model.py").write_text(
        "import mesa\nclass Base(mesa.Model): pass\nclass Town(Base): pass\n"
    )
    (models / "broken.py").write_text("import no_such_module\n")
    for name, maker in (("chess_v2", "env"), ("chess_v10", "env"), ("waves_v1", "parallel_env")):
        (tmp_path / "models" / f"{name}.py").write_text(f"def {maker}(): pass\n")
    order = {"models": ["models"], "ids": [], "pettingzoo": ["models"], "only": ""}
    out = subprocess.run(
        [sys.executable, "-P", HERE / "listing.py"], input=json.dumps(order), check=True, text=True,
        capture_output=True, env={**os.environ, "PYTHONPATH": str(tmp_path)},
    ).stdout  # fmt: skip
    listing = json.loads(out)

    assert [
        "models.town.model:Town", "models.chess_v10:env", "models.waves_v1:parallel_env",
    ] == [one["target"] for one in listing["subjects"]]  # fmt: skip
    assert ["models.town.broken"] == [line.partition(":")[0] for line in listing["failed"]]


def test_the_page_is_made_of_the_results_which_are_read_as_written(tmp_path):
    write(read(), tmp_path / "results.json.xz")

    assert page(gallery(), read(tmp_path / "results.json.xz")) == PAGE.read_text()


def test_the_doctor_s_page_has_the_counts():
    text = " ".join((ROOT / "replay" / "repeats" / "README.md").read_text().split())

    assert counts(gallery(), read()) in text


def test_each_package_and_subject_of_the_data_file_has_a_result():
    results = read()
    missing = []
    for package in gallery().packages:
        result = results.get(package.name)
        if result is None:
            missing.append(package.name)
        elif not result.not_installed:
            judged_names = {judgement.name for judgement in result.judgements}
            missing += [one.name for one in package.subjects if one.name not in judged_names]

    assert [] == missing


def test_each_confirmed_cause_is_in_a_report_with_a_program():
    reports = {path.stem: path.read_text() for path in REPORTS.glob("*.md")}
    unreported = [
        f"{name}: {judgement.name}"
        for name, result in read().items()
        for judgement in result.judgements
        if any(cause.is_confirmed for cause in judgement.causes)
        and "takes no seed" not in judgement.notes  # it promises nothing
        and not any(f"`{judgement.name}`" in text for text in reports.values())
    ]

    assert [] == unreported
    assert reports.keys() == {path.stem for path in REPORTS.glob("*.py")}
    for name, text in reports.items():
        program = (REPORTS / f"{name}.py").read_text()
        assert len([line for line in program.splitlines() if line]) <= 25, name
        assert re.search(rf"\({name}\.py\)", text), name
