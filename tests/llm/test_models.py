"""Models: files of them, their names in rosters, where they are reached, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.agents import llm
from goldrush.agents.llm.model import (
    AUTO,
    FIRST,
    FRAMING,
    MAX_TOKENS_MAX,
    NAME_MAX,
    SAMPLING,
    Framing,
    Model,
)
from goldrush.agents.llm.models import FILE_MAX, KEY_MIN, Endpoint, Models, read_models
from goldrush.agents.llm.versions import PromptVersion, decided
from goldrush.agents.roster import Roster
from goldrush.agents.trust import LLM
from goldrush.agents.worlds.mining.prompts.prompt import wordable
from goldrush.agents.worlds.mining.roster import POLICY_SET, PROMPT
from goldrush.kernel.errors import BadInput

KEY = "sk-0123456789abcdef"
NAMES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TEST_KEY")


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


def read(tmp_path: Path, text: str | bytes) -> dict[str, tuple[Model, Endpoint]]:
    path = tmp_path / "models.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_models(path)


def refusal(tmp_path: Path, text: str | bytes) -> BadInput:
    with pytest.raises(BadInput) as refused:
        read(tmp_path, text)
    return refused.value


# Files.


def test_a_table_is_a_model_and_how_it_is_reached(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """
        [quick]
        model = "vendor/quick-1"
        base_url = "http://127.0.0.1:8080/v1"
        key_env = "QUICK_KEY"
        temperature = 1
        max_tokens = 300
        seed = 7
        answer = "schema"
        limit = "max_completion_tokens"
        timeout = 30
        tries = 2
        price_in = 0.5
        price_out = 2

        [plain]
        """,
    )

    assert {
        "quick": (
            Model("quick", "vendor/quick-1", 1.0, 300, 7, "schema", "max_completion_tokens"),
            Endpoint("http://127.0.0.1:8080/v1", "QUICK_KEY", 30, 2, 0.5, 2),
        ),
        "plain": (Model("plain", "plain"), Endpoint()),
    } == found
    assert "1.0" == repr(found["quick"][0].temperature)


def test_an_empty_file_has_no_model(tmp_path: Path) -> None:
    assert {} == read(tmp_path, "# none\n")


@pytest.mark.parametrize(
    "name", ["a", "llama3.2:3b", "vendor/model-1", "modèle", "two words", "x" * NAME_MAX]
)
def test_a_model_may_have_any_printed_name(name: str, tmp_path: Path) -> None:
    assert {name: (Model(name, name), Endpoint())} == read(tmp_path, f'["{name}"]')


@pytest.mark.parametrize(
    ("line", "what", "instead"),
    [
        ('model = ""', "model is ''", "a name of at most 200 visible characters"),
        ("model = 7", "model is 7", "a name of at most 200 visible characters"),
        ('model = "a\\nb"', "model is 'a\\nb'", "a name of at most 200 visible characters"),
        ("temperature = -0.1", "temperature is -0.1", "a number from 0 to 2"),
        ("temperature = 2.1", "temperature is 2.1", "a number from 0 to 2"),
        ("temperature = nan", "temperature is nan", "a number from 0 to 2"),
        ("temperature = inf", "temperature is inf", "a number from 0 to 2"),
        ("temperature = true", "temperature is true", "a number from 0 to 2"),
        ('temperature = "1"', "temperature is '1'", "a number from 0 to 2"),
        ("max_tokens = -1", "max_tokens is -1", "a whole number from 0 to 65536"),
        ("max_tokens = 65537", "max_tokens is 65537", "a whole number from 0 to 65536"),
        ("max_tokens = 1.0", "max_tokens is 1.0", "a whole number from 0 to 65536"),
        ("max_tokens = true", "max_tokens is true", "a whole number from 0 to 65536"),
        ("seed = -1", "seed is -1", "a whole number from 0 to 9007199254740991"),
        ("seed = 9007199254740992", "seed is 9007199254740992", "a whole number from 0 to 9"),
        ('answer = "json"', "answer is 'json'", "one of auto, schema, text"),
        ("answer = []", "answer is []", "one of auto, schema, text"),
        ('limit = "tokens"', "limit is 'tokens'", "one of max_tokens, max_completion_tokens"),
        ("timeout = 0", "timeout is 0", "a number from 0.01 to 86400"),
        ("timeout = 86401", "timeout is 86401", "a number from 0.01 to 86400"),
        ("tries = 0", "tries is 0", "a whole number from 1 to 100"),
        ("tries = 101", "tries is 101", "a whole number from 1 to 100"),
        ("price_in = -1", "price_in is -1", "a number from 0 to 1e+06"),
        ("price_out = 1000001", "price_out is 1000001", "a number from 0 to 1e+06"),
        ("price_out = nan", "price_out is nan", "a number from 0 to 1e+06"),
        ('persona = ""', "persona is ''", "a text of 1 to 4,000 characters and at most 8,000"),
    ],
)
def test_a_field_out_of_range_is_named_with_its_table(
    line: str, what: str, instead: str, tmp_path: Path
) -> None:
    refused = refusal(tmp_path, f"[fine]\n[wrong]\n{line}")

    assert f"{tmp_path}/models.toml, [wrong]: {what}" == refused.what
    assert refused.instead.startswith(f"it must be {instead}")


@pytest.mark.parametrize(
    "line",
    [
        "temperature = 0", "temperature = 2.0", "max_tokens = 0", f"max_tokens = {MAX_TOKENS_MAX}",
        "seed = 0", "seed = 9007199254740991", "timeout = 0.01", "timeout = 86400", "tries = 1",
        "tries = 100", "price_in = 0\nprice_out = 1e6", 'key_env = "_K9"',
    ],
)  # fmt: skip
def test_both_ends_of_a_range_belong_to_it(line: str, tmp_path: Path) -> None:
    assert ["a"] == list(read(tmp_path, f"[a]\n{line}"))


@pytest.mark.parametrize(
    ("field", "meant"),
    [
        ("password", ""), ("Model", "did you mean model? "),
        ("max-tokens", "did you mean max_tokens? "), ("temprature", "did you mean temperature? "),
    ],
)  # fmt: skip
def test_a_field_that_there_is_not_is_named(field: str, meant: str, tmp_path: Path) -> None:
    refused = refusal(tmp_path, f'[a]\n{field} = "{KEY}"')

    assert f"{tmp_path}/models.toml, [a] has '{field}'" == refused.what
    assert (
        f"{meant}it may have model, temperature, max_tokens, seed, answer, limit, top_p, "
        "reasoning_effort, extra_body, seed_from, sample, reasoning, notes, wording, persona, "
        "order, base_url, key_env, timeout, tries, price_in, price_out, price_cached, rate, "
        "headers, query"
    ) == refused.instead


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('model = "a"', ", [model] is not a table"),
        ("[[a]]", ", [a] is not a table"),
        ("a = 1", ", [a] is not a table"),
        ('[""]', ", []: name is ''"),
        ('["a\\tb"]', ": name is 'a\\tb'"),
        (f'["{"x" * (NAME_MAX + 1)}"]', ": name is 'xxx"),
        ("[a]\n[a]", " is not valid TOML: "),
        ("[a", " is not valid TOML: "),
        (b"[a]\nmodel = '\xff'", " is not valid TOML: "),
        (b"\x00", " is not valid TOML: "),
        ("[a]\nseed = " + "9" * 5_000, " is not valid TOML: "),
        ("a = " + "[" * 100_000, " nested "),
        ("\ufeff[a]", " begins with a byte order mark"),
        (b"#" * (FILE_MAX + 1), " has more than 1,048,576 bytes"),
    ],
)
def test_what_is_no_file_of_models_is_refused(text: str | bytes, what: str, tmp_path: Path) -> None:
    refused = refusal(tmp_path, text)

    assert refused.what.startswith(f"{tmp_path}/models.toml")
    assert what in refused.what
    assert len(str(refused)) < 500


def test_the_largest_file_is_read(tmp_path: Path) -> None:
    assert ["a"] == list(read(tmp_path, b"[a]\n".ljust(FILE_MAX, b"#")))


@pytest.mark.parametrize("name", ["nothing.toml", "."])
def test_a_file_that_cannot_be_read_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot read .*; give a TOML file"):
        read_models(tmp_path / name)


# Keys and addresses.


@pytest.mark.parametrize("field", ["key", "api_key", "token"])
def test_a_key_in_a_file_is_refused_unseen(field: str, tmp_path: Path) -> None:
    refused = refusal(tmp_path, f'[a]\n{field} = "{KEY}"')

    assert f"{tmp_path}/models.toml, [a] holds a key" == refused.what
    assert "put it in the environment and name it: key_env" == refused.instead
    assert KEY not in str(refused)


@pytest.mark.parametrize(
    "text", [f"[a]\napi_key = {KEY}", f"[a]\napi_key = '{KEY}", f"[a]\n{KEY}", f"[{KEY}\n"]
)
def test_a_key_in_what_is_no_toml_is_unseen(text: str, tmp_path: Path) -> None:
    refused = refusal(tmp_path, text)

    assert " is not valid TOML: " in refused.what
    assert KEY not in str(refused)


@pytest.mark.parametrize(
    "value", [f'"{KEY}"', '"lower_case"', '"9A"', '"A-B"', '""', "7", '"A\\n"', f'["{KEY}"]', '"Ä"']
)
def test_a_key_in_place_of_its_name_is_refused_unseen(value: str, tmp_path: Path) -> None:
    refused = refusal(tmp_path, f"[a]\nkey_env = {value}")

    assert f"{tmp_path}/models.toml, [a]: key_env" == refused.what
    assert (
        "it must be the name of an environment variable that holds the key, in capitals"
        == refused.instead
    )


BAD_ADDRESSES = [
    f"http://user:{KEY}@127.0.0.1/v1", f"https://{KEY}@127.0.0.1/v1", f"http://:{KEY}@127.0.0.1",
    f"http://127.0.0.1/v1?key={KEY}", f"http://127.0.0.1/v1#{KEY}", f"ftp://127.0.0.1/{KEY}",
    f"{KEY}", f"http:///{KEY}", f"http://[::1/{KEY}", f"http://127.0.0.1:{KEY}/v1",
    f"http://127.0.0.1:99999/{KEY}", f"http://127.0.0.1:0/{KEY}", f" http://127.0.0.1/{KEY}",
    f"http://127.0.0.1/{KEY} ", f"http://127.0.0.1/\t{KEY}", f"http://127.0.0.1/\u202e{KEY}", "",
]  # fmt: skip


@pytest.mark.parametrize("address", BAD_ADDRESSES)
def test_an_address_that_is_none_is_refused_unseen(address: str, tmp_path: Path) -> None:
    quoted = address.replace("\t", "\\t")
    refused = refusal(tmp_path, f'[a]\nbase_url = "{quoted}"')

    assert f"{tmp_path}/models.toml, [a]: base_url is invalid" == refused.what
    assert "it must be http(s)://host/path, without a key or password in it" == refused.instead


@pytest.mark.parametrize("address", BAD_ADDRESSES)
def test_an_address_for_all_is_held_to_the_same(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadInput, match="base_url is invalid") as refused:
        Models(base_url=address)
    assert KEY not in str(refused.value)

    if address:
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        with pytest.raises(BadInput, match="base_url is invalid") as refused:
            Models().endpoint("a")
        assert KEY not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:8080/v1", "https://api.example/", "HTTP://host", "http://[::1]:80/v1",
        "http://modèle.example/v1", "https://host:65535/a/b/c/",
    ],
)  # fmt: skip
def test_an_address_may_be_any_of_a_server(address: str, tmp_path: Path) -> None:
    assert address == read(tmp_path, f'[a]\nbase_url = "{address}"')["a"][1].base_url


def test_the_nearest_address_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {
        "own": (Model("own", "own"), Endpoint("http://own/v1")),
        "plain": (Model("plain", "plain"), Endpoint(tries=9)),
    }
    monkeypatch.setenv("OPENAI_BASE_URL", "http://environment/v1")
    given = Models(known, base_url="http://given/v1")

    assert "http://own/v1" == given.endpoint("own").base_url
    assert Endpoint("http://given/v1", tries=9) == given.endpoint("plain")
    assert Endpoint("http://given/v1") == given.endpoint("other")
    assert Endpoint("http://environment/v1") == Models(known).endpoint("other")
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    assert Endpoint() == Models(known).endpoint("other")


@pytest.mark.parametrize(
    ("endpoint", "environment", "key"),
    [
        (Endpoint(), {"OPENAI_API_KEY": KEY}, KEY),
        (Endpoint("http://host/v1"), {"OPENAI_API_KEY": KEY}, KEY),
        (Endpoint("http://host/v1"), {}, None),
        (Endpoint("http://host/v1"), {"OPENAI_API_KEY": " "}, None),
        (Endpoint("http://host/v1", "TEST_KEY"), {"TEST_KEY": KEY, "OPENAI_API_KEY": "no"}, KEY),
        (Endpoint(None, "TEST_KEY"), {"TEST_KEY": f"{KEY}\n"}, KEY),
    ],
)
def test_a_key_is_what_the_environment_holds(
    endpoint: Endpoint,
    environment: dict[str, str],
    key: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert key == endpoint.key()
    assert KEY not in repr(endpoint)


@pytest.mark.parametrize(
    ("endpoint", "name", "of"),
    [
        (Endpoint(), "OPENAI_API_KEY", "OpenAI"),
        (Endpoint(None, "TEST_KEY"), "TEST_KEY", "OpenAI"),
        (Endpoint("http://host/v1", "TEST_KEY"), "TEST_KEY", "http://host/v1"),
    ],
)
def test_a_key_that_is_missing_is_named(endpoint: Endpoint, name: str, of: str) -> None:
    with pytest.raises(BadInput) as refused:
        endpoint.key()

    assert f"the environment has no {name}" == refused.value.what
    assert f"set it to the key of {of}, or give another server (--base-url)" == (
        refused.value.instead
    )


# Limits of a run.


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"concurrency": 0}, "concurrency is 0; it must be a whole number from 1 to 1000"),
        ({"concurrency": 1_001}, "concurrency is 1001"),
        ({"concurrency": True}, "concurrency is True"),
        ({"patience": 0}, "patience is 0; it must be a whole number from 1 to 1000000"),
        ({"patience": 1.5}, "patience is 1.5"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"max_tokens": 10**15 + 1}, "max_tokens is 1000000000000001"),
        ({"max_cost": -0.01}, "max_cost is -0.01; it must be a number from 0 to 1e"),
        ({"max_cost": float("nan")}, "max_cost is nan"),
        ({"max_cost": float("inf")}, "max_cost is inf"),
        ({"max_cost": "1"}, "max_cost is '1'"),
    ],
)
def test_a_limit_out_of_range_is_refused(limits: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput) as refused:
        Models(**limits)

    assert str(refused.value).startswith(says)


def test_limits_may_be_at_their_ends() -> None:
    Models(concurrency=1, patience=1, max_tokens=1, max_cost=0)
    Models(concurrency=1_000, patience=1_000_000, max_tokens=10**15, max_cost=1e12)


# What a journal holds.


def test_options_are_a_model_again() -> None:
    model = Model("a", "vendor/a", 0.7, 300, 7, "schema", "max_completion_tokens")
    first = decided(model, BARE).resolved()
    last = decided(model, VERSION).resolved()

    assert FIRST == tuple(first.as_options())
    assert (*FIRST, "notes") == tuple(last.as_options())
    for each in (first, last):
        assert each == Model.of(each.as_options())


BARE = PromptVersion(1, 9_999, (), wordable)
VERSION = PromptVersion(2, 9_999, FRAMING, wordable)
OPTIONS: dict[str, st.SearchStrategy[Any]] = {
    "temperature": st.none() | st.floats(0, 2) | st.integers(0, 2),
    "seed": st.none() | st.integers(0, 2**53 - 1),
    "answer": st.sampled_from(["schema", "text"]),
    "top_p": st.none() | st.floats(0, 1) | st.integers(0, 1),
    "reasoning_effort": st.sampled_from([None, "low"]),
    "seed_from": st.sampled_from(["auto", "option", "run"]),
    "sample": st.integers(0, 2**31 - 1),
    "reasoning": st.sampled_from(["auto", "none", "field", "open"]),
    "notes": st.none() | st.booleans(),
    "persona": st.none() | st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=9),
    "order": st.sampled_from(["fixed", "run", "agent"]),
}


@given(
    st.builds(
        Model,
        name=st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=9),
        model=st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=9),
        max_tokens=st.integers(0, MAX_TOKENS_MAX),
        **OPTIONS,
    )
)
def test_any_model_comes_back_from_its_options(model: Model) -> None:
    chosen = decided(model, VERSION).resolved()
    options = chosen.as_options()
    given = {name: getattr(model, name) for name in (*FIRST, *SAMPLING, *FRAMING)}

    assert chosen == Model.of(options)
    assert all(
        getattr(chosen, name) == value
        for name, value in given.items()
        if value not in (AUTO, 0, None)
    )
    assert (2, 0) < (chosen.prompt, chosen.max_tokens)
    changed = {"seed_from": "option", "reasoning": "none", "notes": False, "sample": 0}
    for name in changed.keys() - options.keys():
        with pytest.raises(BadInput, match=rf"the option {name} is .*; it must be left out"):
            Model.of({**options, name: changed[name]})
    if len(options) > len(FIRST) + 1:
        first, last = ", ".join(options), ", ".join(reversed(options))
        with pytest.raises(BadInput, match=f"order of the options is {last}; it must be {first}"):
            Model.of(dict(reversed(options.items())))


def test_a_number_of_another_type_than_a_run_writes_is_refused_by_the_name_of_its_option() -> None:
    with pytest.raises(BadInput, match=r"^the option top_p is 1; it must be 1\.0$"):
        Model.of({**GOOD, "top_p": 1})


def test_a_world_without_an_option_has_none() -> None:
    with pytest.raises(BadInput, match="model a has persona, which prompts of this world do"):
        decided(Model("a", "a", persona="x"), BARE)
    assert 2_000 == decided(Model("a", "a"), BARE).resolved().max_tokens
    assert 8_000 == Model("a", "a", reasoning="open").resolved().max_tokens


@pytest.mark.parametrize("number", [None, 0, -1, 1, True, "2", "x" * 10_000])
def test_an_agent_that_was_asked_with_another_version_is_refused(number: object) -> None:
    with pytest.raises(BadInput, match="this goldrush asks with version 2; use the") as refused:
        VERSION.check({"prompt": number})

    assert len(str(refused.value)) < 300
    VERSION.check({"prompt": 2})


def test_a_person_has_the_options_of_framing_alone() -> None:
    person = decided(Framing(persona="a miner", order="run"), VERSION)

    assert ["prompt", "notes", "persona", "order"] == list(person.as_options())
    assert person == Framing.of(person.as_options())
    with pytest.raises(BadInput, match="option 'top_p'; it must be one of prompt, notes"):
        Framing.of({"prompt": 2, "top_p": 0.5})


GOOD = decided(Model("a", "a"), BARE).resolved().as_options()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"name": "a"},
        {**GOOD, "key": KEY},
        {"\x1b[2J": 1},
        {name: GOOD[name] for name in GOOD if name != "seed"},
        {**GOOD, "name": ""},
        {**GOOD, "name": None},
        {**GOOD, "model": "a\x1b[2J"},
        {**GOOD, "temperature": 3},
        {**GOOD, "max_tokens": None},
        {**GOOD, "max_tokens": 10**30},
        {**GOOD, "seed": 1.0},
        {**GOOD, "answer": None},
        {**GOOD, "limit": "n"},
        {**GOOD, "prompt": 0},
        {**GOOD, "prompt": "1"},
    ],
)
def test_options_that_are_no_model_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as refused:
        Model.of(options)

    assert KEY not in str(refused.value)
    assert str(refused.value).isprintable()


# Rosters.


def models_in(roster: Roster) -> list[str | None]:
    """The model's name for each agent, or the policy in brackets."""
    return [
        entry.options["name"] if entry.policy == LLM else f"({entry.policy})"
        for entry in roster.entries
    ]


A, B = Model("model-a", "vendor/a", 0.5), Model("model-b", "vendor/b", max_tokens=99)
KNOWN = {"model-a": (A, Endpoint("http://a/v1")), "model-b": (B, Endpoint("http://b/v1"))}


def test_a_roster_mixes_models_and_policies() -> None:
    roster = POLICY_SET.parse("llm:model-a*4,llm:model-b*4,greedy-mine*2", models=Models(KNOWN))

    assert ["model-a"] * 4 + ["model-b"] * 4 + ["(greedy-mine)"] * 2 == models_in(roster)
    assert decided(B, PROMPT).as_options() == roster.entries[4].options
    assert "http" not in repr(roster)


@pytest.mark.parametrize(
    ("text", "agents", "names"),
    [
        ("llm:model-a", 3, ["model-a"] * 3),
        ("llm:model-a,greedy-mine", 3, ["model-a", "(greedy-mine)", "model-a"]),
        ("llm:model-a * 1 , llm:model-b * 1", None, ["model-a", "model-b"]),
        ("llm*2", None, ["model-b"] * 2),
        ("llm:*2", None, ["model-b"] * 2),
    ],
)
def test_a_model_is_named_behind_llm(text: str, agents: int | None, names: list[str]) -> None:
    roster = POLICY_SET.parse(text, agents, Models(KNOWN, default="model-b"))

    assert names == models_in(roster)


@pytest.mark.parametrize("name", ["gpt", "llama3.2:3b", "vendor/model-1"])
def test_without_a_file_a_model_is_called_as_its_server_does(name: str) -> None:
    [entry] = POLICY_SET.parse(f"llm:{name}*1").entries

    assert decided(Model(name, name), PROMPT) == Model.of(entry.options)


def test_a_model_that_the_file_does_not_have_is_no_other_server_s() -> None:
    with pytest.raises(BadInput, match=r"no table \[model-aa\]; did you mean model-a\?"):
        POLICY_SET.parse("llm:model-aa*1", models=Models(KNOWN))


def test_llm_alone_is_the_only_model_that_is_known() -> None:
    roster = POLICY_SET.parse("llm*2", models=Models({"model-a": KNOWN["model-a"]}))

    assert ["model-a"] * 2 == models_in(roster)


@pytest.mark.parametrize("known", [{}, KNOWN])
def test_llm_alone_is_refused_where_it_could_be_any(known: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as refused:
        POLICY_SET.parse("llm*2", models=Models(known))

    assert "`llm` alone names no model" == refused.value.what
    assert "write llm:MODEL, or give --model" == refused.value.instead


def test_a_default_may_be_a_name_that_only_the_server_knows() -> None:
    assert Model("gpt", "gpt") == Models(default="gpt").named("")


def test_a_model_with_a_name_of_its_own_is_not_asked_without_its_file() -> None:
    with pytest.raises(BadInput, match=r"model careful .* is not known; give the file"):
        Models().endpoint_of(Model("careful", "some-large-model"))


def test_one_price_alone_is_refused(tmp_path: Path) -> None:
    assert "give both" in refusal(tmp_path, "[a]\nprice_in = 1").instead


def test_a_server_of_ones_own_is_not_sent_the_key_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-somebody-elses")
    known = read(tmp_path, '[a]\nbase_url = "http://127.0.0.1:1/v1"\n[b]\n')

    assert None is Models(known).endpoint("a").key()
    assert "sk-somebody-elses" == Models(known).endpoint("b").key()


def test_what_the_file_says_otherwise_than_the_journal_is_told() -> None:
    began = Model("a", "model-a", temperature=0.2)
    now = Models({"a": (Model("a", "other", temperature=0.9), Endpoint())})

    assert [
        "llm:a keeps the model of the run, 'model-a'; 'other' is ignored",
        "llm:a keeps the temperature of the run, 0.2; 0.9 is ignored",
    ] == now.ignored(began, "llm:a")
    assert [] == Models().ignored(began, "llm:a")


@pytest.mark.parametrize("name", ["x" * (NAME_MAX + 1), "a\x1b[2J", "a\nb"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(
        BadInput, match=r"a name of at most 200 visible characters|cannot be seen"
    ) as refused:
        POLICY_SET.parse(f"llm:{name}*1")

    assert str(refused.value).isprintable()


@pytest.mark.parametrize("name", ["a*b", "a,b", "a;b", "[a", "a[wording=plain]x"])
def test_a_name_that_no_roster_could_say_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "models.toml"
    path.write_text(f'["{name}"]\n')
    with pytest.raises(BadInput, match="none of them , ; "):
        read_models(path)
    with pytest.raises(BadInput, match="none of them , ; "):
        Models({name: (Model(name, "a"), Endpoint())}).named(name)


@pytest.mark.parametrize(
    ("address", "bares"),
    [
        ("http://models.example.org/v1", True),
        ("http://10.0.0.7:8000/v1", True),
        ("http://[2001:db8::1]/v1", True),
        ("http://127.0.0.1.example.org/v1", True),
        ("http://0.0.0.0:8000/v1", True),
        ("https://models.example.org/v1", False),
        ("http://localhost:8000/v1", False),
        ("http://a.localhost/v1", False),
        ("http://127.0.0.9:8000/v1", False),
        ("http://[::1]:8000/v1", False),
        (None, False),
    ],
)
def test_a_key_is_bare_where_plain_http_takes_it_to_another_machine(
    monkeypatch: pytest.MonkeyPatch, address: str | None, bares: bool
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-something")

    assert (["OPENAI_API_KEY"] if bares else []) == in_clear(Endpoint(address))
    assert [] == in_clear(Endpoint(address, key_env=None))


def in_clear(endpoint: Endpoint) -> list[str]:
    """The environment variables whose values go unencrypted."""
    end = f" goes unencrypted to {endpoint.base_url}; use https"
    lines = [line for line in endpoint.warnings() if line.endswith(end)]
    return [line.removeprefix("the value of ").removesuffix(end) for line in lines]


def test_headers_of_the_environment_are_bare_as_a_key_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-something")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Empty:\nAuthorization: Bearer a-secret")
    far, near = "http://models.example.org/v1", "http://127.0.0.1:8000/v1"
    headers = "OPENAI_CUSTOM_HEADERS"

    assert ["OPENAI_API_KEY", headers] == in_clear(Endpoint(far))
    assert [headers] == in_clear(Endpoint(far, key_env=None))
    assert [] == in_clear(Endpoint(near))
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Empty:")
    assert ["OPENAI_API_KEY"] == in_clear(Endpoint(far))


def test_the_page_says_how_short_a_key_may_be_that_is_cut_out() -> None:
    page = Path(llm.__file__).with_name("README.md").read_text(encoding="utf-8")

    assert f"(of {KEY_MIN} characters or more)" in page
