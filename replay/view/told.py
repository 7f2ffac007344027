"""The sentences of events in the page of a run: made here, shown there."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, Final

from goldrush.kernel import fold
from goldrush.kernel.journal import Commit
from goldrush.kernel.world import Block, Event, World
from goldrush.replay.sentences import EventSentences, value_of

# Forms that a page's script knows; what has another one is in the page as text.
FORMS_OF_PAGES: Final = ("agent", "agents", "plain", "plot", "quoted", "value")


class Told:
    """The sentences of a page's events.

    A template is a list of texts and of holes, `[field of the event or index of a value, form]`;
    each is in the page once. By unit there is an entry for each event that has one of the names,
    in order: the index of its template, or a list of that and the values.
    """

    def __init__(
        self, world: World[Any], sentences: EventSentences, names: Collection[str]
    ) -> None:
        self._world = world
        self._sentences = sentences
        self._codes = {code for code, type in enumerate(world.events) if type.name in names}
        self._names = sorted(names)
        self._known: dict[str, int] = {}
        self._units: list[list[object]] = []
        self._lines: list[object] = []

    def add(self, commit: Commit) -> None:
        """Note the sentences of a commit's events."""
        for block in commit.blocks:
            told = Block([batch for batch in block if batch[0] in self._codes])
            events = fold.block_events(self._world, commit.unit, told)
            self._lines += map(self._line, events)

    def close(self, is_shown: bool) -> None:
        """End the unit."""
        if is_shown:
            self._units.append(self._lines)
        self._lines = []

    def as_dict(self) -> dict[str, Sequence[object]]:
        """The names of the events, the templates and the sentences by unit."""
        templates = [json.loads(template) for template in self._known]
        return {"names": self._names, "templates": templates, "units": self._units}

    def _line(self, event: Event) -> object:
        parts, fillings = self._sentences.of(event)
        template: list[object] = []
        values: list[object] = []
        for part in parts:
            if isinstance(part, str) or (part[1] in FORMS_OF_PAGES and isinstance(part[0], str)):
                template.append(part)
                continue
            source, form = part
            value = value_of(source, event, fillings)
            if form not in FORMS_OF_PAGES:
                value, form = self._sentences.text(value, form), "plain"
            template.append([len(values), form])
            values.append(value)
        index = self._known.setdefault(json.dumps(template), len(self._known))
        return [index, *values] if values else index
