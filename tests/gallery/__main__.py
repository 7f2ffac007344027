"""The gallery: public models and environments, each judged by `goldrush repeats`.

    python -m tests.gallery [--folder DIR] [--only TEXT] [--new] [--page-only]

Makes a virtual environment for each package of `packages.toml`, installs it by pip, judges every
subject, and writes `gallery.json.xz` and from it `GALLERY.md`. It takes an hour or two, most of it
for Gymnasium's relatives; `--folder` keeps the environments for the next time.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

from tests.gallery.installing import Installed, NotInstalled, doctor, installed
from tests.gallery.judging import Judgement, judged
from tests.gallery.packages import Package, Subject, gallery
from tests.gallery.page import PAGE, Result, page, read, write


@click.command(help=__doc__)
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Keep the environments there, and reuse them."
)
@click.option("--only", default="", metavar="TEXT", help="Only PACKAGE/SUBJECT with this text.")
@click.option("--new", is_flag=True, help="Only what was not tried so far.")
@click.option("--page-only", is_flag=True, help="Only write the page, from recorded results.")
def main(folder: Path | None, only: str, new: bool, page_only: bool) -> None:
    """Judge the subjects, and write the page."""
    listed = gallery()
    if not page_only:
        chosen = [one for one in listed.packages if _matches(one, only)]
        with _kept(folder) as home, _kept(None) as built:
            wheel = doctor(built)
            for package in chosen:
                before = read().get(package.name, Result())
                for result in _results(package, before, home, wheel, only, new):
                    # Read again: what another process judges at the same time is kept.
                    write({**read(), package.name: result})
    PAGE.write_text(page(listed, read()))
    click.echo(f"{PAGE} written")


def _matches(package: Package, only: str) -> bool:
    return only in package.name or package.name == only.partition("/")[0]


def _results(
    package: Package, before: Result, home: Path, wheel: Path, only: str, new: bool
) -> Iterator[Result]:
    """What comes out of a package, after each subject."""
    if new and before.not_installed:
        return
    click.echo(f"{package.name}: installing")
    try:
        environment = installed(package, home, wheel)
    except NotInstalled as error:
        click.echo(f"{package.name}: not installed: {error}")
        yield Result(not_installed=str(error))
        return
    version = environment.version_of(package.distribution)
    kept = {one.name: one for one in before.judgements if before.version == version}
    wanted = [
        one
        for one in package.subjects
        if only in f"{package.name}/{one.name}" and not (new and one.name in kept)
    ]
    click.echo(f"{package.name}: {len(wanted)} of {len(package.subjects)} subjects")
    for subject in wanted:
        kept[subject.name] = _judged(package, environment, subject)
        yield _result(package, version, environment, kept)
    yield _result(package, version, environment, kept)


@contextmanager
def _kept(folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder.resolve()
        return
    with tempfile.TemporaryDirectory() as temporary:
        yield Path(temporary)


def _judged(package: Package, environment: Installed, subject: Subject) -> Judgement:
    judgement = judged(subject, environment.python)
    verdict = {True: "repeats", False: "DOES NOT REPEAT", None: "not judged"}[judgement.repeats]
    more = judgement.why or "; ".join(f"{cause.where} {cause.kind}" for cause in judgement.causes)
    click.echo(f"{package.name}: {subject.name}: {verdict} {more}".rstrip())
    sys.stdout.flush()
    return judgement


def _result(
    package: Package, version: str, environment: Installed, kept: Mapping[str, Judgement]
) -> Result:
    judgements = [kept[one.name] for one in package.subjects if one.name in kept]
    return Result(version, environment.version, environment.packages, judgements=judgements)


if __name__ == "__main__":
    main()
