"""Programs that ask models: recorded, killed, resumed, run again, forked.

The servers are scripted (server.py) and answer at random, so an output that comes back came from
the journal.
"""

import os
import random
import shutil
import subprocess
import sys

import pytest

import goldrush
from tests.replay.worlds.program.kills import Trial, command_of, environment
from tests.replay.worlds.program.server import serving

pytestmark = pytest.mark.turns("programs that ask models")
PROGRAMS = ["sim.py", "sim3.py", "society.py", "claude.py", "node.mjs", "curl.sh", "crowd.py"]


def goldrush_(*words, url, folder, **more):
    return subprocess.run(
        [sys.executable, "-m", "goldrush", *words], cwd=folder, env=environment(url, **more),
        capture_output=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_killed_program_goes_on_and_is_run_again(name, tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTS", "60")
    if name == "claude.py":
        pytest.importorskip("anthropic")
    if name == "node.mjs" and shutil.which("node") is None:
        pytest.skip("Node is not installed")
    with serving(limited=0.1, failing=0.05) as server:
        trial = Trial(command_of(name), tmp_path, server, random.Random(name), requests=12)
        trial.killed_and_resumed(kills=2, forks=1)


def test_the_way_to_servers_is_that_of_the_environment(tmp_path):
    """Its proxy is asked; credentials of ~/.netrc and of other variables are not for them."""
    (tmp_path / "netrc").write_text("default login me password secret-of-netrc")
    with serving() as server:
        more = {
            "OPENAI_BASE_URL": "http://models.test/v1", "http_proxy": server.url,
            "NETRC": str(tmp_path / "netrc"), "ODD_KEY": os.fsdecode(b"\xff" * 9),
        }  # fmt: skip
        line = ["record", "--out", "run.journal", "--", *command_of("curl.sh")]
        recorded = goldrush_(*line, url=server.url, folder=tmp_path, **more)

    assert 0 == recorded.returncode, recorded.stderr
    assert {"http://models.test/v1/chat/completions"} == {each["path"] for each in server.asked}
    keys = {each["headers"].get("authorization") for each in server.asked}
    assert {"Bearer sk-secret-of-curl"} == keys


def test_an_answer_without_headers_that_breaks_off_is_not_taken_for_whole(tmp_path):
    body = '{"model": "m", "messages": [{"role": "user", "content": "gold?"}]}'
    ask = f"curl -sS -d '{body}' $OPENAI_BASE_URL/chat/completions"
    with serving(cut=1.0, is_bare=True) as server:
        line = ["record", "--out", "run.journal", "--", "sh", "-c", ask]
        recorded = goldrush_(*line, url=server.url, folder=tmp_path)

    assert b"ended with exit code 18" in recorded.stderr  # curl's, of a transfer that was cut


def test_another_model_is_asked_from_a_fork_on(tmp_path):
    with serving() as server:
        at, command = {"url": server.url, "folder": tmp_path}, command_of("sim.py")
        goldrush_("record", "--out", "run.journal", "--", *command, **at)
        seen = len(server.asked)
        line = ["fork", "run.journal", "--at", "9", "--model", "small", "--out", "b.journal"]
        forked = goldrush_(*line, "--", *command, **at)
        assert forked.returncode == 0, forked.stderr
        verdict = goldrush_("verify", "b.journal", "--", *command, **at)

    assert {"small"} == {each["body"]["model"] for each in server.asked[seen:]}
    assert 0 == verdict.returncode, verdict.stdout


SCRIPT = """
import os, time, openai, goldrush
client = openai.OpenAI()
goldrush.note("round", 1)
@goldrush.outside
def clock(): return time.time()
for now in [{}]:
    try: client.chat.completions.create(model="m", messages=[{{"role": "user", "content": now}}])
    except openai.APIError: pass
print(clock())
"""


@pytest.mark.parametrize(
    ("now", "options", "code", "says"),
    [
        ("'gold'", [], 0, "holds at levels 1 to 3"),
        ("'gold', *(['more'] if 'AGAIN' in os.environ else [])", [], 1, "in place of exchange 2"),
        ("f'it is {time.time()} now'", [], 1, "messages[0].content, character"),
        ("f'it is {time.time()} now'", ["--mask", r"(?P<time>\d+\.\d+)"], 0, "what is masked"),
    ],
)
def test_a_clock_in_a_prompt_is_named_and_can_be_masked(now, options, code, says, tmp_path):
    (tmp_path / "ask.py").write_text(SCRIPT.format(now))
    command = [sys.executable, "ask.py"]
    with serving() as server:
        at = {"url": server.url, "folder": tmp_path}
        recorded = goldrush_("record", "--out", "run.journal", *options, "--", *command, **at)
        assert recorded.returncode == 0, recorded.stderr
        verdict = goldrush_("verify", "run.journal", "--", *command, **at, AGAIN="1")

    assert code == verdict.returncode, verdict.stdout + verdict.stderr
    assert says in verdict.stdout.decode()


def test_a_ceiling_stops_a_run_that_a_higher_one_continues(tmp_path):
    command = command_of("sim.py")
    with serving() as server:
        at = {"url": server.url, "folder": tmp_path}
        line = ["record", "--out", "run.journal", "--max-requests"]
        stopped = goldrush_(*line, "9", "--", *command, **at)
        assert 1 == stopped.returncode
        assert b"stopped by --max-requests 9" in stopped.stderr
        assert 9 == len(server.asked)
        assert 0 == goldrush_(*line, "999", "--", *command, **at).returncode


def test_a_tape_records_once_and_serves_later(tmp_path, monkeypatch):
    openai = pytest.importorskip("openai")
    with serving() as server:
        for name, value in environment(server.url).items():
            monkeypatch.setenv(name, value)

        def ask(text):
            with goldrush.tape(tmp_path / "run.journal"):
                goldrush.note("asked", text)
                chat = [{"role": "user", "content": text}]
                with openai.OpenAI() as client:
                    made = client.chat.completions.create(model="m", messages=chat)
            return made.choices[0].message.content

        assert ask("gold?") == ask("gold?")
        assert 1 == len(server.asked)
        with pytest.raises(openai.APIStatusError, match="'silver"):
            ask("silver?")
