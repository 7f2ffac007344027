"""Keyed draws: pinned by value, redone by hand, unbiased at the limit, and the words they take."""

from collections.abc import Callable, Iterator

import msgpack
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from goldrush.kernel import draws
from goldrush.kernel.draws import Draws

KEYS = st.tuples(
    st.integers(0, 2**53 - 1),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.sampled_from(["claim", "raid", "authority", "policy"]),
)
CLAIM = (0, 1, 17, "claim")
RULING = (7, 200, 99, "authority")
POLICY = (2**53 - 1, 3, 0, "policy")

Forge = Callable[..., None]


@pytest.fixture
def forge(monkeypatch: pytest.MonkeyPatch) -> Forge:
    """Makes word i of every key the i-th of the words given."""

    def forge(*words: int) -> None:
        monkeypatch.setattr(draws, "xxh3_64_intdigest", lambda key, seed: words[seed])

    return forge


def words_by_hand(key: tuple[int | str, ...]) -> Iterator[int]:
    """The words of a key, with two libraries and nothing else."""
    packed = msgpack.packb(list(key))
    return (xxhash.xxh3_64_intdigest(packed, seed=i) for i in range(2**64))


def below_by_hand(words: Iterator[int], n: int) -> int:
    """The rule as it is written down: the first word under the limit, modulo n."""
    limit = 2**64 - 2**64 % n
    return next(word for word in words if word < limit) % n


def shuffle_by_hand(words: Iterator[int], items: list[int]) -> list[int]:
    for j in range(len(items) - 1, 0, -1):
        index = below_by_hand(words, j + 1)
        items[j], items[index] = items[index], items[j]
    return items


class Places(dict[int, int]):
    """What stands at each place; at first, its number."""

    def __missing__(self, place: int) -> int:
        return place


def sample_by_hand(words: Iterator[int], n: int, size: int) -> list[int]:
    items = Places()
    for i in range(min(size, n)):
        place = i + below_by_hand(words, n - i)
        items[i], items[place] = items[place], items[i]
    return [items[i] for i in range(min(size, n))]


# Pinned by value: a change here is a change of the rules.


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (CLAIM, [0x2C4C975BB053C00D, 0x2B5FE164A2026FCA, 0x2F6BE9E6ACF8A32E]),
        ((0, 1, 17, "raid"), [0xDC00B933D9D9BBC0, 0xE27E2D61035A065B, 0xCD3EF58509C83236]),
        (RULING, [0xFBDA5618E19171E3, 0x07E6A9A1FD0FF543, 0xE6009CBCB8129732]),
        (POLICY, [0x08815E7EC8C79DF3, 0xBAA52978ABD3F23C, 0xA08794591D1923BC]),
    ],
)
def test_the_first_words_of_a_key_never_change(
    key: tuple[int | str, ...], words: list[int]
) -> None:
    drawn = Draws(*key)

    assert [drawn.word() for _ in words] == words


def test_the_key_is_the_packed_list_of_its_parts() -> None:
    assert Draws(*RULING).key == bytes.fromhex("94 07 cc c8 63 a9") + b"authority"


@pytest.mark.parametrize(
    ("key", "indices"),
    [(CLAIM, [0, 1, 1, 1, 821]), (RULING, [0, 1, 2, 9, 259]), (POLICY, [0, 1, 1, 1, 651])],
)
def test_the_first_indices_of_a_key_never_change(
    key: tuple[int | str, ...], indices: list[int]
) -> None:
    drawn = [Draws(*key).below(n) for n in (1, 2, 3, 10, 1000)]

    assert drawn == indices


@pytest.mark.parametrize(
    ("key", "order"),
    [
        (CLAIM, [7, 3, 1, 2, 0, 6, 4, 5]),
        (RULING, [6, 5, 7, 4, 0, 2, 1, 3]),
        (POLICY, [4, 0, 7, 6, 1, 2, 5, 3]),
    ],
)
def test_the_first_shuffle_of_a_key_never_changes(
    key: tuple[int | str, ...], order: list[int]
) -> None:
    assert Draws(*key).shuffled(range(8)) == order


@pytest.mark.parametrize(
    ("key", "picks", "taken"),
    [(CLAIM, [5, 0, 6], 3), (RULING, [3, 2, 4], 3), (POLICY, [3, 6, 4], 3)],
)
def test_the_first_sample_of_a_key_never_changes(
    key: tuple[int | str, ...], picks: list[int], taken: int
) -> None:
    drawn = Draws(*key)

    assert (picks, taken) == (drawn.sample(8, 3), drawn.taken)


@pytest.mark.parametrize(("key", "first"), [(CLAIM, True), (RULING, False), (POLICY, True)])
def test_the_first_chances_of_a_key_never_change(key: tuple[int | str, ...], first: bool) -> None:
    assert Draws(*key).chance(0.5) is first


# Redone by hand.


@given(KEYS)
def test_words_are_what_two_libraries_give(key: tuple[int | str, ...]) -> None:
    drawn, words = Draws(*key), words_by_hand(key)

    assert [drawn.word() for _ in range(5)] == [next(words) for _ in range(5)]


@given(KEYS, st.lists(st.integers(1, 2**64), min_size=1, max_size=5))
def test_indices_are_those_of_the_rule(key: tuple[int | str, ...], sizes: list[int]) -> None:
    drawn, words = Draws(*key), words_by_hand(key)

    assert [drawn.below(n) for n in sizes] == [below_by_hand(words, n) for n in sizes]


@given(KEYS, st.integers(0, 40), st.integers(0, 3))
def test_a_shuffle_is_that_of_the_rule_wherever_it_starts(
    key: tuple[int | str, ...], size: int, before: int
) -> None:
    drawn, words = Draws(*key), words_by_hand(key)
    for _ in range(before):
        assert drawn.word() == next(words)

    assert drawn.shuffled(range(size)) == shuffle_by_hand(words, list(range(size)))
    assert drawn.word() == next(words)


# Of a number beyond 2^63 up to half of the words are rejected.
@given(KEYS, st.integers(0, 40) | st.integers(2**63, 2**64), st.integers(0, 50))
def test_a_sample_is_that_of_the_rule_and_takes_no_word_more(
    key: tuple[int | str, ...], n: int, size: int
) -> None:
    drawn, words = Draws(*key), words_by_hand(key)

    assert drawn.word() == next(words)
    assert drawn.sample(n, size) == sample_by_hand(words, n, size)
    assert drawn.word() == next(words)


@pytest.mark.parametrize(("n", "size"), [(-1, 1), (2**64 + 1, 1), (3, -1)])
def test_a_sample_of_what_cannot_be_counted_is_refused(n: int, size: int) -> None:
    with pytest.raises(ValueError, match="from 0 to 2"):
        Draws(*CLAIM).sample(n, size)


@pytest.mark.parametrize(("n", "size"), [(10.5, 2), (5.0, 2), (5, 2.0), ("5", 2)])
def test_a_sample_takes_integers_alone(n: int, size: int) -> None:
    with pytest.raises(TypeError):
        Draws(*CLAIM).sample(n, size)


def test_a_sample_of_few_among_very_many_lists_none_of_them() -> None:
    picked = Draws(*CLAIM).sample(2**63, 3)

    assert 3 == len(set(picked))
    assert all(0 <= index < 2**63 for index in picked)


@given(KEYS, st.lists(st.integers(), max_size=20))
def test_a_shuffle_keeps_all_items_and_leaves_those_given_alone(
    key: tuple[int | str, ...], items: list[int]
) -> None:
    given_items = items.copy()

    assert sorted(Draws(*key).shuffled(items)) == sorted(items)
    assert items == given_items


def test_keys_that_differ_in_one_part_give_different_words() -> None:
    keys = [
        CLAIM,
        (1, 1, 17, "claim"),
        (0, 2, 17, "claim"),
        (0, 1, 18, "claim"),
        (0, 1, 17, "raid"),
    ]

    assert len({Draws(*key).word() for key in keys}) == len(keys)


# Unbiased: words at and above the largest multiple of n are passed over.

MINUS_ONE = (
    274_177  # the least n > 1 of which 2^64 + 1 is a multiple: an off-by-one shows here only
)


@pytest.mark.parametrize("n", [3, 7, 10, 1000, MINUS_ONE, 2**63 + 1, 2**64 - 1])
def test_the_last_word_under_the_limit_is_taken(forge: Forge, n: int) -> None:
    limit = 2**64 - 2**64 % n
    forge(limit - 1, 0)
    drawn = Draws("key")

    assert drawn.below(n) == n - 1
    assert drawn.taken == 1


@pytest.mark.parametrize("n", [3, 7, 10, 1000, MINUS_ONE, 2**63 + 1, 2**64 - 1])
def test_the_first_word_at_the_limit_is_passed_over(forge: Forge, n: int) -> None:
    limit = 2**64 - 2**64 % n
    forge(limit, 2**64 - 1, limit, 5 * n % limit + 1)
    drawn = Draws("key")

    assert drawn.below(n) == 1
    assert drawn.taken == 4


@pytest.mark.parametrize("n", [1, 2, 4, 2**32, 2**63, 2**64])
def test_no_word_is_passed_over_for_a_power_of_two(forge: Forge, n: int) -> None:
    forge(2**64 - 1)

    assert Draws("key").below(n) == n - 1


@pytest.mark.parametrize("excess", [0, 1, 5])
def test_a_shuffle_passes_over_words_at_the_limit(forge: Forge, excess: int) -> None:
    limits = {n: 2**64 - 2**64 % n for n in (7, 6, 5, 3)}
    rejected = {n: min(limit + excess, 2**64 - 1) for n, limit in limits.items()}
    forge(
        rejected[7], 0,               # j = 6 takes 0 at the second try
        rejected[6], rejected[6], 5,  # j = 5 stays at the third
        limits[5] - 1,                # j = 4 stays: the last word under the limit
        2**64 - 1,                    # j = 3 stays: 4 divides 2^64, no word is passed over
        rejected[3], 1,               # j = 2 takes 1
        1,                            # j = 1 stays
    )  # fmt: skip
    drawn = Draws("key")

    assert drawn.shuffled("abcdefg") == ["g", "c", "b", "d", "e", "f", "a"]
    assert drawn.taken == 10


def test_a_large_shuffle_passes_over_the_first_word_at_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limit = 2**64 - 2**64 % MINUS_ONE
    monkeypatch.setattr(draws, "xxh3_64_intdigest", lambda key, seed: 0 if seed else limit)
    drawn = Draws("key")
    drawn.shuffled(range(MINUS_ONE))

    assert drawn.taken == MINUS_ONE


@given(st.data())
def test_a_shuffle_takes_the_words_that_below_would(data: st.DataObject) -> None:
    size = data.draw(st.integers(0, 12))
    near_limit = st.sampled_from([0, 1, 2**63, *range(2**64 - 16, 2**64)])
    words = data.draw(st.lists(near_limit, min_size=40, max_size=40)) + [0] * size
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draws, "xxh3_64_intdigest", lambda key, seed: words[seed])
        shuffling, drawing = Draws("key"), Draws("key")
        items = list(range(size))
        for j in range(size - 1, 0, -1):
            index = drawing.below(j + 1)
            items[j], items[index] = items[index], items[j]

        assert shuffling.shuffled(range(size)) == items
        assert shuffling.taken == drawing.taken


# How many words are taken, and which.


def test_an_index_below_one_takes_a_word() -> None:
    drawn = Draws(*CLAIM)

    assert drawn.below(1) == 0
    assert drawn.taken == 1


@pytest.mark.parametrize("n", [0, -1, 2**64 + 1])
def test_an_index_among_none_or_more_than_a_word_can_tell_apart_is_refused(n: int) -> None:
    drawn = Draws(*CLAIM)

    with pytest.raises(ValueError, match="1 to 2"):
        drawn.below(n)
    assert drawn.taken == 0


@pytest.mark.parametrize("items", [[], ["only"]])
def test_a_shuffle_of_none_or_one_takes_no_word(items: list[str]) -> None:
    drawn = Draws(*CLAIM)

    assert drawn.shuffled(items) == items
    assert drawn.taken == 0


def test_chances_of_zero_and_one_are_sure_and_take_a_word(forge: Forge) -> None:
    forge(0, 2**64 - 1)
    drawn = Draws("key")

    assert drawn.chance(0) is False
    assert drawn.chance(1) is True
    assert drawn.taken == 2


@pytest.mark.parametrize(
    ("probability", "threshold"),
    [
        (0.5, 2**63),
        (0.25, 2**62),
        (2**-64, 1),
        (1 - 2**-53, 2**64 - 2**11),
        (0.1, 0x1999999999999A00),
    ],
)
def test_a_chance_is_true_for_words_under_its_threshold_alone(
    forge: Forge, probability: float, threshold: int
) -> None:
    forge(threshold - 1, threshold)
    drawn = Draws("key")

    assert drawn.chance(probability) is True
    assert drawn.chance(probability) is False


def test_a_probability_too_small_for_a_word_never_comes_true(forge: Forge) -> None:
    forge(0)

    assert Draws("key").chance(2**-65) is False


def test_the_words_given_are_those_taken_in_order() -> None:
    drawn = Draws(*RULING)
    drawn.below(3)
    drawn.chance(0.3)
    drawn.shuffled(range(4))
    by_hand = words_by_hand(RULING)

    assert drawn.words() == tuple(next(by_hand) for _ in range(drawn.taken))
    assert drawn.taken == 5


def test_words_that_were_passed_over_are_among_those_given(forge: Forge) -> None:
    forge(2**64 - 1, 4)
    drawn = Draws("key")
    drawn.below(3)

    assert drawn.words() == (2**64 - 1, 4)


def test_no_word_is_given_before_one_is_taken() -> None:
    assert Draws(*CLAIM).words() == ()
