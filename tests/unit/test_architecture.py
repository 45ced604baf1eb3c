"""The import rules of the house, held by walking every module's imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "crowdclust_app"
OURS = "crowdclust_app"

# What each package may import besides the standard library and itself.
ALLOWED = {
    # data frames are made where one is asked for
    "domain": {"numpy", "pandas"},
    "api": {"domain", "inference", "evaluation", "io", "services", "numpy", "pandas", "matplotlib"},
    "sampling": {"domain", "numpy", "scipy", "numba"},
    "inference": {"domain", "numpy", "scipy", "numba", "pandas", "pymetis"},
    # simulated campaigns follow a plan
    "evaluation": {"domain", "sampling", "numpy", "scipy", "numba"},
    "storage": {"domain", "sqlalchemy"},
    "io": {"domain", "numpy", "PIL", "natsort", "matplotlib", "onnxruntime", "jinja2"},
    "services": {
        "domain",
        "sampling",
        "inference",
        "evaluation",
        "storage",
        "io",
        "numpy",
        "scipy",
        "natsort",
        "platformdirs",
        "psutil",
    },
    "gui": {"services", "domain", "numpy", "PySide6", "shiboken6", "pyqtgraph"},
    "cli": {"services", "domain", "gui"},
}
HEAVY = {
    "numba",
    "scipy",
    "pyqtgraph",
    "sqlalchemy",
    "PIL",
    "pandas",
    "psutil",
    "PySide6",
    "pymetis",
    "matplotlib",
    "onnxruntime",
    "jinja2",
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def layer_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def what_runs(node: ast.AST) -> Iterator[ast.AST]:
    """Everything below a node but what only the type checker reads."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield child
            yield from what_runs(child)


def imported(nodes: Iterable[ast.AST]) -> set[str]:
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
            assert node.level == 0, "imports name the whole path"
    return names


def reduce(name: str) -> str:
    parts = name.split(".")
    return parts[1] if parts[0] == OURS and len(parts) > 1 else parts[0]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_imports_only_what_its_layer_may(path: Path) -> None:
    layer = layer_of(path)
    if layer in {"__init__", "__main__", "version"}:
        return
    names = {reduce(name) for name in imported(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))}
    foreign = names - set(sys.stdlib_module_names) - {layer, "version", OURS}
    assert foreign <= ALLOWED[layer], f"{layer} may not import {sorted(foreign - ALLOWED[layer])}"


def circle_in(imports: Mapping[str, set[str]]) -> list[str]:
    """Modules of which each is imported by the one before it, the last by the first; none where there are none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Those inside functions count: they are there to start fast, or for what may be missing, not to hide a circle."""
    known = {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in modules()}
    imports: dict[str, set[str]] = {}
    for module, tree in known.items():
        # a name is a module of its own, or something in one
        names = {name if name in known else name.rpartition(".")[0] for name in imported(what_runs(tree))}
        imports[module] = {name for name in names if name in known}
    assert len(imports["crowdclust_app.services.fits.fitting"]) > 5
    assert circle_in({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})
    assert circle_in(imports) == []


def test_everything_but_the_window_works_without_qt() -> None:
    names = [name_of(path) for path in modules() if layer_of(path) not in {"gui", "__main__"}]
    script = (
        "import sys, importlib\n"
        "class Block:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in {'PySide6', 'shiboken6', 'pyqtgraph'}:\n"
        "            raise ImportError('blocked ' + name)\n"
        "sys.meta_path.insert(0, Block())\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_command_line_starts_without_heavy_modules() -> None:
    script = f"import sys, {OURS}.cli; print(sorted(set(sys.modules) & {HEAVY!r}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
