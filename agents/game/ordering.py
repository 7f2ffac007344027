"""Sets that a game goes through in an order that differs between processes: found by their line.

Python tells nobody that a set is iterated. So within `ordering` the functions of a game's file run
code that was made of its rewritten source, in which what a `for`, a star or a call such as
`list(...)` goes through passes `ordered`. A recording runs them as they were written, and ends by
deriving the run within `ordering`, in another process (replay/journal/elsewhere.py).
"""

from __future__ import annotations

import ast
import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from threading import RLock
from types import CodeType, FunctionType
from typing import Any, Final, TypeVar

from goldrush.agents.iteration import IterationRewriter
from goldrush.kernel.game.game import Game, source_when_made
from goldrush.kernel.game.watch import check_ordered, varies

T = TypeVar("T")

# The names of `ordered` and `untied` in a module whose functions are replaced.
_ORDERED: Final = "__goldrush_ordered__"
_UNTIED: Final = "__goldrush_untied__"

# Built-in functions whose result depends on the order of what they go through, and others.
_GOING_THROUGH: Final = frozenset(
    ["list", "tuple", "enumerate", "zip", "map", "filter", "iter", "sum", "reversed", "dict"]
)
_BY_KEY: Final = frozenset(["sorted", "min", "max"])  # where their `key` has ties
_IN_ANY_ORDER: Final = frozenset(["sorted", "min", "max", "any", "all", "set", "frozenset"])


_TURN: Final = RLock()


@contextmanager
def ordering(game: type[Game]) -> Iterator[None]:
    """Within it, functions in the file of a game, and in those of the games that it inherits from,
    raise BadInput where they go through a set whose order differs between processes. A class that
    was typed in has no file, and is not looked at. Threads, which share functions, take turns.
    """
    replaced: list[tuple[FunctionType, CodeType]] = []
    with _TURN:
        try:
            for kind in game.__mro__:
                if issubclass(kind, Game) and kind is not Game:
                    replaced += _replaced(kind)
            yield
        finally:
            for function, code in replaced:
                function.__code__ = code


def _replaced(game: type[Game]) -> Iterator[tuple[FunctionType, CodeType]]:
    """Replace the code of each function in the module of a class, and yield it with what it had."""
    source = source_when_made(game)
    namespace = _namespace(game)
    path = namespace.get("__file__")
    if source is None or path is None:
        return
    codes: dict[CodeType, CodeType] = {}
    with suppress(SyntaxError, ValueError):  # the file of a module that another loader made
        tree = ast.parse(source, path)
        code = compile(tree, path, "exec", dont_inherit=True)
        tree = ast.fix_missing_locations(_Ordering(os.path.basename(path)).visit(tree))
        codes.update(_pairs(code, compile(tree, path, "exec", dont_inherit=True)))
    namespace.update({_ORDERED: ordered, _UNTIED: untied})
    # The functions of a module, and those alone, refer to its namespace.
    for function in gc.get_referrers(namespace):
        if isinstance(function, FunctionType) and function.__code__ in codes:
            yield function, function.__code__
            function.__code__ = codes[function.__code__]


def _namespace(game: type[Game]) -> dict[str, Any]:
    """The globals of a class, also if its module was imported anew since."""
    functions = (value for value in vars(game).values() if isinstance(value, FunctionType))
    function = next(functions, None)
    return vars(sys.modules[game.__module__]) if function is None else function.__globals__


def _pairs(code: CodeType, rewritten: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Each code object of a module, with that of the rewritten module."""
    inner, other = (
        [each for each in outer.co_consts if isinstance(each, CodeType)]
        for outer in (code, rewritten)
    )
    yield code, rewritten
    for pair in zip(inner, other, strict=True):  # calls that are added hold no code of their own
        yield from _pairs(*pair)


class _Ordering(IterationRewriter):
    """Puts `ordered` around what a source goes through where the order matters."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._in_any_order = set[ast.AST]()  # comprehensions whose order decides nothing

    def _visit_in_any_order(self, node: ast.SetComp | ast.GeneratorExp) -> ast.AST:
        """Let it go through sets, unless it draws: draws are recorded in order."""
        if not _draws(node):
            self._in_any_order.update(node.generators)
        return self.generic_visit(node)

    visit_SetComp = _visit_in_any_order  # noqa: N815  # so ast calls it

    def order_matters(self, node: ast.AST) -> bool:
        return node not in self._in_any_order

    def passed(self, node: ast.expr) -> ast.expr:
        """The expression, checked when it is evaluated, unless it is clearly no set."""
        if isinstance(
            node, (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.JoinedStr)
        ):
            return node
        call = ast.Call(ast.Name(_ORDERED, ast.Load()), [node, self._place(node)], [])
        return ast.copy_location(call, node)

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        function = node.func
        name = function.id if isinstance(function, ast.Name) else ""
        match node.args:
            case [ast.GeneratorExp() as items] if name in _IN_ANY_ORDER or (
                name == "sum" and isinstance(items.elt, (ast.Constant, ast.Compare))
            ):
                self._visit_in_any_order(items)
                node.keywords = [self.visit(keyword) for keyword in node.keywords]
                return node
        self.generic_visit(node)
        is_keyed = name in _BY_KEY and any(keyword.arg == "key" for keyword in node.keywords)
        if name in _GOING_THROUGH or (is_keyed and _draws(node)):
            self._pass_all(node)
        elif is_keyed:
            given = [function, self._place(node), *node.args]
            call = ast.Call(ast.Name(_UNTIED, ast.Load()), given, node.keywords)
            return ast.copy_location(call, node)
        elif isinstance(function, ast.Attribute) and function.attr in ("join", "extend", "pop"):
            if function.attr == "pop" and not node.args:
                function.value = self.passed(function.value)
            elif function.attr != "pop":
                self._pass_all(node)
        return node

    def _pass_all(self, node: ast.Call) -> None:
        node.args = [a if isinstance(a, ast.Starred) else self.passed(a) for a in node.args]

    def _place(self, node: ast.expr) -> ast.expr:
        return ast.Constant(f"{self._file}:{node.lineno}")


def _draws(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "draw" for part in ast.walk(node))


_SETS: Final = (set, frozenset)


def ordered(value: T, place: str) -> T:
    """The value. Raises BadInput for a set whose order differs between processes."""
    if isinstance(value, _SETS):  # before the text is made: every `+=` comes here
        check_ordered(value, f"{place} goes through")
    return value


def untied(function: Callable[..., T], place: str, *given: object, **named: object) -> T:
    """What `sorted`, `min` or `max` gives. Raises BadInput for a set whose order decides it: where
    two elements have one key.
    """
    if (
        len(given) == 1
        and function in (sorted, min, max)
        and isinstance(given[0], (set, frozenset))
        and varies(given[0])
    ):
        key: Any = named["key"]
        keys = sorted(map(key, given[0])) if key is not None else []
        if function is not sorted:
            keys = [key for key in keys if key == keys[0 if function is min else -1]]
        if any(a == b for a, b in pairwise(keys)):
            check_ordered(given[0], f"{place}: `{function.__name__}` finds a tie of keys in")
    return function(*given, **named)
