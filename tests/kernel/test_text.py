"""Names in which a character cannot be seen are refused where they are given, and shown escaped."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from goldrush.agents.llm.models import Models, read_models
from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.mining.roster import POLICY_SET
from goldrush.kernel.errors import BadInput
from goldrush.kernel.text import check_name, escaped, format_count, is_visible, quoted
from goldrush.replay.report.numbers import TOGETHER
from goldrush.replay.report.numbers import printable as on_a_page
from goldrush.replay.study.plan import read_plan

UNSEEN = [
    "\u200b", "\u200d", "\u202e", "\u2060", "\U000e0041", "\x1b", "\x9b", "\u2028", "\u00a0",
    "\ud800", "\u3164", "\u115f", "\u2800", "\u034f", "\u17b4", "\u180b", "\ufe0f", "\U0001d159",
]  # fmt: skip
NAMED = pytest.mark.parametrize("unseen", UNSEEN, ids=lambda c: f"{ord(c):04X}")
FEW = pytest.mark.parametrize("unseen", ["\u200b", "\u202e", "\u3164"], ids=ascii)


@NAMED
def test_what_cannot_be_seen_is_escaped_wherever_text_is_shown(unseen: str) -> None:
    text = f"a{unseen}b"
    expected = f"a{unseen.encode('unicode_escape', 'backslashreplace').decode()}b"

    assert not is_visible(text)
    assert expected == escaped(text) == escaped(text)
    assert (text if unseen == TOGETHER else expected) == on_a_page(text)
    with pytest.raises(BadInput, match=rf"has a character that .* \(U\+{ord(unseen):04X}\)"):
        check_name("policy", text)


def test_what_can_be_seen_stays_as_it_is() -> None:
    text = "greedy-mine ü é 金 한국 नमस्ते ไทย 🪙 ⌈÷⌉ \"'\\"

    check_name("policy", text)
    assert text == escaped(text) == escaped(text)


def test_no_format_character_of_unicode_is_taken_for_one_that_can_be_seen() -> None:
    formats = [chr(n) for n in range(0x110000) if unicodedata.category(chr(n)) == "Cf"]

    assert len(formats) > 100
    assert [] == [c for c in formats if is_visible(c)]


@FEW
def test_no_roster_cast_model_or_plan_takes_it(unseen: str, tmp_path: Path) -> None:
    plan, models = tmp_path / "plan.toml", tmp_path / "models.toml"
    plan.write_text(f'treatments = ["baseline"]\n[roster]\n"a{unseen}" = "raid"', "utf-8")
    models.write_text(f'["a{unseen}"]', "utf-8")
    for act in (
        lambda: POLICY_SET.parse(f"greedy-mine, rai{unseen}d*2"),
        lambda: cast_of(2, [f"judge=mod:Cl{unseen}ass"]),
        lambda: Models().named(f"a{unseen}"),
        lambda: read_models(models),
        lambda: read_plan(plan).runs(),
    ):
        with pytest.raises(BadInput):
            act()


def test_one_thing_is_told_in_the_singular() -> None:
    assert ["0 rounds", "1 round", "2 rounds"] == [format_count(n, "round") for n in range(3)]


def test_a_name_with_a_quote_and_what_cannot_be_seen_is_one_word_of_a_shell() -> None:
    assert r"$'it\'s\x1b'" == quoted("it's\x1b")
