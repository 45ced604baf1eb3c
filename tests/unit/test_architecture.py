"""The import rules of the house, held by walking every module's imports."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from campaign_making import fake_scan

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.services.campaign.creating import create_from_scan

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
    "numpy",
    "pandas",
    "natsort",
    "platformdirs",
    "psutil",
    "numba",
    "scipy",
    "pyqtgraph",
    "sqlalchemy",
    "PIL",
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
    """Imports inside functions count, and those for types alone: modules that need each other are one subject."""
    known = {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in modules()}
    imports: dict[str, set[str]] = {}
    for module, tree in known.items():
        # a name is a module of its own, or something in one
        names = {name if name in known else name.rpartition(".")[0] for name in imported(ast.walk(tree))}
        imports[module] = {name for name in names if name in known}
    assert len(imports["crowdclust_app.services.fits.fitting"]) > 5
    assert circle_in({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})
    assert circle_in(imports) == []


def test_public_classes_have_names_of_their_own() -> None:
    places: dict[str, list[str]] = {}
    for path in modules():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(name_of(path))
    assert len(places) > 300
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def imports_in_functions(path: Path) -> Iterator[tuple[int, set[str], bool]]:
    """Line, packages and whether a comment gives the reason, of every import inside a function.

    The reason stands on the line, or above the imports that it is for.
    """
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    nodes: dict[int, ast.Import | ast.ImportFrom] = {}
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = (node for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom))
            nodes |= {node.lineno: node for node in inside}
    for line, node in sorted(nodes.items()):
        first = line
        while lines[first - 2].strip() == "" or first - 1 in nodes:
            first -= 1
        reason = "#" in lines[line - 1] or lines[first - 2].lstrip().startswith("#")
        yield line, {name.split(".")[0] for name in imported([node])}, reason


def test_modules_import_at_their_head() -> None:
    """Three places load late: the registry of screens, the dispatch of commands and the package's own `__init__`.

    What else is imported inside a function is an extra that may be missing, or what a start must not wait for.
    """
    ours, silent = [], []
    for path in modules():
        if name_of(path) in {OURS, f"{OURS}.gui.registry", f"{OURS}.cli.commands"}:
            continue
        for line, packages, reason in imports_in_functions(path):
            place = f"{name_of(path)}:{line}"
            if OURS in packages:
                ours.append(place)
            if packages & (HEAVY | {OURS}) and not reason:
                silent.append(place)
    assert silent == [], "a comment says why it is imported here"
    assert len(ours) < 32, ours


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


def heavy_after(script: str, home: Path) -> list[str]:
    """Which heavy packages a program of its own has loaded in the end; its last line prints nothing else."""
    script = f"import sys\n{script}\nprint('\\n' + ' '.join(sorted(set(sys.modules) & {HEAVY!r})))"
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "CROWDCLUST_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment, cwd=PACKAGE.parent
    )
    return done.stdout.splitlines()[-1].split()


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["aggregate", "--help"]])
def test_the_command_line_helps_without_heavy_modules(arguments: list[str], tmp_path: Path) -> None:
    assert heavy_after(f"from {OURS}.cli import main; main({arguments!r})", tmp_path) == []


def test_a_table_is_fitted_and_aggregated_without_the_database(tmp_path: Path) -> None:
    """Both start as fast as they can; aggregating by votes needs no SciPy and nothing compiled."""
    assert heavy_after(f"import {OURS}.cli.fitting", tmp_path) == ["numba", "numpy", "psutil", "scipy"]
    assert heavy_after(f"import {OURS}.cli.aggregate", tmp_path) == ["numpy"]


WINDOW = f"""
import time
from pathlib import Path
from {OURS}.gui.app import make_application
from {OURS}.gui.window import MainWindow
application = make_application()
window = MainWindow()
def settle():
    assert window.jobs.wait(60_000)
    application.processEvents()
window.show_screen("start")
window.show()
settle()
"""
ANNOTATE = """
window.open_campaign(Path({path!r}), show="annotate")
while window.current_screen.name != "annotate":
    settle()
settle()
"""
CLOSE = "window.close()\nsettle()"


def test_the_start_screen_is_shown_without_heavy_modules(tmp_path: Path) -> None:
    assert heavy_after(WINDOW + CLOSE, tmp_path) == ["PySide6"]


def test_annotating_loads_no_inference(tmp_path: Path) -> None:
    path, images = tmp_path / "birds.crowdclust", tmp_path / "images"
    create_from_scan(path, images, fake_scan(images, 12), PlanSettings(4, 2, 2), "Sort by colour")
    found = heavy_after(WINDOW + ANNOTATE.format(path=str(path)) + CLOSE, tmp_path)
    assert found == ["PySide6", "numpy", "sqlalchemy"]
