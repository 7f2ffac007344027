"""Pages are executed: transcripts, programs, the policy in agents/README.md.

`python -m tests.test_readme` writes the transcripts' outputs anew.
"""

import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from shutil import copy
from xml.etree import ElementTree

import pytest

from goldrush.agents.llm.models import read_models
from goldrush.cli.main import BUILT_IN
from goldrush.kernel.journal import sha256_of
from tests.cli import warm
from tests.cli.helpers import listening
from tests.golden import FOLDER, path_of
from tests.llm import local

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
EXECUTED = (  # pages with transcripts
    README,
    ROOT / "goldrush" / "GAMES.md",
    ROOT / "goldrush" / "guide" / "tutorial.md",
    ROOT / "replay" / "README.md",
    ROOT / "replay" / "repeats" / "README.md",
    ROOT / "replay" / "study" / "README.md",
    ROOT / "replay" / "worlds" / "competition" / "README.md",
    ROOT / "replay" / "worlds" / "episode" / "README.md",
    ROOT / "agents" / "llm" / "README.md",
)
TURNS = pytest.mark.turns("pages with transcripts")
PROGRAMS = (  # pages with programs, each followed by what it prints
    ROOT / "replay" / "PYTHON.md",
    ROOT / "replay" / "README.md",
    ROOT / "replay" / "study" / "README.md",
    ROOT / "goldrush" / "PLUGINS.md",
)
NOTEBOOK = ROOT / "goldrush" / "guide" / "example.ipynb"
MODELS = ROOT / "agents" / "llm" / "README.md"
LINES_MAX = 160  # of the README


@pytest.fixture(scope="module", autouse=True)
def _fonts_are_listed() -> None:
    """Or the first program that draws with matplotlib lists them, and says so if it takes long."""
    with suppress(ImportError):
        import_module("matplotlib.font_manager")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands_of(transcripts: list[str]) -> list[str]:
    return [line[2:] for block in transcripts for line in block.splitlines() if line[:2] == "$ "]


def output_of(words: Sequence[object], folder: Path, **environment: str) -> str:
    """What a program prints in a folder, its standard error too."""
    return subprocess.run(
        [*map(str, words)], cwd=folder, text=True, timeout=600,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", **environment},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ).stdout  # fmt: skip


def run(command: str, folder: Path) -> str:
    """What a shell prints for a command, with `goldrush` and `python` of this environment."""
    shim = folder / "bin" / "goldrush"
    if not shim.exists():
        shim.parent.mkdir()
        shim.write_text(warm.shim(listening()))
        shim.chmod(0o755)
        python = shim.with_name("python")
        python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
        python.chmod(0o755)
    path = f"{shim.parent}{os.pathsep}{os.environ['PATH']}"
    return output_of(["bash", "-c", command], folder, PATH=path)


def replayed(transcripts: list[str], folder: Path) -> list[str]:
    return [
        "".join(f"$ {command}\n{run(command, folder)}" for command in commands_of([block]))
        for block in transcripts
    ]


def write_files(text: str, folder: Path) -> None:
    """The files that the page shows, each named by a comment in its first line, or below `#!`."""
    for body in re.findall(r"```\w+\n(.*?)```", text, re.DOTALL):
        named = re.match(r"(?:#!.*\n|.*  )?# ([\w-]+\.(?:py|toml))\n", body)
        if named is not None:
            (folder / named[1]).write_text(body)


@pytest.mark.parametrize(
    "page",
    [README, *(pytest.param(page, marks=TURNS) for page in EXECUTED[1:])],
    ids=lambda page: page.parent.name,
)
def test_the_transcripts_are_what_the_commands_print(page: Path, tmp_path: Path) -> None:
    transcripts = blocks(page.read_text(), "console")
    (tmp_path / "journals").symlink_to(ROOT / "journals")
    write_files(page.read_text(), tmp_path)

    assert transcripts == replayed(transcripts, tmp_path)


EXECUTE = """
import sys
import nbclient, nbformat
notebook = nbformat.read(sys.argv[1], 4)
how = dict(timeout=600, record_timing=False, coalesce_streams=True)
nbclient.NotebookClient(notebook, **how).execute()
notebook.metadata.language_info.pop("version")  # of Python
sys.stdout.write(nbformat.writes(notebook) + chr(10))
"""


def executed(notebook: Path, folder: Path) -> str:
    """A notebook with the outputs that its cells have in a kernel, but for addresses of objects."""
    names = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, notebook], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **dict.fromkeys(names, str(folder))},
        timeout=600,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    return re.sub(r" at 0x\w+", "", done.stdout)


@TURNS
def test_the_cells_of_the_notebook_give_what_it_shows(tmp_path: Path) -> None:
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")

    assert NOTEBOOK.read_text() == executed(NOTEBOOK, tmp_path)


def test_the_file_of_models_can_be_read(tmp_path: Path) -> None:
    example, _ = blocks(MODELS.read_text(), "toml")
    (tmp_path / "models.toml").write_text(example)
    known = read_models(tmp_path / "models.toml")

    assert ["careful", "quick"] == list(known)
    assert (400, "EXAMPLE_KEY") == (known["careful"][0].max_tokens, known["careful"][1].key_env)


@TURNS
@pytest.mark.skipif(local.weights() is None, reason="no model: see README.md")
def test_the_command_with_a_model_records_a_run(tmp_path: Path) -> None:
    [command] = re.findall(r"<!-- model -->\n```sh\n(.*)\n```", MODELS.read_text())
    [tests] = re.findall(r"<!-- tests -->\n```sh\n(.*)\n```", README.read_text())
    install, _, plays = command.partition(" && .venv/bin/python -m tests.llm.local .venv/bin/")
    printed = run(f"{shlex.quote(sys.executable)} -m tests.llm.local {plays}", tmp_path)

    assert tests.startswith(install)
    assert "1 answer of language models, 0 failed; " in printed
    assert "holds at levels 1 to 4" in run("goldrush verify model.journal", tmp_path)


def programs_of(text: str) -> list[tuple[str, str]]:
    """The programs of a page that are followed by what they print, and that."""
    return re.findall(r"```python\n((?:(?!```).)*)```\n\n```text\n(.*?)```", text, re.DOTALL)


def printed_by(program: str, folder: Path) -> str:
    return output_of([sys.executable, "-c", program], folder)


@pytest.mark.parametrize("page", PROGRAMS, ids=lambda page: str(page.relative_to(ROOT)))
def test_programs_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    programs = programs_of(page.read_text())
    write_files(page.read_text(), tmp_path)

    assert programs
    for program, printed in programs:
        assert printed == printed_by(program, tmp_path)


@pytest.mark.parametrize("page", PROGRAMS, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_say_what_to_install_if_no_extra_brings_it(page: Path) -> None:
    text = page.read_text()
    used = {name for name in ("pandas", "polars", "duckdb")
            if f"import {name}" in text or f"to_{name}(" in text}  # fmt: skip

    assert used <= {
        name for names in re.findall("`pip install (.*?)`", text) for name in names.split()
    }


def test_the_readme_is_short_and_names_every_command() -> None:
    text = README.read_text()
    [table] = re.findall(r"^\| to \| commands \|.*\n\| ---.*\n((?:\|.*\n)+)", text, re.MULTILINE)
    columns = [line.split("|")[2] for line in table.splitlines()]

    assert len(text.splitlines()) <= LINES_MAX
    assert sorted(BUILT_IN) == sorted(re.findall(r"`([a-z]+)`", " ".join(columns)))


def test_the_rule_that_the_readme_shows_is_that_of_the_fishery() -> None:
    shown = blocks(README.read_text(), "python")[0].splitlines()
    fishery = (ROOT / "goldrush" / "games" / "fishery.py").read_text()

    assert [] == [line for line in shown if textwrap.indent(line, "    ") not in fishery]


def test_the_policy_of_ones_own_plays_and_is_asked_again(tmp_path: Path) -> None:
    [policy] = blocks((ROOT / "agents" / "README.md").read_text(), "python")
    (tmp_path / "homebody.py").write_text(policy)
    roster = "homebody:Homebody*4,raid*6"
    run(f"goldrush record --rounds 10 --roster {roster} --out own.journal", tmp_path)
    trusted = run("goldrush verify own.journal --trust homebody:Homebody", tmp_path)
    untrusted = run("goldrush verify own.journal", tmp_path)

    assert "holds at levels 1 to 4" in trusted
    assert "not asked again" not in trusted
    assert "not asked again: homebody:Homebody (4 agents)" in untrusted


PYTHON3 = """#!/bin/sh
{python} -m venv --without-pip .venv
printf '#!/bin/sh\\ncp {goldrush} .venv/bin/goldrush' > .venv/bin/pip
chmod +x .venv/bin/pip
"""


def test_in_the_shell_of_the_first_command_the_next_ones_are_found(tmp_path: Path) -> None:
    """With a `pip` that installs a link to this checkout."""
    text = README.read_text()
    [install] = re.findall(r"<!-- run -->\n```sh\n(.*?)```", text, re.DOTALL)
    [first] = [line for line in commands_of(blocks(text, "console")) if "mining.journal |" in line]
    [prompt] = re.findall("`(goldrush prompt .*?)`", text)
    python3 = tmp_path / "path" / "python3"
    python3.parent.mkdir()
    goldrush = tmp_path / "goldrush"
    goldrush.write_text(warm.shim(listening()))
    goldrush.chmod(0o755)
    python3.write_text(PYTHON3.format(python=sys.executable, goldrush=goldrush))
    python3.chmod(0o755)
    path = f"{python3.parent}:/usr/bin:/bin"
    words = ["bash", "-c", f"{install}\n{prompt} && {first}"]
    typed = output_of(words, tmp_path, PATH=path)

    assert "You are one of 10 gold miners" in typed
    assert typed.endswith(run(first.replace("mining.journal", "again.journal"), tmp_path))


ROOMS = ("kernel", "agents", "replay", "cli")


def test_from_a_rule_to_its_test_there_is_a_file() -> None:
    tests = ROOT / "tests"
    named = set(re.findall(r"`([\w/]+\.py)`", (tests / "README.md").read_text()))
    laws = {path.relative_to(tests).as_posix() for path in (tests / "laws").glob("test_*.py")}

    assert [] == [name for name in sorted(named) if not (tests / name).is_file()]
    assert laws <= named


PAGE = re.compile(r'(?<!["\w/-])(?:[\w-]+/)*(?:README|TABLES|CHANGELOG)\.md|\bSPEC\b\S*')


@pytest.mark.parametrize("room", [*ROOMS, "goldrush", "tests"])
def test_pages_that_code_names_ship(room: str) -> None:
    """A page is named from the root, from the folder of who names it, or from one above."""
    missing = []
    for path in (ROOT / room).rglob("*.py"):
        text = path.read_text() if path != Path(__file__) else ""
        for name in PAGE.findall(text):
            if not any((folder / name).is_file() for folder in path.parents):
                missing.append(f"{path.relative_to(ROOT)}: {name}")

    assert [] == missing


def prose(page: Path) -> str:
    """The text of a page without code."""
    return re.sub(
        r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    )


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles]
    return {re.sub(r"[^\w\- ]", "", title.strip()).replace(" ", "-") for title in plain}


def test_links_between_pages_lead_somewhere() -> None:
    pages = [page for at in (".", ".github", "goldrush") for page in (ROOT / at).glob("*.md")]
    folders = (*ROOMS, "goldrush/guide", "journals", "tests")
    pages += [page for folder in folders for page in (ROOT / folder).rglob("*.md")]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)\s]+)\)", prose(page))]
    dead = []
    for page, link in links:
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not re.match(r"\w+:", link) and not (
            target.exists() and (not anchor or anchor in anchors(target))
        ):
            dead.append(f"{page.relative_to(ROOT)}: {link}")

    assert links
    assert [] == dead


def test_the_workflow_verifies_a_folder_of_journals(tmp_path: Path) -> None:
    text = (ROOT / "replay" / "README.md").read_text()
    [workflow] = blocks(text, "yaml")
    commands = re.findall(r"run: (sha256sum .*|goldrush .*)", workflow)
    (tmp_path / "test_journals.py").write_text(
        next(block for block in blocks(text, "python") if block.startswith("# test_journals.py"))
    )
    golden = sorted(set(FOLDER.glob("*.journal")) - {path_of("language-models")})
    (tmp_path / "runs").mkdir()
    for path in golden:
        copy(path, tmp_path / "runs")
    pins = [f"{sha256_of(path)}  runs/{path.name}\n" for path in golden]
    (tmp_path / "runs" / "SHA256SUMS").write_text("".join(pins))
    checked, verified = (run(command, tmp_path) for command in commands)
    [suite] = re.findall(r"\(`(pytest .*)`\)", text)
    run(f"python -m {suite} -q -n0 -p no:cacheprovider", tmp_path)
    cases = ElementTree.parse(tmp_path / "verify.xml").findall(".//testcase")

    assert len(golden) == len(re.findall("^runs/.*: OK$", checked, re.MULTILINE)) == len(cases)
    assert f"{len(golden)} journals: {len(golden)} hold, 0 do not" in verified


def write_transcripts(page: Path, folder: Path) -> None:
    (folder / "journals").symlink_to(ROOT / "journals")
    text = page.read_text()
    write_files(text, folder)
    old = blocks(text, "console")
    for before, after in zip(old, replayed(old, folder), strict=True):
        text = text.replace(f"```console\n{before}```", f"```console\n{after}```", 1)
    for program, before in programs_of(text):
        printed = printed_by(program, folder)
        text = text.replace(
            f"{program}```\n\n```text\n{before}", f"{program}```\n\n```text\n{printed}"
        )
    page.write_text(text)


if __name__ == "__main__":
    import tempfile

    for page in dict.fromkeys((*EXECUTED, *PROGRAMS)):
        with tempfile.TemporaryDirectory() as name:
            write_transcripts(page, Path(name))
    with tempfile.TemporaryDirectory() as name:
        NOTEBOOK.write_text(executed(NOTEBOOK, Path(name)))
