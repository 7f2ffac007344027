"""The page of a run: one HTML file with what the run came to, which needs nothing else.

Python works out all that is shown; the script draws it. The page has the journal for download, and
compares its SHA-256 with the one that it shows. Its policy allows its script and its style sheet,
by their hashes, and no request. It holds neither the path of the journal nor a date.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from goldrush.kernel import files
from goldrush.kernel.errors import BadInput
from goldrush.kernel.world import World
from goldrush.replay.colours import SPREAD, hues_of
from goldrush.replay.find import tools_at
from goldrush.replay.journal.diff import Diff, diff
from goldrush.replay.journal.outline import outline_of
from goldrush.replay.journal.rebuild import world_at
from goldrush.replay.policies import beside, last_of
from goldrush.replay.sentences import ENTITIES
from goldrush.replay.tools import Tools, View
from goldrush.replay.view.chart import SINGLE_MAX
from goldrush.replay.view.frame import framed, joined, packed_element, packed_json
from goldrush.replay.view.shown import ShownRun, policies_of, shown_of
from goldrush.replay.view.top import journal_of, top_of, top_of_two

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure

_HERE: Final = Path(__file__).parent
# Each before those that import from it; the world's own comes before main.js.
_SCRIPTS: Final = (
    "dom.js", "command.js", "run.js", "colours.js", "download.js", "chart.js",
    "player.js", "lines.js", "front.js", "grid.js", "tables.js", "series.js",
)  # fmt: skip
GENERATOR: Final = '<meta name="generator" content="goldrush view">'


@attrs.frozen
class Written:
    """A page that was written: its file, its size in bytes and its content for each run."""

    path: Path
    size: int
    runs: Sequence[ShownRun]

    def as_dict(self) -> dict[str, object]:
        """The result for JSON."""
        names = ("first", "last", "total", "whole", "trouble")
        runs = [{name: getattr(run, name) for name in names} for run in self.runs]
        return {"path": str(self.path), "size": self.size, "runs": runs}


def write_page(
    path: str | Path,
    out: str | Path,
    *,
    against: str | Path | None = None,
    units: tuple[int | None, int | None] = (None, None),
    users: Sequence[UserMeasure] = (),
    force: bool = False,
) -> Written:
    """Write the page of a journal; for `against` and `units` see `page_of`.

    Args:
        out: the file. An earlier page there is replaced.
        users: measures of the user, shown among those of the world.
        force: replace another file that goldrush wrote, such as a report.

    Raises BadInput as `page_of`, and if another file is there; JournalError as `page_of`;
    WriteFailed if the system refuses to write.
    """
    page, runs = page_of(path, against, units, users)
    data = page.encode()
    files.write_whole(str(out), data, force=force, is_own=is_page)
    return Written(Path(out), len(data), runs)


def page_of(
    path: str | Path,
    against: str | Path | None = None,
    units: tuple[int | None, int | None] = (None, None),
    users: Sequence[UserMeasure] = (),
) -> tuple[str, Sequence[ShownRun]]:
    """The page of a journal as HTML, and what it shows of each run.

    Args:
        path: the journal; of an unfinished or damaged one the closed units before the damage are
            shown.
        against: another run of the same world, shown beside it.
        units: the public numbers of the first and the last unit to show (None: from the start, to
            the end). Of more than UNITS_MAX units, or TEXT_MAX characters of sentences, as many
            from the first one on as fit are shown, and the page says so.
        users: measures of the user, shown among those of the world.

    Raises BadInput for units that the journal does not have, and for runs of two worlds;
    JournalError as reading a journal does.
    """
    tools, world = tools_at(path), world_at(path)
    difference: Diff | None = None
    if against is None:
        runs = [shown_of(path, tools, units, users)]
    else:
        if world_at(against).name != world.name:
            raise BadInput(
                f"{against} is a run of the {world_at(against).name} world, {path} of {world.name}",
                "compare runs of one world",
            )
        outlines = [outline_of(path), outline_of(against)]
        until = min(outline.closed for outline in outlines)
        labels = beside(*map(policies_of, outlines))
        runs = [
            shown_of(journal, tools, units, users, own, until)
            for journal, own in zip((path, against), labels, strict=True)
        ]
        difference = diff(path, against)
    return _rendered(world, tools, runs, difference), runs


def is_page(front: bytes) -> bool:
    """Whether a file with these first bytes is a page of a run."""
    return files.is_marked(front) and GENERATOR.encode() in front


def _rendered(
    world: World[Any], tools: Tools, runs: Sequence[ShownRun], difference: Diff | None
) -> str:
    shown = [label for run in runs for _, of in run.outline.declared.labels for label in of]
    for run in runs:
        shown += run.labels
        shown += () if run.outcome is None else run.outcome.policies
    hues = hues_of([*shown, *map(last_of, shown)], tools.studies)
    if difference is None:
        top, below = top_of(runs[0], hues), journal_of(runs[0], 0)
    else:
        top = top_of_two(runs, hues, difference, world)
        below = "\n".join(journal_of(run, index, "AB"[index]) for index, run in enumerate(runs))
    vocabulary, view = world.vocabulary, tools.view
    location = vocabulary.location if vocabulary.location in ENTITIES else ""
    selectors = ["agent", *([location] if location else [])]
    data = {
        "unit": vocabulary.unit,
        "units": vocabulary.units,
        "begin": vocabulary.first,
        "location": location,
        "selectors": selectors,
        "runs": [run.as_dict() for run in runs],
        "hues": hues,
        "lightest": SPREAD,
        "single": SINGLE_MAX,
    }
    elements = [packed_json(data)]
    elements += [
        packed_element(f"journal-{index}", run.journal)
        for index, run in enumerate(runs)
        if run.journal
    ]
    parts = {
        "top": top,
        "below": below,
        "unit": escape(vocabulary.unit),
        "selectors": "".join(f", <code>{escape(name)} 3</code>" for name in selectors),
    }
    start = f"start({'null' if view.script is None else 'WORLD'});"
    return framed(
        _HERE / "page.html",
        parts,
        title=runs[0].title if len(runs) == 1 else f"{world.name}: two runs",
        generator=GENERATOR,
        script=joined(modules_of(view), start),
        sheets=filter(None, (_HERE / "page.css", view.style)),
        data="\n".join(elements),
    )


def modules_of(view: View) -> Sequence[Path]:
    """The files that make up the script of a page."""
    own = [] if view.script is None else [view.script]
    return [*(_HERE / name for name in _SCRIPTS), *own, _HERE / "main.js"]
