"""The tables of a campaign file as data frames, to read alone."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Self

from crowdclust_app.domain.data_frames import frame_of
from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.exchange.exporting import TABLES, campaign_tables
from crowdclust_app.services.fits.run_store import run_list

if TYPE_CHECKING:
    import pandas as pd

TABLE_NAMES = tuple(name.removesuffix(".csv") for name in TABLES)


class CampaignTables:
    """A campaign that is open to read; made by `open_campaign`, closed by `close` or at the end of a `with` block.

    Parameters
    ----------
    campaign
        The open campaign.
    """

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign

    @property
    def tables(self) -> tuple[str, ...]:
        """What `table` can be asked for; the columns are those of the exported files."""
        return TABLE_NAMES

    def table(self, name: str, run: int | None = None) -> pd.DataFrame:
        """Give one table as `crowdclust export` would write it.

        Parameters
        ----------
        name
            One of `tables`, such as `"responses"`, `"clusters"` or `"workers"`.
        run
            Number of the run whose clusters are meant; the newest of the whole collection when None.

        Returns
        -------
        DataFrame
            Without rows where there is nothing, such as clusters before the first run.

        Raises
        ------
        InvalidInputError
            When there is no such table.
        UserError
            When there is no such run, or pandas is not installed.
        """
        if name not in TABLE_NAMES:
            raise InvalidInputError(f"there is no table {name}", todo=f"choose one of {', '.join(TABLE_NAMES)}")
        for table in campaign_tables(self._campaign, run):
            if table.name == f"{name}.csv":
                return frame_of(table.header, table.rows)
        return frame_of((), ())

    def runs(self) -> pd.DataFrame:
        """Every run, newest last: number, stage, method, when it was stored, seed, number of clusters."""
        return frame_of(
            ("run", "stage", "method", "created_at", "seed", "clusters"),
            [
                (run.number, run.stage, run.method, run.created_at, run.seed, run.summary["clusters"])
                for run in run_list(self._campaign)
            ],
        )

    def close(self) -> None:
        """Close the file."""
        self._campaign.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"CampaignTables({str(self._campaign.path)!r})"


def open_campaign(path: str | PathLike[str]) -> CampaignTables:
    """Open a campaign file to read its tables; nothing in it is changed.

    Parameters
    ----------
    path
        A `.crowdclust` file.

    Raises
    ------
    UserError
        When it is not a whole campaign of a version that is known.

    Examples
    --------
    >>> import crowdclust_app as cc
    >>> with cc.open_campaign("birds.crowdclust") as campaign:  # doctest: +SKIP
    ...     model = cc.Crowdclustering().fit(campaign.table("responses"))
    """
    return CampaignTables(Campaign.open(Path(path), read_only=True))
