"""The prose of a report: templates of Jinja, as markup or as plain text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldrush.replay.extras import require
from goldrush.replay.report.numbers import printable

if TYPE_CHECKING:
    from jinja2 import Environment


def templates(*folders: Path, is_markup: bool = True) -> Environment:
    """The templates of these folders and of this one; `is_markup`: values are escaped for HTML, and
    in any case their invisible characters. Raises BadInput if Jinja is not installed.
    """
    require("jinja2", "a report needs", "stats")
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def seen(value: Any) -> Any:
        return value if isinstance(value, Markup) else printable(str(value))

    return Environment(
        loader=FileSystemLoader([*folders, Path(__file__).parent]), finalize=seen,
        autoescape=is_markup,  # noqa: S701
        undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
