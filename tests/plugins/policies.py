"""Mining policies of another distribution."""

from typing import Any


class Idle:
    """Does nothing."""

    def plan(self, seen: Any, draws: Any) -> list[Any]:
        return []


class Rude:
    """Answers with something that is no plan."""

    def plan(self, seen: Any, draws: Any) -> int:
        return 7


NONE = None
