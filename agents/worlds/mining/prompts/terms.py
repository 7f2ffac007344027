"""How one wording says things on one map: messages, names, and lists with limits in bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

from goldrush.agents.llm.messages import Messages
from goldrush.agents.llm.parts import limited
from goldrush.agents.llm.wordings import ID, Names
from goldrush.kernel.worlds.mining.events import KINDS

AGENTS_MAX: Final = 200  # bytes of the agents of one event
LIST: Final = ", "  # between items that are short
ITEMS: Final = "; "  # between others

T = TypeVar("T")


class Terms:
    """The messages and names of one variant of a wording, on a map with `cols` columns."""

    def __init__(self, messages: Messages, names: Names, cols: int) -> None:
        self.names, self.cols = names, cols
        self._formats = messages.formats
        self._kinds: dict[str, object] = {kind: names.kind(kind) for kind in KINDS}
        self._by_row = names.plots != ID

    def __call__(self, id: str, **fields: object) -> str:
        """A message."""
        return self._formats[id].format_map(self._kinds | fields)

    def agent(self, agent: int | None) -> str:
        """The name of an agent; None: nobody."""
        return self("nobody") if agent is None else self.names.agent(agent)

    def agents(self, agents: Iterable[int]) -> str:
        """The names of agents."""
        return self.limited(agents, AGENTS_MAX, text=self.names.agent)

    def plot(self, plot: int) -> str:
        """The name of a plot."""
        return "{},{}".format(*divmod(plot, self.cols)) if self._by_row else str(plot)

    def plots(self, plots: Sequence[int], most: int) -> str:
        """The names of plots, which ascend, in at most `most` bytes."""
        return self.limited(self.spans(plots), most)

    def limited(
        self,
        items: Iterable[T],
        most: int,
        between: str = LIST,
        text: Callable[[T], str] = str,
        more: str = "more",
    ) -> str:
        """See wording.limited. `more`: the message for the number of items left out."""
        return limited(items, most, between, lambda number: self(more, number=number), text)

    def spans(self, plots: Sequence[int]) -> Iterator[str]:
        """Plots with consecutive ids as a span, as in 3, 5-9; a span stays in its row where plots
        are called by rows.
        """
        start = None
        for index, plot in enumerate(plots):
            if start is None:
                start = plot
            ends_row = self._by_row and (plot + 1) % self.cols == 0
            if ends_row or index + 1 == len(plots) or plots[index + 1] != plot + 1:
                first, last = self.plot(start), self.plot(plot)
                yield first if start == plot else f"{first}-{last}"
                start = None


def number(value: float) -> str:
    """At most eight significant digits, which hide the rounding errors of sums."""
    is_whole = value == int(value) or value >= 1e8
    return str(round(value)) if is_whole and value < 1e20 else f"{value:.8g}"
