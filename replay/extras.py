"""Optional libraries, checked before a tool begins."""

from __future__ import annotations

from importlib import import_module

from goldrush.kernel.errors import BadInput


def require(library: str, what: str, extra: str, instead: str = "") -> None:
    """Check that an optional library can be imported. `what`: the noun and verb before it in the
    message ("tables need"); `extra`: the extra of goldrush that has the library.

    Raises BadInput if the library cannot be imported.
    """
    try:
        import_module(library)
    except ImportError:
        how = f"install it: pip install 'goldrush-sim[{extra}]'{instead}"
        raise BadInput(f"{what} {library}", how) from None
