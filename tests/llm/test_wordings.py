"""Wordings: files, the canonical form, what is refused, and rosters."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from goldrush.agents.llm.messages import Messages
from goldrush.agents.llm.model import Framing, Model
from goldrush.agents.llm.models import Endpoint, Models, read_models
from goldrush.agents.llm.options import FIRST, FRAMING, SAMPLING
from goldrush.agents.llm.versions import PromptVersion, decided, subject_of
from goldrush.agents.llm.wording_files import wording_named
from goldrush.agents.llm.wording_rosters import (
    check_names,
    framed_in,
    recorded_once,
    variants_of,
)
from goldrush.agents.llm.wordings import (
    Framed,
    InvalidWording,
    Names,
    Wordable,
    Wording,
    digest_of,
    wording_from,
    wording_of,
)
from goldrush.agents.roster import Entry, Roster
from goldrush.agents.seats import (
    ImpossiblePlayer,
    UnknownPlayer,
    can_ask,
    matches_label,
    policy_label,
)
from goldrush.agents.worlds.mining.roster import POLICY_SET
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput
from goldrush.replay.wordings import as_toml

PLAIN = """
description = "without gold"
[messages]
limits = "LIMITS: none."
[names.kinds]
raid = "take"
"""
LONG = {
    "alphas", "grid", "events", "items", "plots", "note", "notices", "remedy", "you", "defend",
    "raid_claimed", "rulings", "say", "say_form", "kinds", "messages", "actions", "result",
    "unowned", "owned",
}  # fmt: skip
MESSAGES = Messages.of(tomllib.loads(Path(__file__).with_name("messages.toml").read_text()))
WORDABLE = Wordable(
    MESSAGES,
    kinds=("defend", "mine", "claim", "raid"),
    keys=("actions", "type", "plot", "stamina"),
    agents=True,
    plots=True,
    items=[id for id in MESSAGES.texts if id.startswith("result")],
    long=LONG,
    more={"limits": ["rounds"]},
    times={"none": 3},
    shipped={"plain": PLAIN},
)
VERSION = PromptVersion(3, 9_999, FRAMING, lambda: WORDABLE)
OFFER = replace(POLICY_SET, prompt=VERSION)
TEXTS = WORDABLE.messages.texts


def written(folder: Path, text: str, name: str = "own") -> str:
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def of(messages: Mapping[str, object] = {}, names: Mapping[str, object] = {}) -> Wording:
    return wording_of("own", messages, names, WORDABLE)


# What a wording may be.

words = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], include_characters="\n"), max_size=40
)


@st.composite
def texts(draw: st.DrawFn, id: str) -> str:
    fields = WORDABLE.fields(id)
    used = draw(st.lists(st.sampled_from(fields), unique=True)) if fields else []
    parts = [draw(words).replace("$", "$$") for _ in range(len(used) + 1)]
    ends = [f"${{{field}}}" for field in used] + [""]
    return "".join(part + end for part, end in zip(parts, ends, strict=True))


@st.composite
def tables(draw: st.DrawFn) -> dict[str, dict[str, Any]]:
    variants = draw(st.integers(2, 8))
    messages: dict[str, Any] = {}
    for id in draw(st.lists(st.sampled_from(sorted(TEXTS)), max_size=8, unique=True)):
        each = texts(id)
        messages[id] = draw(each | st.lists(each, min_size=variants, max_size=variants))
    names: dict[str, Any] = {}
    word = st.from_regex("[a-z][a-z0-9_-]{5,23}", fullmatch=True).filter(
        lambda name: name not in ("stamina", "actions", "defend", "reasoning")
    )
    new = iter(draw(st.lists(word, min_size=8, max_size=8, unique=True)))
    for what, known in (("kinds", WORDABLE.kinds), ("keys", WORDABLE.keys)):
        if renamed := draw(st.lists(st.sampled_from(known), unique=True)):
            names[what] = {old: next(new) for old in renamed}
    if draw(st.booleans()):
        names["agents"] = draw(st.sampled_from(["letters", ["Ann", "B 2", "c-_"]]))
    if draw(st.booleans()):
        names["plots"] = "row,col"
    return {"messages": messages, "names": names}


def same(first: Wording, second: Wording) -> bool:
    each = [[m.formats for m in wording.variants] for wording in (first, second)]
    return (first.text, first.names, each[0]) == (second.text, second.names, each[1])


@given(tables())
def test_what_a_journal_holds_and_what_a_file_shows_is_the_wording(
    given: dict[str, dict[str, Any]],
) -> None:
    wording = of(given["messages"], given["names"])

    assert wording.sha256 is not None
    assert same(wording, wording_from("own", wording.text, wording.sha256, WORDABLE))
    with TemporaryDirectory() as folder:
        assert same(
            wording, wording_named(written(Path(folder), as_toml(wording, WORDABLE)), WORDABLE)
        )


def test_the_default_has_no_text_and_keeps_every_message(tmp_path: Path) -> None:
    default = wording_named("default", WORDABLE)

    assert ("", None, TEXTS) == (default.text, default.sha256, default.variants[0].texts)
    assert "{}" == of(TEXTS).text
    shown = as_toml(WORDABLE.default, WORDABLE)
    assert "" == wording_named(written(tmp_path, shown, "default"), WORDABLE).text


def test_a_wording_extends_a_shipped_one_table_by_table(tmp_path: Path) -> None:
    text = 'extends = "plain"\nmessages.none = "-"\nnames = {kinds = {mine = "dig"}}'

    wording = wording_named(written(tmp_path, text), WORDABLE)

    assert {
        "messages": {"limits": "LIMITS: none.", "none": "-"},
        "names": {"kinds": {"mine": "dig", "raid": "take"}},
    } == json.loads(wording.text)
    assert "LIMITS: none." == wording.variants[0]("limits")


def test_things_are_named_one_to_one() -> None:
    swapped = of(names={"kinds": {"raid": "mine", "mine": "raid"}, "agents": "letters"}).names
    given = Names(agents=("Ann", "Bob"))

    assert ["raid", "mine", "claim"] == [swapped.kind(kind) for kind in ("mine", "raid", "claim")]
    assert ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"] == [
        swapped.agent(agent) for agent in (0, 25, 26, 51, 52, 701, 702)
    ]
    assert ["Bob", "0", "plot"] == [given.agent(1), Names().agent(0), given.key("plot")]
    with pytest.raises(BadInput, match=r"names\.agents has 2 names, and 3 agents play"):
        given.check_agents(3)


# What is refused.

REFUSED = {
    "a message that is not there": '[messages]\nlimts = "x"',
    "a field that is not there": '[messages]\nlimits = "$roundz"',
    "a list twice": '[messages]\nmap = "$alphas$alphas"',
    "a number nine times": f'[messages]\nlimits = "{"$rounds" * 9}"',
    "a long text": f'[messages]\nlimits = "{"x" * 4_097}"',
    "a control character": '[messages]\nlimits = "a\\u001b[2Jb"',
    "lists of two lengths": '[messages]\nlimits = ["x", "y"]\nnone = ["x", "y", "z"]',
    "a reserved key": '[names]\nkeys.plot = "say"',
    "two kinds of one name": '[names]\n[names.kinds]\nmine = "raid"',
    "two agents of one name": '[names]\nagents = ["A", "A"]',
    "no TOML": "[messages]\nlimits = 'x",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_a_file_that_breaks_a_rule_is_refused_with_the_place(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)

    with pytest.raises(BadInput) as refused:
        wording_named(path, WORDABLE)

    assert str(refused.value).startswith(path)
    assert refused.value.instead


@pytest.mark.parametrize(
    ("variants", "ids", "error"), [(1, 5, "the messages could take"), (8, 3, "the wording has")]
)
def test_a_wording_that_is_too_large_is_refused(variants: int, ids: int, error: str) -> None:
    long = ["x" * 4_096] * variants

    with pytest.raises(InvalidWording, match=error):
        of(dict.fromkeys(sorted(TEXTS)[:ids], long if variants > 1 else long[0]))


def test_items_count_into_the_limit_of_their_part() -> None:
    assert 1 == len(of(dict.fromkeys(WORDABLE.items, "x" * 4096)).variants)
    with pytest.raises(InvalidWording, match="could take"):
        of({"none": "x" * 4_096, "limits": "$rounds " * 8 + "x" * 4_000})


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("Own", "", "would be the wording 'Own'"),
        ("plain", "", "has other texts than the wording plain that goldrush has"),
        ("default", '[messages]\nnone = "-"', "has other texts than the wording default"),
    ],
)
def test_a_file_has_a_name_that_stands_for_nothing_else(
    name: str, text: str, error: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=error):
        wording_named(written(tmp_path, text, name), WORDABLE)

    same = wording_named(written(tmp_path, PLAIN, "plain"), WORDABLE)
    assert wording_named("plain", WORDABLE).text == same.text


# Rosters.


def model(wording: str, agent: int, name: str = "m") -> Entry:
    model = Model(name, name, answer="text", wording=wording)
    return Entry(agent, "llm", decided(model, VERSION).resolved().as_options())


def person(wording: str, agent: int) -> Entry:
    return Entry(agent, "human", decided(Framing(wording=wording), VERSION).as_options())


def roster_of(*entries: Entry) -> Roster:
    return Roster(recorded_once(entries))


def test_a_text_stands_once_in_a_roster_with_the_lowest_agent_that_has_it(tmp_path: Path) -> None:
    own = written(tmp_path, '[messages]\nnone = "-"')

    roster = roster_of(
        model("default", 0), person("plain", 1), model("plain", 2), model(own, 3), person(own, 4)
    )

    options = [entry.options for entry in roster.entries]
    assert [None, "plain", "plain", "own", "own"] == [o.get("wording") for o in options]
    assert [1, 3] == [agent for agent, o in enumerate(options) if "wording_text" in o]
    assert options[1]["wording_sha256"] == digest_of(options[1]["wording_text"])
    assert all(can_ask(OFFER, entry, roster) for entry in roster.entries)


def test_one_name_has_one_text_in_a_roster(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    first = written(tmp_path, '[messages]\nnone = "-"')
    second = written(tmp_path / "a", '[messages]\nnone = "--"')

    with pytest.raises(BadInput, match="wording own has one text for agent 0 and another for age"):
        roster_of(model(first, 0), person(second, 1))


def changed(entry: Entry, **options: object) -> Entry:
    """An entry with other options, in their order; None: without one."""
    order = dict.fromkeys((*FIRST, *SAMPLING, *FRAMING))
    left = {**{n: entry.options[n] for n in order if n in entry.options}, **options}
    gone = [name for name, value in options.items() if value is None]
    kept = [name for name in order if name in left and name not in gone]
    return replace(entry, options={name: left[name] for name in kept})


def recorded_as(text: str) -> dict[str, object]:
    return {"wording_text": text, "wording_sha256": digest_of(text)}


def canonical(tables: object) -> dict[str, object]:
    return recorded_as(json.dumps(tables, sort_keys=True, separators=(",", ":")))


Options = dict[str, object]
HOSTILE: dict[str, tuple[Options, Options, type[Exception]]] = {
    "no text": ({"wording_text": None}, {}, ImpossiblePlayer),
    "a text twice": ({}, {"wording_text": "{}"}, ImpossiblePlayer),
    "another SHA-256": ({}, {"wording_sha256": "0" * 64}, ImpossiblePlayer),
    "a SHA-256 of nothing": ({"wording_sha256": "0" * 64}, {}, ImpossiblePlayer),
    "a control": (canonical({"messages": {"none": "\x1b[2J"}}), {}, ImpossiblePlayer),
    "as the default": (canonical({"messages": {"none": TEXTS["none"]}}), {}, ImpossiblePlayer),
    "a long text": (canonical({"messages": {"none": "x" * 10**6}}), {}, ImpossiblePlayer),
    "deep nesting": (recorded_as("{" * 60_000), {}, ImpossiblePlayer),
    "another text than that of a shipped name": (
        {"wording": "plain", **canonical({"messages": {"none": "-"}})},
        {"wording": "plain"},
        ImpossiblePlayer,
    ),
    "a newer message": (canonical({"messages": {"gone": "x"}}), {}, UnknownPlayer),
    "a newer kind": (canonical({"names": {"kinds": {"loot": "x"}}}), {}, UnknownPlayer),
}


@pytest.mark.parametrize(("first", "second", "error"), HOSTILE.values(), ids=HOSTILE)
def test_a_wording_that_no_run_records_is_told(
    first: dict[str, object], second: dict[str, object], error: type[Exception], tmp_path: Path
) -> None:
    own = written(tmp_path, PLAIN)
    entries = roster_of(model(own, 0), model(own, 1)).entries
    same = {"wording_sha256": first["wording_sha256"]} if "wording_sha256" in first else {}
    forged = [changed(entries[0], **first), changed(entries[1], **{**same, **second})]
    roster = Roster(forged)

    with pytest.raises(error):
        all(can_ask(OFFER, entry, roster) for entry in forged)
    framed = framed_in(roster.as_setup(), 0, WORDABLE)
    for agent in (0, 1):
        with suppress(BadInput):  # and nothing else
            framed(agent)


@given(st.integers(0, 2**63 - 1), st.integers(2, 8), st.integers(0, 9))
def test_a_variant_is_one_draw_for_all_lists_of_an_agent(seed: int, k: int, agent: int) -> None:
    each = [f"variant {index}" for index in range(k)]
    text = of({"none": each, "limits": each, "nothing": "same"})
    options = {
        **model("default", 0).options, "wording": "own", "wording_sha256": text.sha256,
        "wording_text": text.text,
    }  # fmt: skip
    roster = Roster(recorded_once([Entry(agent, "llm", options) for agent in range(10)]))

    framed = framed_in(roster.as_setup(), seed, WORDABLE)(agent)

    index = Draws(seed, 0, agent, "wording").below(k)
    assert index == framed.variant == variants_of(roster.as_setup(), seed)[agent]
    assert [each[index]] * 2 == [framed.messages(id) for id in ("none", "limits")]
    assert "same" == framed.messages("nothing")


def test_agents_are_asked_as_their_options_say() -> None:
    asked = changed(model("plain", 1), reasoning="field", persona="I am <b>.", order="agent")
    policy = Entry(2, "greedy-mine", {"notes": True, "wording": "plain"})
    framed = framed_in(Roster([person("default", 0), asked, policy]).as_setup(), 1, WORDABLE)

    plain = framed(1).wording
    assert Framed(WORDABLE.default, notes=True, order="run") == framed(0)
    assert Framed(plain, 0, True, "field", "I am <b>.", "agent") == framed(1)
    assert ("plain", "take") == (plain.name, plain.names.kind("raid"))
    assert Framed(WORDABLE.default) == framed(2)


@pytest.mark.parametrize("other", [model("default", 1), person("default", 1)])
def test_who_read_each_other_have_the_same_names(other: Entry) -> None:
    mixed = Roster([model("plain", 0), other, Entry(2, "random")])

    check_names(mixed, VERSION, is_open=False)
    check_names(Roster([mixed.entries[0], mixed.entries[2]]), VERSION, is_open=True)
    with pytest.raises(BadInput, match="agent 0 and agent 1 have other names for the same things"):
        check_names(mixed, VERSION, is_open=True)


def test_the_names_of_another_version_are_compared_with_nothing() -> None:
    unknown = canonical({"names": {"kinds": {"loot": "x"}}})
    newer = changed(model("plain", 0), prompt=9, wording="newer", **unknown)

    check_names(roster_of(newer, model("plain", 1), person("plain", 2)), VERSION, is_open=True)


# The text of rosters.

MODELS = Models(
    {
        "m": (Model("m", "m"), Endpoint()),
        "n": (Model("n", "n", notes=False, wording="plain", sample=4), Endpoint()),
    }
)


def test_the_text_of_a_roster_gives_options_over_those_of_the_file() -> None:
    typed = "llm:n[wording=default;sample=0;notes=true]"
    of_file, over, usual = (entry_of(text)["options"] for text in ("llm:n", typed, "llm:m"))

    assert ("plain", 4, None) == tuple(of_file.get(n) for n in ("wording", "sample", "notes"))
    assert usual == {**over, "name": "m", "model": "m"}


def test_the_file_of_models_names_a_wording_that_lies_beside_it(tmp_path: Path) -> None:
    written(tmp_path, '[messages]\nnone = "-"')
    path = tmp_path / "models.toml"
    path.write_text('[m]\nwording = "own.toml"\n[n]\nwording = "plain"\n')

    first, second = OFFER.parse("llm:m*1,llm:n*1", models=Models(read_models(path))).entries

    assert {"messages": {"none": "-"}} == json.loads(first.options["wording_text"])
    assert ["own", "plain"] == [entry.options["wording"] for entry in (first, second)]
    path.write_text("[m]\nwording = 'Own'\n")
    with pytest.raises(BadInput, match=r"\[m\]: wording is 'Own'; it must be the name of a word"):
        read_models(path)


OPTIONS: dict[str, list[str]] = {
    "wording": ["default", "plain"], "notes": ["true", "false"],
    "order": ["fixed", "run", "agent"], "seed_from": ["option", "run"], "sample": ["0", "2"],
    "reasoning": ["none", "field", "open"], "reasoning_effort": ["low", '"1"'],
    "top_p": ["1", "0.5"],
}  # fmt: skip
OF_PEOPLE = ("wording", "notes", "order")


@st.composite
def typed_players(draw: st.DrawFn) -> str:
    """A model or a person as a roster's text names it."""
    name = draw(st.sampled_from(["llm:m", "llm:n", "human"]))
    some = st.lists(st.sampled_from(OF_PEOPLE if name == "human" else list(OPTIONS)), unique=True)
    options = {option: draw(st.sampled_from(OPTIONS[option])) for option in draw(some)}
    if not options:
        return name
    return f"{name}[{';'.join(f'{option}={value}' for option, value in options.items())}]"


def entry_of(text: str) -> dict[str, Any]:
    return resolved(OFFER.parse(text, 1, MODELS).entries[0]).as_dict()


def resolved(entry: Entry) -> Entry:
    """The entry of a model as a server that changes nothing would leave it."""
    if entry.policy != "llm":
        return entry
    return replace(entry, options=Model.of(entry.options).resolved().as_options())


def told(options: dict[str, Any]) -> dict[str, Any]:
    return {
        n: value for n, value in options.items() if n not in ("model", "max_tokens", "seed_from")
    }


@given(typed_players(), typed_players(), *2 * [st.sampled_from([None, "a miser", "a giver"])])
def test_labels_tell_players_apart_and_can_be_typed(
    a: str, b: str, persona_a: str | None, persona_b: str | None
) -> None:
    entries = entry_of(a), entry_of(b)
    labels = [policy_label(entry, VERSION) for entry in entries]

    for text, entry, label in zip((a, b), entries, labels, strict=True):
        is_n = label.startswith("llm:n")  # whose options in the file are other ones
        [parsed] = OFFER.parse(label, 1, Models() if is_n else MODELS).entries
        again = resolved(parsed).as_dict()
        assert (label, told(entry["options"])) == (
            policy_label(again, VERSION),
            told(again["options"]),
        )
        assert matches_label(text, label)
        assert matches_label("llm", label) == label.startswith("llm:")
    is_same = entries[0]["policy"] == entries[1]["policy"]
    options = [told(entry["options"]) for entry in entries]
    assert (labels[0] == labels[1]) == (is_same and options[0] == options[1])
    typed = [pair.partition("=")[0] for pair in a.partition("[")[2].split(";") if pair]
    free = ("seed_from", *(["notes"] if "notes=false" in a else []))
    assert matches_label(a, labels[1]) == (
        is_same
        and all(options[0].get(n) == options[1].get(n) for n in ("name", *typed) if n not in free)
    )
    for entry, persona in zip(entries, (persona_a, persona_b), strict=True):
        entry["options"] |= {} if persona is None else {"persona": persona}
    of_both = [policy_label(entry, VERSION) for entry in entries]
    assert (of_both[0] == of_both[1]) == (labels[0] == labels[1] and persona_a == persona_b)


@given(*2 * [st.text("m%5B[]=;*,", min_size=1, max_size=6)])
def test_the_label_of_any_name_has_no_options_in_it(a: str, b: str) -> None:
    labels = [subject_of(f"llm:{name}", {}, None) for name in (a, b)]

    assert not set("".join(labels)) & set("[];*,")
    assert (labels[0] == labels[1]) == (a == b)
    for name, label in zip((a, b), labels, strict=True):
        assert matches_label("llm", label)
        assert set(name) & set("[];*,") or matches_label(f"llm:{name}", label)


def test_two_wordings_of_one_name_have_other_labels(tmp_path: Path) -> None:
    paths = [tmp_path / folder / "own.toml" for folder in "xy"]
    labels = []
    for path in paths:
        path.parent.mkdir()
        path.write_text(f'[messages]\nnone = "{path}"\n')
        entry = entry_of(f"llm:m[wording={path}]")
        labels.append(policy_label(entry, VERSION))
        assert f"llm:m[wording=own@{entry['options']['wording_sha256'][:4]}]" == labels[-1]

    assert labels[0] != labels[1]
    assert all(matches_label(f"llm:m[wording={path}]", label) for path in paths for label in labels)
    assert not matches_label("llm:m[wording=plain]", labels[0])
    assert matches_label("llm:m[wording=a/plain.toml]", "llm:m[wording=plain]")
