"""Where a command writes: what a path may be."""

from __future__ import annotations

from typing import Any

import click


class Output(click.Path):
    """A path at which something is written; `kind` it must be.

    Without it `-` would be a file of that name, where other programs mean standard output.
    """

    def __init__(self, kind: str = "file") -> None:
        super().__init__()
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value == "":
            self.fail(f"it is empty; give a {self._kind}", param, ctx)
        if value == "-":
            self.fail(
                f"- is not standard output here; give a {self._kind}, one of that name as ./-",
                param,
                ctx,
            )
        if self._kind == "file" and value.endswith("/"):
            self.fail(f"{value} is the path of a folder; give that of a file", param, ctx)
        return str(super().convert(value, param, ctx))
