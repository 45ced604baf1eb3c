"""What lab users install: a wheel with everything in it and nothing else, a lock that names no addresses."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    pytest.importorskip("hatchling", reason="the build backend is in the dev extra")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (path,) = out.glob("*.whl")
    return path


def test_the_wheel_holds_the_package_its_icons_and_its_licence_only(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"crowdclust_app", "crowdclust"}
    icons = {Path(name).name for name in names if "/resources/icons/" in name}
    drawn = {path.name for path in (ROOT / "crowdclust_app" / "resources" / "icons").glob("*.svg")}
    assert drawn
    assert drawn <= icons
    assert any(name.endswith("LICENSE") for name in names)
    assert not [name for name in names if name.endswith((".nbi", ".nbc", ".pyc"))]


def test_an_installed_wheel_finds_its_icons_and_starts(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    script = (
        "import importlib.resources as r, crowdclust_app\n"
        "folder = r.files('crowdclust_app') / 'resources' / 'icons'\n"
        "print(crowdclust_app.__file__)\n"
        "print(len([f for f in folder.iterdir() if f.name.endswith('.svg')]))\n"
        "from crowdclust_app.cli import main\n"
        "main(['--version'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": "", "SYSTEMROOT": "", "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        check=True,
    )
    where, icons, version = done.stdout.splitlines()
    assert Path(where).is_relative_to(tmp_path)
    assert int(icons) > 0
    assert re.fullmatch(r"crowdclust \d+\.\d+\.\d+", version)


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-bench.lock", "requirements-docs.lock"])
def test_the_lock_names_no_addresses_and_pins_with_hashes(name: str) -> None:
    lock = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in lock
    pins = [line for line in lock.splitlines() if re.match(r"^[a-z]", line)]
    assert pins
    assert all("==" in line for line in pins)
    assert lock.count("--hash=sha256:") >= len(pins)


def test_the_lock_holds_every_declared_dependency_within_its_range() -> None:
    import tomllib

    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    apart = {"bench", "docs"}
    everyday = [*project["dependencies"], *(text for name in extras if name not in apart for text in extras[name])]
    for lock, declared in (
        ("requirements.lock", everyday),
        ("requirements-bench.lock", [*everyday, *extras["bench"]]),
        ("requirements-docs.lock", [*project["dependencies"], *extras["docs"]]),
    ):
        locked: dict[str, list[str]] = {}
        for name, version in re.findall(r"^([a-z0-9-]+)==([^ ]+)", (ROOT / lock).read_text(), re.M):
            locked.setdefault(name, []).append(version)
        for text in declared:
            requirement = Requirement(text)
            versions = locked[requirement.name.lower().replace("_", "-")]
            assert all(requirement.specifier.contains(version) for version in versions), text


def test_the_excluded_pyside_releases_stay_excluded() -> None:
    from PySide6 import __version__

    assert __version__ not in {"6.9.1", "6.9.2", "6.11.0", "6.11.1"}
    assert tuple(int(part) for part in __version__.split(".")[:2]) < (6, 12)
