"""A campaign file's tables as data frames: the same as the exported files, and nothing in the file changes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pandas as pd
import pytest

import crowdclust_app as cc
from crowdclust_app.cli import main


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QT_QPA_PLATFORM", "offscreen")
        assert main(["demo", "--no-window", "--quiet", "--out", str(out)]) == 0
    return out


def test_tables_are_those_of_an_export(demo: Path, tmp_path: Path) -> None:
    (path,) = demo.glob("*.crowdclust")
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    assert main(["export", str(path), "--quiet", "--out", str(tmp_path)]) == 0
    with cc.open_campaign(path) as campaign:
        assert set(campaign.tables) >= {file.stem for file in tmp_path.glob("*.csv")}
        for name in campaign.tables:
            written = tmp_path / f"{name}.csv"
            frame = campaign.table(name)
            assert written.exists() == bool(len(frame)), name
            if written.exists():
                read = pd.read_csv(written)
                assert list(frame.columns) == list(read.columns)
                assert len(frame) == len(read)
        clusters = campaign.table("clusters")
        assert clusters.cluster.nunique() == campaign.runs().clusters.iloc[-1] == 4
        responses = cc.read_responses(campaign.table("responses"))
        assert responses.n_workers == campaign.table("responses").worker.nunique()
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


def test_what_is_not_there_is_said(demo: Path, tmp_path: Path) -> None:
    (path,) = demo.glob("*.crowdclust")
    with cc.open_campaign(str(path)) as campaign:
        assert path.name in repr(campaign)
        with pytest.raises(ValueError, match=r"there is no table moods; choose one of responses, "):
            campaign.table("moods")
        with pytest.raises(cc.UserError, match="no run 99"):
            campaign.table("clusters", run=99)
    with pytest.raises(cc.UserError):
        cc.open_campaign(tmp_path / "nowhere.crowdclust")
