"""Copies of a campaign that a person asks for."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.campaign.creating import campaign_path
from crowdclust_app.storage.backups import back_up
from crowdclust_app.storage.logs import settle
from crowdclust_app.storage.probe import inspect


def save_copy(path: Path, target: Path | None = None) -> Path:
    """Copy a campaign, whole, also while people work on it.

    Parameters
    ----------
    path
        The campaign.
    target
        The copy; by default beside it, with the date.

    Returns
    -------
    Path
        The copy, which takes answers as the original does.

    Raises
    ------
    UserError
        When this is no campaign, or there is something of that name.
    """
    real = path.resolve()
    settle(real)
    inspect(real)
    if target is None:
        target = real.with_name(f"{real.stem} {datetime.now():%Y-%m-%d %H.%M.%S}{real.suffix}")
    final = campaign_path(target)
    if os.path.lexists(final):
        raise UserError("there is already something of this name", where=str(final), todo="choose another name")
    if not final.parent.is_dir():
        raise UserError("there is no such folder", where=str(final.parent), todo="make it or choose another")
    back_up(real, final)
    return final
