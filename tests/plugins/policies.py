"""Mining policies of another distribution."""

from typing import Any


class Idle:
    """Does nothing."""

    def plan(self, seen: Any, draws: Any) -> list[Any]:
        return []


NONE = None
