"""JSON in journals of programs: what is referred to comes back as it was, within limits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.worlds.program.values import (
    BODY_MAX,
    LIST,
    MORE,
    OBJECT,
    TEXT,
    References,
    holds,
    parsed,
)
from goldrush.replay.worlds.program.texts import STYLES, read, written

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4) | st.sampled_from(
    ["long" * 20, "other" * 20]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 70), 1 << 70) | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


@given(st.lists(VALUES, max_size=4))
def test_values_come_back_whatever_was_stored_before(values):
    references = References()
    for value in values * 2:
        stored = references.stored(value)
        assert holds(unpack(pack(stored)))
        references.add(stored)

        assert repr(value) == repr(references.plain(unpack(pack(stored))))


@given(VALUES, st.sampled_from(range(len(STYLES))))
def test_a_body_comes_back_in_the_bytes_of_its_server(value, style):
    body = written(value, style)

    found = read(body)

    assert found is None or body == written(*found)


def test_a_chat_is_stored_once():
    references, chat, sizes = References(), [], []
    for number in range(50):
        chat.append({"role": "user", "content": f"{number}: " + "gold " * 30})
        stored = references.stored({"model": "m", "messages": chat})
        references.add(stored)
        sizes.append(len(pack(stored)))

    assert max(sizes[1:]) < 1.1 * sizes[0]


@pytest.mark.parametrize("body", [b"", b"no", b'"\\ud800"', b"[" * 5_000 + b"]" * 5_000])
def test_what_no_journal_holds_as_json_stays_bytes(body):
    assert body == parsed(body)


@pytest.mark.parametrize(
    "stored",
    [(TEXT, 0), (TEXT, -1), (MORE, 0), (OBJECT, "a"), (OBJECT, "a", 1, "a", 2), (7, 1), ()],
)
def test_what_no_recorder_writes_is_refused(stored):
    if holds(stored):
        with pytest.raises(LookupError):
            References().plain(stored)


def test_references_to_references_have_a_limit():
    references = References()
    references.add((LIST, (OBJECT, "text", "x" * 1_000)))

    def add_all():
        for number in range(BODY_MAX):
            references.add((LIST, (OBJECT, "a", (MORE, number), "b", (MORE, number))))

    with pytest.raises(ValueError, match="too large"):
        add_all()
