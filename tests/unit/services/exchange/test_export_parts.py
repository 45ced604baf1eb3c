"""A report, plots, photos by category and lists for other programs, as files that others can read."""

from __future__ import annotations

import json
import shutil
import subprocess
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from crowdclust_app.cli import main
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.domain.report import PhotoRow
from crowdclust_app.io.report_html import report_html
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.clusters.categories import read_categories, rename
from crowdclust_app.services.demo.demo_campaign import build_demo
from crowdclust_app.services.exchange.export_parts import PARTS, export_parts
from crowdclust_app.services.exchange.reporting import campaign_report

NAME = 'Vases, "tall" <b>red</b> 🏺 مزهرية'
ALL = tuple(part for part in PARTS if part not in ("pdf", "links"))


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo with one cluster named, its file and pictures."""
    path = build_demo(tmp_path_factory.mktemp("demo")).campaign
    with Campaign.open(path) as campaign:
        rename(campaign, read_categories(campaign, 1, 4), 1, NAME)
    return path


@pytest.fixture(scope="module")
def exported(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("exported")
    with Campaign.open(demo) as campaign:
        files = export_parts(campaign, out, ALL)
    assert {file.name for file in out.iterdir()} == {file.name for file in files}
    return out


class Reader(HTMLParser):
    """Words and sources of an HTML file."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_report_needs_no_other_file_and_names_the_category_as_it_is(exported: Path) -> None:
    reader = Reader()
    reader.feed((exported / "report.html").read_text(encoding="utf-8"))
    assert reader.sources
    assert all(source.startswith("data:") for source in reader.sources)
    assert any(NAME in words for words in reader.words)
    text = " ".join(reader.words)
    for heading in ("At a glance", "Clusters", "Known categories", "Workers", "Method", "Reproduction"):
        assert heading in text
    assert "nan" not in text.lower().split()


@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no chromium here")
def test_a_browser_shows_the_report(exported: Path, tmp_path: Path) -> None:
    options: tuple[str, ...] = (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
    )
    options += ("--disable-component-update", "--disable-sync", f"--user-data-dir={tmp_path / 'profile'}")
    done = subprocess.run(
        ["chromium", *options, "--dump-dom", (exported / "report.html").as_uri()],
        capture_output=True, text=True, timeout=100, check=True,
    )  # fmt: skip
    reader = Reader()
    reader.feed(done.stdout)
    assert any(NAME in words for words in reader.words)


def test_every_plot_has_a_picture_and_numbers(exported: Path) -> None:
    plots = exported / "plots"
    stems = {path.stem for path in plots.iterdir()}
    assert {"embedding", "embedding-doubt", "known-categories", "workers-confusion", "workers-rank"} <= stems
    for stem in stems:
        assert ET.parse(plots / f"{stem}.svg").getroot().tag.endswith("svg")
        assert (plots / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
        assert len(pd.read_csv(plots / f"{stem}.csv"))
    clusters = pd.read_csv(exported / "clusters.csv").set_index("item")["cluster"]
    points = pd.read_csv(plots / "embedding.csv").set_index("item")["group"]
    assert (points == clusters[points.index]).all()


def test_photos_labels_and_table_agree(exported: Path) -> None:
    table = pd.read_csv(exported / "clusters.csv")
    sizes = table["cluster"].value_counts()
    folders = {folder.name: len(list(folder.iterdir())) for folder in (exported / "photos").iterdir()}
    named = next(name for name in folders if "red" in name)
    assert folders[named] == sizes[1]
    assert {name: count for name, count in folders.items() if name != named} == {
        f"cluster {number}": sizes[number] for number in (2, 3, 4)
    }
    labels = json.loads((exported / "fiftyone" / "labels.json").read_text(encoding="utf-8"))
    paths = json.loads((exported / "fiftyone" / "data.json").read_text(encoding="utf-8"))
    assert NAME in labels["classes"]
    assert len(labels["labels"]) == len(paths) == len(table)
    assert all(Path(path).is_file() for path in paths.values())
    tasks = json.loads((exported / "label-studio" / "tasks.json").read_text(encoding="utf-8"))
    chosen = [task["predictions"][0]["result"][0]["value"]["choices"][0] for task in tasks]
    assert chosen.count(NAME) == sizes[1]


def test_the_run_comes_again_from_its_folder(
    exported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = exported / "reproduction"
    command = next(line for line in (folder / "README.txt").read_text().splitlines() if "crowdclust fit" in line)
    monkeypatch.chdir(folder)
    assert main([*command.split()[1:], "--out", str(tmp_path), "--quiet"]) == 0
    again = pd.read_csv(tmp_path / "clusters.csv").set_index("item")["cluster"]
    before = pd.read_csv(folder / "clusters.csv").set_index("item")["cluster"]
    pairs = set(zip(before, again[before.index], strict=True))
    assert len(pairs) == before.nunique() == again.nunique()
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert run["settings"]["seed"] == 0


def test_workers_as_numbers_stay_numbers_everywhere(demo: Path, tmp_path: Path) -> None:
    with Campaign.open(demo) as campaign:
        names = [worker.name for worker in campaign.workers()]
        export_parts(campaign, tmp_path, ("tables", "report", "reproduction"), anonymous=True)
    assert set(pd.read_csv(tmp_path / "reproduction" / "responses.csv")["worker"]) <= set(range(1, len(names) + 1))
    reader = Reader()
    reader.feed((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert not [name for name in names if any(name == words.strip() for words in reader.words)]
    everything = [" ".join(reader.words)]
    everything += [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.suffix in (".csv", ".json")]
    assert not [name for name in names if any(name in text for text in everything)]


def test_what_cannot_be_had_is_said_and_nothing_is_written(demo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with Campaign.open(demo) as campaign:
        for parts, words in (
            (("nonsense",), "there is no part nonsense"),
            ((), "nothing is chosen"),
            (("photos", "links"), "copied or linked"),
            (("pdf",), "only written from the window"),
        ):
            with pytest.raises(UserError, match=words):
                export_parts(campaign, out, parts)
    assert not out.exists()


def test_photos_that_are_there_already_are_never_touched(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "mine.jpg").write_bytes(b"mine")
    with Campaign.open(demo) as campaign, pytest.raises(UserError, match="something in this folder"):
        export_parts(campaign, tmp_path, ("photos",))
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["mine.jpg"]


def test_an_earlier_export_is_replaced(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "fiftyone").mkdir()
    (tmp_path / "fiftyone" / "old.json").write_bytes(b"old")
    with Campaign.open(demo) as campaign:
        export_parts(campaign, tmp_path, ("fiftyone", "reproduction"))
        export_parts(campaign, tmp_path, ("fiftyone", "reproduction"))
    assert {path.name for path in (tmp_path / "fiftyone").iterdir()} == {"data.json", "labels.json"}
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_cancelled_export_leaves_nothing(demo: Path, tmp_path: Path) -> None:
    token = CancelToken()

    def stop(report: object) -> None:
        token.cancel()

    with Campaign.open(demo) as campaign, pytest.raises(Cancelled):
        export_parts(campaign, tmp_path, ("report", "photos"), progress=stop, cancel=token)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("for_print", [False, True])
def test_a_report_shows_the_photos_of_every_gallery(demo: Path, for_print: bool) -> None:
    with Campaign.open(demo) as campaign:
        report = campaign_report(campaign)
    galleries = [block for section in report.sections for block in section.blocks if isinstance(block, PhotoRow)]
    assert galleries
    shown = sum(len(gallery.photos) for gallery in galleries)
    assert report_html(report, for_print).count("data:image/jpeg;base64,") == shown


def test_photos_that_are_gone_are_named_in_the_report(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(path: Path, longest_side: int = 0) -> bytes:
        raise UserError("there is no such file", where=str(path))

    monkeypatch.setattr("crowdclust_app.services.exchange.reporting.findings.thumbnail_jpeg", gone)
    with Campaign.open(demo) as campaign:
        report = campaign_report(campaign)
    galleries = [block for section in report.sections for block in section.blocks if isinstance(block, PhotoRow)]
    assert galleries
    assert all(photo.jpeg is None and photo.note == photo.name for one in galleries for photo in one.photos)


def test_the_command_line_writes_what_is_asked_for(
    demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(demo), "--out", str(tmp_path), "--with", "fiftyone", "--with", "links", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["also"] == ["fiftyone", "photos"]
    assert (tmp_path / "fiftyone" / "labels.json").is_file()
    assert all(path.is_symlink() for path in (tmp_path / "photos").rglob("*.png"))
