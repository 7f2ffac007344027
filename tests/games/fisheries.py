"""The fishery with one change of its source, and runs of it."""

from pathlib import Path

import goldrush
from goldrush import policy
from goldrush.agents.targets import resolve
from goldrush.games import fishery

SOURCE = Path(fishery.__file__).read_text()


def changed(path, *changes):
    """The fishery with changes of its source: an old text, a new one in its place, and so on."""
    text = SOURCE
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in text, old
        text = text.replace(old, new, 1)
    path = path / "fishery.py"
    path.write_text(text)
    return resolve(str(path)).value


def recorded(game, path, roster=None, **settings):
    """Record a run of a game."""
    return goldrush.record(game, path, roster=roster, force=True, **settings)


class Unplayable(fishery.Fishery):
    """A game that cannot be played: no roster can name such a setting."""

    @policy
    def listed(self, seen, agent, draw, items=[1, 2]):  # noqa: B006
        return self.Asked(items[0])
