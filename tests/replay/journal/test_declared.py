"""The text of a roster: short however many agents there are, and the same for the same roster."""

from goldrush.agents.worlds.mining.roster import PROMPT
from goldrush.replay.journal.declared import PARTS_MAX, format_roster
from tests.mining import prepare


def text_of(roster: str | None, agents: int) -> str | None:
    _, found = prepare({"agents": agents}, roster)
    return format_roster(found.as_setup(), PROMPT)


def test_a_long_roster_that_repeats_is_the_list_that_gives_it_again() -> None:
    text = text_of(None, 997)

    assert text == text_of(text, 997)
    assert 10 == len(str(text).split(","))


def test_of_any_other_long_roster_the_first_parts_are_told_and_how_many_follow() -> None:
    names = ["raid" if n * n % 7 == 4 or n == 993 else "mine" for n in range(1000)]
    one, other = text_of(",".join(names), 1000), text_of(",".join([*names[:-1], "claim"]), 1000)

    assert PARTS_MAX + 1 == len(str(one).split(","))
    assert " more " in str(one)
    assert one != other


def test_what_is_no_roster_has_no_text() -> None:
    assert format_roster([1], None) is None
    assert format_roster([], None) is None
