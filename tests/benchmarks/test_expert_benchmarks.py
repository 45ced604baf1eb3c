"""`bench experts`: its parts, its data, its files."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchmarks.expert_benchmarks import PARTS, ExpertBenchSettings, balanced, run_expert_bench
from benchmarks.expert_data import read_feature_sets, read_photos
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Photos in two folders (glass is green), features of a set, and labels for the figure without features."""
    monkeypatch.setenv("CROWDCLUST_HOME", str(tmp_path / "home"))
    rng = np.random.default_rng(0)
    folder = tmp_path / "data"
    for category, colour in (("glass", 1), ("paper", 0)):
        (folder / "images" / "trash" / category).mkdir(parents=True)
        for number in range(15):
            pixels = rng.integers(0, 90, (16, 16, 3), dtype=np.uint8)
            pixels[..., colour] += 120
            Image.fromarray(pixels).save(folder / "images" / "trash" / category / f"{number}.png")
    (folder / "images" / "trash" / "about.txt").write_text("two kinds")
    (folder / "points").mkdir()
    truth = rng.integers(0, 2, 80)
    rows = "".join(f"i{n},{t + rng.normal() / 2},{rng.normal()}\n" for n, t in enumerate(truth))
    (folder / "points" / "features.csv").write_text("item,x,y\n" + rows)
    (folder / "points" / "truth.csv").write_text("task,label\n" + "".join(f"i{n},{t}\n" for n, t in enumerate(truth)))
    (folder / "labels" / "rte").mkdir(parents=True)
    said = [(task, worker) for task in range(30) for worker in range(20) if rng.random() < 0.5]
    lines = "".join(f"t{t},w{w},{t % 2 if rng.random() < 0.8 else 1 - t % 2}\n" for t, w in said)
    (folder / "labels" / "rte" / "labels.csv").write_text("task,worker,label\n" + lines)
    (folder / "labels" / "rte" / "truth.csv").write_text("task,label\n" + "".join(f"t{t},{t % 2}\n" for t in range(30)))
    return folder


def test_every_part_has_its_tables_and_its_plot(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    texts = []
    report = run_expert_bench(
        ExpertBenchSettings(seeds=1, quick=True, data=data), out, lambda news: texts.append(news.text)
    )
    assert report.warnings == ()
    assert report.summary["methods"] == list(PARTS)
    for part in PARTS:
        name = f"experts_{part.replace('-', '_')}"
        assert {f"{name}.csv", f"{name}_trials.csv", f"{name}.png"} <= {path.name for path in report.written}
        assert report.summary[part]
        assert any(text.startswith(f"{part}: ") for text in texts)
    assert (out / "experts_photos.png").read_bytes().startswith(b"\x89PNG")
    with (out / "experts_photos_needed.csv").open(newline="") as file:
        assert {row["data"] for row in csv.DictReader(file)} == {"trash, glass?", "trash, glass?, balanced"}
    assert any(row["quantity"].startswith("accuracy of") for row in report.summary["raykar"])
    assert [name for name, _, _ in report.more] == [*PARTS[1:], "needed"]


def test_without_data_what_needs_them_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CROWDCLUST_DATA", raising=False)
    report = run_expert_bench(ExpertBenchSettings(parts=("raykar", "photos"), seeds=1, quick=True))
    assert [warning.split(":")[0] for warning in report.warnings] == ["Figure 4 is left out", "photos are left out"]
    assert report.written == ()
    with pytest.raises(UserError, match="nothing is left to run"):
        run_expert_bench(ExpertBenchSettings(parts=("photos",)))


def test_settings_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no part gp"):
        ExpertBenchSettings(parts=("gp",))
    with pytest.raises(UserError, match="at least 1"):
        ExpertBenchSettings(seeds=0)
    with pytest.raises(UserError, match="not be negative"):
        ExpertBenchSettings(seed=-1)
    with pytest.raises(UserError, match="no such folder"):
        ExpertBenchSettings(data=tmp_path / "nowhere")


def test_features_and_photos_are_found_in_folders(data: Path) -> None:
    (points,) = read_feature_sets(data)
    assert (points.name, points.X.shape, points.side, points.scale) == ("points", (80, 2), 0, True)
    assert set(points.truth.tolist()) == {0, 1}
    photos = read_photos(data, "glass")
    assert photos is not None
    assert (photos.name, len(photos.X), int(photos.truth.sum()), photos.scale) == ("trash, glass?", 30, 15, False)
    even = balanced(replace(photos, truth=np.arange(30) % 5 // 4))
    assert (even.name, len(even.X), int(even.truth.sum())) == ("trash, glass?, balanced", 12, 6)
    assert read_photos(data, "metal") is None
    pixels = data / "pictures"
    pixels.mkdir()
    names = ",".join(f"pixel_{n}" for n in range(4))
    (pixels / "features.csv").write_text(f"item,{names}\n" + "".join(f"{n},16,{n},0,8\n" for n in range(6)))
    (pixels / "truth.csv").write_text("task,label\n" + "".join(f"{n},{'odd' if n % 2 else 'even'}\n" for n in range(6)))
    pictures = next(one for one in read_feature_sets(data) if one.name == "pictures")
    assert (pictures.side, pictures.scale, float(pictures.X.max())) == (2, False, 1.0)
    assert pictures.truth.tolist() == [0, 1, 0, 1, 0, 1]
    (pixels / "truth.csv").write_text("task,label\n0,a\n1,b\n2,c\n")
    with pytest.raises(UserError, match="has 3 classes"):
        read_feature_sets(data)


def test_it_stops_when_asked(data: Path) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        run_expert_bench(ExpertBenchSettings(parts=("crowds",), quick=True), cancel=token)
