"""The shape of the code: no circle of imports, no long module, budgets that only fall.

Imports count wherever they stand: inside functions, for type checkers only, relative, by name.
Worlds, arenas and benches do not: they are looked up by the name that a journal has.
"""

import ast
import re
from collections import Counter, deque
from collections.abc import Container, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path

import attrs
import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("kernel", "agents", "replay", "cli")
CODE_MAX = 600  # lines of a module without imports, docstrings, comments and blank lines
ANY_MAX = 302  # public signatures and fields that say `Any`; may only fall
BUDGETS = {  # the most there may be, and by how much it may fall before the number here does
    "lines of code in kernel": (9_430, 150),
    "lines of code in agents": (10_370, 150),
    "lines of code in replay": (18_404, 150),
    "lines of code in cli": (2_443, 150),
    "lines of code in goldrush": (1_386, 150),
    "lines of JavaScript below replay": (2_030, 150),
    "lines of templates below replay": (493, 50),
    "lines of code in tests": (41_594, 600),
    "words of Markdown": (53_379, 600),
    "names used twice": (0, 0),
    "corridors": (52, 5),
}

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = (ast.Module, ast.ClassDef, *FUNCTIONS)
# A module as text, imported by its name: goldrush.module, or module:attribute in its package.
LOCATION = re.compile(r"(goldrush(?:\.[a-z_]+)+|[a-z_.]+(?=:))(?::\w+)?")


@attrs.frozen
class Source:
    """A module: its name, text, tree, and whether it is the `__init__` of a package."""

    name: str
    text: str
    tree: ast.Module
    is_package: bool

    @property
    def package(self) -> str:
        return self.name if self.is_package else self.name.rpartition(".")[0]

    def imports(self, known: Container[str], in_text: bool = True) -> Iterator[tuple[str, int]]:
        """The modules that it imports, with the line. `in_text`: those that a text names, too.

        `from package import module` imports the module; what is in the package alone, the package.
        """
        for node in ast.walk(self.tree):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                above = self.package.split(".")[: 1 - node.level or None] if node.level else []
                module = ".".join([*above, *filter(None, [node.module])])
                each = (f"{module}.{alias.name}" for alias in node.names)
                names = [name if name in known else module for name in each]
            elif not (in_text and isinstance(node, ast.Constant)):
                continue
            elif found := LOCATION.fullmatch(str(node.value)):
                names = [found[1], f"{self.package}.{found[1]}"]
            yield from ((name, node.lineno) for name in names if name in known)

    def code(self) -> int:
        """Its lines of code."""
        skipped = set[int]()
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                skipped.update(range(node.lineno, node.end_lineno + 1))
            elif isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
                skipped.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
        lines = enumerate(map(str.strip, self.text.splitlines()), 1)
        return sum(bool(line) and line[0] != "#" and n not in skipped for n, line in lines)

    def loose(self) -> Iterator[str]:
        """The public functions, methods and fields whose declaration says `Any`."""
        for name, node in _public(self.tree.body, self.name):
            if isinstance(node, FUNCTIONS):
                said = [node.args, *filter(None, [node.returns])]
            else:
                said = [node.annotation]
            names = (one for part in said for one in ast.walk(part) if isinstance(one, ast.Name))
            if any(one.id == "Any" for one in names):
                yield name


def _public(body: list[ast.stmt], inside: str) -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        elif isinstance(node, (ast.ClassDef, *FUNCTIONS)):
            name = node.name
        else:
            continue
        if name.startswith("_"):
            continue
        if isinstance(node, ast.ClassDef):
            yield from _public(node.body, f"{inside}.{name}")
        else:
            yield f"{inside}.{name}", node


def parsed(text: str) -> ast.Module:
    """The tree of a module, in a thread: CPython 3.11 counts the depth of recursion wrongly where
    another test of this process left a loop running.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(ast.parse, text).result()


@cache
def sources() -> dict[str, Source]:
    found = {}
    paths = [*(ROOT / "goldrush").glob("*.py")]
    paths += [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    for path in sorted(paths):
        parts = path.relative_to(ROOT).with_suffix("").parts
        parts = tuple(part for part in parts if part not in ("goldrush", "__init__"))
        name, text = ".".join(["goldrush", *parts]), path.read_text("utf-8")
        found[name] = Source(name, text, parsed(text), path.stem == "__init__")
    return found


def imports_of(found: dict[str, Source], in_text: bool = True) -> dict[str, dict[str, int]]:
    """For each module, those that it imports, with the line. `in_text`: named, too."""
    return {
        name: {module: line for module, line in source.imports(found, in_text) if module != name}
        for name, source in found.items()
    }


def shortest_circle(graph: dict[str, dict[str, int]], start: str) -> list[str]:
    """The shortest way over imports from a module back to itself; empty if there is none."""
    before: dict[str, str] = {}
    queue = deque([start])
    while queue:
        module = queue.popleft()
        for other in graph[module]:
            if other == start:
                way = [start, module]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return way[::-1]
            if other not in before:
                before[other] = module
                queue.append(other)
    return []


def circles(graph: dict[str, dict[str, int]]) -> list[str]:
    """The shortest circle through each module that is on one, with the lines of its imports."""
    ways = {frozenset(way): way for one in graph if (way := shortest_circle(graph, one))}
    return [
        " imports ".join([*(f"{a} (line {graph[a][b]})" for a, b in pairwise(way)), way[-1]])
        for way in ways.values()
    ]


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert [] == circles(imports_of(sources()))


def test_no_module_is_long() -> None:
    lengths = {name: source.code() for name, source in sources().items()}

    assert {} == {name: code for name, code in lengths.items() if code > CODE_MAX}


def test_interfaces_say_any_no_more_often() -> None:
    loose = [name for source in sources().values() for name in source.loose()]

    assert len(loose) == ANY_MAX, "\n".join(loose)  # lower ANY_MAX with it


def corridors(graph: dict[str, dict[str, int]]) -> list[str]:
    """The modules that only one other module imports; those looked up by name are none."""
    importers: dict[str, set[str]] = {}
    for name, others in graph.items():
        for other in others:
            importers.setdefault(other, set()).add(name)
    return sorted(name for name, by in importers.items() if len(by) == 1)


def names_used_twice() -> list[str]:
    """The public classes of the same name in two modules."""
    names = Counter(
        node.name
        for source in sources().values()
        for node in source.tree.body
        if isinstance(node, ast.ClassDef) and node.name[0] != "_"
    )
    return [name for name, count in names.items() if count > 1]


@cache
def measured() -> dict[str, int]:
    """What `BUDGETS` are about, as it is."""
    code = dict.fromkeys(ROOMS, 0)
    for name, source in sources().items():
        room = name.split(".")[1] if "." in name else ""
        if room in code:
            code[room] += source.code()
    pages = [page for at in (".", ".github", "goldrush") for page in (ROOT / at).glob("*.md")]
    for folder in (*ROOMS, "goldrush/guide", "journals", "tests"):
        pages += (ROOT / folder).rglob("*.md")
    return {
        **{f"lines of code in {room}": lines for room, lines in code.items()},
        "lines of code in goldrush": _code_in("goldrush"),
        "lines of JavaScript below replay": _lines_below_replay("*.js"),
        "lines of templates below replay": _lines_below_replay("*.html", "*.jinja"),
        "lines of code in tests": _code_in("tests"),
        "words of Markdown": sum(len(page.read_text("utf-8").split()) for page in pages),
        "names used twice": len(names_used_twice()),
        "corridors": len(corridors(imports_of(sources(), in_text=False))),
    }


def _lines_below_replay(*patterns: str) -> int:
    paths = (path for pattern in patterns for path in (ROOT / "replay").rglob(pattern))
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def _code_in(folder: str) -> int:
    """The lines of code of the modules in a folder; links to others are none."""
    texts = [path.read_text("utf-8") for path in (ROOT / folder).rglob("*.py")]
    return sum(Source("", text, parsed(text), False).code() for text in texts)


@pytest.mark.parametrize("what", BUDGETS)
def test_budgets_only_fall(what: str) -> None:
    most, slack = BUDGETS[what]
    count = measured()[what]

    assert count <= most, f"{what}: {count - most} more than BUDGETS allows"
    assert count >= most - slack, f"{what} fell: lower it in BUDGETS to {count}"


def test_a_corridor_is_what_one_other_module_imports() -> None:
    graph = {"a": {"b": 1, "c": 2}, "b": {"c": 1}, "c": {}, "d": {"d": 1}}

    assert ["b"] == corridors({name: graph[name] for name in "abc"})
