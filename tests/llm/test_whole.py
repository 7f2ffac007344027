"""Answers kept whole: reasoning apart from the text, what the server tells, within limits."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from goldrush.agents.llm.client import Client
from goldrush.agents.llm.failures import CUT, NO_ANSWER, REFUSAL, Failures, format_failures
from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Endpoint
from goldrush.agents.llm.options import NONE, OPEN, TEXT
from goldrush.agents.llm.question import (
    MORE,
    REASONING_MAX,
    REPORTED_MAX,
    ROUND_MAX,
    TEXT_MAX,
    Answer,
    Question,
    Whole,
)
from goldrush.agents.roster import Roster
from goldrush.agents.seats import ImpossiblePlayer, classified
from goldrush.agents.worlds.mining.roster import POLICY_SET
from goldrush.kernel.world import Block, Row
from goldrush.kernel.worlds.competition.events import CODES, Answered
from goldrush.replay.journal.usage import usage
from goldrush.replay.journal.verify import verify
from tests.journals import commits_of, write
from tests.llm.seasons import answers_in, playing, recorded
from tests.llm.servers import Asked, Reply, answered, reply, serving
from tests.seasons import HEADER

PLAN = '{"actions": []}'
MODEL = Model("a", "a-1", max_tokens=500, answer=TEXT)
QUESTION = Question(0, model=MODEL, messages=({"role": "user", "content": "?"},))
ASKED = replace(QUESTION, whole=Whole(1_000))


def answer_to(sent: Reply, whole: Whole | None, **reach: Any) -> Answer:
    with serving(lambda asked: sent) as server, closing(Client(1)) as client:
        endpoint = Endpoint(server.address, tries=1, **reach)
        [(_, answer)] = answered(client, [replace(QUESTION, server=endpoint, whole=whole)])
    return answer


@pytest.mark.parametrize(
    ("text", "raw", "reasoning"),
    [
        (f"I think so. {PLAN}", f"I think so. {PLAN}", None),
        (f"<think>hm</think>{PLAN}", PLAN, "<think>hm"),
        (f" \n<THINK>hm</Think>\n{PLAN}", f"\n{PLAN}", " \n<THINK>hm"),
        (f"<think>{PLAN}", "", f"<think>{PLAN}"),
        (f"hm</think>a</think>{PLAN}", f"a</think>{PLAN}", "hm"),
        (f"</think>{PLAN}", PLAN, ""),
        ('{"say": "</think>"}', '{"say": "</think>"}', None),
        ("</thin\u212a>", "</thin\u212a>", None),  # a Kelvin sign is no k
    ],
)
def test_reasoning_is_split_from_the_text(text: str, raw: str, reasoning: str | None) -> None:
    assert (raw, reasoning) == Whole(1_000).parted(text, None)


def test_where_the_template_opens_it_all_before_the_tag_is_reasoning() -> None:
    opened = Whole(1_000, OPEN)

    assert (PLAN, "{hm}") == opened.parted(f"{{hm}}</think>{PLAN}", None)
    assert ("", PLAN) == opened.parted(PLAN, None)
    assert (PLAN, "hm") == opened.parted(PLAN, "hm")  # the server has parted it


COUNTS = "tokens_in", "tokens_out"
_FACTS = st.none() | st.integers(-2, 2**70) | st.text(max_size=300) | st.booleans()


@given(
    text=st.none()
    | st.lists(st.sampled_from(["<think>", "</think>", PLAN, " ", "ä🙂", "`"])).map("".join),
    given_apart=st.none() | st.text(min_size=1),
    size=st.integers(0, 60), is_open=st.booleans(), refused=st.booleans(),
    finish=st.sampled_from(["stop", "length", None]),
)  # fmt: skip
def test_a_kept_answer_comes_out_of_its_record_the_same(
    text: str | None, given_apart: str | None, size: int, is_open: bool, refused: bool,
    finish: str | None,
) -> None:  # fmt: skip
    whole = Whole(size, OPEN if is_open else NONE)
    answer = Answer(
        0, "", text, REFUSAL if refused else None, finish, "m", 9, 9, fingerprint="f", created=0,
        tokens_cached=9,
    )  # fmt: skip
    if text is not None:
        part = whole.cut if refused else whole.parted
        kept, reasoning = part(text, given_apart)
        answer = replace(answer, text=kept, reasoning=reasoning)
        assert len(kept.encode()) <= size
    source, error = answer.source(ASKED), answer.early_error
    again = Answer.recorded(0, "", answer.text, error, source).parted(whole)

    assert source == again.source(ASKED)
    assert error == again.early_error


@given(st.dictionaries(st.sampled_from((*MORE, *COUNTS)), _FACTS), st.none() | st.text(max_size=9))
def test_facts_that_no_answer_can_have_come_out_otherwise(
    facts: dict[str, Any], text: str | None
) -> None:
    """What stays the same can be an answer's: of the right types, in the page's order."""
    answer = Answer.recorded(0, "", text, None, facts).parted(Whole(100))
    source = answer.source(ASKED)
    for name in ("created", "tokens_reasoning", "tokens_cached"):
        assert type(source.get(name, 0)) is int
        assert 0 <= source.get(name, 0) < 2**53  # type: ignore[operator]
    for name in COUNTS:
        assert 0 <= (source[name] or 0) <= REPORTED_MAX  # type: ignore[operator]
    for name, most in (("finish", 200), ("fingerprint", 200), ("reasoning", 100)):
        assert type(source.get(name, "")) is str
        assert len(str(source.get(name, ""))) <= most
    assert [name for name in MORE if name in source] == [name for name in source if name in MORE]


def test_what_a_server_tells_is_kept_in_order() -> None:
    usage = {
        "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 170,
        "completion_tokens_details": {"reasoning_tokens": 50},
        "prompt_tokens_details": {"cached_tokens": 64},
    }  # fmt: skip
    sent = reply(
        PLAN, {"reasoning_content": "hm"}, created=1_700_000_000, system_fingerprint="f" * 300,
        usage=usage,
    )  # fmt: skip
    answer = answer_to(sent, Whole(1_000))

    assert {
        "model": "test-1", "prompt": ASKED.digest, "raw": PLAN,
        "tokens_in": 100, "tokens_out": 70, "tries": 1,
        "finish": "stop", "fingerprint": "f" * 200, "created": 1_700_000_000, "reasoning": "hm",
        "tokens_reasoning": 50, "tokens_cached": 64,
    } == answer.source(ASKED)  # fmt: skip
    of_person = answer.source(replace(ASKED, whole=None))
    assert [*of_person, *MORE] == list(answer.source(ASKED))


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"completion_tokens": 20, "total_tokens": 100}, 20),  # less than both together
        ({"completion_tokens": 20, "completion_tokens_details": {"reasoning_tokens": 50}}, 70),
        ({"completion_tokens": 20, "total_tokens": "many", "completion_tokens_details": 3}, 20),
        ({"completion_tokens": 20, "total_tokens": 9_999}, 9_899),  # more than was asked for
    ],
)
def test_reasoning_that_a_server_leaves_out_is_counted(
    counts: dict[str, Any], expected: int | None
) -> None:
    answer = answer_to(reply(PLAN, usage={"prompt_tokens": 100, **counts}), None)

    assert expected == answer.tokens_out


@pytest.mark.parametrize(
    ("text", "message", "finish", "kept"),
    [
        (None, {"reasoning": "hm"}, "length", ("", "hm", CUT)),
        (None, {"reasoning_content": "", "reasoning": None}, "stop", (None, None, NO_ANSWER)),
        ("<think>no", {}, "content_filter", ("<think>no", None, REFUSAL)),
        ("x" * TEXT_MAX + "\ud800", {"reasoning": "y" * 20_000}, "stop",
         ("x" * TEXT_MAX, "y" * REASONING_MAX, None)),
        ("y" * 99_999 + f"</think>{PLAN}", {}, "stop", (PLAN, "y" * REASONING_MAX, None)),
    ],
)  # fmt: skip
def test_texts_are_kept_within_their_limits(
    text: str | None, message: dict[str, Any], finish: str, kept: tuple[object, ...]
) -> None:
    answer = answer_to(reply(text, message, finish=finish), Whole(ROUND_MAX))

    assert kept == (answer.text, answer.reasoning, answer.early_error)


# In a run, of a version of the prompt with options.


def thinking(asked: Asked) -> Reply:
    """Answers with reasoning, given apart or not; every third cut off after its last field."""
    text = str(json.loads(playing(asked).body)["choices"][0]["message"]["content"])
    number = len(asked.text) % 3
    message = {"reasoning_content": "hm"} if number == 1 else {}
    text = f"<think>hm</think>{text}" if number == 2 else text
    return reply(text, message, finish=["length", "stop", "stop"][number], created=7)


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "s.journal"
    with serving(thinking) as server:
        recorded(path, server.address, "worker", assignments=1)
    return path


def test_answers_cut_off_but_played_are_counted_apart(season: Path) -> None:
    finishes = [row[3]["finish"] for _, row in answers_in(season)]
    cut = finishes.count("length")

    assert [Failures("a", len(finishes), {}, cut)] == usage(season).failures
    assert [True] == [
        "cut off, but played" in line for line in format_failures(usage(season).failures)
    ]


@pytest.mark.parametrize(
    ("forge", "level"),
    [
        (lambda text, source: (text, source), None),
        (lambda text, source: (text, {**source, "finish": "x" * 201}), 4),
        (lambda text, source: (text, {**source, "tokens_reasoning": source["tokens_out"] + 1}), 4),
        (lambda text, source: (text, {**source, "reasoning": "x" * (REASONING_MAX + 1)}), 4),
        (lambda text, source: (text, {**source, "error": CUT, "finish": "stop"}), 4),
        (lambda text, source: (f"<think>{text}", {**source, "reasoning": None}), 4),
        (lambda text, source: (text, dict(reversed(source.items()))), 4),
        (lambda text, source: (text, {**source, "prompt": "0" * 64}), 4),
        (lambda text, source: ("Hm.", source), 4),
    ],
)  # fmt: skip
def test_forged_facts_are_found(
    season: Path,
    tmp_path: Path,
    forge: Callable[[str, dict[str, Any]], tuple[str, Any]],
    level: int | None,
) -> None:
    left = [forge]

    def forged(code: int, rows: Sequence[Row]) -> Sequence[Row]:
        """The first answer of all changed."""
        if code != CODES[Answered] or not left:
            return rows
        agent, name, text, source = rows[0]
        text, source = left.pop()(text, source)
        known = {key: fact for key, fact in source.items() if key == "error" or fact is not None}
        return [(agent, name, text, known), *rows[1:]]

    commits = commits_of(season)
    for commit in commits:
        commit.blocks = [
            Block([(code, forged(code, rows)) for code, rows in block]) for block in commit.blocks
        ]
    broken = verify(write(tmp_path / "forged.journal", commits, HEADER)).broken

    assert level == (broken and broken.level)


def test_a_journal_with_more_models_is_forged() -> None:
    [entry] = POLICY_SET.parse("llm:a*1").entries
    model = attrs.evolve(Model.of(entry.options).resolved(), answer=TEXT)
    entry = replace(entry, options=model.as_options())
    entries = [replace(entry, agent=agent) for agent in range(1_001)]

    assert all(classified(POLICY_SET, Roster(entries[1:]))[0])
    with pytest.raises(ImpossiblePlayer, match="1,001 agents of the roster are language models"):
        classified(POLICY_SET, Roster(entries))
