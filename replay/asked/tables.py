"""Tables of what models answered afterwards: noise of decisions, beside differences of models.

A cell is a model with a wording; cells are compared on the decisions that all were asked for. A
move is what a submission does, free texts apart; an answer that failed is a move of its own, by its
error, and one that never arrived is none.

- `share`: of the answers, those with the most frequent move.
- `entropy`: of the moves, in bits.
- `noise`: the probability that two answers to one decision, drawn without replacement, differ.
- `differ`: the probability that answers to a decision differ, one from each of two cells, which
  for one and the same is its noise; `excess`: by how much it is over the mean noise of the two.
- Variance of an outcome (a number in a move, of a kind of item how many; 0 where a move has none)
  over answers that did not fail: within a decision; between the means of decisions in a cell; of
  wordings in a model; of models. These add up to `total`. Every decision in a cell has the same
  weight.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from itertools import combinations_with_replacement
from math import log2
from statistics import fmean, pvariance
from typing import Any

from goldrush.agents.llm.failures import NO_ANSWER
from goldrush.kernel.errors import BadInput
from goldrush.replay.asked.file import (
    REASK,
    SUFFIX,
    AskedAnswer,
    AskedFile,
    AskedHead,
    read,
)
from goldrush.replay.journal.batch import SUFFIX as JOURNAL

TableRow = dict[str, object]
Cell = tuple[str, str]  # labels of the model and the wording
Outcomes = Mapping[str, float]
Moves = list[tuple[str, Outcomes | None]]  # as text, with outcomes; None: it failed
Answers = Mapping[tuple[Any, ...], Mapping[Cell, Moves]]  # by journal, decision and question
Codes = Mapping[tuple[str, ...], str]  # of answers, by _key


def tables(
    files: Sequence[AskedFile], by_hand: Mapping[tuple[str, ...], str] = {}
) -> dict[str, list[TableRow]]:
    """The tables by name, of files that are not equal. `by_hand`: codes of answers, see `codes_in`.
    Raises BadInput for codes of other answers.
    """
    answers: list[TableRow] = []
    by_place: dict[tuple[object, ...], dict[Cell, Moves]] = {}
    for file in {each.data: each for each in files}.values():
        cells = {each[:2]: each[2:] for each in file.head.options.decisions}
        for line in file.answers.values():
            cell = cells.get((line.round, line.agent), ("", ""))
            about = file.head.question[line.part] if file.head.question else None
            asked = (about.id, about.text) if about else (None, None)
            answers.append(_answer(file, line, cell, by_hand))
            if line.error != NO_ANSWER and (line.error or line.submission):
                place = file.head.journal, *line.key[:3], *asked
                by_place.setdefault(place, {}).setdefault(cell, []).append(_move(file.head, line))
    if others := by_hand.keys() - map(_key, answers):
        raise BadInput(f"codes of other answers: {', '.join(min(others))}", "leave them out")
    return {
        "decisions": [*_decisions(by_place)],
        "differences": [*_differences(by_place)],
        "variance": [*_variance(by_place)],
        "codes": [*_codes(answers)],
        "answers": answers,
    }


def _move(head: AskedHead, line: AskedAnswer) -> tuple[str, Outcomes | None]:
    """A move as text, and its outcomes."""
    if line.error is not None:
        return line.error, None
    said = line.submission or {}
    fields = {name: said[name] for name in head.options.moves if name in said} or said
    return json.dumps(fields), dict(_outcomes("", fields))


def _outcomes(name: str, value: Any) -> Iterator[tuple[str, float]]:
    """The numbers in a value, by what they count; each name once."""
    match value:
        case bool() | int() | float():
            yield name, value
        case str():
            yield f"{name}={value}", 1
        case dict():
            for key, item in value.items():
                yield from _outcomes(f"{name}.{key}".strip("."), item)
        case list():
            yield name, len(value)
            kinds = (item[0] for item in value if type(item) is list and item)
            yield from ((f"{name} {kind}", count) for kind, count in Counter(kinds).items())


def _differ(x: Counter[str], y: Counter[str]) -> float | None:
    """The probability that a move of each differs; of one and the same, of two of its moves."""
    same = x is y
    pairs = x.total() * (y.total() - same)
    return 1 - sum(n * (y[move] - same) for move, n in x.items()) / pairs if pairs else None


def _decisions(answers: Answers) -> Iterator[TableRow]:
    for (_, unit, agent, number, question, _), cells in answers.items():
        for (model, wording), given in cells.items():
            moves = Counter(move for move, _ in given)
            [(move, most)] = moves.most_common(1)
            shares = [count / moves.total() for count in moves.values()]
            yield {
                "model": model, "wording": wording, "round": unit, "agent": agent,
                "number": number, "question": question, "answers": moves.total(),
                "moves": len(moves), "share": most / moves.total(),
                "entropy": -sum(share * log2(share) for share in shares) + 0.0,
                "noise": _differ(moves, moves), "move": move,
            }  # fmt: skip


def _shared(answers: Answers) -> tuple[list[Cell], list[Mapping[Cell, Moves]]]:
    """All cells, and the answers to each decision that has some in every cell."""
    cells = list(dict.fromkeys(cell for of in answers.values() for cell in of))
    return cells, [of for of in answers.values() if len(of) == len(cells)]


def noise_beside(folder: str, runs: Mapping[str, str | None]) -> float | None:
    """The mean noise of the decisions that were asked again, unchanged, of runs in a folder: their
    SHA-256 by path. None: none was asked twice. Raises BadInput for a file that was changed.
    """
    paths = {os.path.join(folder, path.removesuffix(JOURNAL) + SUFFIX): runs[path] for path in runs}
    files = [read(path) for path in paths if os.path.exists(path)]
    heads = [(each.head.kind, each.head.journal, each.head.options.changes) for each in files]
    same = [
        of for of, head in zip(files, heads, strict=True) if head == (REASK, paths[of.path], {})
    ]
    noise = [n for row in tables(same)["decisions"] if isinstance(n := row["noise"], float)]
    return fmean(noise) if noise else None


def _differences(answers: Answers) -> Iterator[TableRow]:
    cells, shared = _shared(answers)
    moves = [{cell: Counter(move for move, _ in of[cell]) for cell in cells} for of in shared]
    for a, b in combinations_with_replacement(cells, 2) if len(cells) > 1 else ():
        each = [
            (_differ(of[a], of[b]), _differ(of[a], of[a]), _differ(of[b], of[b])) for of in moves
        ]
        whole = [
            (x, x - (y + z) / 2)
            for x, y, z in each
            if x is not None and y is not None and z is not None
        ]
        differ = [x for x, _ in whole] or [x for x, *_ in each if x is not None]
        if differ:
            names = zip(("model", "wording", "other_model", "other_wording"), a + b, strict=True)
            excess = fmean(over for _, over in whole) if whole else None
            yield {
                **dict(names), "decisions": len(differ), "differ": fmean(differ), "excess": excess
            }  # fmt: skip


def _variance(answers: Answers) -> Iterator[TableRow]:
    made = {
        place: {c: [o for _, o in moves if o is not None] for c, moves in of.items()}
        for place, of in answers.items()
    }
    cells = list(dict.fromkeys(cell for of in made.values() for cell in of))
    shared = [of for of in made.values() if all(of.get(cell) for cell in cells)]
    for name in dict.fromkeys(n for of in shared for c in cells for o in of[c] for n in o):
        values = {c: [[o.get(name, 0) for o in of[c]] for of in shared] for c in cells}
        means = {c: [fmean(each) for each in values[c]] for c in cells}
        by_cell = {c: fmean(means[c]) for c in cells}
        by_model = {c: fmean(by_cell[d] for d in cells if d[0] == c[0]) for c in cells}
        parts = {
            "within": fmean(pvariance(each) for c in cells for each in values[c]),
            "decisions": fmean(pvariance(means[c]) for c in cells),
            "wordings": fmean((by_cell[c] - by_model[c]) ** 2 for c in cells),
            "models": pvariance(by_model.values()),
        }
        mean = fmean(by_cell.values())
        yield {"outcome": name, "mean": mean, "total": sum(parts.values()), **parts}


def _answer(file: AskedFile, line: AskedAnswer, cell: Cell, by_hand: Codes) -> TableRow:
    about = file.head.question[line.part] if file.head.question else None
    form = (line.submission or {}).items() if about else ()
    rules = about.codes.items() if about else ()
    codes = [f"{name}={value}" for name, value in form if about and about.fields.get(name)]
    codes += [code for code, sign in rules if re.search(sign, line.text or "", re.IGNORECASE)]
    row = {
        "file": file.path, "model": cell[0], "wording": cell[1], "round": line.round,
        "agent": line.agent, "number": line.number, "sample": line.sample,
        "question": about and about.id, "error": line.error, "text": line.text,
        "move": _move(file.head, line)[0] if line.submission else None,
    }  # fmt: skip
    return {**row, "codes": by_hand.get(_key(row), ";".join(codes))}


def _key(row: Mapping[str, object]) -> tuple[str, ...]:
    names = ("round", "agent", "number", "sample", "question")
    cells = (row.get(name) for name in names)
    return os.path.realpath(str(row.get("file"))), *("" if c is None else str(c) for c in cells)


def _codes(answers: Sequence[TableRow]) -> Iterator[TableRow]:
    cells = ("model", "wording", "round", "question")
    asked = Counter(tuple(row[name] for name in cells) for row in answers)
    coded = Counter(
        (*(row[name] for name in cells), code)
        for row in answers
        for code in str(row["codes"]).split(";")
        if code
    )
    for (*cell, code), count in sorted(coded.items(), key=str):
        named = dict(zip(cells, cell, strict=True))
        yield {**named, "code": code, "answers": count, "of": asked[tuple(cell)]}


def codes_in(text: str) -> dict[tuple[str, ...], str]:
    """The column `codes` of a table of answers as CSV, in which a person has written: codes of an
    answer, separated by `;`. Raises BadInput for a table without it.
    """
    rows = [*csv.DictReader(StringIO(text))]
    if any(row.get("codes") is None for row in rows):
        raise BadInput(
            "the table of answers has no column codes", "give what --table answers gives"
        )
    return {_key(row): row["codes"] for row in rows}
