"""Tables of what models answered afterwards: noise of decisions, beside differences of models.

A cell is a model with a wording; cells are compared on the decisions that all were asked for. A
move is what a submission does, free texts apart; an answer that failed is a move of its own, by its
error, and one that never arrived is none.

- `share`: of the answers, those with the most frequent move.
- `entropy`: of the moves, in bits.
- `noise`: the probability that two answers to one decision, drawn without replacement, differ.
- `differ`: the probability that answers to a decision differ, one from each of two cells, which
  for one and the same is its noise; `excess`: by how much it is over the mean noise of the two.
- Variance of an outcome (a number in a move, of a kind of item how many): within a decision;
  between the means of decisions in a cell; of wordings in a model; of models. These add up to
  `total`. Every decision in a cell has the same weight.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from itertools import combinations_with_replacement
from math import log2
from statistics import fmean, pvariance
from typing import Any

from goldrush.agents.llm.failures import NO_ANSWER
from goldrush.replay.asked.file import AskedAnswer, AskedFile, AskedHead

TableRow = dict[str, object]
Cell = tuple[str, str]  # labels of the model and the wording
Moves = list[tuple[str, Mapping[str, float]]]  # as text, with outcomes
Answers = Mapping[tuple[object, ...], Mapping[Cell, Moves]]  # by journal and decision


def tables(
    files: Sequence[AskedFile], by_hand: Mapping[tuple[str, ...], str] = {}
) -> dict[str, list[TableRow]]:
    """The tables by name. `by_hand`: codes of answers, see `codes_in`."""
    answers = [row for file in files for row in _answers(file, by_hand)]
    by_place: dict[tuple[object, ...], dict[Cell, Moves]] = {}
    for file in files:
        for line in file.answers.values():
            place = file.head.journal, *line.key[:3], line.part
            if line.error != NO_ANSWER and (line.error or line.submission):
                moves = by_place.setdefault(place, {}).setdefault(_cell(file.head, line), [])
                moves.append(_move(file.head, line))
    return {
        "decisions": [*_decisions(by_place)],
        "differences": [*_differences(by_place)],
        "variance": [*_variance(by_place)],
        "codes": [*_codes(answers)],
        "answers": answers,
    }


def _cell(head: AskedHead, line: AskedAnswer) -> Cell:
    of = {(unit, agent): (model, wording) for unit, agent, model, wording in head.options.decisions}
    return of.get((line.round, line.agent), ("", ""))


def _move(head: AskedHead, line: AskedAnswer) -> tuple[str, Mapping[str, float]]:
    """A move as text, and its outcomes."""
    if line.error is not None:
        return line.error, {}
    said = line.submission or {}
    fields = {name: said[name] for name in head.options.moves if name in said} or said
    return json.dumps(fields), _outcomes("", fields)


def _outcomes(name: str, value: Any) -> Counter[str]:
    """The numbers in a value, by what they count."""
    match value:
        case bool() | int() | float():
            return Counter({name: value})
        case str():
            return Counter({f"{name}={value}": 1})
        case dict():
            each = (_outcomes(f"{name}.{key}".strip("."), item) for key, item in value.items())
            return sum(each, Counter())
        case list():
            kinds = Counter(f"{name} {item[0]}" for item in value if type(item) is list and item)
            return kinds + Counter({name: len(value)})
    return Counter()


def _differ(x: Counter[str], y: Counter[str]) -> float | None:
    """The probability that a move of each differs; of one and the same, of two of its moves."""
    same = x is y
    pairs = x.total() * (y.total() - same)
    return 1 - sum(n * (y[move] - same) for move, n in x.items()) / pairs if pairs else None


def _decisions(answers: Answers) -> Iterator[TableRow]:
    for (_, unit, agent, number, _), cells in answers.items():
        for (model, wording), given in cells.items():
            moves = Counter(move for move, _ in given)
            [(move, most)] = moves.most_common(1)
            shares = [count / moves.total() for count in moves.values()]
            yield {
                "model": model, "wording": wording, "round": unit, "agent": agent,
                "number": number, "answers": moves.total(), "moves": len(moves),
                "share": most / moves.total(),
                "entropy": -sum(share * log2(share) for share in shares) + 0.0,
                "noise": _differ(moves, moves), "move": move,
            }  # fmt: skip


def _shared(answers: Answers) -> tuple[list[Cell], list[Mapping[Cell, Moves]]]:
    """All cells, and the answers to each decision that has some in every cell."""
    cells = list(dict.fromkeys(cell for of in answers.values() for cell in of))
    return cells, [of for of in answers.values() if len(of) == len(cells)]


def _differences(answers: Answers) -> Iterator[TableRow]:
    cells, shared = _shared(answers)
    moves = [{cell: Counter(move for move, _ in of[cell]) for cell in cells} for of in shared]
    found: dict[tuple[Cell, Cell], float] = {}
    for a, b in combinations_with_replacement(cells, 2):
        each = [d for of in moves if (d := _differ(of[a], of[b])) is not None]
        if each:
            found[a, b] = fmean(each)
    for (a, b), differ in found.items() if len(cells) > 1 else ():
        noise = [found[cell, cell] for cell in (a, b) if (cell, cell) in found]
        excess = differ - fmean(noise) if len(noise) > 1 else None
        names = dict(zip(("model", "wording", "other_model", "other_wording"), a + b, strict=True))
        yield {**names, "decisions": len(moves), "differ": differ, "excess": excess}


def _variance(answers: Answers) -> Iterator[TableRow]:
    cells, shared = _shared(answers)
    for name in dict.fromkeys(n for of in shared for c in cells for _, o in of[c] for n in o):
        values = {c: [[o.get(name, 0) for _, o in of[c]] for of in shared] for c in cells}
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


def _answers(file: AskedFile, by_hand: Mapping[tuple[str, ...], str]) -> Iterator[TableRow]:
    for line in file.answers.values():
        model, wording = _cell(file.head, line)
        about = file.head.question[line.part] if file.head.question else None
        form = (line.submission or {}).items() if about else ()
        rules = about.codes.items() if about else ()
        codes = [f"{name}={value}" for name, value in form if about and about.fields.get(name)]
        codes += [code for code, sign in rules if re.search(sign, line.text or "", re.IGNORECASE)]
        row = {
            "file": file.path, "model": model, "wording": wording, "round": line.round,
            "agent": line.agent, "number": line.number, "sample": line.sample,
            "question": about and about.id, "error": line.error, "text": line.text,
            "move": _move(file.head, line)[0] if line.submission else None,
        }  # fmt: skip
        yield {**row, "codes": by_hand.get(_key(row), ";".join(codes))}


_KEY = ("file", "round", "agent", "sample", "question")


def _key(row: Mapping[str, object]) -> tuple[str, ...]:
    return tuple("" if row.get(name) is None else str(row[name]) for name in _KEY)


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
    answer, separated by `;`.
    """
    return {_key(row): row.get("codes") or "" for row in csv.DictReader(StringIO(text))}
