"""Keyed draws: pinned by value, redone by hand, unbiased at the limit, and the words they take."""

from collections.abc import Callable, Iterator

import msgpack
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from goldrush.kernel import draws
from goldrush.kernel.draws import Draws

Key = tuple[int | str, ...]

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


def words_by_hand(key: Key) -> Iterator[int]:
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
    ("key", "words", "indices", "order", "picks", "chance"),
    [
        (CLAIM, [0x2C4C975BB053C00D, 0x2B5FE164A2026FCA, 0x2F6BE9E6ACF8A32E],
         [0, 1, 1, 1, 821], [7, 3, 1, 2, 0, 6, 4, 5], [5, 0, 6], True),
        (RULING, [0xFBDA5618E19171E3, 0x07E6A9A1FD0FF543, 0xE6009CBCB8129732],
         [0, 1, 2, 9, 259], [6, 5, 7, 4, 0, 2, 1, 3], [3, 2, 4], False),
        (POLICY, [0x08815E7EC8C79DF3, 0xBAA52978ABD3F23C, 0xA08794591D1923BC],
         [0, 1, 1, 1, 651], [4, 0, 7, 6, 1, 2, 5, 3], [3, 6, 4], True),
    ],
)  # fmt: skip
def test_the_first_draws_of_a_key_never_change(
    key: Key, words: list[int], indices: list[int], order: list[int], picks: list[int], chance: bool
) -> None:
    drawn = Draws(*key)

    assert words == [drawn.word() for _ in words]
    assert indices == [Draws(*key).below(n) for n in (1, 2, 3, 10, 1000)]
    assert order == Draws(*key).shuffled(range(8))
    assert picks == Draws(*key).sample(8, 3)
    assert chance is Draws(*key).chance(0.5)


# Redone by hand. Of a number beyond 2^63 up to half of the words are rejected.


@given(
    KEYS, st.lists(st.integers(1, 2**64), max_size=4), st.integers(0, 40),
    st.integers(0, 40) | st.integers(2**63, 2**64), st.integers(0, 50),
)  # fmt: skip
def test_draws_are_those_of_the_rules_and_take_no_word_more(
    key: Key, sizes: list[int], count: int, n: int, size: int
) -> None:
    drawn, words = Draws(*key), words_by_hand(key)
    items = list(range(count))

    assert drawn.word() == next(words)
    assert [drawn.below(n) for n in sizes] == [below_by_hand(words, n) for n in sizes]
    assert drawn.shuffled(items) == shuffle_by_hand(words, items.copy())
    assert drawn.sample(n, size) == sample_by_hand(words, n, size)
    assert drawn.word() == next(words)
    assert items == list(range(count))
    again = words_by_hand(key)
    assert drawn.words() == tuple(next(again) for _ in range(drawn.taken))


@given(st.data())
def test_a_shuffle_takes_the_words_that_below_would(data: st.DataObject) -> None:
    size = data.draw(st.integers(0, 12))
    near_limit = st.sampled_from([0, 1, 2**63, *range(2**64 - 16, 2**64)])
    words = data.draw(st.lists(near_limit, min_size=40, max_size=40)) + [0] * size
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draws, "xxh3_64_intdigest", lambda key, seed: words[seed])
        drawn, by_hand = Draws("key"), iter(words)

        assert drawn.shuffled(range(size)) == shuffle_by_hand(by_hand, list(range(size)))
        assert drawn.word() == next(by_hand)


@pytest.mark.parametrize(
    ("n", "size", "error"),
    [
        (-1, 1, ValueError), (2**64 + 1, 1, ValueError), (3, -1, ValueError), (5.0, 2, TypeError),
        (5, 2.0, TypeError), ("5", 2, TypeError),
    ],
)  # fmt: skip
def test_a_sample_of_what_cannot_be_counted_is_refused(
    n: int, size: int, error: type[Exception]
) -> None:
    with pytest.raises(error):
        Draws(*CLAIM).sample(n, size)


# Unbiased: words at and above the largest multiple of n are passed over.

# The least n > 1 of which 2^64 + 1 is a multiple: an off-by-one shows here only.
MINUS_ONE = 274_177


@pytest.mark.parametrize("n", [3, 10, MINUS_ONE, 2**63 + 1, 2**64 - 1])
def test_the_last_word_under_the_limit_is_taken_and_the_next_passed_over(
    forge: Forge, n: int
) -> None:
    limit = 2**64 - 2**64 % n
    forge(limit - 1, limit, 2**64 - 1, limit, 5 * n % limit + 1)
    drawn = Draws("key")

    assert (drawn.below(n), drawn.taken) == (n - 1, 1)
    assert (drawn.below(n), drawn.taken) == (1, 5)
    assert drawn.words()[1:3] == (limit, 2**64 - 1)


@pytest.mark.parametrize("n", [1, 2, 2**32, 2**63, 2**64])
def test_no_word_is_passed_over_for_a_power_of_two(forge: Forge, n: int) -> None:
    forge(2**64 - 1)

    assert Draws("key").below(n) == n - 1


def test_a_large_shuffle_passes_over_the_first_word_at_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limit = 2**64 - 2**64 % MINUS_ONE
    monkeypatch.setattr(draws, "xxh3_64_intdigest", lambda key, seed: 0 if seed else limit)
    drawn = Draws("key")
    drawn.shuffled(range(MINUS_ONE))

    assert drawn.taken == MINUS_ONE


# How many words are taken.


def test_a_key_with_a_set_whose_order_is_another_elsewhere_is_refused() -> None:
    with pytest.raises(TypeError):
        Draws(7, frozenset("ab"), "die").word()  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [0, -1, 2**64 + 1])
def test_an_index_among_none_or_more_than_a_word_can_tell_apart_is_refused(n: int) -> None:
    drawn = Draws(*CLAIM)

    with pytest.raises(ValueError, match="1 to 2"):
        drawn.below(n)
    assert (drawn.taken, drawn.words()) == (0, ())


@pytest.mark.parametrize(
    ("probability", "threshold"),
    [(0.5, 2**63), (2**-64, 1), (1 - 2**-53, 2**64 - 2**11), (0.1, 0x1999999999999A00)],
)
def test_a_chance_is_true_for_words_under_its_threshold_alone(
    forge: Forge, probability: float, threshold: int
) -> None:
    forge(threshold - 1, threshold, 0, 0, 2**64 - 1)
    drawn = Draws("key")

    assert [True, False] == [drawn.chance(probability) for _ in range(2)]
    # Too small for a word; sure ones, which take a word, too.
    assert [False, False, True] == [drawn.chance(part) for part in (2**-65, 0, 1)]
    assert drawn.taken == 5
