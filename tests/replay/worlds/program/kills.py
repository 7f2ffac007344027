"""Programs that are recorded, killed at random instants, resumed and run again.

`python -m tests.replay.worlds.program.kills --times 50 sim.py curl.sh` tries programs that often.
Those of published/ are scripts over packages that nobody here has changed; `--python` names an
interpreter that has them: `pip install langgraph langchain-openai litellm llm-society`.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import attrs
import click

from goldrush.kernel.journal import JournalReader
from goldrush.replay.worlds.program.tape import Tape
from goldrush.replay.worlds.program.texts import text_of
from tests.replay.worlds.program.server import Server, serving

FOLDERS = [Path(__file__).parent / name for name in ("programs", "published")]
RUNS_MAX = 9  # of a program that nobody kills: its own attempts may be used up
SECONDS_MAX = 300
CUT_MIN = 2000  # bytes of a journal that may lose its last ones: not START


def environment(url: str, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI", "ANTHROPIC"))}
    return {
        **kept, "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_BASE": f"{url}/v1",
        "ANTHROPIC_BASE_URL": url, "OPENAI_API_KEY": "sk-secret-of-these-tests",
        "ANTHROPIC_API_KEY": "sk-secret-of-these-tests", "NAMED": "1", **more,
    }  # fmt: skip


def tape_of(path: str | Path) -> Tape:
    with JournalReader(path) as reader:
        return Tape.of(reader)


def command_of(name: str, python: str = sys.executable) -> list[str]:
    path = next(folder / name for folder in FOLDERS if (folder / name).exists())
    return [{".py": python, ".mjs": "node", ".sh": "sh"}[path.suffix], str(path)]


@attrs.define
class Trial:
    """One program in a folder of its own. Each method raises AssertionError for what is wrong.

    Attributes:
        requests: the number of requests that it makes, roughly.
        counts: of kills, exchanges, forks, and so on.
    """

    command: list[str]
    folder: Path
    server: Server
    rng: random.Random
    requests: int
    counts: Counter[str] = attrs.field(factory=Counter)

    @property
    def journal(self) -> Path:
        return self.folder / "run.journal"

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """goldrush with these words and the command, in a process group of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "goldrush", *words, "--", *self.command],
            env=environment(self.server.url), cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, *words: str, codes: tuple[int, ...] = (0,)) -> int:
        """The exit code of goldrush, which is one of these."""
        with self.start(*words) as process:
            out, err = process.communicate(timeout=SECONDS_MAX)
        assert process.returncode in codes, f"{words}: {process.returncode}\n{out!r}\n{err!r}"
        return process.returncode

    def record(self) -> None:
        """Record it until it ends by itself."""
        for _ in range(RUNS_MAX):
            code = self.run("record", "--out", str(self.journal), codes=(0, 1, 2))
            # The last kill may have come when all was recorded.
            if code == 0 or (code == 2 and tape_of(self.journal).state.exit_code == 0):
                return
            self.counts["ended with an error, resumed"] += 1
        raise AssertionError(f"it does not come to an end in {RUNS_MAX} runs")

    def kill(self, after: int, is_recorder: bool) -> None:
        """Record it, and kill it so many requests later; with its recorder, or alone."""
        due = len(self.server.asked) + after
        with self.start("record", "--out", str(self.journal)) as process:
            while process.poll() is None and len(self.server.asked) < due:
                time.sleep(0.002)
            time.sleep(self.rng.random() * (0.05 if after else 2.0))
            if process.poll() is not None:
                return
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            if is_recorder or not children:
                process.kill()
            for child in children:
                os.killpg(int(child), signal.SIGKILL)
            process.communicate(timeout=SECONDS_MAX)
        assert process.returncode in (1, -signal.SIGKILL), process.returncode
        self.counts["recorders killed" if is_recorder else "programs killed"] += 1
        if is_recorder and self.journal.exists() and self.journal.stat().st_size > CUT_MIN:
            os.truncate(self.journal, self.journal.stat().st_size - 3)  # as by a loss of power

    def killed_and_resumed(self, kills: int, forks: int = 0) -> None:
        """Kill it that often, let it end, run it again, and fork it."""
        is_answered = True
        for _ in range(kills):
            is_recorder = self.rng.random() < 0.5
            is_answered = is_answered and not is_recorder
            self.kill(self.rng.randrange(max(2, self.requests // kills)), is_recorder)
        self.record()
        tape = tape_of(self.journal)
        paid = {number for number, each in tape.exchanges.items() if each.answer.is_success}
        self.counts["exchanges"] += len(tape.exchanges)
        assert paid <= {*tape.valid}, "answers were asked for twice"
        assert not is_answered or len(paid) == len(self.server.answered), "answers were lost"
        assert b"sk-secret" not in self.journal.read_bytes()
        self.verify(self.journal)
        texts = sorted(number for number in paid if text_of(tape.exchanges[number].answer))
        for number in self.rng.sample(texts, min(forks, len(texts))):
            self.fork(number)

    def verify(self, journal: Path) -> None:
        """Run it again on its answers, which asks for nothing."""
        asked = len(self.server.asked)
        self.run("verify", str(journal))
        assert asked == len(self.server.asked)

    def fork(self, number: int) -> None:
        """Give it another answer, verify that, and compare the two."""
        (self.folder / "new.txt").write_text("defect, of course")
        out = self.folder / f"{number}.journal"
        words = ["fork", str(self.journal), "--at", str(number), "--out", str(out)]
        code = self.run(*words, "--answer", "new.txt", codes=(0, 1))
        self.counts["forks" if code == 0 else "forks that end with an error"] += 1
        self.verify(out)
        line = [sys.executable, "-m", "goldrush", "diff", str(self.journal), str(out)]
        difference = subprocess.run(line, capture_output=True, check=False)
        assert f"exchange {number}".encode() in difference.stdout, difference


def requests_of(command: list[str], folder: Path) -> int:
    """The number of requests of a program that nobody records. Raises CalledProcessError."""
    with serving() as server:
        subprocess.run(
            command, env=environment(server.url), cwd=folder, check=True, timeout=SECONDS_MAX,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        return len(server.asked)


@click.command()
@click.option("--times", default=1, help="How often each program is tried.")
@click.option("--kills", default=1, help="How often it is killed each time.")
@click.option("--forks", default=0, help="With how many other answers it goes on.")
@click.option("--python", default=sys.executable, help="What runs Python's programs.")
@click.argument("names", nargs=-1, required=True)
def main(times: int, kills: int, forks: int, python: str, names: list[str]) -> None:
    """Try programs of the folders programs/ and published/, and tell what is wrong."""
    wrong = 0
    for name in names:
        command, counts = command_of(name, python), Counter[str]()
        with tempfile.TemporaryDirectory() as folder:
            requests = requests_of(command, Path(folder))
        for number in range(times):
            with (
                tempfile.TemporaryDirectory() as folder,
                serving(limited=0.1, failing=0.05) as server,
            ):
                trial = Trial(command, Path(folder), server, random.Random(number), requests)
                try:
                    trial.killed_and_resumed(kills, forks)
                except AssertionError as fault:
                    wrong += 1
                    click.echo(f"{name}, seed {number}: {fault}")
            counts += trial.counts
        told = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
        click.echo(f"{name}: {times} times, {requests} requests each: {told}")
    click.echo(f"{wrong} failed")
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
