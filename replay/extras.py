"""Libraries that are an optional extra of goldrush, asked for before anything begins."""

from __future__ import annotations

from importlib import import_module

from goldrush.kernel.errors import BadInput


def require(library: str, what: str, extra: str, instead: str = "") -> None:
    """Raises BadInput unless an optional library can be imported.

    `what` needs it; `extra`: of goldrush, which brings it; `instead`: what can be done without.
    """
    try:
        import_module(library)
    except ImportError:
        how = f"install it: pip install 'goldrush[{extra}]'{instead}"
        raise BadInput(f"{what} {library}", how) from None
