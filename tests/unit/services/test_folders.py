from __future__ import annotations

from pathlib import Path

import pytest

from crowdclust_app.domain.errors import UserError
from crowdclust_app.services import folders
from crowdclust_app.services.progress_report import ProgressReport


@pytest.mark.parametrize("find", [folders.cache_folder, folders.config_folder, folders.log_folder])
def test_the_variable_moves_every_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, find) -> None:
    monkeypatch.setenv(folders.HOME_VARIABLE, str(tmp_path / "home of Ann"))
    folder = find()
    assert folder.is_dir()
    assert folder.parent == tmp_path / "home of Ann"


def test_the_folders_are_three_different_ones_under_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import platformdirs

    monkeypatch.delenv(folders.HOME_VARIABLE)
    for kind in ("cache", "config", "log"):
        place = tmp_path / f"user-{kind}"
        monkeypatch.setattr(platformdirs, f"user_{kind}_path", lambda name, appauthor, place=place: place / name)
    found = {folders.cache_folder(), folders.config_folder(), folders.log_folder()}
    assert found == {tmp_path / f"user-{kind}" / "crowdclust" for kind in ("cache", "config", "log")}
    assert all(folder.is_dir() for folder in found)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")
    monkeypatch.setenv(folders.HOME_VARIABLE, str(blocker))
    with pytest.raises(UserError, match=r"cannot be made .*CROWDCLUST_HOME"):
        folders.config_folder()


def test_fraction_of_a_report() -> None:
    assert ProgressReport(3, 12, "").fraction == 0.25
    assert ProgressReport(3, None, "").fraction is None
    assert ProgressReport(13, 12, "").fraction == 1.0
