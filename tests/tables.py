"""Rows of tables, and what files have of them: for tests of tables, of whatever world."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from goldrush.replay.data.columns import Column, Table
from goldrush.replay.data.encoded import rows_of
from goldrush.replay.data.run_data import RunData


def by_name(table: Table, run: RunData) -> list[dict[str, Any]]:
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in rows_of(table, run)]


def in_pandas(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame, every kind of missing as None, arrays as lists."""

    def plain(value: Any) -> Any:
        if hasattr(value, "tolist"):
            value = value.tolist()
        if isinstance(value, list):
            return [plain(item) for item in value]
        return None if value is None or value is pd.NA or value != value else value

    columns = [[plain(value) for value in frame[name]] for name in frame.columns]
    return [dict(zip(frame.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def read_text(path: Path) -> dict[str, list[str]]:
    """The columns of a CSV file, as text."""
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return dict(zip(head, map(list, zip(*rows, strict=True)), strict=True))


def as_text(column: Column, value: Any) -> str:
    """A value as CSV has it, quotes taken away."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, (list, tuple, dict)) else str(value)


def same_text(table: Table, rows: Sequence[dict[str, Any]], found: dict[str, list[str]]) -> None:
    assert [column.name for column in table.columns] == list(found)
    for column in table.columns:
        expected = [as_text(column, row[column.name]) for row in rows]
        assert expected == found[column.name], column.name
