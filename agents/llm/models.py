"""Language models: request options, endpoints, the file of models, and limits of a run.

A `Model` has everything that shapes an answer and goes into the journal's roster; an `Endpoint` has
what depends on this machine and is given again to resume or fork. Keys come from the environment
only; no record here has one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import attrs

from goldrush.kernel.errors import BadInput, format_value, nearest
from goldrush.kernel.files import read_toml
from goldrush.kernel.settings import INTEGER_MAX, choice, integer, real
from goldrush.kernel.shape import Kind
from goldrush.kernel.text import is_visible

AUTO, SCHEMA, TEXT = ANSWERS = ("auto", "schema", "text")
LIMITS = ("max_tokens", "max_completion_tokens")

KEY_MIN: Final = 6  # characters of the shortest key that is removed from texts
NAME_MAX: Final = 200  # characters of a model's name
MAX_TOKENS_MAX: Final = 65_536
FILE_MAX: Final = 1 << 20  # bytes of a file of models
KEY: Final = "OPENAI_API_KEY"
BASE_URL: Final = "OPENAI_BASE_URL"
HEADERS: Final = "OPENAI_CUSTOM_HEADERS"  # lines of NAME: VALUE

_ENVIRONMENT_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")


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
    except ValueError:  # unbalanced brackets, or a port that is not a number
        return False


_NAME: Final = Kind(f"a name of at most {NAME_MAX} visible characters", _is_name)
_URL: Final = Kind("http(s)://host/path, without a key or password in it", _is_url)
_KEY_NAME: Final = Kind(
    "the name of an environment variable that holds the key, in capitals",
    lambda v: type(v) is str and _ENVIRONMENT_NAME.fullmatch(v) is not None,
)
_PRICE: Final = real(0, 1e6)


def _field(kind: Kind, **how: Any) -> Any:
    """A field with the kind of its values; a default of None is valid, too."""
    return attrs.field(metadata={"kind": kind}, **how)


def _check(of: type[attrs.AttrsInstance], name: str, value: Any, where: str = "") -> None:
    """Raises BadInput for a value that a field cannot have. `where`: before the name in it."""
    field = attrs.fields_dict(of)[name]
    kind: Kind = field.metadata["kind"]
    if not kind.holds(value) and not (value is None and field.default is None):
        # An invalid address may have a password in it.
        actual = "invalid" if name == "base_url" else format_value(value)
        raise BadInput(f"{where or name} is {actual}", f"it must be {kind.name}")


@attrs.frozen
class Model:
    """A model with all its request options, which are an agent's `options` in the journal. Of these
    None is not sent.

    Attributes:
        name, model: its name in the roster, and on the server.
        max_tokens: greatest number of tokens of an answer.
        answer: `schema`: with a JSON schema; `text`: without; `auto`: not decided yet, and never in
            a journal.
        limit: the parameter that carries `max_tokens`.
        prompt: version of the prompt.
    """

    name: str = _field(_NAME)
    model: str = _field(_NAME)
    temperature: float | None = _field(
        real(0, 2), default=None, converter=attrs.converters.optional(float)
    )
    max_tokens: int = _field(integer(1, MAX_TOKENS_MAX), default=500)
    seed: int | None = _field(integer(0, INTEGER_MAX), default=None)
    answer: str = _field(choice(*ANSWERS), default=AUTO)
    limit: str = _field(choice(*LIMITS), default=LIMITS[0])
    prompt: int = _field(integer(1, 2**31), default=1)

    def as_options(self) -> dict[str, Any]:
        """The model as `options` of a roster's entry."""
        return attrs.asdict(self)


@attrs.frozen
class Endpoint:
    """The server of a model and its prices; never in a journal.

    Attributes:
        base_url: None: OpenAI.
        key_env: name of the environment variable with the key; None: no key is sent.
        timeout: seconds of one try.
        tries: greatest number of tries.
        price_in, price_out: of 1,000,000 tokens of questions and of answers, in any one currency;
            None: unknown.
    """

    base_url: str | None = _field(_URL, default=None)
    key_env: str | None = _field(_KEY_NAME, default=KEY)
    timeout: float = _field(real(0.01, 86_400), default=120.0)
    tries: int = _field(integer(1, 100), default=6)
    price_in: float | None = _field(_PRICE, default=None)
    price_out: float | None = _field(_PRICE, default=None)

    def key(self) -> str | None:
        """The key from the environment; None: another server than OpenAI needs none.

        Raises BadInput for a missing or malformed key.
        """
        if self.key_env is None:
            return None
        key = os.environ.get(self.key_env, "").strip()  # it may come from a file with a line end
        if not key and (self.base_url is None or self.key_env != KEY):
            raise BadInput(
                f"the environment has no {self.key_env}",
                f"set it to the key of {self.base_url or 'OpenAI'}, or give another server "
                "(--base-url)",
            )
        if not key.isascii() or not key.isprintable() or " " in key:
            # Not valid in a header, and could not be removed from an error that quotes it escaped.
            raise BadInput(f"{self.key_env} does not hold a key", "it must be one word in ASCII")
        return key or None

    def secrets_in_clear(self) -> list[str]:
        """Descriptions of the secrets (key, headers in the environment) that plain HTTP would carry
        to another machine. Raises BadInput as `key`.
        """
        parts = urlsplit(self.base_url or "")
        if parts.scheme != "http" or _is_loopback(parts.hostname or ""):
            return []
        headers = [f"the content of {HEADERS}"] if custom_headers() else []
        return ["its key", *headers] if self.key() else headers


def custom_headers() -> list[str]:
    """The values of headers that the library adds from HEADERS, which may be secret."""
    values = (line.partition(":")[2].strip() for line in os.environ.get(HEADERS, "").splitlines())
    return [value for value in values if value]


def _is_loopback(host: str) -> bool:
    """Whether a host name or address is of this machine."""
    from ipaddress import ip_address

    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _log(line: str) -> None:
    """Warn in the log; a module's function, so that it can be pickled."""
    import logging

    logging.getLogger("goldrush").warning("%s", line)


@attrs.frozen
class Models:
    """The language models that a run can ask, and its limits.

    Attributes:
        by_name: model and endpoint by name in the roster. If empty, a name in the roster is the
            name on the server at `base_url`.
        default: the model of `llm` without a name; None: the only one.
        base_url: of models without one; None: OPENAI_BASE_URL, else OpenAI.
        concurrency: greatest number of open questions.
        patience: consecutive rounds (in a season: questions) without a usable answer of a model,
            after which a run stops.
        fail_over: share of failed answers of a model, from 0 to 1, above which a run stops, after
            its first 20 answers; None: no limit.
        max_tokens, max_cost: ceilings of all questions and answers; None: no limit.
        warn: called with a line of warning; by default the logger `goldrush`.
    """

    by_name: Mapping[str, tuple[Model, Endpoint]] = attrs.field(factory=dict)
    default: str | None = None
    base_url: str | None = _field(_URL, default=None)
    concurrency: int = _field(integer(1, 1_000), default=16)
    patience: int = _field(integer(1, 1_000_000), default=3)
    fail_over: float | None = _field(
        Kind("a share from 0 to 1: 0.2", real(0, 1).holds), default=None
    )
    max_tokens: int | None = _field(integer(1, 10**15), default=None)
    max_cost: float | None = _field(real(0, 1e12), default=None)
    warn: Callable[[str], None] = _log

    def __attrs_post_init__(self) -> None:
        """Raises BadInput for a limit out of its range."""
        for field in attrs.fields(Models):
            if "kind" in field.metadata:
                _check(Models, field.name, getattr(self, field.name))

    def named(self, name: str) -> Model:
        """The model of this name in a roster; empty: the default. Raises BadInput."""
        name = name or self.default or self._only()
        if name in self.by_name:
            return self.by_name[name][0]
        if self.by_name:
            raise BadInput(
                f"the file of models has no table [{name}]",
                f"{nearest(name, self.by_name)}it has {', '.join(self.by_name)}",
            )
        _check(Model, "model", name)
        return Model(name, name)

    def endpoint(self, name: str) -> Endpoint:
        """The endpoint of the model of this name. Raises BadInput for an invalid `base_url`."""
        endpoint = self.by_name[name][1] if name in self.by_name else Endpoint()
        base_url = endpoint.base_url or self.base_url or os.environ.get(BASE_URL) or None
        if base_url is not None:
            _check(Endpoint, "base_url", base_url)
        return attrs.evolve(endpoint, base_url=base_url)

    def endpoint_of(self, model: Model) -> Endpoint:
        """The endpoint of a model in a journal's roster. Raises BadInput if its table in the file
        of models is missing: another server must not get the questions.
        """
        if model.name != model.model and model.name not in self.by_name:
            raise BadInput(
                f"model {model.name} ({model.model} on its server) is not known",
                f"give the file of models with a table [{model.name}] (--models)",
            )
        return self.endpoint(model.name)

    def ignored(self, model: Model) -> list[str]:
        """A warning for each request option whose new value is ignored during a run."""
        if model.name not in self.by_name:
            return []
        now = self.by_name[model.name][0]
        return [
            f"model {model.name} keeps the {name} of the run, "
            f"{format_value(getattr(model, name))}; {format_value(getattr(now, name))} is ignored"
            for name in ("model", "temperature", "max_tokens", "seed")
            if getattr(now, name) != getattr(model, name)
        ]

    def _only(self) -> str:
        if len(self.by_name) == 1:
            return next(iter(self.by_name))
        raise BadInput("`llm` alone names no model", "write llm:MODEL, or give --model")


def model_from(options: Mapping[str, Any]) -> Model:
    """The model of an agent's options in a journal. Raises BadInput for invalid options."""
    if set(options) != set(attrs.fields_dict(Model)):
        raise BadInput(
            f"a model's options are {format_value(list(options))}", "they must be those of Model"
        )
    for name, value in options.items():
        _check(Model, name, value)
    return Model(**options)


def read_models(path: str | Path) -> dict[str, tuple[Model, Endpoint]]:
    """The models of a TOML file, by the names of its tables, which can have the fields of Model
    (but `name` and `prompt`) and Endpoint. Raises BadInput, with the table and the field.
    """
    example = "[name] and model = '...'"
    tables = read_toml(os.fspath(path), FILE_MAX, "give a TOML file of models", example)
    return {name: _of_table(f"{path}, [{name}]", name, table) for name, table in tables.items()}


def _of_table(where: str, name: str, table: Any) -> tuple[Model, Endpoint]:
    if not isinstance(table, dict):
        raise BadInput(f"{where} is not a table", "write [name] and below it model = '...'")
    _check(Model, "name", name, f"{where}: name")
    if set(name) & set(",*"):
        raise BadInput(f"{where} has a comma or an asterisk", "take a name without them")
    of_model: dict[str, Any] = {"model": name}
    reach: dict[str, Any] = {}
    choices, fields = attrs.fields_dict(Model), attrs.fields_dict(Endpoint)
    names = [name for name in (*choices, *fields) if name not in ("name", "prompt")]
    for field, value in table.items():
        if field in ("key", "api_key", "token"):
            raise BadInput(f"{where} holds a key", "put it in the environment and name it: key_env")
        if field not in names:
            raise BadInput(f"{where} has {format_value(field)}", f"it may have {', '.join(names)}")
        if field == "key_env" and not _KEY_NAME.holds(value):
            raise BadInput(f"{where}: key_env", f"it must be {_KEY_NAME.name}")  # may be a key
        into, of = (of_model, Model) if field in choices else (reach, Endpoint)
        _check(of, field, value, f"{where}: {field}")
        into[field] = value
    if ("price_in" in reach) != ("price_out" in reach):
        raise BadInput(f"{where} has one price", "give both price_in and price_out")
    if "base_url" in reach and "key_env" not in reach:
        reach["key_env"] = None  # the key of one server is not sent to another
    return Model(name, **of_model), Endpoint(**reach)


def check_version(model: Model, version: int) -> None:
    """Raises BadInput for a model whose prompt had another version than this one of its world."""
    if model.prompt != version:
        raise BadInput(
            f"the agents of model {model.name} were asked with version {model.prompt} of the "
            f"prompt; this goldrush has version {version}",
            "use the goldrush version that recorded the run",
        )
