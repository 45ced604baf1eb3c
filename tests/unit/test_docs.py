"""What the code cites is in the docs, and what the docs say of files and locks is so."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from crowdclust_app import __version__
from crowdclust_app.io import label_tables, tables
from crowdclust_app.services.exchange import exporting, result_tables

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LOCKS = ("requirements.lock", "requirements-bench.lock", "requirements-docs.lock")
CITED = re.compile(r"\b(?:docs/)?([a-z_/]+\.md)((?:, sections?|,)(?:(?:,| and| to|-)? ?\d+(?:\.\d+)?)+)?")
KEY = re.compile(r"\b[a-z]{3,}(?:19|20)\d\d\b")
PAGES = [path for path in DOCS.rglob("*.md") if "_build" not in path.parts]


def sources() -> Iterator[tuple[Path, str]]:
    for folder in ("crowdclust_app", "benchmarks", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.name != Path(__file__).name:
                yield path, path.read_text(encoding="utf-8")


def headings(page: str) -> set[str]:
    """Numbers of a page's sections."""
    return set(re.findall(r"^#{2,3} (\d+(?:\.\d+)?)\.? ", (DOCS / page).read_text(encoding="utf-8"), re.M))


def dangling(text: str) -> list[str]:
    """Pages and sections that a text cites and that do not exist."""
    missing = []
    for page, sections in CITED.findall(text):
        if not (DOCS / page).exists():
            missing.append(page)
        elif sections:
            missing += [f"{page} {one}" for one in re.findall(r"\d+(?:\.\d+)?", sections) if one not in headings(page)]
    return missing


def test_every_page_and_section_that_the_code_cites_exists() -> None:
    assert dangling("(docs/model.md, sections 3-5 and 9.1)") == []
    assert dangling("(docs/model.md, section 99) and (no.md)") == ["model.md 99", "no.md"]
    assert {path.name: found for path, text in sources() if (found := dangling(text))} == {}


def test_every_module_that_a_page_names_exists() -> None:
    modules = [f"/{path.relative_to(ROOT)}" for path in ROOT.glob("*/**/*.py")]
    named = {(page.name, name) for page in PAGES for name in re.findall(r"`([\w/]+\.py)`", page.read_text("utf-8"))}
    assert ("model.md", "kernels/sweep_order.py") in named
    assert [one for one in sorted(named) if not any(module.endswith(f"/{one[1]}") for module in modules)] == []


def test_every_key_that_code_and_pages_cite_is_in_the_references() -> None:
    known = set(re.findall(r"^\(([a-z]+\d{4})\)=$", (DOCS / "references.md").read_text(encoding="utf-8"), re.M))
    assert {"gomes2011", "raykar2009"} <= known
    pages = [(page, page.read_text(encoding="utf-8")) for page in PAGES]
    assert {path.name: found for path, text in [*sources(), *pages] if (found := set(KEY.findall(text)) - known)} == {}


@pytest.mark.parametrize(
    "columns",
    [
        exporting.PLAN_COLUMNS,
        exporting.ASSIGNMENT_COLUMNS,
        exporting.FLAG_COLUMNS,
        exporting.PAIR_COLUMNS,
        exporting.TRUTH_COLUMNS,
        tables.RESPONSE_COLUMNS,
        tables.RESPONSE_EXTRAS,
        label_tables.LABEL_COLUMNS,
        result_tables.CLUSTER_COLUMNS,
        result_tables.MEMBERSHIP_COLUMNS,
        result_tables.WORKER_COLUMNS,
        result_tables.CONFUSION_COLUMNS,
        result_tables.EXCLUSION_COLUMNS,
    ],
)
def test_the_columns_of_every_table_are_in_the_docs(columns: tuple[str, ...]) -> None:
    assert f"`{','.join(columns)}`" in (DOCS / "files.md").read_text(encoding="utf-8")


def test_what_several_locks_hold_is_pinned_alike() -> None:
    """The pages are built in the environment of the tests, which that must not change."""
    pinned: dict[str, set[tuple[str, ...]]] = {}
    for lock in LOCKS:
        found: dict[str, list[str]] = {}
        for name, version in re.findall(r"^([a-z0-9-]+)==([^ ]+)", (ROOT / lock).read_text(encoding="utf-8"), re.M):
            found.setdefault(name, []).append(version)
        for name, versions in found.items():
            pinned.setdefault(name, set()).add(tuple(versions))
    assert "numpy" in pinned
    assert {name: versions for name, versions in pinned.items() if len(versions) > 1} == {}


def test_the_version_is_the_same_wherever_it_stands() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == __version__
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## [{__version__}] - " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
