"""Models: files of them, their names in rosters, where they are reached, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.agents.llm.model import Framing, Model
from goldrush.agents.llm.models import FILE_MAX, Endpoint, Models
from goldrush.agents.llm.options import (
    AUTO,
    FIRST,
    FRAMING,
    MAX_TOKENS_MAX,
    NAME_MAX,
    SAMPLE_MAX,
    SAMPLING,
)
from goldrush.agents.llm.versions import PromptVersion, decided
from goldrush.agents.worlds.mining.prompts.prompt import wordable
from goldrush.agents.worlds.mining.roster import POLICY_SET, PROMPT
from goldrush.kernel.errors import BadInput
from goldrush.kernel.settings import INTEGER_MAX
from tests.llm.runs import table

KEY = "sk-0123456789abcdef"
KEY_ENV, HEADERS = "OPENAI_API_KEY", "OPENAI_CUSTOM_HEADERS"
pytestmark = pytest.mark.usefixtures("no_keys")


def refusal(tmp_path: Path, text: str | bytes) -> BadInput:
    with pytest.raises(BadInput) as refused:
        table(tmp_path, text)
    return refused.value


# Files.


def test_a_table_is_a_model_and_how_it_is_reached(tmp_path: Path) -> None:
    found = table(
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
    assert {} == table(tmp_path, "# none\n")
    assert ["a"] == list(table(tmp_path, b"[a]\n".ljust(FILE_MAX, b"#")))


RANGES: dict[str, tuple[float, float]] = {
    "temperature": (0, 2), "top_p": (0, 1), "max_tokens": (0, MAX_TOKENS_MAX),
    "seed": (0, INTEGER_MAX), "sample": (0, SAMPLE_MAX), "timeout": (0.01, 86_400),
    "tries": (1, 100), "price_in": (0, 1e6),
}  # fmt: skip
WHOLE = ("max_tokens", "seed", "sample", "tries")


@pytest.mark.parametrize("name", RANGES)
def test_both_ends_of_a_range_belong_to_it_and_no_more(name: str, tmp_path: Path) -> None:
    low, high = RANGES[name]
    more = "price_out = 1\n" if name == "price_in" else ""
    for value in (low, high):
        of_model, endpoint = table(tmp_path, f"[a]\n{more}{name} = {value}")["a"]
        assert value == getattr(of_model, name, None) or value == getattr(endpoint, name, None)
    wrong: list[object] = [low - 1, high + 1, "nan", "true", "'1'", "[]"]
    for value in (*wrong, "1.0") if name in WHOLE else wrong:
        refused = refusal(tmp_path, f"[fine]\n[wrong]\n{more}{name} = {value}")
        assert f"{tmp_path}/models.toml, [wrong]: {name} is " in refused.what
        assert refused.instead.startswith("it must be a")


@pytest.mark.parametrize(
    ("field", "meant"), [("password", "it may have model, "), ("temprature", "did you mean temp")]
)
def test_a_field_that_there_is_not_is_named(field: str, meant: str, tmp_path: Path) -> None:
    refused = refusal(tmp_path, f'[a]\n{field} = "{KEY}"')

    assert f"{tmp_path}/models.toml, [a] has '{field}'" == refused.what
    assert refused.instead.startswith(meant)
    assert KEY not in refused.instead


@pytest.mark.parametrize(
    "text",
    [
        "[[a]]", "a = 1", '[""]', '["a\\tb"]', f'["{"x" * (NAME_MAX + 1)}"]', '["a[b"]', "[a]\n[a]",
        b"[a]\nmodel = '\xff'", "[a]\nseed = " + "9" * 5_000, "a = " + "[" * 100_000, "\ufeff[a]",
        b"#" * (FILE_MAX + 1), "[a]\nprice_in = 1",
    ],
)  # fmt: skip
def test_what_is_no_file_of_models_is_refused(text: str | bytes, tmp_path: Path) -> None:
    refused = refusal(tmp_path, text)

    assert refused.what.removeprefix("cannot read ").startswith(f"{tmp_path}/models.toml")
    assert refused.instead
    assert len(str(refused)) < 500


# Keys and addresses.


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f'[a]\ntoken = "{KEY}"', "holds a key"),
        (f"[a]\napi_key = {KEY}", "is not valid TOML"),
        (f'[a]\nkey_env = "{KEY}"', "must be the name of an environment variable"),
        ('[a]\nkey_env = "A\\n"', "must be the name of an environment variable"),
    ],
)
def test_a_key_in_a_file_is_refused_unseen(text: str, says: str, tmp_path: Path) -> None:
    refused = refusal(tmp_path, text)

    assert says in str(refused)
    assert KEY not in str(refused)


BAD_ADDRESSES = [
    f"http://user:{KEY}@127.0.0.1/v1", f"https://{KEY}@127.0.0.1/v1",
    f"http://127.0.0.1/v1?key={KEY}", f"http://127.0.0.1/v1#{KEY}", f"ftp://127.0.0.1/{KEY}",
    f"http://127.0.0.1:{KEY}/v1", f"http://127.0.0.1:0/{KEY}", f"http://127.0.0.1/\u202e{KEY}",
]  # fmt: skip


@pytest.mark.parametrize("address", BAD_ADDRESSES)
def test_an_address_that_is_none_is_refused_unseen_wherever_it_stands(
    address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    for door in (
        lambda: table(tmp_path, f'[a]\nbase_url = "{address}"'),
        lambda: Models(base_url=address),
        lambda: Models().endpoint("a"),
    ):
        with pytest.raises(BadInput, match="base_url is invalid") as refused:
            door()
        assert KEY not in str(refused.value)


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
        (Endpoint("http://host/v1"), {"OPENAI_API_KEY": " "}, None),
        (Endpoint("http://host/v1", "TEST_KEY"), {"TEST_KEY": KEY, "OPENAI_API_KEY": "no"}, KEY),
        (Endpoint(), {}, "OPENAI_API_KEY"),
        (Endpoint("http://host/v1", "TEST_KEY"), {"OPENAI_API_KEY": KEY}, "TEST_KEY"),
    ],
)
def test_a_key_is_what_the_environment_holds_or_missing_by_name(
    endpoint: Endpoint,
    environment: dict[str, str],
    key: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert KEY not in repr(endpoint)
    if key in (KEY, None):
        assert key == endpoint.key()
        return
    with pytest.raises(BadInput, match=f"the environment has no {key}; set it to the key of"):
        endpoint.key()


# Limits of a run.


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("concurrency", 1, 1_000), ("patience", 0, 10_080), ("max_tokens", 1, 10**15),
     ("max_cost", 0, 1e12), ("fail_over", 0, 1)],
)  # fmt: skip
def test_a_limit_out_of_range_is_refused(name: str, low: float, high: float) -> None:
    for value in (low, high):
        assert value == getattr(Models(**{name: value}), name)
    for wrong in (low - 1, high * 1.5, True, "1", float("nan")):
        with pytest.raises(BadInput, match=f"^{name} is .*; it must be a"):
            Models(**{name: wrong})


# What a journal holds.


BARE = PromptVersion(1, 9_999, (), wordable)
VERSION = PromptVersion(3, 9_999, FRAMING, wordable)
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
    "order": st.sampled_from([None, "fixed", "run", "agent"]),
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
    assert (3, 0) < (chosen.prompt, chosen.max_tokens)
    changed = {"seed_from": "option", "reasoning": "none", "notes": False, "sample": 0}
    for name in changed.keys() - options.keys():
        with pytest.raises(BadInput, match=rf"the option {name} is .*; it must be left out"):
            Model.of({**options, name: changed[name]})
    if len(options) > len(FIRST) + 1:
        first, last = ", ".join(options), ", ".join(reversed(options))
        with pytest.raises(BadInput, match=f"order of the options is {last}; it must be {first}"):
            Model.of(dict(reversed(options.items())))


def test_a_world_without_an_option_has_none() -> None:
    with pytest.raises(BadInput, match="model a has persona, which prompts of this world do"):
        decided(Model("a", "a", persona="x"), BARE)
    assert 2_000 == decided(Model("a", "a"), BARE).resolved().max_tokens
    assert 8_000 == Model("a", "a", reasoning="open").resolved().max_tokens


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
        {}, {**GOOD, "key": KEY}, {"\x1b[2J": 1}, {n: GOOD[n] for n in GOOD if n != "seed"},
        {**GOOD, "name": None}, {**GOOD, "model": "a\x1b[2J"}, {**GOOD, "max_tokens": 10**30},
        {**GOOD, "seed": 1.0}, {**GOOD, "answer": None}, {**GOOD, "prompt": 0},
        {**GOOD, "top_p": 1},
    ],
)  # fmt: skip
def test_options_that_are_no_model_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as refused:
        Model.of(options)

    assert KEY not in str(refused.value)
    assert str(refused.value).isprintable()


# Rosters.


A, B = Model("model-a", "vendor/a", 0.5), Model("model-b", "vendor/b", max_tokens=99)
KNOWN = {"model-a": (A, Endpoint("http://a/v1")), "model-b": (B, Endpoint("http://b/v1"))}


@pytest.mark.parametrize("name", ["gpt", "llama3.2:3b", "vendor/model-1"])
def test_without_a_file_a_model_is_called_as_its_server_does(name: str) -> None:
    [entry] = POLICY_SET.parse(f"llm:{name}*1").entries

    assert decided(Model(name, name), PROMPT) == Model.of(entry.options)


def test_llm_alone_is_the_only_model_that_is_known() -> None:
    roster = POLICY_SET.parse("llm*1,llm:*1", models=Models({"model-a": KNOWN["model-a"]}))

    assert ["model-a"] * 2 == [entry.options["name"] for entry in roster.entries]
    for known in ({}, KNOWN):
        with pytest.raises(BadInput, match="`llm` alone names no model; write llm:MODEL"):
            POLICY_SET.parse("llm*2", models=Models(known))


def test_a_model_with_a_name_of_its_own_is_not_asked_without_its_file() -> None:
    with pytest.raises(BadInput, match=r"model careful .* is not known; give the file"):
        Models().endpoint_of(Model("careful", "some-large-model"))


def test_a_server_of_ones_own_is_not_sent_the_key_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-somebody-elses")
    known = table(tmp_path, '[a]\nbase_url = "http://127.0.0.1:1/v1"\n[b]\n')

    assert None is Models(known).endpoint("a").key()
    assert "sk-somebody-elses" == Models(known).endpoint("b").key()


@pytest.mark.parametrize("name", ["a*b", "a,b", "a;b", "a[wording=plain]x"])
def test_a_name_that_no_roster_could_say_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="none of them , ; "):
        Models({name: (Model(name, "a"), Endpoint())}).named(name)


@pytest.mark.parametrize(
    ("address", "bares"),
    [
        ("http://10.0.0.7:8000/v1", True),
        ("http://[2001:db8::1]/v1", True),
        ("http://127.0.0.1.example.org/v1", True),
        ("https://models.example.org/v1", False),
        ("http://a.localhost/v1", False),
        ("http://127.0.0.9:8000/v1", False),
        ("http://[::1]:8000/v1", False),
        (None, False),
    ],
)
def test_a_key_is_bare_where_plain_http_takes_it_to_another_machine(
    monkeypatch: pytest.MonkeyPatch, address: str | None, bares: bool
) -> None:
    """Also the values of headers that the library adds from the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-something")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Empty:\nAuthorization: Bearer a-secret")
    for key_env, names in ((KEY_ENV, [KEY_ENV, HEADERS]), (None, [HEADERS])):
        lines = Endpoint(address, key_env).warnings()
        bare = [line.split()[3] for line in lines if "goes unencrypted to" in line]

        assert (names if bares else []) == bare
