"""The page of a season: its transcript is what the journal has, and what the rules say of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.story import names_of
from goldrush.replay.run import Run
from tests.browser import PHONE, Tab
from tests.golden import season_path
from tests.pages import HOLDS, sentences_of, shown_sentences

EVERY = season_path("every-event")
LEFT_OUT = (
    "season_started", "season_ended", "assignment_closed", "forked", "leaderboard_posted", "rated",
    "scored",  # a table has them
)  # fmt: skip


@pytest.mark.parametrize("name", ["every-code", "language-model"])
def test_each_event_of_an_assignment_is_shown_in_its_sentence(
    name: str, tab: Tab, paged: Callable[..., Path]
) -> None:
    journal = season_path(name)
    unit = min(1, Run(journal).last().round)
    tab.open(paged(journal), f"#assignment={unit}")
    told = {event.name for event in log(journal, Query(unit, unit))} - set(LEFT_OUT)
    expected = {line for _, line in sentences_of(journal, unit, told)}

    assert HOLDS == tab.seal()
    assert expected <= set(shown_sentences(tab))


def test_cards_are_the_contributions_and_lead_to_one_another(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    spoken = [e for e in log(EVERY, Query(5, 5)) if e.name == "spoke" and e["table"] == 0]
    tab.open(paged(EVERY), "#assignment=5")
    cards = tab.page.locator("[aria-label='Table 0'] .card")
    referring = next(event for event in spoken if event["target"] is not None)
    name = names_of(EVERY)[referring["agent"]]

    assert [str(event["id"]) for event in spoken] == [
        card.get_attribute("data-line") for card in cards.all()
    ]
    card = tab.page.locator(f"[aria-label='Table 0'] .card[data-line='{referring['id']}']")
    assert card.inner_text().startswith(f"#{referring['id']} {name} {referring['move']}s ")
    card.get_by_role("link", name=f"#{referring['target']}").first.click()
    assert f"line=0.{referring['target']}" in tab.moment
    chosen = tab.page.locator(".card[aria-current]")
    assert str(referring["target"]) == chosen.get_attribute("data-line")


@pytest.mark.turns("pages for everybody")
def test_everybody_can_follow_a_season(
    new_tab: Callable[..., Tab], paged: Callable[..., Path]
) -> None:
    tab = new_tab("dark", PHONE).open(paged(EVERY), "#assignment=5&agent=ada")

    assert [] == tab.violations()
    assert 0 >= tab.page.evaluate("document.documentElement.scrollWidth - innerWidth")
