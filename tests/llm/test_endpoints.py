"""How servers are reached: headers and queries that hold secrets, and what tokens cost."""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from goldrush.agents.llm.client import Client
from goldrush.agents.llm.models import Models
from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.kernel.errors import BadInput
from tests import mining
from tests.llm.runs import table
from tests.llm.seasons import SETTINGS, said
from tests.llm.servers import (
    Asked,
    Reply,
    answered,
    completion,
    error,
    question,
    reply,
    serving,
)
from tests.playing import record

HEADER, FIELD = "a header, 0123456789", "query-0123456789"
TABLE = """\
[a]
model = "a-1"
answer = "text"
reasoning = "none"
base_url = "{}"
[a.headers]
X-Org = "THE_ORG"
[a.query]
api-version = "THE_VERSION"
"""


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_ORG", f"{HEADER}\n")
    monkeypatch.setenv("THE_VERSION", FIELD)


def telling(asked: Asked) -> Reply:
    """A server that sends back all that it got."""
    secret = f"{asked.headers['x-org']} {asked.path}"
    return reply(
        f"{secret} {said(asked)}".replace("'", '"'), {"reasoning": secret},
        system_fingerprint=secret, model=secret,
    )  # fmt: skip


def test_headers_and_a_query_are_sent_and_kept_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, lines = tmp_path / "s.journal", list[str]()
    caplog.set_level(logging.DEBUG)
    with serving(telling) as server:
        models = Models(table(tmp_path, TABLE.format(server.address)), warn=lines.append)
        cast = cast_of(4, ["judge=llm:a"], models)
        record(path, {**SETTINGS, "assignments": 1}, cast, models=models)
        server.respond = lambda asked: error(400, f"{HEADER}?{FIELD}")
        asked = replace(question(server.address), server=models.endpoint("a"))
        with closing(Client(1)) as client:
            [(_, answer)] = answered(client, [asked])

    assert {HEADER} == {asked.headers["x-org"] for asked in server.asked}
    assert {f"/v1/chat/completions?api-version={FIELD}"} == {asked.path for asked in server.asked}
    assert "HTTP 400: [key]?[key]" == answer.trouble
    kept = path.read_bytes().decode(errors="replace") + caplog.text + "".join(lines)
    assert "[key]" in kept
    assert HEADER not in kept
    assert FIELD not in kept


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("THE_ORG", "", "THE_ORG is not in the environment"),
        ("THE_VERSION", "se%20cret", "THE_VERSION does not hold such a value"),
    ],
)
def test_a_value_that_cannot_be_sent_is_told_before_anything_is_written(
    name: str, value: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with serving(telling) as server:
        models = Models(table(tmp_path, TABLE.format(server.address)))
        cast = cast_of(4, ["judge=llm:a"], models)
        with pytest.raises(BadInput) as refused:
            record(tmp_path / "s.journal", SETTINGS, cast, models=models)

    assert what == refused.value.what
    assert not (tmp_path / "s.journal").exists()
    assert not server.asked


@pytest.mark.parametrize(
    "line",
    [
        "headers.X-Org = 'sk-secret'", "headers.sk-secret = 'X-Org'", "headers = 'SECRET'",
        "headers.'x y' = 'A'", "headers.X = 3", "headers.Authorization = 'A'",
        "headers = {X = 'A', HOST = 'A'}", "headers = {X-A = 'A', x-a = 'B'}",
        "query.'a&b' = 'A'", "query.a = 'sk-secret'", "query = {a = 'A', A = 'B'}",
    ],
)  # fmt: skip
def test_a_table_holds_names_once_of_variables_and_no_values(line: str, tmp_path: Path) -> None:
    says = r"models.toml, \[a\]: (headers|query) is invalid; it must be a table of"
    with pytest.raises(BadInput, match=says) as refused:
        table(tmp_path, f"[a]\n{line}")

    assert "secret" not in str(refused.value).lower()


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("true", "under 6 characters"),
        ("production", "may be a word"),
        ("sk-or-v1-0", None),
    ],
)
def test_a_secret_that_answers_may_have_as_a_word_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, says: str | None
) -> None:
    monkeypatch.setenv("STAGE", value)
    told: list[str] = []
    with serving(lambda asked: completion(f'{{"actions": [], "say": "{value}"}}')) as server:
        text = f"[a]\nbase_url = '{server.address}'\nheaders.X-Stage = 'STAGE'\nanswer = 'text'"
        mining.record(
            tmp_path / "run", {"rounds": 2}, "llm:a*2",
            models=Models(table(tmp_path, text), warn=told.append),
        )  # fmt: skip

    lines = [line for line in told if "STAGE" in line]
    assert (0 if says is None else 1) == len(lines), told
    assert all(str(says) in line and value not in line for line in lines)
    kept = (tmp_path / "run").read_bytes()
    assert (len(value) < 6) is (b'"say": "' + value.encode() in kept)
