"""What every test shares: no display, the checks' data, a quiet environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# as the program does, before numpy is there
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# no test is about how long it takes: on a busy machine an example may take any time
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data, which is not part of the project; tests on it skip where it is missing."""
    folder = Path(os.environ.get("CROWDCLUST_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set CROWDCLUST_DATA to run this test")
    return folder


@pytest.fixture(autouse=True)
def _own_user_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings, logs and recent campaigns of a test never touch the person's own."""
    monkeypatch.setenv("CROWDCLUST_HOME", str(tmp_path_factory.mktemp("home")))
