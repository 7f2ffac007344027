"""What servers, strangers, journals, disks and signals may do to a recorded program.

Most programs here are this process, under `goldrush.tape`. The server sends bytes, whole HTTP or
not, and counts.
"""

import gzip
import http.client
import json
import os
import random
import re
import shlex
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from urllib.parse import urlsplit

import attrs
import pytest

import goldrush
from goldrush.agents.worlds.program import proxy, requests
from goldrush.agents.worlds.program.requests import Masks, Secrets
from goldrush.inside import NotRecorded
from goldrush.kernel.errors import BadInput, GoldrushError, WriteFailed
from goldrush.kernel.journal import START, JournalReader
from goldrush.kernel.worlds.program.events import EVENTS
from goldrush.kernel.worlds.program.world import program_world
from goldrush.replay.journal.verify import verify
from goldrush.replay.worlds.program import recording, running, session
from goldrush.replay.worlds.program.recording import Options, record
from goldrush.replay.worlds.program.upstreams import upstreams_of
from tests.faults import forge
from tests.faults.disk import Disk
from tests.faults.hostile import typed
from tests.faults.sampling import sampled
from tests.replay.worlds.program.kills import command_of, environment, tape_of
from tests.replay.worlds.program.test_programs import apart, goldrush_

pytestmark = pytest.mark.turns("attacks on recorded programs")
LONG = "a text that a journal stores once, and later refers to by its number alone "
GOOD = json.dumps({"choices": [{"message": {"content": LONG}}], "usage": {"prompt_tokens": 1}})


class Killed(Exception):
    """The process of a program ends here."""


def whole(body, status="200 OK", *headers, length=None):
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body) if length is None else length}"]
    head = "\r\n".join([*lines, "connection: close", *headers, "", ""])
    return head.encode() + body


def stream(*pieces, end=b"0\r\n\r\n", head=b"content-type: text/event-stream\r\n"):
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    head += b"connection: close\r\ntransfer-encoding: chunked\r\n\r\n"
    return b"HTTP/1.1 200 OK\r\n" + head + chunks + end


@contextmanager
def serving(*answers):
    """A server that gives these answers in turn, and the last again and again; None: a reset, a
    function: sends what it likes. Yields its URL and the requests that it has got.
    """
    left, asked = list(answers), []

    def serve(connection):
        with suppress(OSError), connection, connection.makefile("rb") as file:
            lines = [*iter(file.readline, b"\r\n")]
            sizes = [line.split()[1] for line in lines if line.lower().startswith(b"content-len")]
            asked.append(b"".join(lines) + file.read(int(sizes[0]) if sizes else 0))
            answer = left.pop(0) if len(left) > 1 else left[0]
            if answer is None:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif callable(answer):
                answer(connection)
            else:
                connection.sendall(answer)

    def accept():
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=listener.accept()[:1], daemon=True).start()

    with socket.create_server(("127.0.0.1", 0), backlog=400) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def at(monkeypatch):
    """Has programs of this process ask a server."""
    return lambda url: monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")


def ask(path="", body='{"model": "m"}', method="POST", **headers):
    """Status, headers and body of an answer; an answer that breaks off has None for its body."""
    url = urlsplit(os.environ["OPENAI_BASE_URL"])
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
    try:
        connection.request(method, f"{url.path}/{path}", body, headers)
        answer = connection.getresponse()
        try:
            return answer.status, dict(answer.getheaders()), answer.read()
        except http.client.IncompleteRead:
            return answer.status, dict(answer.getheaders()), None
    finally:
        connection.close()


FAULTS = {
    "429": (whole(b"{}", "429 Slow", "retry-after: 7"), 429),
    "401": (whole(b"{}", "401 No"), 401),
    "402": (whole(b"{}", "402 Pay"), 402),
    "500": (whole(b"{}", "500 E"), 500),
    "529": (whole(b"", "529 Overloaded"), 529),
    "reset": (None, 502),
    "silence": (b"", 502),
    "no HTTP": (b"\0garbage\r\n\r\n", 502),
    "no status": (whole(b"{}", "999 No"), 502),
    "endless headers": (b"HTTP/1.1 200 OK\r\n" + b"a: bbbbbbbb\r\n" * 99_999, 502),
    "cut body": (whole(b'{"a"', "200 OK", "content-type: a/b", length=9), None),
    "cut body without headers": (whole(b'{"a"', length=9), None),
    "cut stream": (stream(b"data: 1\n\n", b"data: 2\n\n", end=b""), None),
    "cut stream without headers": (stream(b"data: 1\n\n", end=b"", head=b""), None),
    "no gzip": (whole(b"no gzip", "200 OK", "content-encoding: gzip"), None),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failure_reaches_the_program_and_is_asked_again(fault, path, at):
    answer, status = FAULTS[fault]
    with serving(answer, whole(GOOD.encode())) as (url, asked):
        at(url)
        with suppress(Killed), goldrush.tape(path):
            failed, headers, body = ask()
            raise Killed
        with goldrush.tape(path):
            again = ask()
        with goldrush.tape(path):
            assert again[2] == ask()[2] == GOOD.encode()

    assert 2 == len(asked)
    assert (failed, body is None) == ((status, False) if status else (200, True))
    assert ("retry-after" in headers) == (fault == "429")
    recorded = [each.answer for each in tape_of(path).exchanges.values()]
    assert [status is None, False] == [each.is_cut for each in recorded]
    assert verify(path, 2).broken is None


@pytest.mark.parametrize(
    "answer",
    [
        whole(gzip.compress(b"data"), "200 OK", "content-encoding: gzip"), whole(b""),
        whole(b"", "307 T", "location: /v1/there"), b"HTTP/1.1 204 No\r\nconnection: close\r\n\r\n",
        stream(b"data: 1\n\n", b"data: 2\n\n"), whole(b"{}", "200 OK", "x-request-id: \u00ff"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["POST", "HEAD"])
def test_odd_answers_are_served_as_they_came(answer, method, path, at):
    first = []
    for _ in range(2):
        with serving(answer if not first else None) as (url, asked):
            at(url)
            with goldrush.tape(path):
                status, _, body = ask(method=method)
                first.append((status, body))

    assert first[0] == first[1]
    assert [] == asked


KEYS = [
    "sk-proj-Abc1234567890defGHIjkl_mno-pqr", "sk-ant-api03-Zyx9876543210wvu-TSR_qpo",
    "AIzaSyD-1234567890abcdefghijklmnopqrstuv", "m1stra1KeyOf32LettersAndDigits0x",
    "0123456789abcdef0123456789abcdef", "sk-or-v1-00112233445566778899aabbccddeeff",
    "gsk_A1b2C3d4E5f6G7h8I9j0K1l2M3n4", "c0hereKeyOf40LettersAbcdefghijk123456789",
    "hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123",
]  # fmt: skip
SENT = [
    lambda key: {"authorization": f"Bearer {key}"}, lambda key: {"api-key": key},
    lambda key: {"path": f"?key={key}"}, lambda key: {"body": json.dumps({"api_key": key})},
    lambda key: {"body": f"access_token={key}&a=b"}, lambda key: {"x-goog-api-key": key},
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(KEYS)))
def test_no_key_is_in_a_journal_or_in_what_is_printed(number, tmp_path, path, at, capfd):
    key = KEYS[number].encode()
    echoed = b'{"error": "wrong key %s"}' % key
    sent = [*SENT, lambda key: {"body": json.dumps({"q": key})}] if b"_" in key else SENT
    for way in sent:
        replies = [whole(echoed, "401 No", f"x-request-id: {key.decode()}"), stream(echoed)]
        with serving(*replies) as (url, asked):
            at(url)
            with suppress(Killed), goldrush.tape(path):
                goldrush.note("config", {"api_key": key.decode()[::-1]})
                for _ in replies:
                    ask(**way(key.decode()))
                raise Killed
            assert all(key in each for each in asked)
        for words in (["log", "--json"], ["info"], ["export"], ["replay"], ["view"]):
            assert [] == list(typed([words[0], str(path), *words[1:]]))
        data = path.read_bytes() + "".join(capfd.readouterr()).encode()
        path.unlink()

        assert not [part for part in (key, key[:9], key[9:], key[::-1]) if part in data]


def test_a_key_in_two_pieces_of_a_stream_is_hidden(path, at):
    key = KEYS[0].encode()

    def slow(connection):
        connection.sendall(stream(b"a ", key[:4], end=b""))
        for piece in (key[4:9], key[9:] + b" b", b"sk", b""):
            time.sleep(0.2)
            connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))

    with serving(slow) as (url, _):
        at(url)
        with goldrush.tape(path):
            assert b"a (secret) bsk" == ask(authorization=f"Bearer {KEYS[0]}")[2]

    assert not [part for part in (key[:9], key[9:]) if part in path.read_bytes()]


def test_no_key_of_a_command_is_in_start():
    secrets = Secrets({"MISTRAL_API_KEY": KEYS[3], "GIT_AUTHOR_NAME": "Ada Lovelace 1815"})
    words = ["python", "sim.py", "--api-key", "x1y2z3w4", f"--token={KEYS[4]}", KEYS[3]]
    words.append("{}" * 200 + f"a:{KEYS[0]}")

    shown = secrets.in_command([*words, "--max-tokens", "100"])

    hidden = ["python", "sim.py", "--api-key", "(secret)", "--token=(secret)", "(secret)"]
    assert (*hidden, "{}" * 200 + "a:(secret)", "--max-tokens", "100") == shown
    assert shown == secrets.in_command(shown)
    assert b"Lovelace 1815" == secrets.hidden(b"Lovelace 1815")
    assert b"not-needed" == Secrets({"OPENAI_API_KEY": "not-needed"}).hidden(b"not-needed")


def test_no_key_of_a_command_is_printed(tmp_path):
    command = ["--", sys.executable, "-c", "print(1)", "--api-key", KEYS[0]]
    journal = ["--journal", "a.journal", *command]
    lines = [["record", "--out", "a.journal", *command], ["verify", "a.journal", *command]]
    for line in [*lines, ["repeats", *journal]]:
        done = goldrush_(*line, url="http://127.0.0.1:9", folder=tmp_path)
        assert (0, False) == (done.returncode, KEYS[0].encode() in done.stdout + done.stderr), done


def test_who_has_not_the_token_reaches_nothing(path, at, caplog):
    with serving(whole(GOOD.encode())) as (url, asked):
        at(url)
        with goldrush.tape(path):
            place = urlsplit(os.environ["GOLDRUSH_PROXY"])
            token, port = place.path[1:], int(place.port or 0)

            def status(line, *headers):
                with socket.create_connection(("127.0.0.1", port), timeout=60) as stranger:
                    lines = [f"{line} HTTP/1.1", "host: a", "connection: close", *headers, "", ""]
                    stranger.sendall("\r\n".join(lines).encode("latin-1"))
                    return int(stranger.makefile("rb").read().split()[1])

            guesses = ["", "/", "x/openai/a", f"{token[:-1]}/openai/a", f"/{token}/openai/a"]
            guesses += [f"..//{token}/openai/a", f"%2e%2e/{token}/notes", "notes", f"x/../{token}"]
            guesses += [f"{token}/nobody/a", f"{token}/outside/a"]
            odd = [f"GET {url}/v1", f"CONNECT {urlsplit(url).netloc}", "OPTIONS *", f"GET /{token}"]
            refused = [*(f"GET /{guess}" for guess in guesses), *odd, f"GET /{token}/%6fpenai/a"]
            assert {404} == {status(line) for line in refused}
            assert {400} == {status("GET /\xff"), status(f"GET /{'a' * 9_999}"), status("A B")}
            assert 421 == status(f"GET /{token}/openai/a", "upgrade: websocket")
            assert [] == asked
            assert 200 == status(f"GET http://elsewhere/{token}/openai/a", "accept: \xff")
            assert 200 == status(f"GET /{token}/openai/a", f"{requests.CALLER}: \xff")

    assert [b"GET /v1/a HTTP/1.1\r\n"] * 2 == [each.splitlines(True)[0] for each in asked]
    assert 2 == len(tape_of(path).exchanges)
    assert token.encode() not in path.read_bytes()
    assert not [each for each in caplog.records if each.name.startswith("aiohttp")]  # to stderr


@attrs.frozen
class Recorded:
    """A journal of a tape, to be forged: chats, a stream, notes, a second process."""

    data: bytes
    commits: tuple
    world = program_world()


def play():
    goldrush.note("gold", [1, 2])
    for count in (1, 2):
        ask(
            body=json.dumps({"model": "m", "messages": [{"role": "user", "content": LONG}] * count})
        )
    ask("stream")
    goldrush.note("text", LONG)


def test_forged_journals_are_refused_or_told(path, at, monkeypatch, tmp_path):
    monkeypatch.setattr(requests, "SECONDS_MAX", 1.0)
    good = whole(GOOD.encode())
    with serving(good, good, stream(b"data: 1\n\n", b"data: 2\n\n"), good) as (url, asked):
        at(url)
        with suppress(Killed), goldrush.tape(path, masks=["[0-9]{4}-[0-9]{2}"]):
            play()
            raise Killed
        with goldrush.tape(path):
            play()
            ask("last")
    with JournalReader(path) as reader:
        sound = Recorded(path.read_bytes(), tuple(reader))
    values = forge.VALUES | forge.RAW
    makers = [
        each for code in range(len(EVENTS)) for each in forge.event_makers(sound, code, values)
    ]
    makers += forge.setup_makers(sound, START, every=False)
    wrong, at_work = [], str(path)
    for what, make in sampled(makers, 29):
        path.write_bytes(make())
        try:
            with goldrush.tape(path):
                play()
        except GoldrushError as error:
            wrong += [what] if "\n" in str(error) else []
        commands = ["log", "info", "measure", "prompt", "replay", "view"]
        for command in random.Random(what).sample(commands, 2):
            wrong += [f"{what}: {fault}" for fault in typed([command, at_work])]

    assert 4 == len(asked)
    assert [] == wrong


def test_no_mask_takes_for_ever(monkeypatch):
    monkeypatch.setattr(requests, "SECONDS_MAX", 0.1)
    masks = Masks(["(a+)+$"])
    masked = partial(masks.in_value, ["a" * 99 + "b"])  # 2 to the 99th steps

    with pytest.raises(BadInput, match="a mask takes too long"):
        masks.in_time(masked)
    with pytest.raises(BadInput, match="a mask takes too long"), ThreadPoolExecutor(1) as pool:
        pool.submit(masks.in_time, masked).result()


def test_keys_go_to_no_server_that_a_journal_alone_names(path, at):
    with serving(whole(GOOD.encode())) as (url, asked):
        at(url)
        with suppress(Killed), goldrush.tape(path, upstreams=[f"mine={url}"]):
            ask()
            raise Killed
        with pytest.raises(BadInput, match=f"give --upstream mine={url}"), goldrush.tape(path):
            ask("again")

    assert 1 == len(asked)


def test_the_query_of_a_server_is_sent_and_not_recorded(path, at, monkeypatch):
    for name in ("AZURE_OPENAI_ENDPOINT", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    def ask_azure():
        monkeypatch.setenv("OPENAI_BASE_URL", os.environ["AZURE_OPENAI_ENDPOINT"])
        return ask("chat?a=b")[2]

    with serving(whole(GOOD.encode())) as (url, asked):
        named = [f"azure={url}/v1?api-version=7&key=k0123456789"]
        with goldrush.tape(path, upstreams=named):
            first = ask_azure()
        with goldrush.tape(path):  # on a machine that does not know the server
            assert first == ask_azure()
        with (
            pytest.raises(BadInput, match="has credentials"),
            goldrush.tape(path.with_name("b"), upstreams=["azure=http://me:word@127.0.0.1/v1"]),
        ):
            pass

    [line] = [each.splitlines()[0] for each in asked]
    assert b"POST /v1/chat?api-version=7&key=k0123456789&a=b HTTP/1.1" == line
    assert not [part for part in (b"k0123", b"api-version", b"word") if part in path.read_bytes()]


def test_what_a_server_got_and_did_not_answer_is_not_sent_again(path, at):
    def closes(connection):
        connection.sendall(whole(GOOD.encode()).replace(b"connection: close", b"a: b"))
        asked.append(connection.recv(1 << 16))  # which may have been paid for

    with serving(closes, whole(GOOD.encode())) as (url, asked):
        at(url)
        with goldrush.tape(path):
            assert [200, 502, 200] == [ask(str(number))[0] for number in range(3)]

    assert 3 == len(asked)


def test_each_variable_keeps_its_server():
    def reached(**environment):
        urls, names = upstreams_of(environment)
        return [urls.get(names[variable]) for variable in environment]

    two = {"OPENAI_BASE_URL": "http://a/v1", "OPENAI_API_BASE": "b/v1", "OLLAMA_HOST": ":8"}
    assert ["http://a/v1", "http://b/v1", "http://127.0.0.1:8"] == reached(**two)
    assert ["http://h:11434", None] == reached(OLLAMA_HOST="h", CO_API_URL="http://me:word@h")
    for name in ("notes", "outside"):
        with pytest.raises(BadInput, match="give it another name"):
            upstreams_of({}, [f"{name}=http://a"])


def test_what_is_hidden_of_a_request_does_not_depend_on_others(path, at):
    key = KEYS[0]
    sent = {"access_token=gold1234567": "gold1234567", '{"q": "use gold1234567"}': "none"}
    with serving(whole(b"gold1234567")) as (url, asked):
        at(url)
        with goldrush.tape(path, upstreams=[f"openai={url}/{key}"]):
            where = f"{key}/chat?subscription={key}&{key}=1"
            answers = [ask(where, body, session=text)[2] for body, text in sent.items()]

    assert [b"(secret)", b"gold1234567"] == answers
    assert all(4 == each.count(key.encode()) for each in asked)
    assert key.encode() not in path.read_bytes()
    recorded = [each.asked.body for each in tape_of(path).exchanges.values()]
    assert [b"access_token=(secret)", {"q": "use gold1234567"}] == recorded


def test_notes_that_no_commit_can_hold_are_refused(path, at, monkeypatch):
    monkeypatch.setattr(session, "NOTES_MAX", 1 << 10)
    with serving(whole(GOOD.encode())) as (url, _):
        at(url)
        for _ in range(2):
            with goldrush.tape(path):
                for name in ("a" * 600, "b"):
                    goldrush.note(name, "gold" * 50)
                    with pytest.raises(goldrush.NotRecorded, match="over 1,024 bytes of notes"):
                        goldrush.note("c" * 900, "gold" * 50)
                    ask(name)

    assert ["a" * 600, "b"] == [note.name for note in tape_of(path).notes]
    assert 2 == len(tape_of(path).exchanges)


def test_the_same_line_again_goes_on_and_another_is_refused(tmp_path):
    command = ["sh", "-c", "curl -sS $MINE/1; curl -sS $MINE/2 # " + "gold" * 64]
    with serving(whole(GOOD.encode())) as (url, asked):

        def record(*words):
            line = ["record", "--out", "a.journal", "--variable", "MINE", *words, "--", *command]
            done = goldrush_(*line, url=url, folder=tmp_path, MINE=url)
            return done.returncode, done.stderr.decode()

        assert 1 == record("--max-requests", "1")[0]
        for option, name in (("--mask", "masks"), ("--output", "outputs")):
            code, told = record(option, "gold")
            assert (2, True) == (code, f"the journal has other {name}: none" in told)
        assert "a.journal is a file of the program" in record("--output", "./a.journal")[1]
        assert 0 == record()[0]
        unnamed = goldrush_("record", "--", *command, url=url, folder=tmp_path, MINE=url)

    assert 0 == unnamed.returncode, unnamed.stderr
    assert 2 + 2 == len(asked)


def endless(connection):
    connection.sendall(stream(b"data: 1\n\n", end=b""))
    while True:
        connection.sendall(b"9\r\ndata: 2\n\n\r\n")


def test_what_has_no_end_or_is_too_much_ends(path, at, monkeypatch):
    for name, limit in (("BODY_MAX", 1 << 16), ("CHUNKS_MAX", 2_000)):
        monkeypatch.setattr(proxy, name, limit)
    good = whole(GOOD.encode())
    with serving(endless, whole(b"a" * (1 << 17)), *[good] * 300) as (url, asked):
        at(url)
        for _ in range(2):
            with goldrush.tape(path):
                assert [(200, None)] * 2 == [ask(str(n))[::2] for n in range(2)]
                assert 413 == ask(body="a" * (1 << 17))[0]
                with pytest.raises(goldrush.NotRecorded, match="body size 65536"):
                    goldrush.note("long", "a" * (1 << 17))
                for number in range(500):
                    goldrush.note("number", number)
                with ThreadPoolExecutor(300) as pool:
                    answers = pool.map(lambda n: ask(f"many/{n}")[2], range(300))
                    assert [GOOD.encode()] * 300 == list(answers)

    assert 302 == len(asked)


def test_failures_alone_are_asked_for_again_as_the_warning_says(tmp_path):
    ask = """for n in 1 2 3; do curl -sS -d '{"model": "m"}' $OPENAI_BASE_URL/$n; done"""
    with serving(whole(b"{}", "500 E"), whole(GOOD.encode())) as (url, asked):
        at = {"url": url, "folder": tmp_path}
        done = goldrush_("record", "--out", "a.journal", "--", "sh", "-c", ask, **at)
        usage = goldrush_("measure", "--usage", "a.journal", **at)
        (way_out,) = re.findall(r"`goldrush (fork .*)`", done.stderr.decode())
        forked = goldrush_(*shlex.split(way_out), **at)

    assert b"1 of 3 exchanges failed" in done.stderr
    assert b"1 no answer" in usage.stdout.replace(b"no-answer", b"no answer"), usage.stdout
    assert (0, GOOD.encode() * 3, 4) == (forked.returncode, forked.stdout, len(asked))


@pytest.mark.parametrize("long", [whole(b"a" * (1 << 10)), stream(b"a" * 600, b"a" * 600)])
def test_what_no_commit_can_hold_ends_the_recording(long, path, at, monkeypatch):
    for module in (session, recording):
        monkeypatch.setattr(module, "EXCHANGE_MAX", 1 << 10)
    with serving(whole(GOOD.encode()), long) as (url, asked):
        at(url)
        with (
            pytest.raises(BadInput, match="exchange 2, POST /1, has over"),
            goldrush.tape(path),
        ):
            answers = [ask(str(n))[::2] for n in range(3)]

    assert [(200, GOOD.encode()), 421] == [answers[0], answers[2][0]]
    assert answers[1] == (200, None) or answers[1][0] == 421  # of a stream it has the beginning
    assert (2, None, 1) == (len(asked), tape_of(path).ended, len(tape_of(path).exchanges))
    given = {"out": path.with_name("b"), "options": Options(), "write": bytes, "answer": "a" * 1025}
    with pytest.raises(BadInput, match="the answer is over 1,024 bytes"):
        recording.fork([], path, 1, **given)


@pytest.mark.parametrize("room", [700, 1100])
def test_a_full_disk_is_told_once_and_what_was_recorded_stays(room, tmp_path, path, at):
    answers = [whole(GOOD.encode()), stream(b"data: 1\n\n", b"data: %d\n\n" % 10**99)]
    with serving(*answers * 9) as (url, asked):
        at(url)
        seen = []
        with Disk(tmp_path, room=room), pytest.raises(WriteFailed) as told, goldrush.tape(path):
            seen += [ask(str(number))[::2] for number in range(8)]
        kept = [each.answer.status for each in tape_of(path).exchanges.values()]
        given = len(asked)
        with goldrush.tape(path):
            assert {200} == {ask(str(number))[0] for number in range(8)}

    assert "\n" not in str(told.value)
    assert len(kept) == sum(status == 200 and body is not None for status, body in seen)
    assert given == len(kept) + 1  # after the failure nothing is asked
    assert 8 - len(kept) == len(asked) - given


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_answers_that_are_under_way(number, tmp_path, path):
    pytest.importorskip("openai")
    command = command_of("crowd.py")
    is_open = threading.Event()

    def late(connection):
        is_open.wait(60)
        connection.sendall(whole(GOOD.encode()))

    with serving(late) as (url, asked):
        line = [sys.executable, "-m", "goldrush", "record", "--out", str(path), "--", *command]
        process = subprocess.Popen(
            line, env=environment(url, AGENTS="50"), cwd=tmp_path, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        while len(asked) < 50 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(number)
        threading.Timer(2, is_open.set).start()  # the program has gone by then
        _, told = process.communicate(timeout=60)
        again = goldrush_(
            "resume", str(path), "--", *command, url=url, folder=tmp_path, AGENTS="50"
        )
        assert 0 == again.returncode, again.stderr

    assert process.returncode not in (0, None), told
    assert b"goldrush: interrupted; go on with" in told
    assert 50 * 4 == len(asked)  # by each agent, and none of them twice


def test_a_tape_that_cannot_begin_says_so(path, monkeypatch):
    monkeypatch.setattr(proxy, "HOST", "nobody.invalid")
    with pytest.raises(OSError), goldrush.tape(path):  # noqa: PT011  # of the resolver
        pass


def test_a_tape_compares_notes_and_keeps_the_environment(path, at, monkeypatch):
    at("http://127.0.0.1:9")
    with goldrush.tape(path):
        goldrush.note("gold", 1)
        monkeypatch.setenv("OWN", "1")
    assert "1" == os.environ["OWN"]
    assert "http://127.0.0.1:9/v1" == os.environ["OPENAI_BASE_URL"]
    assert "GOLDRUSH_NOTES" not in os.environ
    with pytest.raises(NotRecorded, match="does not have the request"), goldrush.tape(path):
        assert (421, True) == (ask()[0], b"goldrush: the journal does not have" in ask()[2])
    with pytest.raises(NotRecorded, match="the note gold: 2"), goldrush.tape(path):
        goldrush.note("gold", 2)
    with pytest.raises(NotRecorded, match="not made was the note gold: 1"), goldrush.tape(path):
        pass


def test_a_tape_warns_of_what_it_does_not_compare(path, at):
    with serving(whole(b"{}")) as (url, _):
        at(url)
        with pytest.warns(UserWarning, match="not compared: x-odd"), goldrush.tape(path):
            ask(**{"x-odd": "1"})


TESTS = """
import pytest
@pytest.mark.parametrize("n", ["a b", "a-b"])
def test_x(n, goldrush_tape): pass
class TestA:
    def test_x(self, goldrush_tape): pass
class TestB(TestA): pass
"""


def test_each_test_has_a_tape_of_its_own(tmp_path):
    (tmp_path / "test_own.py").write_text(TESTS)
    subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=tmp_path, check=True)

    assert 4 == len([*tmp_path.glob("tapes/*.journal")])


def test_a_program_ends_though_its_terminal_is_gone(tmp_path, monkeypatch):
    groups, late = iter([None]), tmp_path / "late"
    monkeypatch.setattr(running, "_group", lambda: next(groups, 0))
    words = [sys.executable, "-c", f"import time; time.sleep(4); open({str(late)!r}, 'w')"]
    apart(record, words, tmp_path / "a.journal", Options(seconds=1), bytes)

    assert not late.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, None])
def test_what_a_program_has_started_ends_with_it(number, tmp_path, path):
    """A shell waits for the process that it starts, and does not pass on what it gets itself."""
    start = f"{sys.executable} -c 'import time; print(1, flush=True); time.sleep(99)' & wait"
    line = [sys.executable, "-m", "goldrush", "record", "--out", str(path)]
    more = ["--seconds", "3"] if number is None else []
    with subprocess.Popen(
        [*line, *more, "--", "sh", "-c", start], cwd=tmp_path, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        process.stdout.readline()
        if number is not None:
            process.send_signal(number)
        process.communicate(timeout=60)  # until nobody has its stderr any more
