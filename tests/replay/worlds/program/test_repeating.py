"""Which line of a recorded program asks something else, found on recorded answers, for nothing."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from goldrush.replay.repeats import diagnose
from goldrush.replay.repeats.trace import Place
from goldrush.replay.worlds.program.recording import Options, record
from goldrush.replay.worlds.program.repeating import program_repeats
from tests.replay.worlds.program.server import serving
from tests.replay.worlds.program.test_programs import apart, environment, goldrush_

pytestmark = pytest.mark.turns("programs that ask models")
PROGRAM = """
import json, os, random, socket, sys, threading, time, uuid
from urllib.request import Request, urlopen
class Agent:
    def __init__(self, number): self.number = number
def ask(text):
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    answer = json.load(urlopen(Request(url, body, {"content-type": "application/json"})))
    return answer["choices"][0]["message"]["content"]
agents = set(map(Agent, range(9)))
KINDS = {
    "clock": lambda: f"it is {time.time()} now",
    "system-random": lambda: f"name {uuid.uuid4()}",
    "random": lambda: f"dice {random.random()}",
    "set-order": lambda: f"agents {[agent.number for agent in agents]}",
    "nothing": lambda: f"words { {'ash', 'elm', 'oak'} }",
}
def act():
    for kind in sys.argv[1:]: ask(KINDS[kind]())
threads = [threading.Thread(target=act) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
try: socket.create_connection(("192.0.2.1", 9), 0.01)
except OSError as error: print("connection", error, file=sys.stderr)
"""
NODE = """
const messages = [{ role: "user", content: `at ${Date.now()}` }];
const body = JSON.stringify({ model: "m", messages });
const headers = { "content-type": "application/json" };
await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, { method: "POST", headers, body });
"""


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(diagnose, "_CONTROLS", 2)
    monkeypatch.setattr(diagnose, "_AGAIN", 1)
    Path("ask.py").write_text(PROGRAM)
    Path("ask.mjs").write_text(NODE)
    with serving() as server:
        for name, value in environment(server.url).items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture
def judged(server):
    def judge(*words, masks=()):
        apart(record, words, "run.journal", Options(masks=masks), bytes, force=True)
        asked = len(server.asked)
        verdict = apart(program_repeats, "run.journal", words)
        assert asked == len(server.asked)
        return verdict

    return judge


@pytest.mark.parametrize("kinds", [["clock", "system-random"], ["random"], ["set-order"]])
def test_the_lines_that_ask_something_else_are_named(kinds, judged):
    command, lines = (sys.executable, "ask.py", *kinds), PROGRAM.splitlines()
    verdict = judged(*command)
    file = str(Path("ask.py").resolve())
    places = {
        Place(kind, file, next(n for n, text in enumerate(lines, 1) if f'"{kind}": ' in text))
        for kind in kinds
    }

    assert places == {cause.place for cause in verdict.causes if cause.is_confirmed}, str(verdict)
    assert verdict.difference.path.endswith(": body.messages[0].content")
    if "clock" in kinds:
        assert "record with --mask REGEX" in str(verdict)
        masked = judged(*command[:3], masks=[r"\d+\.\d+"])
        assert masked.repeats, str(masked)


def test_texts_in_a_set_have_the_recorded_order(judged):
    verdict = judged(sys.executable, "ask.py", "nothing")

    assert verdict.repeats, str(verdict)


def test_a_program_that_is_not_watched_is_said_to_be(judged):
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")
    verdict = judged("node", "ask.mjs")

    assert ((), False) == (verdict.causes, verdict.repeats)
    assert "no line is known" in str(verdict)


def test_the_way_out_of_verify_works_as_it_is_typed(server, tmp_path):
    words = [sys.executable, "ask.py", "clock"]
    apart(record, words, "run.journal", Options(), bytes)
    at = {"url": server.url, "folder": tmp_path}
    verified = goldrush_("verify", "run.journal", "--", *words, **at)
    way_out = f"repeats --journal run.journal -- {' '.join(words)}"
    repeated = goldrush_(
        *way_out.replace("--journal", "--json --no-causes --journal").split(), **at
    )

    assert (1, 1) == (verified.returncode, repeated.returncode), repeated.stderr
    assert f"`goldrush {way_out}` names the line" in verified.stdout.decode()
    assert b"192.0.2.1; record what it gives: name it by --upstream" in verified.stderr
    assert not json.loads(repeated.stdout)["repeats"]
