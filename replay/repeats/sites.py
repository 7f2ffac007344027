"""Order of sets, `id`, `hash` and `datetime.now`: seen by rewriting modules as they are imported.

No patch reaches what the interpreter does itself. So the code of each module outside the standard
library is rewritten when it is loaded, line numbers kept: what a `for`, a comprehension, a star, or
a call such as `list(...)` iterates over passes a function that knows the line. At a fixed place, a
set is iterated in an order that depends on what its elements hold, never on their addresses.
"""

from __future__ import annotations

import ast
import datetime
import importlib.machinery
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final
from weakref import WeakSet, ref

from goldrush.agents.iteration import IterationRewriter
from goldrush.kernel.game.watch import is_stable, varies
from goldrush.replay.repeats.content import content, digest_of
from goldrush.replay.repeats.graph import sorted_by_content
from goldrush.replay.repeats.sightings import Sightings, package_of
from goldrush.replay.repeats.trace import Order

# Large packages whose Python is glue around compiled code; goldrush, whose worlds repeat; and what
# is no subject's and no library's, see `package_of`.
_KEPT: Final = frozenset([
    "goldrush", "IPython", "PIL", "altair", "jax", "matplotlib", "numba", "pandas", "polars",
    "pyarrow", "pytest", "scipy", "sklearn", "solara", "sympy", "tensorflow", "torch",
    "std", "between", "doctor",
])  # fmt: skip
_ITERATED: Final = (set, frozenset, WeakSet)
_ORDERS: Final = frozenset(kind.__iter__ for kind in _ITERATED)
# Functions and methods that take a set in its order; `sorted`, `min` and `max` with a key only.
_KEYED: Final = frozenset(("sorted", "min", "max"))
_NOW: Final = frozenset(("now", "today", "utcnow"))
_CONSUMERS: Final = _KEYED | frozenset([
    "accumulate", "add_edges_from", "add_nodes_from", "array", "asarray", "batched", "chain",
    "choice", "choices", "combinations", "combinations_with_replacement", "compress", "Counter",
    "cycle", "DataFrame", "deque", "dict", "dropwhile", "dumps", "enumerate", "extend",
    "extendleft", "filter", "fmean", "format", "from_iterable", "fromiter", "fromkeys", "groupby",
    "Index", "islice", "iter", "join", "list", "map", "mean", "merge", "nlargest", "nsmallest",
    "OrderedDict", "pairwise", "permutations", "print", "prod", "product", "reduce", "repr",
    "sample", "Series", "shuffle", "starmap", "stdev", "str", "sum", "sumprod", "takewhile",
    "tee", "tuple", "update", "variance", "writelines", "zip", "zip_longest",
])  # fmt: skip
_COMPILING: Final = frozenset(  # decorators of Numba and others that read a function's code
    ("cfunc", "guvectorize", "jit", "njit", "script", "stencil", "vectorize")
)
_SHOWN: Final = frozenset(("dumps", "format"))  # of an object, they use more than its text
_TEXTS: Final = frozenset(("print", "repr", "str"))
_OWN: Final = ("__format__", "__repr__", "__str__")


@contextmanager
def loading(
    rewriting: Rewriting, after: Mapping[str, Callable[[types.ModuleType], None]]
) -> Iterator[None]:
    """Rewrites modules that are loaded from source inside, and calls `after` of a name on them."""
    loader = importlib.machinery.SourceFileLoader
    get_code, exec_module = loader.get_code, loader.exec_module

    def code(self: importlib.machinery.SourceFileLoader, fullname: str) -> types.CodeType | None:
        if not rewriting.takes(self.path):
            return get_code(self, fullname)
        if sys._getframe(1).f_globals["__name__"] == "runpy":  # `python -m` executes it itself
            vars(sys.modules["__main__"]).update(rewriting.names)
        return rewriting.code(self.get_data(self.path), self.path, fullname)

    def execute(self: importlib.machinery.SourceFileLoader, module: types.ModuleType) -> None:
        if rewriting.takes(self.path):
            vars(module).update(rewriting.names)
        exec_module(self, module)
        if module.__name__ in after:
            after[module.__name__](module)

    patched = {"get_code": code, "exec_module": execute}
    for name, function in patched.items():
        setattr(loader, name, function)
    try:
        yield
    finally:
        for name in patched:  # inherited; the doctor is the only one to set them
            delattr(loader, name)


class Rewriting:
    """Rewrites modules, and gives them the functions that the rewritten code calls.

    Attributes:
        names: what a rewritten module finds among its globals.
    """

    def __init__(
        self, order: Order, sightings: Sightings, fixed_time: Callable[[str], float | None],
        is_own: bool,
    ) -> None:  # fmt: skip
        """`is_own`: whether only modules of the subject's own are rewritten."""
        self._sightings, self._fixed_time, self._is_own = sightings, fixed_time, is_own
        self._files, self._sets = order.files, order.way.sets
        self._modules, self._numbers = set[str](), _Numbers()
        self.names: Mapping[str, object] = {
            "__goldrush_order__": self._order,
            "__goldrush_text__": self._text,
            "__goldrush_call__": self._call,
            "__goldrush_pop__": self._pop,
            "id": self._id,
            "hash": self._hash,
        }

    def takes(self, path: str) -> bool:
        """Whether the module of a file is rewritten: it may iterate over sets that matter."""
        if self._files is not None:
            return path in self._files
        may_matter = path.endswith(".py") and package_of(path) not in _KEPT
        return may_matter and not (self._is_own and package_of(path, self._sightings.home))

    def code(self, source: bytes, path: str, name: str) -> types.CodeType:
        """The rewritten code of a module."""
        tree = ast.fix_missing_locations(_Transformer().visit(ast.parse(source, path)))
        self._modules.add(name)
        code: types.CodeType = compile(tree, path, "exec", dont_inherit=True)
        return code

    def _order(self, value: Any) -> Any:
        """A value to be iterated over; a set at a fixed place in the order of content."""
        ordered = self._ordered(value)
        return value if ordered is None else ordered

    def _text(self, value: Any) -> Any:
        """A value to be made a text; a set, or an object whose text has its address, fixed."""
        if isinstance(value, _ITERATED):
            return self._shown(value)
        kind: Any = type(value)
        has_address = all(getattr(kind, name) is getattr(object, name) for name in _OWN)
        what = f"text of an object of {kind.__qualname__}"
        if has_address and self._sightings.is_fixed("id", what):
            text = f"<{kind.__qualname__} object at {self._numbers.number(value):#x}>"
            return _Shown(lambda: text)
        return value

    def _shown(self, value: Any) -> Any:
        """A value to be shown, or saved; a set at a fixed place in the order of content."""
        ordered = self._ordered(value)
        if ordered is None:
            return value
        text = lambda: f"{{{', '.join(map(repr, ordered))}}}"  # noqa: E731  # by what asks for it
        return _Shown(text, type(value), (ordered,))

    def _ordered(self, value: Any, kind: str = "set-order") -> list[Any] | None:
        """The elements of a set in the order that it is to have here; None for its own, and for
        what is no set, or has the same order in every process.
        """
        if not isinstance(value, _ITERATED) or type(value).__iter__ not in _ORDERS:
            return None
        if not varies(value):
            return None
        example = type(next(iter(value))).__name__
        what = f"{type(value).__name__} of {len(value)} ({example})"
        order = "up" if self._sightings.is_fixed(kind, what) else self._sets
        if not order:
            return None
        stable = [element for element in value if is_stable(element)]
        others = sorted_by_content(element for element in value if not is_stable(element))
        return stable + others if order == "up" else others[::-1] + stable

    def _pop(self, value: Any) -> Any:
        ordered = self._ordered(value, "set-pop") if hasattr(value, "remove") else None
        if ordered is None:
            return value.pop()
        value.remove(ordered[0])
        return ordered[0]

    def _call(self, name: str, function: Any) -> Any:
        """A function to be called that may iterate over an argument, or read the clock."""
        if name in _NOW:
            holder = getattr(function, "__self__", None)
            if isinstance(holder, type) and issubclass(holder, datetime.date):
                return partial(self._now, function, holder)
            return function
        if getattr(function, "__module__", None) in self._modules:
            return function  # its own loops are watched
        shown = self._shown if name in _SHOWN else self._order
        take = self._text if name in _TEXTS else shown
        return partial(_taking, take, function, name in _KEYED)

    def _now(self, function: Any, kind: Any, *args: Any, **kwargs: Any) -> Any:
        seconds = self._fixed_time(f"datetime.{kind.__name__}.{function.__name__}")
        if seconds is None:
            return function(*args, **kwargs)
        return kind.fromtimestamp(seconds, *args, **kwargs)

    def _id(self, value: object) -> int:
        return self._numbers.number(value) if self._sightings.is_fixed("id", "id()") else id(value)

    def _hash(self, value: object) -> int:
        if not is_stable(value) and self._sightings.is_fixed("hash", "hash()"):
            return self._numbers.hash(value)
        return hash(value)


def _taking(
    take: Callable[[Any], Any], function: Any, keyed: bool, *args: Any, **kwargs: Any
) -> Any:
    if not keyed or "key" in kwargs:
        args = tuple(map(take, args))
    return function(*args, **kwargs)


class _Shown:
    """Is shown as a text; pickled as a set of a kind whose elements are in a given order."""

    def __init__(self, text: Callable[[], str], *reduced: Any) -> None:
        self._text, self._reduced = text, reduced

    def __repr__(self) -> str:
        return self._text()

    def __reduce__(self) -> tuple[Any, ...]:
        return self._reduced


class _Numbers:
    """Numbers of objects in the order in which they were asked for, in place of addresses."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, Callable[[], object]]] = {}
        self._count = 0

    def number(self, value: object) -> int:
        known = self._known.get(id(value))
        if known is not None and known[1]() is value:
            return known[0]
        self._count += 1
        try:
            alive: Callable[[], object] = ref(value)
        except TypeError:
            alive = lambda: value  # noqa: E731  # kept, so that nothing else gets its address
        self._known[id(value)] = 64 * self._count, alive
        return 64 * self._count

    def hash(self, value: object) -> int:
        """A hash that does not depend on the process."""
        if type(value).__hash__ is object.__hash__:
            return self.number(value)
        return digest_of([content(value, 1)]) >> 3


def _helper(name: str, node: ast.expr, *more: ast.expr) -> ast.Call:
    """A call of a function of the module with a node, at the place of the node."""
    function = ast.Name(f"__goldrush_{name}__", ast.Load())
    return ast.copy_location(ast.Call(function, [*more, node], []), node)


class _Transformer(IterationRewriter):
    """Passes what is iterated over through the functions of a module."""

    def passed(self, node: ast.expr) -> ast.expr:
        return node if isinstance(node, ast.Tuple) else _helper("order", node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:  # noqa: N802  # so ast calls it
        self.generic_visit(node)
        node.value = _helper("text", node.value)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:  # noqa: N802
        decorators = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
        names = {getattr(d, "attr", getattr(d, "id", "")) for d in decorators}
        return node if names & _COMPILING else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        function = node.func
        name = getattr(function, "attr", getattr(function, "id", ""))
        if name == "pop" and isinstance(function, ast.Attribute) and not node.args + node.keywords:
            called = _helper("pop", function.value)
            node.func, node.args = called.func, called.args
        elif name in _CONSUMERS or name in _NOW:
            node.func = _helper("call", function, ast.Constant(name))
        else:
            return node
        # A call is at the line of its name, which may be below that of its object.
        node.lineno = function.end_lineno or node.lineno
        node.col_offset = function.end_col_offset or 0
        return node
