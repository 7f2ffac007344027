"""The words of a season are explained once, for its page and for the glossary."""

import re
from pathlib import Path

import goldrush.kernel
from goldrush.replay.worlds.competition.glossary import OTHER_FORMS, WORDS, forms_of

GLOSSARY = Path(goldrush.kernel.__file__).parent / "GLOSSARY.md"
ROW = re.compile(r"^\| (.+?) \| (.+) \|$", re.MULTILINE)
MEANING_MAX = 130  # characters that can be read under a word


def test_the_glossary_has_the_words_of_seasons_with_their_meanings() -> None:
    general, _, of_seasons = GLOSSARY.read_text().partition("## Of seasons")
    heads = [("word", "meaning"), ("---", "---")]
    rows = ROW.findall(of_seasons)

    assert [*heads, *WORDS.items()] == rows
    assert all(WORDS.get(word, meaning) == meaning for word, meaning in ROW.findall(general)[2:])


def test_words_are_in_order_and_no_form_has_two_meanings() -> None:
    forms = [form for word in WORDS for form in forms_of(word)]

    assert sorted(WORDS) == list(WORDS)
    assert len(set(forms)) == len(forms)
    assert set(OTHER_FORMS) <= set(WORDS)
    assert all(len(meaning) <= MEANING_MAX for meaning in WORDS.values())
