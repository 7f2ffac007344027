"""Which model an agent is, how it is asked, where it is reached, and under which limits.

Two records, because a journal must say everything that shapes an answer and nothing of this
machine: a `Model` stands in the journal's roster, an `Endpoint` is given anew by whoever records or
goes on. Keys come from the environment alone; no record here ever holds one.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import attrs

from goldrush.kernel.errors import BadInput, format_value, nearest
from goldrush.kernel.files import read_toml
from goldrush.kernel.text import is_visible

LLM: Final = "llm"

AUTO, SCHEMA, TEXT = ANSWERS = ("auto", "schema", "text")
LIMITS = ("max_tokens", "max_completion_tokens")

KEY_MIN: Final = 6  # characters from which on a key is looked for, and cut out of texts
NAME_MAX: Final = 200  # characters of a model's name
MAX_TOKENS_MAX: Final = 65_536
CONCURRENCY_MAX: Final = 1_000
FILE_MAX: Final = 1 << 20  # bytes of a file of models
KEY: Final = "OPENAI_API_KEY"
BASE_URL: Final = "OPENAI_BASE_URL"
HEADERS: Final = "OPENAI_CUSTOM_HEADERS"  # lines of NAME: VALUE

_ENVIRONMENT_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")


def _whole(low: int, high: int) -> tuple[Callable[[Any], bool], str]:
    return (lambda v: type(v) is int and low <= v <= high), f"a whole number from {low} to {high}"


def _real(low: float, high: float) -> tuple[Callable[[Any], bool], str]:
    return (
        lambda v: type(v) in (int, float) and low <= v <= high,
        f"a number from {low:g} to {high:g}",
    )


def _is_name(value: Any) -> bool:
    return type(value) is str and 0 < len(value) <= NAME_MAX and is_visible(value)


def _is_url(value: Any) -> bool:
    if type(value) is not str or not is_visible(value) or " " in value:
        return False
    try:
        parts = urlsplit(value)
        if parts.username or parts.password or parts.query or parts.fragment or parts.port == 0:
            return False
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:  # brackets that do not match, a port that is no number
        return False


_CHOICE: Final = {
    "model": (_is_name, f"a name of at most {NAME_MAX} characters, each of which can be seen"),
    "temperature": _real(0, 2),
    "max_tokens": _whole(1, MAX_TOKENS_MAX),
    "seed": _whole(0, 2**53 - 1),
    "answer": (lambda v: v in ANSWERS, "one of " + ", ".join(ANSWERS)),
    "limit": (lambda v: v in LIMITS, "one of " + ", ".join(LIMITS)),
    "prompt": _whole(1, 2**31),
}
_REACH: Final = {
    "base_url": (_is_url, "http(s)://host/path, without a key or password in it"),
    "key_env": (
        lambda v: type(v) is str and _ENVIRONMENT_NAME.fullmatch(v) is not None,
        "the name of an environment variable that holds the key, in capitals",
    ),
    "timeout": _real(0.01, 86_400),
    "tries": _whole(1, 100),
    "price_in": _real(0, 1e6),
    "price_out": _real(0, 1e6),
}


@attrs.frozen
class Model:
    """A model as it is asked, whole; it stands in the journal as an agent's `options`.

    `name`: what the roster calls it; `model`: what the server calls it. `temperature` (0 .. 2) and
    `seed` are sent where they are not None; the answer has at most `max_tokens` tokens, a number
    that is sent as `limit`. `answer`: `schema` asks for JSON under a schema, `text` in words alone;
    `auto` is not decided yet and never in a journal. `prompt`: the version of the prompt.
    """

    name: str
    model: str
    temperature: float | None = attrs.field(
        default=None, converter=attrs.converters.optional(float)
    )
    max_tokens: int = 500
    seed: int | None = None
    answer: str = AUTO
    limit: str = LIMITS[0]
    prompt: int = 1

    def as_options(self) -> dict[str, Any]:
        """The form in which the roster holds it."""
        return attrs.asdict(self)


@attrs.frozen
class Endpoint:
    """How a model is reached and what it costs; none of it is in a journal.

    `base_url` None is OpenAI's own. `key_env`: the environment variable that holds the key; None:
    none is sent.
    `timeout`: seconds for one try, of which there are at most `tries`. Prices are for 1,000,000
    tokens, in any one currency.
    """

    base_url: str | None = None
    key_env: str | None = KEY
    timeout: float = 120.0
    tries: int = 6
    price_in: float | None = None
    price_out: float | None = None

    def key(self) -> str | None:
        """The key, from the environment; None where a server of one's own needs none.

        Raises BadInput where one is needed and not there, and where what is there is none.
        """
        if self.key_env is None:
            return None
        key = os.environ.get(self.key_env, "").strip()  # a file that it came from ends a line
        if not key and (self.base_url is None or self.key_env != KEY):
            raise BadInput(
                f"the environment has no {self.key_env}",
                f"set it to the key of {self.base_url or 'OpenAI'}, or give another server "
                "(--base-url)",
            )
        if not key.isascii() or not key.isprintable() or " " in key:
            # No header holds it, and an error that quotes it escaped could not be cleaned of it.
            raise BadInput(f"what {self.key_env} holds is no key", "it must be one word in ASCII")
        return key or None

    def secrets_in_clear(self) -> list[str]:
        """What is sent unencrypted to another machine than this one: the key, and the headers that
        the environment adds. Raises as `key`.
        """
        parts = urlsplit(self.base_url or "")
        if parts.scheme != "http" or _is_loopback(parts.hostname or ""):
            return []
        headers = [f"what {HEADERS} holds"] if custom_headers() else []
        return ["its key", *headers] if self.key() else headers


def custom_headers() -> list[str]:
    """The values of the headers that the client's library adds because HEADERS says so; they may be
    as secret as a key.
    """
    values = (line.partition(":")[2].strip() for line in os.environ.get(HEADERS, "").splitlines())
    return [value for value in values if value]


def _is_loopback(host: str) -> bool:
    """Whether a name or an address is that of this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _log(line: str) -> None:
    """Warn; a function of a module, so that it can be sent to other processes."""
    logging.getLogger("goldrush").warning("%s", line)


@attrs.frozen
class Models:
    """The models that a run can ask, and the limits under which it does.

    `known`: by the name that a roster uses. Without any, a name is what the server calls the model,
    at `base_url` (None: what OPENAI_BASE_URL says, else OpenAI). `default`: what `llm` alone stands
    for. `concurrency`: questions at once. `patience`: rounds (in a season: questions) in a row
    without a usable answer of a model, after which a run stops; `fail_over`: the share of a model's
    answers, from 0 to 1, that may fail, after its first 20, before it does (None: any).
    `max_tokens` and `max_cost`: what all answers together may take, questions counted. `tell` is
    given a line for people where something goes wrong; by default the logger `goldrush` warns.
    """

    by_name: Mapping[str, tuple[Model, Endpoint]] = attrs.field(factory=dict)
    default: str | None = None
    base_url: str | None = None
    concurrency: int = 16
    patience: int = 3
    fail_over: float | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    warn: Callable[[str], None] = _log

    def __attrs_post_init__(self) -> None:
        _check("concurrency", self.concurrency, _whole(1, CONCURRENCY_MAX))
        _check("patience", self.patience, _whole(1, 1_000_000))
        if self.fail_over is not None:
            _check("fail_over", self.fail_over, (_real(0, 1)[0], "a share from 0 to 1: 0.2"))
        if self.max_tokens is not None:
            _check("max_tokens", self.max_tokens, _whole(1, 10**15))
        if self.max_cost is not None:
            _check("max_cost", self.max_cost, _real(0, 1e12))
        if self.base_url is not None:
            _check("base_url", self.base_url, _REACH["base_url"])

    def named(self, name: str) -> Model:
        """The model that a roster calls `name`; empty: the one that `llm` alone stands for."""
        name = name or self.default or self._only()
        if name in self.by_name:
            return self.by_name[name][0]
        if self.by_name:
            raise BadInput(
                f"the file of models has no table [{name}]",
                f"{nearest(name, self.by_name)}it has {', '.join(self.by_name)}",
            )
        _check("model", name, _CHOICE["model"])
        return Model(name, name)

    def endpoint(self, name: str) -> Endpoint:
        """How the model of that name is reached."""
        endpoint = self.by_name[name][1] if name in self.by_name else Endpoint()
        base_url = endpoint.base_url or self.base_url or os.environ.get(BASE_URL) or None
        if base_url is not None:
            _check("base_url", base_url, _REACH["base_url"])
        return attrs.evolve(endpoint, base_url=base_url)

    def endpoint_of(self, model: Model) -> Endpoint:
        """How a model is reached that stands in a roster.

        Raises BadInput for one whose name was given in a file that is not there: asked by that
        name, another server would get what is not meant for it.
        """
        if model.name != model.model and model.name not in self.by_name:
            raise BadInput(
                f"model {model.name} (which its server calls {model.model}) is not known",
                f"give the file that has a table [{model.name}] (--models)",
            )
        return self.endpoint(model.name)

    def ignored(self, model: Model) -> list[str]:
        """What is said of a model otherwise than the run began with, a line each: a run goes on
        as it began.
        """
        if model.name not in self.by_name:
            return []
        now = self.by_name[model.name][0]
        return [
            f"model {model.name} goes on with {name} {format_value(getattr(model, name))}, "
            f"not {format_value(getattr(now, name))}"
            for name in ("model", "temperature", "max_tokens", "seed")
            if getattr(now, name) != getattr(model, name)
        ]

    def _only(self) -> str:
        if len(self.by_name) == 1:
            return next(iter(self.by_name))
        raise BadInput("`llm` alone names no model", "write llm:MODEL, or say which (--model)")


def model_from(options: Mapping[str, Any]) -> Model:
    """The model of a journal's agent. Raises BadInput for invalid options."""
    if set(options) != set(attrs.fields_dict(Model)):
        raise BadInput(
            f"a model's options are {format_value(list(options))}", "they must be those of Model"
        )
    for name, value in options.items():
        if value is None and name in ("temperature", "seed"):
            continue
        _check(name, value, _CHOICE["model" if name == "name" else name])
    return Model(**options)


def read_models(path: str | Path) -> dict[str, tuple[Model, Endpoint]]:
    """The models of a TOML file, a table each, by the tables' names.

    A table has `model` (default: its name) and any other field of Model and Endpoint. Raises
    BadInput, naming the table and the field.
    """
    example = "[name] and model = '...'"
    tables = read_toml(os.fspath(path), FILE_MAX, "give a TOML file of models", example)
    return {name: _of_table(f"{path}, [{name}]", name, table) for name, table in tables.items()}


def _of_table(where: str, name: str, table: Any) -> tuple[Model, Endpoint]:
    if not isinstance(table, dict):
        raise BadInput(f"{where} is no table", "write [name] and below it model = '...'")
    _check(f"{where}: name", name, _CHOICE["model"])
    if set(name) & set(",*"):
        raise BadInput(f"{where} has a comma or an asterisk", "no roster could name it")
    choice: dict[str, Any] = {"model": name}
    reach: dict[str, Any] = {}
    for field, value in table.items():
        if field in ("key", "api_key", "token"):
            raise BadInput(f"{where} holds a key", "put it in the environment and name it: key_env")
        if field == "prompt" or (field not in _CHOICE and field not in _REACH):
            fields = [*_CHOICE, *_REACH]
            fields.remove("prompt")
            raise BadInput(f"{where} has {format_value(field)}", f"it may have {', '.join(fields)}")
        into, rules = (choice, _CHOICE) if field in _CHOICE else (reach, _REACH)
        if field == "key_env" and not rules[field][0](value):
            raise BadInput(f"{where}: key_env", f"it must be {rules[field][1]}")  # may be a key
        _check(f"{where}: {field}", value, rules[field])
        into[field] = value
    if ("price_in" in reach) != ("price_out" in reach):
        raise BadInput(f"{where} has one price", "give both price_in and price_out")
    if "base_url" in reach and "key_env" not in reach:
        reach["key_env"] = None  # the key of one server is nobody else's
    return Model(name, **choice), Endpoint(**reach)


def _check(name: str, value: Any, rule: tuple[Callable[[Any], bool], str]) -> None:
    holds, range_ = rule
    if not holds(value):
        # What is wrong with an address may be the password in it.
        found = "not one that can be used" if name.endswith("base_url") else format_value(value)
        raise BadInput(f"{name} is {found}", f"it must be {range_}")


def check_version(model: Model, version: int) -> None:
    """Raises BadInput for a model that was asked with a prompt that this version does not have.

    `version`: that of its world's prompt.
    """
    if model.prompt != version:
        raise BadInput(
            f"the agents of model {model.name} were asked with version {model.prompt} of the "
            f"prompt; this goldrush has version {version}",
            "go on with the goldrush that began the run",
        )
