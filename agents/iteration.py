"""Python source in which what is iterated over is rewritten: loops, comprehensions, stars,
assignments to several names.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Final


def _takes_items(target: ast.expr) -> bool:
    """Whether an assignment iterates over its value."""
    if isinstance(target, ast.Subscript):
        return isinstance(target.slice, ast.Slice)
    return isinstance(target, (ast.Tuple, ast.List))


# By the kind of a node that iterates: the field that it iterates over, and whether it does.
_ITERATING: Final[Mapping[type, tuple[str, Callable[[Any], bool]]]] = {
    ast.For: ("iter", lambda node: True),
    ast.comprehension: ("iter", lambda node: not node.is_async),
    ast.Starred: ("value", lambda node: isinstance(node.ctx, ast.Load)),
    ast.YieldFrom: ("value", lambda node: True),
    ast.Assign: ("value", lambda node: any(map(_takes_items, node.targets))),
    # Of a list; sets have none.
    ast.AugAssign: ("value", lambda node: isinstance(node.op, ast.Add)),
}


class IterationRewriter(ast.NodeTransformer, ABC):
    """Rewrites the expressions that a source iterates over. Calls, which may iterate over their
    arguments, are left to subclasses.
    """

    @abstractmethod
    def passed(self, node: ast.expr) -> ast.expr:
        """What stands in the place of an expression that is iterated over."""

    def order_matters(self, node: ast.AST) -> bool:
        """Whether to rewrite what a node iterates over. By default always."""
        return True

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if type(node) in _ITERATING and self.order_matters(node):
            field, takes = _ITERATING[type(node)]
            if takes(node):
                setattr(node, field, self.passed(getattr(node, field)))
        return node
