"""What Python users meet: signatures, what objects print, what a start of a process imports."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import goldrush
from tests.cli.helpers import ROOT
from tests.net.corpus import Corpus

RUNS = ("mixed", "forked", "season", "talked", "argued", "golden/baseline", "golden-seasons/forked")
STARTS = {
    "kernel": "import goldrush.kernel.run",
    "package": "import goldrush",
    "help": "from goldrush.cli.main import cli; cli(['--help'], standalone_mode=False)",
    "verify": "from goldrush.cli.main import cli; cli(['verify', 'short.journal', '--jobs', '1'], "
    "standalone_mode=False)",
    "replay": "from goldrush.cli.main import cli; cli(['replay', 'short.journal'], "
    "standalone_mode=False)",
    "record": "from goldrush.cli.main import cli; cli(['record', '--rounds', '2', '--out', "
    "'started.journal', '--force'], standalone_mode=False)",
}  # fmt: skip
_CLASS = re.compile(r"\b[A-Z]\w*\(")  # names of classes may change
_THIRD_PARTY = (
    "; import sys; print('\\n=', sorted({name.partition('.')[0] for name in sys.modules} "
    "- set(sys.stdlib_module_names) - {'goldrush', '__main__'} - {n for n in sys.modules if "
    "n.startswith(('_', 'site', '__editable', 'sitecustomize', 'usercustomize'))}))"
)
READ: dict[str, Callable[[Any], object]] = {
    "repr": repr,
    "html": lambda run: len(run._repr_html_()) > 100,
    "states": list,
    "events": lambda run: [str(event) for event in run.events()],
    "log": lambda run: list(run.log()),
    "measures": lambda run: run.measures(),
    "tables": lambda run: [
        (name, run.table(name).schema.to_string(), run.table(name).num_rows)
        for name in run.tables()
    ],
    "audit": lambda run: run.audit_all(),
    "why": lambda run: [run.why(at) for at in (1, 2)],
    "prompts": lambda run: run.prompts(1, 0),
    "verify": lambda run: run.verify(),
    "info": lambda run: (run.info().units, run.info().declared),
}


def faces(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """(what, text) of every face."""
    for name in goldrush.__all__:
        yield f"signatures of goldrush.{name}", "\n".join(_signatures(getattr(goldrush, name)))
    for name in RUNS:
        run = goldrush.open(corpus.folder / f"{name}.journal")
        for what, read in READ.items():
            yield f"{what} of {name}", _told(read, run).replace(str(corpus.folder), "/TMP")
    for what, code in STARTS.items():
        yield f"modules imported by {what}", _imported(corpus.folder, code)


def _told(read: Callable[[Any], object], run: Any) -> str:
    try:
        return _CLASS.sub("(", repr(read(run)))
    except goldrush.GoldrushError as error:
        return f"{type(error).__name__}: {error}"


def _signatures(thing: Any) -> Iterator[str]:
    """The names of parameters: annotations name modules, which may move."""
    members = {"": thing, **vars(thing)} if inspect.isclass(thing) else {"": thing}
    for name, member in members.items():
        if name.startswith("_"):
            continue
        member = getattr(thing, name) if name else member
        try:
            parameters = inspect.signature(member).parameters.values()
        except (TypeError, ValueError):
            yield f"{name}: no function"
        else:
            yield f"{name}({', '.join(f'{p.name}:{p.kind}' for p in parameters)})"


def _imported(folder: Path, code: str) -> str:
    """The packages of others that a process has imported."""
    done = subprocess.run(
        [sys.executable, "-c", code + _THIRD_PARTY],
        cwd=folder, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    return done.stdout.rpartition("\n=")[2]
