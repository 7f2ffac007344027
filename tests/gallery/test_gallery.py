"""The gallery's own code, and that its page is whole. Nothing is installed here."""

import re

from goldrush.replay.repeats.trace import KINDS
from tests.gallery.installing import ROOT
from tests.gallery.packages import gallery
from tests.gallery.page import PAGE, REPORTS, SOURCES, counts, page, read, write


def test_each_kind_of_cause_has_a_name():
    assert KINDS.keys() == SOURCES.keys()


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
