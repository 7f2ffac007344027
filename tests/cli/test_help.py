"""The help: sections, examples that are executed, and what shells complete."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from goldrush.cli.main import BUILT_IN, OF_PROGRAMS, cli, of_program
from tests.cli.helpers import ROOT, assert_refused, built_in, goldrush
from tests.journals import commits_of
from tests.llm.runs import playing
from tests.llm.servers import Asked, Reply, completion, serving
from tests.waiting import HANGS

LINE = re.compile(r"^ +(goldrush .*)$", re.MULTILINE)
FIRST = ("record", "resume", "fork", "study")  # they make what the others read
SLOW = ("repeats", "conform", "report")  # whose examples take turns
ANSWERS = {"diff": 1}  # exit codes that are no error
HELP_MAX = 63  # characters of a command's line in the help, beside its name

OWN = """
class Hawk:
    def plan(self, seen, draws):
        return [("claim", seen.unowned[0], 1)] if seen.unowned else []
"""
MODEL = """
class Model:
    def __init__(self, agents, seed):
        self.agents = agents

    def step(self):
        self.agents += 1
"""
PLAN = """
treatments = ["baseline"]
rosters = ["raid"]
seeds = 2
rounds = 5
"""


def examples(command: click.Command) -> list[str]:
    assert command.help is not None
    return LINE.findall(command.help.partition("Examples:")[2])


def test_every_command_has_a_whole_line_in_the_help_and_two_examples_or_three(
    tmp_path: Path,
) -> None:
    out = goldrush("--help", cwd=tmp_path).out
    commands = built_in()

    assert list(BUILT_IN) == list(commands) == re.findall(r"^  ([a-z]+)  ", out, re.MULTILINE)
    for name, command in commands.items():
        line = command.get_short_help_str(HELP_MAX)
        assert line.endswith(".")
        assert not line.endswith("...")
        assert re.search(rf"^  {name} +{re.escape(line)}$", out, re.MULTILINE)
        assert len(examples(command)) in (2, 3)


def test_the_examples_of_the_help_can_be_typed_as_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other, in one folder, so that one reads what another has written."""
    write_files(tmp_path)
    commands = {**built_in()}
    with serving(answering) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)
        type_example("goldrush record --roster llm:a*2 --rounds 10 --out models.journal", tmp_path)
        for line in (*examples(commands.pop("reask")), *examples(commands.pop("interview"))):
            type_example(line, tmp_path)
    for name in dict.fromkeys([*FIRST, *commands]):
        if name == "resume":
            own = "goldrush record --roster my_policies:Hawk --rounds 5 --out own.journal"
            type_example(own, tmp_path)
            cut(tmp_path / "own.journal", tmp_path / "own.journal")
            cut(tmp_path / "run.journal", tmp_path / "unfinished.journal")
            (tmp_path / "journals").mkdir()
            shutil.copy(tmp_path / "own.journal", tmp_path / "journals")
        if name not in SLOW:
            for line in examples(commands[name]):
                type_example(line, tmp_path)


@pytest.mark.turns
@pytest.mark.parametrize("line", [line for name in SLOW for line in examples(built_in()[name])])
def test_the_examples_that_take_longer_can_be_typed_too(line: str, tmp_path: Path) -> None:
    write_files(tmp_path)
    if " study" in line:
        type_example(examples(built_in()["study"])[0], tmp_path)
    type_example(line, tmp_path)


def answering(asked: Asked) -> Reply:
    """Of a model: a plan, or a form."""
    form = completion('{"actions": [], "kind": "game", "aim": "to win"}')
    return form if asked.agent is None else playing(asked)


def write_files(folder: Path) -> None:
    """What the examples name and no example writes."""
    (folder / "my_policies").mkdir()
    (folder / "my_policies" / "__init__.py").write_text(OWN)
    (folder / "plan.toml").write_text(PLAN)
    (folder / "model.py").write_text(MODEL)


def type_example(line: str, folder: Path) -> None:
    words = shlex.split(line.partition(" > ")[0])[1:]
    ran = goldrush(*words, cwd=folder)

    assert (line, ran.code) == (line, ANSWERS.get(words[0], 0)), ran.err
    assert ran.out.strip()


@pytest.mark.parametrize("name", OF_PROGRAMS)
def test_the_help_has_the_options_for_a_program(name: str, tmp_path: Path) -> None:
    text = goldrush(name, "--help", cwd=tmp_path).out.partition("For a program")[2]
    plain = {flag for param in built_in()[name].params for flag in param.opts}
    options = [param for param in of_program(name).params if param.param_type_name == "option"]
    own = {flag for option in options for flag in option.opts} - plain

    assert own <= {*re.findall(r"--[\w-]+", text)}
    assert "behind --" not in goldrush(name, "--nothing", cwd=tmp_path).err
    for flag in own:
        assert_refused(
            goldrush(name, flag, "1", cwd=tmp_path), f"{flag} is for a program behind --"
        )


@pytest.mark.parametrize("line", ["record --out a", "resume a", "fork a --at 1 --answer b",
                                  "verify a", "repeats --journal a"])  # fmt: skip
def test_a_program_without_dashes_is_told_where_they_stand(line: str, tmp_path: Path) -> None:
    ran = goldrush(*line.split(), "sh", "sim.sh", "--days", "3", cwd=tmp_path)

    assert_refused(ran, f"put -- before the program: python -m goldrush {line} -- sh sim.sh --days")


def test_a_program_without_its_journal_is_told_that_it_needs_one(tmp_path: Path) -> None:
    assert_refused(goldrush("verify", "sh", cwd=tmp_path), "cannot read sh: no such file")
    assert_refused(goldrush("repeats", "--", "sh", cwd=tmp_path), "Missing option '--journal'")


def test_commands_that_ask_no_model_import_nothing_that_asks_one(tmp_path: Path) -> None:
    script = (
        "import sys; from goldrush.cli.main import cli; cli(sys.argv[1:], standalone_mode=False);"
        "print(*(name for name in sys.modules if name.startswith('goldrush.agents.llm.')))"
    )
    for words in (["record", "--rounds", "1", "--out"], ["verify"], ["log"]):
        line = [sys.executable, "-c", script, *words, str(tmp_path / "run")]
        said = subprocess.run(line, check=True, cwd=ROOT, capture_output=True, text=True).stdout
        loaded = {name.rpartition(".")[2] for name in said.splitlines()[-1].split()}

        assert {"failures", "options", "parts", "question", "versions"} == loaded, words


OF_SEASONS = re.compile(r"season|assignment|arena|contribution|--table\b(?! NAME)", re.IGNORECASE)


def test_the_words_of_a_world_stand_in_the_help_of_its_own_commands_alone(tmp_path: Path) -> None:
    """The table of `export` is one of data. Examples may be of any world."""
    of_a_world = {name for name, module in BUILT_IN.items() if module.startswith("worlds.")}
    texts = {name: LINE.sub("", goldrush(name, "--help", cwd=tmp_path).out) for name in BUILT_IN}
    found = {name for name, text in texts.items() if OF_SEASONS.search(text)}

    assert of_a_world == found == set([*BUILT_IN][-len(of_a_world) :])


def cut(journal: Path, target: Path) -> None:
    """The journal as it was three commits before its end."""
    end = commits_of(journal)[-4].end
    target.write_bytes(journal.read_bytes()[:end])


def test_journals_are_completed_as_files() -> None:
    shell = ShellComplete(cli, {}, "goldrush", "_GOLDRUSH_COMPLETE")

    for command in ("replay", "measure", "verify", "resume"):
        assert ["file"] == [item.type for item in shell.get_completions([command], "ru")]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_line_for_completion_that_the_help_tells_works_in_bash(tmp_path: Path) -> None:
    program = tmp_path / "goldrush"
    program.write_text(f"#!{sys.executable}\nfrom goldrush.__main__ import main\nmain()\n")
    program.chmod(0o755)
    line = 'eval "$(_GOLDRUSH_COMPLETE=bash_source goldrush)"'
    tab = (
        "COMP_WORDS=(goldrush rec) COMP_CWORD=1; compopt() { :; }\n"
        '_goldrush_completion goldrush; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", f"((BASH_VERSINFO >= 5)) || exit 9\n{line}\n{tab}"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        cwd=tmp_path, capture_output=True, text=True, timeout=HANGS,
    )  # fmt: skip
    if done.returncode == 9:
        pytest.skip("needs bash 5")

    assert line in goldrush("--help", cwd=tmp_path).out
    assert ("record\n", "") == (done.stdout, done.stderr)
