"""Where this program keeps what belongs to the person and not to a campaign: cache, settings, logs.

`CROWDCLUST_HOME` puts all of them below one folder (tests, kiosks, portable installations).
"""

from __future__ import annotations

import os
from pathlib import Path

from crowdclust_app.domain.errors import UserError

APP_NAME = "crowdclust"
HOME_VARIABLE = "CROWDCLUST_HOME"


def cache_folder() -> Path:
    """The folder for what can be computed again; it exists when this returns."""
    return _folder("cache")


def config_folder() -> Path:
    """The folder for settings and the list of recent campaigns; it exists when this returns."""
    return _folder("config")


def data_folder() -> Path:
    """The folder for copies of campaigns; it exists when this returns."""
    return _folder("data")


def log_folder() -> Path:
    """The folder for logs; it exists when this returns."""
    return _folder("log")


def _folder(kind: str) -> Path:
    home = os.environ.get(HOME_VARIABLE)
    if home:
        folder = Path(home) / kind
    else:
        # the first window is there sooner without it, and a folder of one's own needs none
        import platformdirs

        finders = {
            "cache": platformdirs.user_cache_path,
            "config": platformdirs.user_config_path,
            "data": platformdirs.user_data_path,
            "log": platformdirs.user_log_path,
        }
        folder = finders[kind](APP_NAME, appauthor=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(
            f"the folder for this program's {kind} files cannot be made ({reason})",
            where=str(folder),
            todo=f"make it writable, or set {HOME_VARIABLE} to a folder that is",
        ) from error
    return folder
