"""Libraries that are an optional extra of goldrush, asked for before anything begins."""

from __future__ import annotations

from importlib.util import find_spec

from goldrush.kernel.errors import BadInput


def require(library: str, what: str, extra: str, instead: str = "") -> None:
    """Raises BadInput unless an optional library is installed.

    `what` needs it; `extra`: of goldrush, which brings it; `instead`: what can be done without.
    """
    if find_spec(library) is None:
        raise BadInput(f"{what} {library}", f"install it: pip install 'goldrush[{extra}]'{instead}")
