"""The fishery with one change of its source, and runs of it."""

from pathlib import Path

import goldrush
from goldrush import policy
from goldrush.agents.game.source import load_game
from goldrush.games import fishery

SOURCE = Path(fishery.__file__).read_text()


def changed(path, old, new):
    """The fishery with `new` in place of `old` in its source."""
    assert SOURCE.count(old) >= 1, old
    path = path / "fishery.py"
    path.write_text(SOURCE.replace(old, new, 1))
    return load_game(str(path))


def recorded(game, path, roster=None, **settings):
    """Record a run of a game."""
    return goldrush.record(game, path, roster=roster, force=True, **settings)


class Unplayable(fishery.Fishery):
    """A game that cannot be played: no roster can name such a setting."""

    @policy
    def listed(self, seen, agent, draw, items=[1, 2]):  # noqa: B006
        return self.Asked(items[0])
