"""Version 2 of mining's prompt: what is shown, in any wording, and how its answers are read.

What holds for every version of the prompt is tested in tests/llm/test_prompt.py.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

import attrs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldrush.agents.llm.model import PERSONA_MAX
from goldrush.agents.llm.options import ORDERS
from goldrush.agents.llm.parts import limited
from goldrush.agents.llm.wording_files import wording_named
from goldrush.agents.llm.wordings import (
    MESSAGES_MAX,
    Framed,
    InvalidWording,
    Wording,
    wording_of,
)
from goldrush.agents.worlds.mining.parse import PLAIN, Form, ParsedPlan, parse
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.agents.worlds.mining.prompts import history, prompt
from goldrush.agents.worlds.mining.prompts.prompt import (
    NOTE_MAX,
    form_of,
    note_after,
    wordable,
)
from goldrush.agents.worlds.mining.roster import PROMPT_MAX
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import KINDS, MEMO_MAX
from goldrush.kernel.worlds.mining.history import public_round
from goldrush.kernel.worlds.mining.state import MiningState
from tests.kernel.worlds.mining.scenario import Submission
from tests.llm.test_prompt import (
    DEFAULT,
    after,
    claimed,
    crowded,
    does,
    extreme,
    fined,
    part,
    prompt_of,
    prompts_of,
    size,
    start,
)
from tests.mining import prepare

# In which every rule is told in some.
CONFIGS: list[dict[str, Any]] = [
    {}, {"truce": 0}, {"truce": 3}, {"defense": "pointwise"}, {"authority": "adjudicate"},
    {"authority": "punish", "detection": 0.07, "fine": 2.5}, {"communication": True},
    {"alpha_by_plot": [2.0] * 3 + [1.0] * 97}, {"mining_cap": 1}, {"agents": 1},
    {"visibility": "all"}, {"visibility": 1}, {"stamina_by_agent": [5, *[10] * 9]},
]  # fmt: skip
ROW_COL = {"plots": "row,col"}
OTHERS = {
    "kinds": {"defend": "keep", "mine": "claim", "claim": "mine", "raid": "take-over"},
    "keys": {"actions": "moves", "type": "what", "plot": "where", "stamina": "type"},
    "agents": "letters",
}


def worded(messages: Mapping[str, Any], names: Mapping[str, Any], **more: Any) -> Framed:
    return Framed(wording_of("w", messages, names, wordable()), **more)


# The rules.


def numbers_by_part(state: MiningState, framed: Framed) -> list[set[str]]:
    """The numbers in each part of the rules."""
    terms = prompt._history_of(framed.wording, 0, state.config.cols).terms
    parts = prompt._rules(terms, state, framed, KINDS)
    return [set(re.findall(r"\d+(?:\.\d+)?", told)) for told in parts]


@pytest.mark.parametrize("name", wordable().shipped)
def test_every_wording_tells_the_numbers_of_every_rule_and_shows_no_plan(name: str) -> None:
    default, framed = (
        Framed(wording_named(each, wordable()), notes=True, reasoning="field")
        for each in ("default", name)
    )
    for config in CONFIGS:
        state = after(start(**{"rounds": 9, **config}), {})
        told = zip(numbers_by_part(state, default), numbers_by_part(state, framed), strict=True)
        first, second = prompt_of(state, 0, framed)
        [form] = [line for line in first.split("\n") if line.startswith("{")]

        assert all(numbers <= others for numbers, others in told)
        assert [] == re.findall(rf"\d|{'|'.join(map(framed.wording.names.kind, KINDS))}\b", form)
        assert "no-json" == read(first + second, form_of(framed.wording)).error
        for text in (first, second):
            assert (text.strip(), 0) == (text, text.count("\n\n\n"))


# The order of the kinds of action.


@pytest.mark.parametrize("order", ORDERS)
def test_the_kinds_are_told_in_one_order_in_rules_and_schema(order: str) -> None:
    prompts = prompts_of(start(seed=7), attrs.evolve(DEFAULT, order=order))
    for agent in range(10):
        drawn = Draws(7, 0, agent if order == "agent" else 0, "order").shuffled(KINDS)
        expected = list(KINDS) if order == "fixed" else drawn
        rules = prompts.messages(agent)[0]["content"]
        item = prompts.schema(agent)["properties"]["actions"]["items"]

        assert expected == item["properties"]["type"]["enum"]
        assert expected == re.findall(r"^- (\w+):", rules, re.M)


# What happened.


def test_history_has_the_actors_of_every_visible_round_the_oldest_first() -> None:
    state = after(
        start(rows=2, cols=4, agents=4, seed=1, defense="pointwise", truce=2),
        {
            0: does(("claim", 0, 1), ("claim", 5, 1)),
            1: does(("claim", 1, 1), ("claim", 5, 1)),
            2: does(("claim", 2, 1)),
        },
        {3: does(("raid", 0, 1))},
        {
            0: does(("defend", 0, 1), ("raid", 1, 1), ("claim", 3, 1)),
            1: does(("raid", 0, 1)),
            2: does(("raid", 1, 1), ("defend", 2, 3)),
        },
    )
    winner, captor = state.owner[5], state.owner[1]
    told = prompt_of(state)[1]

    assert [
        f"Round 1: claim 0 by 0; 1 by 1; 2 by 2; 5 by 0, 1 (won by {winner}).",
        "Round 2: raid stopped by a truce: 0 of 0 by 3.",
        f"Round 3: claim 3 by 0. raid that took the plot: 1 of 1 by 0, 2 (won by {captor}). "
        "raid stopped by defend: 0 of 0 by 1. defend 0, 2.",
    ] == part(told, "HISTORY, the oldest round first")
    assert "IN TRUCE, every raid on them fails: until the end of round 4: 3.\n" in told


def test_rulings_and_losses_are_told() -> None:
    raided = {1: does(("raid", 0, 1))}
    back = after(claimed(authority="adjudicate"), raided)
    kept = after(claimed(), raided)

    assert (
        "raid that took the plot: 0 of 0 by 1. Given back by the authority: plot 0 to agent 0."
        in (prompt_of(back, 2)[1])
    )
    assert "the last one first: 0 to 1 in round 2, given back.\n" in prompt_of(back)[1]
    assert (
        "THAT YOU LOST in the rounds shown, the last one first: 0 to 1 in round 2.\n"
        in prompt_of(kept)[1]
    )
    assert "THAT YOU LOST" not in prompt_of(kept, 1)[1]
    assert "raid 0: won, but the authority took 3 gold for it\n" in prompt_of(fined(9.0), 1)[1]


def test_a_single_round_and_budgets_that_differ_are_told() -> None:
    mixed = prompt_of(start(rounds=1, stamina_by_agent=[5, *[10] * 9]))[0]

    assert "in a simulation of 1 round." in mixed
    assert "Not all agents have the same budget." in mixed


@pytest.mark.parametrize(("crowd", "visibility"), [(12, "all"), (200, "all"), (40, 20)])
def test_lines_beyond_the_limit_go_over_into_counts_half_of_them_at_once(
    crowd: int, visibility: str | int
) -> None:
    rounds = [
        {
            a: does(*[("claim", (7 * a + 11 * n + k) % 900, 1) for k in range(5)],
                    *[("raid", (5 * a + 13 * n + k) % 900, 1) for k in range(5)])
            for a in range(crowd)
        }
        for n in range(30)
    ]  # fmt: skip
    state = after(start(rows=30, cols=30, agents=crowd, visibility=visibility, rounds=99), *rounds)
    lines = part(prompt_of(state)[1], "HISTORY")
    kept: list[str] = []
    alone = history.History(prompt._history_of(DEFAULT.wording, 0, 30).terms)
    for record in state.history:
        kept.append(alone.line(record)[0])
        if sum(len(line.encode()) + 1 for line in kept) > 12_000:
            kept = kept[-(len(kept) // 2) :] if len(kept) > 1 else []
    count = len(state.history) - len(kept)
    gone = [record.view(public_round) for record in state.history[:count]]
    first = 1 if visibility == "all" else 11
    claims = Counter(claim.winner for each in gone for claim in each.claims)
    [agent, won] = min(claims.items(), key=lambda item: (-item[1], item[0]))

    assert kept == lines[-len(kept) :]
    assert [f"Rounds {first} to {30 - len(kept)}, in numbers"] == lines[:1]
    assert lines[1].startswith(f"claim that won a plot, by agent: {agent}: {won}")
    assert lines[2].startswith("raid, by agent on owner (how many took the plot): ")
    assert 3 + len(kept) == len(lines)
    assert max(len(line.encode()) for line in lines) <= 2_400
    assert max(len(line.encode()) for line in lines[1:3]) <= 2_000
    raids = Counter((r, raid.owner) for each in gone for raid in each.raids for r in raid.raiders)
    told = re.findall(r"(\d+) on (\d+|nobody): (\d+)", lines[2])
    ordered = sorted(raids, key=lambda pair: (-raids[pair], pair[0], pair[1]))

    assert [(str(a), str(o), str(raids[a, o])) for a, o in ordered][: len(told)] == told


# Any wording.

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=120)


@st.composite
def wordings(draw: st.DrawFn) -> Wording:
    """Messages of any text and length with any of their fields, and names."""
    texts = {}
    known = wordable()
    for id in draw(st.lists(st.sampled_from(list(known.messages.texts)), max_size=25)):
        fields = draw(st.lists(st.sampled_from(known.fields(id)), max_size=6))
        often = dict.fromkeys(fields, 0)
        pieces = [draw(TEXTS) * draw(st.sampled_from([0, 1, 30])) for _ in range(3)]
        for field in fields:
            often[field] += 1
            if field not in known.long or often[field] == 1:
                pieces.insert(draw(st.integers(0, len(pieces))), f"\0{{{field}}}")
        texts[id] = "".join(pieces).replace("$", "$$").replace("\0", "$")[:4_096]
    names = draw(st.sampled_from([{}, ROW_COL, OTHERS]))
    try:
        return wording_of("w", texts, names, known)
    except (InvalidWording, ValueError):  # too long in sum, or cut within a field
        return known.default


PERSONA = "\U0001f600" * (PERSONA_MAX[1] // 4)


@cache
def busy(what: str) -> MiningState:
    """A state in which many parts of a prompt are long."""
    if what == "alone":
        return start(agents=1)
    if what == "crowd":
        return extreme(29, 100, 2, "\U0001f600", crowded)
    everybody = (
        {a: does(*[("claim", (15 * a + n * 3 + k) % 900, 1) for k in range(9)]) for a in range(60)}
        for n in range(3)
    )
    return after(start(rows=30, cols=30, truce=9, visibility="all", agents=60), *everybody)


@given(wordings(), st.sampled_from(["alone", "crowd", "truces"]))
@settings(max_examples=settings.default.max_examples // 2)
def test_every_part_is_bounded_in_any_wording(wording: Wording, what: str) -> None:
    state = busy(what)
    framed = Framed(wording, notes=True, reasoning="field", persona=PERSONA)
    terms = prompt._history_of(wording, 0, state.config.cols)
    for record in state.history:
        line, length = terms.line(record)
        assert len(line.encode()) == length <= history.LINE_MAX
    for text, most in (
        (terms.losses(state.history, 0), history.LOSSES_MAX),
        (terms.text(state.history), history.LINES_MAX + 2 * history.COUNTS_MAX),
        (terms.own_actions(state.history, 0), history.OWN_MAX + history.OWN_SUM_MAX),
    ):
        assert len(text.encode()) <= most + MESSAGES_MAX
    prompts = prompts_of(state, framed)
    for agent in (0, state.config.agents - 1):
        assert size(prompts.messages(agent)) <= PROMPT_MAX
        assert len(json.dumps(prompts.schema(agent))) <= 4_096


@given(st.lists(TEXTS), st.integers(0, 300), TEXTS, TEXTS)
def test_a_list_is_bounded_and_says_how_many_more_there_are(
    items: list[str], most: int, between: str, more: str
) -> None:
    said = limited(items, most, between, lambda number: f"{more}{number}")
    whole = between.join(filter(None, items))

    assert len(said.encode()) <= most
    if len(whole.encode()) <= most:
        assert whole == said
    elif said:
        assert re.search(f"{re.escape(more)}[1-9][0-9]*$", said)


def test_names_go_through_rules_form_schema_map_and_history() -> None:
    state = after(start(rows=2, cols=3, agents=3, truce=9), {1: does(("claim", 4, 1))},
                  {0: does(("raid", 4, 1)), 1: does(("mine", 4, 2), ("defend", 4, 1))})  # fmt: skip
    framed = worded({}, {**OTHERS, **ROW_COL})
    rules, told = prompt_of(state, 0, framed)
    form = prompts_of(state, framed).schema(0)

    assert '{"moves": [{"what": ..., "where": ..., "type": ...}, ...]}' in rules
    assert ["keep", "claim", "mine", "take-over"] == re.findall("^- ([a-z-]+):", rules, re.M)
    assert "agents A, B, C," in rules
    assert "both counted from 0: 0,0 to 1,2." in rules
    assert ["what", "where", "type"] == form["properties"]["moves"]["items"]["required"]
    assert "row 1 (1,0 to 1,2) . B ." in told
    assert "Round 1: mine 1,1 by B.\n" in told
    assert "Round 2: take-over stopped by a truce: 1,1 of B by A. keep 1,1.\n" in told
    assert "Round 2: take-over 1,1: stopped by a truce" in told
    assert "until the end of round 9: 1,1." in told


def test_a_persona_is_shown_as_written_in_the_part_of_its_agent_alone() -> None:
    persona = "You are  {careful}.\n\n$rounds"
    framed = attrs.evolve(DEFAULT, persona=persona)
    prompts = prompts_of(start())
    prompts.framed = lambda agent: framed if agent == 3 else DEFAULT

    assert (
        f"This is round 1 of 200.\n\n{persona}\n\nYou have 0 gold"
        in prompts.messages(3)[1]["content"]
    )
    assert prompts.messages(3)[0] == prompts.messages(2)[0]
    assert persona not in prompts.messages(2)[1]["content"]


# Notes.


@pytest.mark.parametrize(
    ("note", "kept"),
    [
        (None, "before"), ([], "before"), ("", None), ("\x00\x9f", None),
        ("a\tb\r\nc\x00\ud800", "a b  c\ufffd"), ("x" * NOTE_MAX + "y", "x" * NOTE_MAX),
    ],
)  # fmt: skip
def test_a_note_is_cleaned_and_one_that_is_no_text_keeps_the_last(note: Any, kept: Any) -> None:
    assert kept == note_after("before", note)
    assert NOTE_MAX == MEMO_MAX


def test_a_note_is_shown_whole_to_those_who_may_have_one() -> None:
    state = start()
    note = 'trust 3 "always"; '
    state.memo[0] = note * (MEMO_MAX // len(note))
    noted = attrs.evolve(DEFAULT, notes=True)

    assert f"Your note to yourself: {json.dumps(state.memo[0])}\n" in prompt_of(state, 0, noted)[1]
    assert "You have no note to yourself.\n" in prompt_of(state, 1, noted)[1]
    assert "note to yourself" not in "".join(prompt_of(state))


def rows_of(notes: bool, *texts: str | None) -> list[Any]:
    """The memo in the rows of an agent that answers so, round after round."""
    options = {"name": "m", "model": "m", "prompt": 3, **({"notes": True} if notes else {})}
    config, roster = prepare({"agents": 1}, "random")
    entries = [{"agent": 0, "policy": "llm", "options": options}]
    state = MINING.initial({"config": config.as_dict(), "roster": roster.as_setup()})
    state.set_up(state.config, tuple(entries))
    memos = []
    for text in texts:
        view, error = MINING_PLAYERS.view(state), None if text else "no-answer"
        row = MINING_PLAYERS.prompts(view).row(0, text, error, {})
        memos.append(row[4])
        state = after(state, {0: Submission([], memo=row[4])})
    return memos


def test_each_row_of_an_agent_with_notes_holds_the_last_note() -> None:
    texts = ('{"actions": [], "note": "a"}', "no plan", None, '{"actions": []}',
             '{"actions": [], "note": null}', '{"actions": [], "note": ""}', "x")  # fmt: skip

    assert ["a", "a", "a", "a", "a", None, None] == rows_of(True, *texts)
    assert [None] * 7 == rows_of(False, *texts)


# Answers.


def read(text: str, form: Form) -> ParsedPlan:
    return parse(text, 4, 10, "absolute", form)


@pytest.mark.parametrize("renamed", [{"plot": "k"}, {"type": "k"}, {"actions": "moves"}])
def test_where_keys_have_new_names_no_other_name_is_read(renamed: dict[str, str]) -> None:
    keys = {"actions": "actions", "type": "type", "plot": "plot", **renamed}
    item = {"k": 7, keys["plot"]: 5, keys["type"]: "mine"}
    text = json.dumps({keys["actions"]: [item]})

    assert ((("mine", 5, 1),), None) == msgspec.structs.astuple(
        read(text, form_of(worded({}, {"keys": renamed}).wording))
    )[:2]
    assert (("mine", 5, 7),) == read(
        '[{"type": "mine", "plot": 5, "k": 7}]', form_of(DEFAULT.wording)
    ).actions


RENAMED = worded({}, OTHERS).wording
BY_ROW = worded({}, ROW_COL).wording
_ITEMS = st.tuples(st.sampled_from(KINDS), st.integers(0, 39), st.integers(1, 9))


@given(st.lists(_ITEMS, min_size=1), st.booleans(), st.text())
def test_an_answer_is_read_by_the_names_that_its_agent_was_told(
    actions: list[tuple[str, int, int]], as_lists: bool, note: str
) -> None:
    for wording in (RENAMED, BY_ROW, DEFAULT.wording):
        names = wording.names
        written = [
            {
                names.key("type"): names.kind(kind).upper(),
                names.key("plot"): plot if names.plots == "id" else f"{plot // 10},{plot % 10}",
                names.key("stamina"): amount,
            }
            for kind, plot, amount in actions
        ]
        items: Any = [list(item.values()) for item in written] if as_lists else written
        text = json.dumps({names.key("actions"): items, "note": note})

        assert (tuple(actions), None) == msgspec.structs.astuple(read(text, form_of(wording)))[:2]


@pytest.mark.parametrize("text", ['{"actions": [["keep", 3]]}', '{"defend": [3]}', '[["raid", 3]]'])
def test_another_name_is_no_answer(text: str) -> None:
    assert "no-json" == read(text, form_of(RENAMED)).error
    assert read(text, PLAIN).error is None


def test_where_plots_are_called_by_rows_a_number_is_no_plot() -> None:
    text = '{"claim": [3, "3", "0,3", [0, 3], "(0, 3)"]}'

    assert (None, None, *[("claim", 3, 1)] * 3) == read(text, form_of(BY_ROW)).actions
