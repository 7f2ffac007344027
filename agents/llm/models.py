"""Language models: endpoints, the file of models, and limits of a run.

A `Model` has everything that shapes an answer and goes into the journal's roster; an `Endpoint` has
what depends on this machine and is given again to resume or fork. Keys come from the environment
only; no record here has one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import attrs

from goldrush.agents.llm.extra_body import body_of
from goldrush.agents.llm.model import NAME, Model, check, field, text_like
from goldrush.agents.llm.options import FIRST, FRAMING, SAMPLING
from goldrush.kernel.errors import BadInput, format_value, nearest
from goldrush.kernel.files import read_toml
from goldrush.kernel.settings import check_value, choice, flag, integer, real
from goldrush.kernel.shape import Kind
from goldrush.kernel.text import is_visible

KEY_MIN: Final = 6  # characters of the shortest key that is removed from texts
WORD_MAX: Final = 8  # characters below which a key may be a word of an answer
FILE_MAX: Final = 1 << 20  # bytes of a file of models
OPENAI: Final = "https://api.openai.com/v1"
KEY: Final = "OPENAI_API_KEY"
BASE_URL: Final = "OPENAI_BASE_URL"
HEADERS: Final = "OPENAI_CUSTOM_HEADERS"  # lines of NAME: VALUE


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


_URL: Final = Kind("http(s)://host/path, without a key or password in it", _is_url)
_KEY_NAME: Final = text_like(
    "the name of an environment variable that holds the key, in capitals", "[A-Z_][A-Z0-9_]*"
)
_PRICE: Final = real(0, 1e6)
_SHARE: Final = Kind("a share from 0 to 1: 0.2", real(0, 1).holds)

_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_QUERY_NAME: Final = re.compile(r"[A-Za-z0-9._~-]{1,100}")
_VISIBLE: Final = text_like("visible ASCII", "[ -~]+")
_QUERY_VALUE: Final = text_like("letters, digits and ._~-", "[A-Za-z0-9._~-]+")
# Headers of the connection; the key has an option of its own.
_HEADERS_TAKEN: Final = (
    "authorization", "host", "content-length", "content-type", "content-encoding",
    "transfer-encoding", "accept-encoding", "connection",
)  # fmt: skip


def _are_named(value: Any, name: re.Pattern[str], taken: Collection[str] = ()) -> bool:
    """Whether these are different names, each with that of an environment variable."""
    if not isinstance(value, dict):
        return False
    names = {key.lower() for key in value if name.fullmatch(key)} - {*taken}
    return len(names) == len(value) and all(map(_KEY_NAME.holds, value.values()))


_HEADERS: Final = Kind(
    "a table of headers, each once with the name of an environment variable in capitals: X-Org = "
    '"ORG" (not Authorization, as key_env names the key, nor others that goldrush sets)',
    lambda v: _are_named(v, _HEADER_NAME, _HEADERS_TAKEN),
)
_QUERY: Final = Kind(
    "a table of fields, each once with the name of an environment variable in capitals: "
    'api-version = "API_VERSION"',
    lambda v: _are_named(v, _QUERY_NAME),
)


def _named(
    value: Mapping[str, str] | Iterable[tuple[str, str]],
) -> tuple[tuple[str, str], ...]:
    """(name, environment variable) of each, by name."""
    return tuple(sorted(dict(value).items()))


@attrs.frozen
class Endpoint:
    """The server of a model and its prices; never in a journal.

    Attributes:
        base_url: None: OpenAI.
        key_env: name of the environment variable with the key; None: no key is sent.
        timeout: seconds of one try; None: by the length of answers and the pace of the server.
        tries: greatest number of tries.
        headers, query: of every request, by name; each value is the name of an environment variable
            with the value itself, which is treated as a key.
        seed_name: the parameter that carries a seed.
        price_in, price_out: of 1,000,000 tokens of questions and of answers, in any one currency;
            None: unknown.
    """

    base_url: str | None = field(_URL, default=None)
    key_env: str | None = field(_KEY_NAME, default=KEY)
    timeout: float | None = field(real(0.01, 86_400), default=None)
    tries: int = field(integer(1, 100), default=6)
    price_in: float | None = field(_PRICE, default=None)
    price_out: float | None = field(_PRICE, default=None)
    headers: tuple[tuple[str, str], ...] = field(_HEADERS, default=(), converter=_named)
    query: tuple[tuple[str, str], ...] = field(_QUERY, default=(), converter=_named)
    seed_name: str = field(choice("seed", "random_seed"), default="seed")

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

    def sent(self) -> tuple[dict[str, str], dict[str, str]]:
        """The headers and the query of requests, from the environment.

        Raises BadInput for a variable that is missing, or has no such value.
        """
        headers = {name: _value(variable, _VISIBLE) for name, variable in self.headers}
        return headers, {name: _value(variable, _QUERY_VALUE) for name, variable in self.query}

    def secrets(self) -> list[str]:
        """The values that are removed from texts: the key, headers and the query. Raises BadInput
        as `key` and `sent`.
        """
        return [value for _, value in self._secrets() if len(value) >= KEY_MIN]

    def _secrets(self) -> list[tuple[str | None, str]]:
        """The name of the environment variable and the value of each secret. Raises BadInput."""
        values = [value for sent in self.sent() for value in sent.values()]
        variables = [variable for _, variable in (*self.headers, *self.query)]
        lines = os.environ.get(HEADERS, "").splitlines()  # the library adds them
        library = [(HEADERS, line.partition(":")[2].strip()) for line in lines]
        return [(self.key_env, self.key() or ""), *zip(variables, values, strict=True), *library]

    def warnings(self) -> list[str]:
        """Lines about secrets, without their values: those that plain HTTP would carry to another
        machine, and those that are too short to be removed from texts, or that answers may have as
        words. Raises BadInput as `secrets`.
        """
        parts = urlsplit(self.base_url or "")
        in_clear = parts.scheme == "http" and not _is_loopback(parts.hostname or "")
        lines: list[str] = []
        for variable, value in self._secrets():
            what = f"the value of {variable}"
            if value and in_clear:
                lines.append(f"{what} goes unencrypted to {self.base_url}; use https")
            if value and len(value) < KEY_MIN:
                lines.append(
                    f"{what} has under {KEY_MIN} characters, so it is not removed from answers: a "
                    "journal can have it"
                )
            elif value and (len(value) < WORD_MAX or value.isalpha()):
                lines.append(
                    f"{what} is treated as a key, and may be a word: wherever it stands in an "
                    "answer, [key] takes its place"
                )
        return list(dict.fromkeys(lines))


def _value(variable: str, kind: Kind) -> str:
    """The value of an environment variable. Raises BadInput."""
    value = os.environ.get(variable, "").strip()
    if not kind.holds(value):
        fault = "does not hold such a value" if value else "is not in the environment"
        raise BadInput(f"{variable} {fault}", f"set it to {kind.name}")
    return value


def _is_loopback(host: str) -> bool:
    """Whether a host name or address is of this machine."""
    from ipaddress import ip_address

    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def log_warning(line: str) -> None:
    """Warn in the log; a module's function, so that it can be pickled."""
    import logging

    logging.getLogger("goldrush").warning("%s", line)


class ServerDown(BadInput):
    """No server answers the short question before a run begins or goes on."""


@attrs.frozen
class Models:
    """The language models that a run can ask, and its limits.

    Attributes:
        by_name: model and endpoint by name in the roster. If empty, a name in the roster is the
            name on the server at `base_url`.
        base_url: of models without one; None: OPENAI_BASE_URL, else OpenAI.
        concurrency: greatest number of open questions.
        patience: minutes that a run waits for servers that do not answer, before it stops.
        record_failures: such answers are recorded as missing, and the run does not wait.
        fail_over: share of failed answers of a model, from 0 to 1, above which a run stops, after
            its first 20 answers; None: no limit.
        max_tokens, max_cost: ceilings of all questions and answers; None: no limit.
        max_requests: a ceiling of requests, those that are tried again included; None: no limit.
        shared: the file of the budget that the runs of a study share; None: each has its own.
        warn: called with a line of warning; by default the logger `goldrush`.
    """

    by_name: Mapping[str, tuple[Model, Endpoint]] = attrs.field(factory=dict)
    base_url: str | None = field(_URL, default=None)
    concurrency: int = field(integer(1, 1_000), default=16)
    patience: float = field(real(0, 10_080), default=10.0)
    record_failures: bool = field(flag(), default=False)
    fail_over: float | None = field(_SHARE, default=None)
    max_tokens: int | None = field(integer(1, 10**15), default=None)
    max_cost: float | None = field(real(0, 1e12), default=None)
    max_requests: int | None = field(integer(1, 10**15), default=None)
    shared: str | None = None
    warn: Callable[[str], None] = log_warning

    def __attrs_post_init__(self) -> None:
        """Raises BadInput for a limit out of its range."""
        for limit in attrs.fields(Models):
            if "kind" in limit.metadata:
                check(Models, limit.name, getattr(self, limit.name))

    def named(self, name: str) -> Model:
        """The model of this name in a roster; empty: the only one. Raises BadInput."""
        if not name and len(self.by_name) != 1:
            raise BadInput("`llm` alone names no model", "write llm:MODEL")
        name = name or next(iter(self.by_name))
        if not NAME.holds(name):
            raise BadInput(
                f"the name of a model is {format_value(name)}",
                f"it must be {NAME.name}; in a file of models (--models), `model` is its name on "
                "the server",
            )
        if name in self.by_name:
            return self.by_name[name][0]
        if self.by_name:
            raise BadInput(
                f"the file of models has no table [{name}]",
                f"{nearest(name, self.by_name)}it has {', '.join(self.by_name)}",
            )
        return Model(name, name)

    def endpoint(self, name: str) -> Endpoint:
        """The endpoint of the model of this name. Raises BadInput for an invalid `base_url`."""
        endpoint = self.by_name[name][1] if name in self.by_name else Endpoint()
        base_url = endpoint.base_url or self.base_url or os.environ.get(BASE_URL) or None
        check(Endpoint, "base_url", base_url)
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

    def ignored(self, model: Model, label: str) -> list[str]:
        """A warning for each request option whose new value is ignored during a run, of those that
        only the file of models gives. `label`: of the model.
        """
        if model.name not in self.by_name:
            return []
        now = self.by_name[model.name][0]
        now = attrs.evolve(now, max_tokens=now.max_tokens or model.max_tokens)
        return [
            f"{label} keeps the {name} of the run, "
            f"{format_value(getattr(model, name))}; {format_value(getattr(now, name))} is ignored"
            for name in ("model", "temperature", "max_tokens", "seed", "extra_body", "persona")
            if getattr(now, name) != getattr(model, name)
            if name != "persona" or now.persona is not None  # else one of a table
        ]


# The options of a model that its table can have.
_CHOICES: Final = tuple(
    name
    for name in (*FIRST, *SAMPLING, *FRAMING)
    if name not in ("name", "prompt", "wording_sha256", "wording_text")
)


def read_models(path: str | Path) -> dict[str, tuple[Model, Endpoint]]:
    """The models of a TOML file, by the names of its tables, which can have the options of a
    Model and the fields of Endpoint. Raises BadInput, with the table and the field.
    """
    example = "[name] and model = '...'"
    tables = read_toml(os.fspath(path), FILE_MAX, "give a TOML file of models", example)
    folder = os.path.dirname(path)  # of the wordings that the tables name
    return {
        name: _of_table(f"{path}, [{name}]", name, table, folder) for name, table in tables.items()
    }


def _of_table(where: str, name: str, table: Any, folder: str) -> tuple[Model, Endpoint]:
    if not isinstance(table, dict):
        raise BadInput(f"{where} is not a table", "write [name] and below it model = '...'")
    check_value(f"{where}: name", name, NAME)
    of_model: dict[str, Any] = {"model": name}
    reach: dict[str, Any] = {}
    names = [*_CHOICES, *attrs.fields_dict(Endpoint)]
    for option, value in table.items():
        if option in ("key", "api_key", "token"):
            raise BadInput(f"{where} holds a key", "put it in the environment and name it: key_env")
        if option not in names:
            listed = f"{nearest(option, names)}it may have {', '.join(names)}"
            raise BadInput(f"{where} has {format_value(option)}", listed)
        if option == "extra_body":
            try:
                value = body_of(value)
            except ValueError as error:
                fault = f"{where}: extra_body: {error}"
                raise BadInput(fault, "give other fields, or leave it out") from None
        into, of = (of_model, Model) if option in _CHOICES else (reach, Endpoint)
        check(of, option, value, f"{where}: {option}")
        if option == "wording" and value.endswith(".toml"):
            value = os.path.join(folder, value)
        into[option] = value
    if ("price_in" in reach) != ("price_out" in reach):
        raise BadInput(f"{where} has one price", "give both price_in and price_out")
    if "base_url" in reach and "key_env" not in reach:
        reach["key_env"] = None  # the key of one server is not sent to another
    return Model(name, **of_model), Endpoint(**reach)
