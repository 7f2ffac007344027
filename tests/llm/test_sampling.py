"""What requests have besides the question: sampling, seeds from the run's, further fields; and what
of that a server decides before a run.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import goldrush
from goldrush.agents.llm import asker
from goldrush.agents.llm.client import Client
from goldrush.agents.llm.extra_body import canonical, is_canonical
from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Endpoint, Models
from goldrush.agents.llm.options import AUTO, FIELD, NONE, OPEN, OPTION, SCHEMA, TEXT
from goldrush.agents.llm.question import Question
from goldrush.agents.seats import with_models_resolved
from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.competition.seats import short_schema
from goldrush.agents.worlds.mining.roster import POLICY_SET
from goldrush.games.public_goods import PublicGoods
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput
from tests.journals import commits_of
from tests.llm.runs import table
from tests.llm.seasons import SETTINGS, WORLDS, answers_in, playing
from tests.llm.servers import Asked, Reply, answered, completion, error, question, serving
from tests.playing import record
from tests.seasons import resume

KEY = "sk-0123456789abcdef"
FORM = {
    "type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"],
    "additionalProperties": False,
}  # fmt: skip
EXTRA = canonical({"top_k": 5, "chat_template_kwargs": {"enable_thinking": False}})


def test_a_request_has_what_the_model_says() -> None:
    model = Model(
        "a", "a-1", temperature=0, max_tokens=9, top_p=0.5, reasoning_effort="low", seed=0,
        extra_body=EXTRA, answer=SCHEMA,
    )  # fmt: skip
    form = {"name": "answer", "strict": True, "schema": FORM}
    with serving(lambda asked: completion("{}")) as server, closing(Client(1)) as client:
        asked = replace(question(server.address, model=model), make_schema=lambda: FORM, seed=5)
        list(answered(client, [asked]))

    assert {
        "model": "a-1", "messages": list(asked.messages), "temperature": 0.0,
        "seed": 0, "top_p": 0.5, "reasoning_effort": "low", "max_tokens": 9,
        "response_format": {"type": "json_schema", "json_schema": form}, **json.loads(EXTRA),
    } == server.asked[0].body == asked.request()  # fmt: skip


# --- extra_body ---


@pytest.mark.parametrize(
    "field",
    [
        'prompt_cache_key = "x"', "stop_token_ids = [2]", "return_tokens = true", "top_k = 20",
        'reasoning = {enabled = true, effort = "low"}', 'user = "x"', "n = 1", "x = {n = 1}",
        "chat_template_kwargs = {enable_thinking = false}", "thinking_token_budget = 9",
        "guided_json = {properties = {model = {properties = {seed = {type = 'integer'}}}}}",
    ],
)  # fmt: skip
def test_fields_that_only_sound_like_secrets_are_sent(tmp_path: Path, field: str) -> None:
    assert table(tmp_path, f"[a.extra_body]\n{field}")["a"][0].extra_body is not None


SECRET, OURS, MORE = "the name of a secret", "is sent by goldrush", "more than one answer"


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ('x = {y = [{api_key = "v"}]}', SECRET), ('x = {"X-Authorization" = "v"}', SECRET),
        ('client_secret = "v"', SECRET), ("x = {sessionTokens = ['v']}", SECRET),
        ("tokens = {x = 'v'}", SECRET), ('db_pass = "v"', SECRET), ('jwt = "v"', SECRET),
        ("topP = 2", OURS), ("chat_template_kwargs = {max_tokens = 9}", OURS),
        ("x = {properties = {model = 'm'}}", OURS), ("n = 8", MORE), ("x = {n = 5}", MORE),
        ("maxOutputTokens = 8", MORE), ("options = {num_predict = 9}", MORE),
        ("properties = {y = {seed = [{top_p = 1}]}}", OURS), ("x.z = nan", "JSON cannot hold"),
        ("x = 1979-05-27", "a date"), (f"x = {'[' * 8}{']' * 8}", "more than 8 deep"),
        (f"x = '{'y' * 4096}'", "more than 4,096 bytes"), ("", "it is empty"),
    ],
)  # fmt: skip
def test_fields_that_no_request_can_have_are_refused(
    fields: str, what: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=rf"models\.toml, \[a\]: extra_body: .*{what}"):
        table(tmp_path, f"[a.extra_body]\n{fields}")


_NAMES = st.text("abcdkeytoknsrä", max_size=6)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_NAMES, inner, max_size=2),
)


@given(st.dictionaries(_NAMES, _VALUES, max_size=3))
def test_fields_have_one_text_and_come_out_of_it_the_same(fields: dict[str, Any]) -> None:
    try:
        text = canonical(fields)
    except ValueError:
        return
    if is_canonical(text):
        assert text == canonical(json.loads(text))
        assert json.loads(text) == fields
        assert not is_canonical(text + " ")
        assert "key" not in {name.lower() for name in fields}


@pytest.mark.parametrize(
    "text",
    ["[]", '{"b":1,"a":1}', '{"a": 1}', '{"a":"\\u00e4"}', '{"a":NaN}', "[" * 4096, '{"key":1}', 3],
)
def test_an_entry_with_another_text_is_forged(text: Any) -> None:
    model = Model("a", "a-1", max_tokens=9, notes=False, seed_from=OPTION, reasoning=NONE, prompt=1)
    options = {**model.as_options(), "extra_body": text}
    with pytest.raises(BadInput):
        Model.of(options)


@pytest.mark.parametrize(
    "options",
    [
        {"extra_body": canonical({"x": {KEY: 1}})}, {"persona": f"I am {KEY}"},
        {"model": f"m-{KEY}"}, {"wording": "own.toml"},
    ],
)  # fmt: skip
def test_a_key_in_use_is_refused_wherever_it_stands(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text(f"[messages]\nquotes = 'no {KEY}'\n")
    monkeypatch.setenv("TEST_KEY", KEY)
    with serving(playing) as server:
        endpoint = Endpoint(server.address, key_env="TEST_KEY")
        known = Models({"a": (Model("a", **{"model": "a-1", **options}), endpoint)})
        named = next(iter(options))
        with pytest.raises(BadInput, match=f"{named} of a has the value of a key") as refused:
            record(
                tmp_path / "s.journal", SETTINGS, cast_of(4, ["judge=llm:a"], known), models=known
            )

    assert KEY not in str(refused.value)
    assert not server.greeted
    assert ["own.toml"] == [file.name for file in tmp_path.iterdir()]


def test_a_key_is_found_in_an_option_in_which_it_is_escaped() -> None:
    key = 'sk-"\\0123456'
    model = Model("a", "a-1", extra_body=canonical({"x": key}))

    with pytest.raises(BadInput, match="extra_body of a has the value of a key"):
        asker._check_secrets(model, [key])


# --- seeds ---


def known(address: str, **options: Any) -> Models:
    model = Model("a", "a-1", **{"answer": TEXT, "reasoning": NONE, **options})
    return Models({"a": (model, Endpoint(address, tries=1))}, concurrency=1)


def test_a_request_of_a_season_has_a_seed_of_its_own(tmp_path: Path) -> None:
    """Drawn by the run's seed, the assignment, the agent, the number of questions to it in the
    assignment before, and the sample; a run that was cut anywhere goes on with the same.
    """
    path, cut = tmp_path / "s.journal", tmp_path / "cut.journal"
    with serving(playing) as server:
        models = known(server.address, sample=4)
        cast = cast_of(4, ["ada=llm:a", "judge=llm:a"], models)
        record(path, SETTINGS, cast, models=models)
        sent = [asked.body["seed"] for asked in server.asked]
        for commit in commits_of(path)[1:-1:4]:
            server.asked.clear()
            cut.write_bytes(path.read_bytes()[: commit.end])
            resume(cut, models=models)
            left = [asked.body["seed"] for asked in server.asked]
            assert sent[len(sent) - len(left) :] == left
    placed = [(number, row[0]) for number, row in answers_in(path)]
    keys = [(*place, "model", placed[:at].count(place), 4) for at, place in enumerate(placed)]

    assert [Draws(2, *key).word() & 0x7FFFFFFF for key in keys] == sent
    assert len({*sent}) == len(sent)


def test_a_game_counts_the_steps_of_a_unit_in_which_an_agent_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    with serving(lambda asked: completion('{"tokens": 3, "points": [0, 0, 0, 0]}')) as server:
        run = goldrush.record(
            PublicGoods, path, roster="llm:a,selfish*3", models=known(server.address), seed=5,
            rounds=2,
        )  # fmt: skip
    sent = [asked.body["seed"] for asked in server.asked]
    keys = [(5, unit, 0, "model", number, 0) for unit in (1, 2) for number in (0, 1)]

    assert [Draws(*key).word() & 0x7FFFFFFF for key in keys] == sent
    assert run.verify().holds
    assert sent[2:] == [prompt.question.request()["seed"] for prompt in run.prompts(2, 0)]


# --- what a server decides ---


def decided(respond: Callable[[Asked], Reply], **options: Any) -> tuple[list[dict[str, Any]], int]:
    """The options of the models of a new roster, of which two differ in what they are shown, and
    how often the server was asked.
    """
    with serving(respond, greets=False) as server:
        models = known(server.address, **options)
        admin, judge, *others = cast_of(4, ["judge=llm:a", "admin=llm:a"], models)
        admin = replace(admin, options={**admin.options, "persona": "Strict."})
        lines: list[str] = []
        cast = with_models_resolved(
            [admin, judge, *others], attrs.evolve(models, warn=lines.append), short_schema
        )
    chosen = [dict(seat.options) for seat in cast if seat.options]
    assert ["Strict.", None] == [options.get("persona") for options in chosen]
    new = {name: chosen[0].get(name) for name in ("seed_from", "reasoning")}
    is_told = any(line.startswith("llm:a: its server") for line in lines)
    assert is_told == (new["reasoning"] == OPEN or {**new, **options}["seed_from"] is None)
    return chosen, len(server.asked)


def no_seeds(asked: Asked) -> Reply:
    return error(400, "seed: unknown field") if "seed" in asked.body else completion("{}")


def thinking(asked: Asked) -> Reply:
    """The template opens the reasoning, which takes more than the short answer has room for."""
    if asked.body["max_tokens"] < 1_000:
        return completion("So they want", "length")
    return completion('So they want {}.\n</think>\n{"ready": true}')


@pytest.mark.parametrize(
    ("respond", "options", "expected", "asked"),
    [
        (no_seeds, {}, {"seed_from": None, "max_tokens": 2_000}, 2),
        (no_seeds, {"seed_from": OPTION, "seed": None}, {"seed_from": None}, 1),
        (thinking, {"reasoning": AUTO}, {"reasoning": OPEN, "max_tokens": 8_000}, 2),
        (thinking, {"reasoning": AUTO, "max_tokens": 9}, {"reasoning": OPEN, "max_tokens": 9}, 2),
        (thinking, {"reasoning": FIELD}, {"reasoning": FIELD, "max_tokens": 2_000}, 1),
    ],
)  # fmt: skip
def test_the_form_of_requests_is_decided_once_for_all_that_have_it(
    respond: Callable[[Asked], Reply],
    options: dict[str, Any],
    expected: dict[str, Any],
    asked: int,
) -> None:
    chosen, count = decided(respond, **options)

    assert asked == count
    for each in chosen:
        assert expected == {name: each.get(name) for name in expected}


def test_fields_of_requests_are_called_as_a_server_calls_them() -> None:
    text = canonical({"options": {"num_ctx": 8192}, "b": [1]})
    model = Model("m", "m", seed=5, seed_from=OPTION, extra_body=text, persona="of a table")

    body = Question(0, model=model, server=Endpoint(seed_name="random_seed")).request()

    assert (5, None, {"num_ctx": 8192}) == (
        body["random_seed"], body.get("seed"), body["options"]
    )  # fmt: skip
    [line] = Models({"m": (Model("m", "m", seed=5), Endpoint())}).ignored(model, "m")
    assert "m keeps the extra_body of the run" in line


def test_what_is_typed_in_brackets_stays() -> None:
    schema = {"type": "object", "properties": {"plan": {"type": "boolean"}}}

    def resolved(respond: Callable[[Asked], Reply], typed: str) -> dict[object, object]:
        with serving(respond, greets=False) as server:
            models = attrs.evolve(known(server.address, reasoning=AUTO), warn=lambda line: None)
            entries = POLICY_SET.parse(f"{typed}*1,llm:a*1", models=models).entries
            chosen = with_models_resolved(entries, models, lambda: schema)
        return {each.options.get("reasoning"): each.options["max_tokens"] for each in chosen}

    assert {None: 2_000, OPEN: 8_000} == resolved(thinking, "llm:a[reasoning=none]")
    with pytest.raises(BadInput, match="takes no seed: HTTP 400: seed: unknown field; write seed"):
        resolved(no_seeds, "llm:a[seed_from=run]")


def test_a_run_that_has_seeds_does_not_go_on_without(tmp_path: Path) -> None:
    path, cut = tmp_path / "s.journal", tmp_path / "cut.journal"
    with serving(playing) as server:
        models = known(server.address)
        record(path, SETTINGS, cast_of(4, ["judge=llm:a"], models), models=models)
        cut.write_bytes(path.read_bytes()[: commits_of(path)[2].end])
        server.greets, server.respond = False, no_seeds
        with pytest.raises(BadInput, match="takes no seed"):
            resume(cut, models=models)


@pytest.mark.parametrize("world", WORLDS)
def test_reasoning_is_the_first_field_and_stands_once(world: str, path: Path) -> None:
    with serving(lambda asked: completion("{}")) as server:
        models = known(server.address, reasoning=FIELD, answer=SCHEMA)
        goldrush.record(path=path, models=models, **WORLDS[world])
    forms = [asked.body["response_format"]["json_schema"]["schema"] for asked in server.asked]

    assert ["reasoning"] * len(forms) == [form["required"][0] for form in forms] != []
    assert [list(form["properties"]) for form in forms] == [form["required"] for form in forms]
