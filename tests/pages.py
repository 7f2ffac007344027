"""What a page of a run says of events, and what the journal says of them."""

import gzip
import json
import re
from base64 import b64decode
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from goldrush.kernel.text import escaped
from goldrush.kernel.world import RecordedEvent
from goldrush.replay.journal import story
from goldrush.replay.journal.log import Query, log
from goldrush.replay.sentences import EventSentences, value_of
from tests.browser import Tab

HOLDS = "✓ The journal in this page has it."


def data_of(page: str) -> dict[str, Any]:
    """What the script of a page draws."""
    return dict(json.loads(unpacked(page, "page")))


def unpacked(page: str, name: str) -> bytes:
    """The bytes of an element of a page."""
    [text] = re.findall(rf'id="{name}">([^<]*)<', page)
    return gzip.decompress(b64decode(text))


def written(value: Any) -> str:
    if isinstance(value, str):
        return "\n".join(map(escaped, value.split("\n")))
    return json.dumps(whole(value), separators=(",", ":"), ensure_ascii=False)


def whole(value: Any) -> Any:
    if isinstance(value, list):
        return [whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


SENTENCES = """nodes => nodes.map(node => {
    const copy = node.cloneNode(true);
    copy.querySelectorAll("[aria-hidden]").forEach(glyph => glyph.remove());
    return copy.textContent;
})"""


_OPEN = "parts => parts.forEach(part => { part.open = true; })"


def shown_sentences(tab: Tab) -> list[str]:
    """The sentences of events that a page shows, in folded parts too."""
    details = tab.page.locator("main details:not([open])")
    while details.count():
        details.evaluate_all(_OPEN)
        tab.page.wait_for_timeout(50)  # a part is filled when it was opened
    texts = tab.page.locator("main .sentence").evaluate_all(SENTENCES)
    return sorted(" ".join(text.split()) for text in texts)


def sentences_of(journal: Path, unit: int, names: Collection[str]) -> list[tuple[str, str]]:
    """The events of these names in a unit: their names and the sentences that Python makes of them,
    with texts of agents as a page shows them: between quotation marks, and not as JSON.
    """
    sentences = story.sentences_of(journal)
    found = []
    for event in log(journal, Query(unit, unit)):
        if event.name in names:
            parts, values = sentences.of(event)
            texts = [
                part if isinstance(part, str) else _shown(sentences, part, event, values)
                for part in parts
            ]
            found.append((event.name, " ".join("".join(texts).split())))
    return found


def _shown(
    sentences: EventSentences,
    part: tuple[str | int, str],
    event: RecordedEvent,
    values: Sequence[object],
) -> str:
    source, form = part
    value = value_of(source, event, values)
    if form != "quoted" or not isinstance(value, str):
        return sentences.text(value, form)
    return f"“{written(value)}”"
