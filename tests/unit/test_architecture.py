"""The import rules of the house, held by walking every module's imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "crowdclust_app"
OURS = "crowdclust_app"

# What each package may import besides the standard library and itself.
ALLOWED = {
    "domain": {"numpy"},
    "sampling": {"domain", "numpy", "scipy", "numba"},
    "inference": {"domain", "numpy", "scipy", "numba", "pymetis"},
    # simulated campaigns follow a plan
    "evaluation": {"domain", "sampling", "numpy", "scipy", "numba"},
    "storage": {"domain", "sqlalchemy"},
    "io": {"domain", "numpy", "PIL", "natsort", "matplotlib", "skimage", "onnxruntime", "jinja2"},
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
    "PySide6",
    "pymetis",
    "matplotlib",
    "skimage",
    "onnxruntime",
    "jinja2",
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def layer_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
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
    if layer in {"__init__", "__main__"}:
        return
    names = {reduce(name) for name in imported(ast.parse(path.read_text(encoding="utf-8")))}
    foreign = names - set(sys.stdlib_module_names) - {layer, "__version__", OURS}
    assert foreign <= ALLOWED[layer], f"{layer} may not import {sorted(foreign - ALLOWED[layer])}"


def test_everything_but_the_window_works_without_qt() -> None:
    names = [
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in modules()
        if layer_of(path) not in {"gui", "__main__"}
    ]
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
