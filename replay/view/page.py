"""The page of a run: one HTML file that contains the journal and needs nothing else.

The journal is in the page as base64. The script reads it, computes every checksum again, and shows
the events; for each unit it compares its facts with a fingerprint of those folded here. Results
that take the world's rules are computed here, and labelled so. The page's policy allows its script
and its style sheet, by their hashes, and no request. The page holds neither a path nor a date.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
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
from goldrush.replay.journal.rebuild import world_at
from goldrush.replay.policies import beside, last_of
from goldrush.replay.tools import View
from goldrush.replay.view.carried import Carried, carried, front_until, policies_of
from goldrush.replay.view.frame import framed, joined
from goldrush.replay.view.numbers import SINGLE_MAX
from goldrush.replay.view.states import states
from goldrush.replay.view.top import top_of

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure

_HERE: Final = Path(__file__).parent
# Each before those that import from it; the world's own come before main.js.
_SCRIPTS: Final = (
    "xxh3.js", "msgpack.js", "encoded.js", "journal.js", "dom.js", "command.js", "run.js",
    "colours.js", "readable.js", "download.js", "chart.js", "player.js", "events.js", "front.js",
    "outcome.js",
)  # fmt: skip
GENERIC: Final = View(
    script=_HERE / "generic.js",
    modules=[
        _HERE / name for name in ("grid.js", "tables.js", "series.js", "lines.js", "parts.js")
    ],
    computed=states,
)
GENERATOR: Final = '<meta name="generator" content="goldrush view">'


@attrs.frozen
class Written:
    """A page that was written: its file, its size in bytes and its content for each run."""

    path: Path
    size: int
    runs: Sequence[Carried]

    def as_dict(self) -> dict[str, Any]:
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
    page, runs = _page(path, against, units, users)
    data = page.encode()
    files.write_whole(str(out), data, force=force, is_own=is_page)
    return Written(Path(out), len(data), runs)


def page_of(
    path: str | Path,
    against: str | Path | None = None,
    units: tuple[int | None, int | None] = (None, None),
) -> str:
    """The page of a journal, as HTML.

    Args:
        path: the journal; of an unfinished or damaged one the closed units before the damage are
            shown.
        against: another run of the same world, shown beside it.
        units: the public numbers of the first and the last unit to show (None: from the start, to
            the end). Of a journal with more than JOURNAL_MAX bytes or UNITS_MAX units, as many from
            the first one on as fit are shown, and the page says so.

    Raises BadInput for units that the journal does not have, and for runs of two worlds;
    JournalError as reading a journal does.
    """
    return _page(path, against, units, ())[0]


def is_page(front: bytes) -> bool:
    """Whether a file with these first bytes is a page of a run."""
    return files.is_marked(front) and GENERATOR.encode() in front


def _page(
    path: str | Path,
    against: str | Path | None,
    units: tuple[int | None, int | None],
    users: Sequence[UserMeasure],
) -> tuple[str, Sequence[Carried]]:
    tools = tools_at(path)
    view = tools.view or GENERIC
    world = world_at(path)
    difference: Diff | None = None
    if against is None:
        runs = [carried(path, tools, view, units, users)]
        ends = [runs[0].front]
    else:
        if world_at(against).name != world.name:
            raise BadInput(
                f"{against} is a run of the {world_at(against).name} world, {path} of {world.name}",
                "compare runs of one world",
            )
        labels = beside(policies_of(path, tools), policies_of(against, tools))
        runs = [
            carried(journal, tools, view, units, users, own)
            for journal, own in zip((path, against), labels, strict=True)
        ]
        until = min(run.total for run in runs)
        ends = [
            run.front
            if run.total == until
            else front_until(journal, tools, users, own, world.vocabulary.unit_of(until))
            for journal, run, own in zip((path, against), runs, labels, strict=True)
        ]
        difference = diff(path, against)
    shown = [label for run in runs for _, roster in run.rosters for label, _ in roster]
    for front in [*(run.front for run in runs), *ends]:
        shown += front.labels
        shown += () if front.outcome is None else front.outcome.policies
    hues = hues_of([*shown, *map(last_of, shown)], tools.hue_order, tools.null)
    top = top_of(runs, ends, hues, difference, world.vocabulary)
    return _rendered(world, view, runs, top, hues), runs


def _rendered(
    world: World[Any], view: View, runs: Sequence[Carried], top: str, hues: Mapping[str, int]
) -> str:
    vocabulary = world.vocabulary
    pieces, journals = _shared(runs)
    data: dict[str, Any] = {
        "selectors": list(view.selectors),
        "vocabulary": {
            **attrs.asdict(vocabulary, filter=attrs.filters.exclude("uncounted")),
            "units": vocabulary.units,
        },
        "events": [
            [each.name, each.is_input, [[name, kind.form] for name, kind in each.fields.items()]]
            for each in world.events
        ],
        "runs": [
            {**run.as_dict(), "pieces": piece} for run, piece in zip(runs, pieces, strict=True)
        ],
        "fronts": [run.front.as_dict(by_mean=len(runs) > 1) for run in runs],
        "hues": hues,
        "lightest": SPREAD,
        "single": SINGLE_MAX,
    }
    script = joined(modules_of(view), "start(() => WORLD);")
    sheets = filter(None, (_HERE / "page.css", view.style))
    titles = [run.title for run in runs]
    parts = {
        "top": top,
        "unit": escape(vocabulary.unit),
        "selectors": "".join(f", <code>{escape(name)} 3</code>" for name in view.selectors),
        "journals": "\n".join(journals),
    }
    title = titles[0] if len(runs) == 1 else f"{world.name}: two runs"
    return framed(
        _HERE / "page.html", parts, title=title, generator=GENERATOR, script=script, sheets=sheets,
        data=data,
    )  # fmt: skip


def modules_of(view: View) -> Sequence[Path]:
    """The files that make up the script of a page."""
    frame = (_HERE / name for name in _SCRIPTS)
    return [*frame, *view.modules, view.script, _HERE / "main.js"]


def _shared(runs: Sequence[Carried]) -> tuple[list[list[dict[str, Any]]], list[str]]:
    """The journals as elements of the page, and the pieces of each run.

    A fork begins with its parent's bytes: they are in the page once.
    """
    first = runs[0].pieces[0].bytes
    elements: list[str] = []
    pieces: list[list[dict[str, Any]]] = []
    for run in runs:
        of_run = []
        for piece in run.pieces:
            shared = _same(first, piece.bytes) if elements else 0
            start = {"offset": piece.offset, "before": piece.before}
            of_run.append({**start, "bytes": len(elements), "shared": shared})
            text = b64encode(piece.bytes[shared:]).decode()
            elements.append(f'<script type="text/plain" data-journal>{text}</script>')
        pieces.append(of_run)
    return pieces, elements


def _same(a: bytes, b: bytes) -> int:
    """The length of the common beginning of two byte strings."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
