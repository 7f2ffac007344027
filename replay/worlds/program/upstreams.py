"""The servers that programs ask, by name, and the variables by which they are told where."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import msgspec

from goldrush.kernel.errors import BadInput


class Upstream(msgspec.Struct, frozen=True):
    """A server. `url`: where it is unless its variable says otherwise; empty: nowhere."""

    url: str
    variables: Sequence[str]


# Bases as the clients have them: the paths below are the program's.
KNOWN: Final[Mapping[str, Upstream]] = {
    "openai": Upstream("https://api.openai.com/v1", ("OPENAI_BASE_URL", "OPENAI_API_BASE")),
    "anthropic": Upstream(
        "https://api.anthropic.com",
        ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE", "ANTHROPIC_API_URL"),
    ),
    "gemini": Upstream(
        "https://generativelanguage.googleapis.com",
        ("GOOGLE_GEMINI_BASE_URL", "GEMINI_API_BASE", "GEMINI_BASE_URL"),
    ),
    "mistral": Upstream("https://api.mistral.ai", ("MISTRAL_BASE_URL", "MISTRAL_API_BASE")),
    "ollama": Upstream("http://127.0.0.1:11434", ("OLLAMA_HOST", "OLLAMA_API_BASE")),
    "openrouter": Upstream(
        "https://openrouter.ai/api/v1", ("OPENROUTER_BASE_URL", "OPENROUTER_API_BASE")
    ),
    "azure": Upstream("", ("AZURE_OPENAI_ENDPOINT", "AZURE_API_BASE")),
    "groq": Upstream("https://api.groq.com", ("GROQ_BASE_URL",)),
    "together": Upstream("https://api.together.xyz/v1", ("TOGETHER_BASE_URL",)),
    "deepseek": Upstream("https://api.deepseek.com", ("DEEPSEEK_API_BASE",)),
    "cohere": Upstream("https://api.cohere.com", ("CO_API_URL", "COHERE_API_BASE")),
}
NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")
_TAKEN: Final = ("notes", "outside")  # paths of the proxy
_PLACE: Final = re.compile(r"(\[.*?\]|[^:/]*)(:[0-9]+)?(.*)", re.DOTALL)  # host, port, path


def upstreams_of(
    environment: Mapping[str, str], given: Sequence[str] = (), variables: Sequence[str] = ()
) -> tuple[dict[str, str], dict[str, str]]:
    """The URLs of servers by name, and the names of servers by variable.

    Args:
        environment: of the program, before it is recorded.
        given: `NAME=URL`, further servers, or known ones elsewhere.
        variables: `VARIABLE` or `NAME=VARIABLE`, further variables that have the URL of a server;
            without a name, the variable has it already, or names the one server that is given.

    Of the variables of a known server, one that has another URL names a server of its own.

    Raises BadInput.
    """
    urls: dict[str, str] = {}
    names: dict[str, str] = {}
    for name, upstream in KNOWN.items():
        present = [each for each in upstream.variables if environment.get(each)]
        if present or upstream.url:
            urls[name] = upstream.url
            names.update(dict.fromkeys(upstream.variables, name))
        for number, variable in enumerate(present):
            url = _url_of(environment[variable], upstream)
            if number and url != urls[name]:
                names[variable] = _name_of(variable)
            urls[names[variable]] = url
    own: list[str] = []
    for text in given:
        name, equals, url = text.partition("=")
        if not (equals and NAME.fullmatch(name)):
            raise BadInput(f"--upstream {text}", "give NAME=URL, with a name like my-server")
        urls[name] = _checked(url, name)
        names.update(dict.fromkeys(KNOWN[name].variables if name in KNOWN else (), name))
        own.append(name)
    for text in variables:
        name, equals, variable = text.rpartition("=")
        name = name or (own[0] if len(own) == 1 else _name_of(variable))
        if not urls.get(name) and not environment.get(variable):
            raise BadInput(
                f"--variable {text} names no server", f"give --variable NAME={variable}, NAME=URL"
            )
        if not urls.get(name):
            urls[name] = _checked(environment[variable], name)
        names[variable] = name
    return {name: url for name, url in urls.items() if url}, names


def _name_of(variable: str) -> str:
    return variable.lower().replace("_", "-")[:32]


def _url_of(text: str, upstream: Upstream) -> str:
    """The URL that the variable of a known server has; host and port may be left out, as Ollama's
    clients have it. Empty for what is no URL: who asks that server is refused, and no one else.
    """
    if "//" not in text:
        host, port, path = _PLACE.findall(text)[0]
        default = urlsplit(upstream.url).port
        text = f"http://{host or '127.0.0.1'}{port or (f':{default}' if default else '')}{path}"
    with suppress(BadInput):
        return _checked(text, "")
    return ""


def _checked(url: str, name: str) -> str:
    """A URL without last slash. Raises BadInput for anything else, for credentials, and for a name
    that is the proxy's own.
    """
    if name in _TAKEN:
        raise BadInput(f"the upstream {name} has a name of goldrush's", "give it another name")
    try:
        parts = urlsplit(url)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        has_port = False
    if not has_port or parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput(f"the upstream {name} is {url!r}", "give a URL: https://HOST/PATH")
    if "@" in parts.netloc:
        raise BadInput(
            f"the URL of the upstream {name} has credentials",
            "give it without, and have the program send them",
        )
    return urlunsplit((parts.scheme, parts.netloc.lower(), parts.path.rstrip("/"), parts.query, ""))
