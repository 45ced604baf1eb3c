from __future__ import annotations

from pathlib import Path

import pytest

from crowdclust_app.services import folders
from crowdclust_app.services.campaign import recent


def test_the_newest_comes_first_and_once(tmp_path: Path) -> None:
    assert recent.recent_campaigns() == ()
    a, b = tmp_path / "a.crowdclust", tmp_path / "b ü.crowdclust"
    a.write_text("")
    for path in (a, b, a):
        recent.remember(path)
    found = recent.recent_campaigns()
    assert [(entry.path, entry.name, entry.exists) for entry in found] == [(a, "a", True), (b, "b ü", False)]
    assert found[0].opened_at > found[1].opened_at
    recent.forget(a)
    assert [entry.path for entry in recent.recent_campaigns()] == [b]


def test_the_list_stays_short(tmp_path: Path) -> None:
    for number in range(recent.KEPT + 3):
        recent.remember(tmp_path / f"{number}.crowdclust")
    found = recent.recent_campaigns()
    assert len(found) == recent.KEPT
    assert found[0].name == str(recent.KEPT + 2)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"campaigns": 3}', b'{"campaigns": [{"path": 1}]}', b"\xff\x00"]
)
def test_a_broken_list_counts_as_empty_and_is_replaced(tmp_path: Path, content: bytes) -> None:
    (folders.config_folder() / "recent.json").write_bytes(content)
    assert recent.recent_campaigns() == ()
    recent.remember(tmp_path / "a.crowdclust")
    assert [entry.name for entry in recent.recent_campaigns()] == ["a"]


def test_a_list_that_cannot_be_written_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    monkeypatch.setenv(folders.HOME_VARIABLE, str(blocker))
    recent.remember(tmp_path / "a.crowdclust")
    assert recent.recent_campaigns() == ()
