"""What Python users meet: the parameters of all that `goldrush` gives, and what a start imports."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator

import goldrush
from tests.cli.helpers import ROOT

_TYPED = "from goldrush.cli.main import cli; cli({}, standalone_mode=False)"
STARTS = {
    "import goldrush.kernel.run": "import goldrush.kernel.run",
    "import goldrush": "import goldrush",
    "goldrush --help": _TYPED.format(["--help"]),
    "goldrush --version": _TYPED.format(["--version"]),
    "goldrush record": _TYPED.format(["record", "--rounds", "1", "--out", "/dev/null/no"]),
}
_ADDRESS = re.compile(" at 0x[0-9a-f]+")
_THIRD_PARTY = """
import sys
names = {name.partition('.')[0] for name in sys.modules}
names -= {*sys.stdlib_module_names, 'goldrush', '__main__'}
print('\\n=', *sorted(name for name in names if not name.startswith(('_', 'site', 'usercustom'))))
"""


def text() -> str:
    """The signatures, a line each, and the packages of others that a start imports."""
    signatures = (line for name in goldrush.__all__ for line in _signatures(name))
    starts = (f"{start}: {_imported(code)}" for start, code in STARTS.items())
    return "".join(f"{line}\n" for line in (*signatures, "", *starts))


def _signatures(name: str) -> Iterator[str]:
    """Of a name and its public members. Annotations name modules, which may move."""
    thing = getattr(goldrush, name)
    yield f"{name}{_parameters(thing)}"
    for member in vars(thing) if inspect.isclass(thing) else ():
        if not member.startswith("_"):
            yield f"  .{member}{_parameters(getattr(thing, member))}"


def _parameters(thing: object) -> str:
    if not callable(thing):
        return ""
    try:
        given = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(...)"
    empty = inspect.Signature.empty
    plain = [parameter.replace(annotation=empty) for parameter in given.parameters.values()]
    return _ADDRESS.sub("", str(inspect.Signature(plain)))


def _imported(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", f"try:\n    {code}\nexcept Exception: pass\n{_THIRD_PARTY}"],
        capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    return done.stdout.rpartition("\n= ")[2].strip()
