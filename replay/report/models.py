"""The language models of a report: how they were asked, what they took, and what failed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from goldrush.agents.llm.budget import prices
from goldrush.agents.llm.failures import KINDS
from goldrush.agents.llm.model import options_by_prefix
from goldrush.agents.llm.models import OPENAI
from goldrush.agents.llm.options import DEFAULT
from goldrush.agents.llm.versions import subject_of
from goldrush.agents.trust import LLM
from goldrush.replay.journal.outline import outline_of
from goldrush.replay.journal.taken import SUMS, Taken, by_model
from goldrush.replay.report.reported import ReportedStudy
from goldrush.replay.report.tables import Content, Marked, ReportTable
from goldrush.replay.study.records import Cell
from goldrush.replay.study.results import AnyResults


def model_tables(study: ReportedStudy) -> list[ReportTable]:
    """The answers of every model and what they took by cell, and how each model was asked."""
    results, options = study.results, dict[str, Mapping[str, Any]]()
    taken = {cell: results.taken(cell) for cell in results.by_cell if results.taken(cell)}
    for cell in taken:
        options |= _options_in(Path(results.folder, results.by_cell[cell][0].path))
    known = {} if study.models is None else prices(study.models.by_name)
    rows = []
    for cell, of_cell in taken.items():
        for of in of_cell:
            price = known.get(str(options.get(of.model, {}).get("name")))
            cost = price and f"{price.millionths(of.tokens_in, of.tokens_out) / 1_000_000:.4f}"
            rows.append({**_row(results, cell, of), "cost": cost or ""})
    facts = [
        _fact_row(study, options[of.model], of)
        for of in by_model(chain.from_iterable(taken.values()))
        if of.model in options
    ]
    caption = "Answers of every model, failed by kind, and their tokens as servers counted them."
    how = "How each model was asked, and what its server reported."
    return [ReportTable.of("models", caption, rows), ReportTable.of("asked", how, facts)]


def _options_in(path: Path) -> dict[str, Mapping[str, Any]]:
    """The options of the models of a run, as its journal has them, by subject."""
    declared = outline_of(path).declared
    players = [player for player in declared.players if player["policy"] == LLM]
    each = [of for p in players for of in options_by_prefix(p["options"]).values()]
    return {subject_of(str(of.get("name")), of, declared.prompt): of for of in reversed(each)}


_NAMES: Final = ("name", "model", "wording", "wording_sha256", "wording_text")  # not as options


def _fact_row(study: ReportedStudy, options: Mapping[str, Any], of: Taken) -> dict[str, Content]:
    days = [datetime.fromtimestamp(at, UTC).date().isoformat() for at in of.created]
    digest, host = options.get("wording_sha256"), ""
    where = f"SHA-256 {digest}, whole in START" if digest else "see goldrush wordings show default"
    if study.models is not None and study.names_hosts:
        host = urlsplit(study.models.endpoint(str(options["name"])).base_url or OPENAI).netloc
    asked = {name: value for name, value in options.items() if name not in _NAMES}
    return {
        "model": of.model, "asked for": str(options.get("model")), "host": host,
        "reported": ", ".join(of.reported), "fingerprints": ", ".join(of.fingerprints),
        "answered": " to ".join(dict.fromkeys(days)),
        "wording": f"{options.get('wording', DEFAULT)}: {where}",
        "options": "; ".join(f"{n} {'not sent' if v is None else v}" for n, v in asked.items()),
    }  # fmt: skip


def _row(results: AnyResults, cell: Cell, taken: Taken) -> dict[str, Content]:
    failures = taken.failures
    share = f"{failures.share:.0%}"
    return {
        "treatment": cell.treatment, "roster": cell.roster,
        results.of.vocabulary.units: str(cell.rounds),
        "model": failures.model, "answers": f"{failures.answers:,}",
        **{title: f"{failures.kinds.get(kind, 0):,}" for kind, title in KINDS.items()},
        "failed": Marked(share, "hardly played") if failures.hardly_played else share,
        "cut off, played": f"{failures.cut:,}",
        **{head: f"{getattr(taken, name):,}" for name, head in SUMS.items()},
        "uncounted": f"{taken.uncounted:,}",
    }  # fmt: skip
