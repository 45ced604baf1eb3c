"""What an export would write: every table with its number of rows, counted without making the rows."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from crowdclust_app.domain.campaign import WHOLE_COLLECTION
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.counts import assignment_records, flag_records
from crowdclust_app.services.campaign.responses import read_table
from crowdclust_app.services.fits.run_store import load_run
from crowdclust_app.services.verify.question_tables import question_rows
from crowdclust_app.storage import catalogue
from crowdclust_app.storage import responses as stored_responses

ABOUT = {
    "responses.csv": "which group every worker put every photo into",
    "assignments.csv": "who had which HIT, and when",
    "flags.csv": "photos that were flagged as broken",
    "pairs.csv": "the same responses as pairs: same group or different groups",
    "truth.csv": "known categories",
    "plan.csv": "which photos are shown together",
    "clusters.csv": "the cluster and category of every photo, and how sure it is",
    "membership.csv": "the probability of every cluster for every photo",
    "embedding.csv": "where every photo lies, with standard deviations",
    "confusion.csv": "which clusters each worker puts together",
    "workers.csv": "what each worker did, and the agreement with the clusters",
    "labels.csv": "every answer to a yes/no question",
    "labels_inferred.csv": "what the answers about each photo amount to, by every method",
    "reliability.csv": "how far each worker's answers can be trusted, by every method",
    "summary.json": "the figures of the run, and the list of these files",
}


class TableToWrite(NamedTuple):
    """One file of an export.

    Parameters
    ----------
    rows
        Rows below the header; None for a file that is no table.
    """

    name: str
    about: str
    rows: int | None


def tables_to_write(campaign: Campaign, run: int | None = None) -> tuple[TableToWrite, ...]:
    """List the files that `export_campaign` would write, in its order.

    Parameters
    ----------
    run
        Number of the run whose clusters are written; None for a campaign without runs.
    """
    chosen = load_run(campaign, run) if run is not None else None
    table = read_table(campaign, chosen.stage if chosen is not None else WHOLE_COLLECTION)
    with campaign.database.read() as connection:
        answered = stored_responses.count_response_items(connection)
        planned = catalogue.count_planned(connection)
    rows = {
        "responses.csv": answered,
        "assignments.csv": len(assignment_records(campaign)),
        "flags.csv": len(flag_records(campaign)),
        "pairs.csv": table.n_pair_labels,
        "truth.csv": len(campaign.truth()),
        "plan.csv": planned,
    }
    if chosen is not None:
        result = chosen.result
        shown, n_clusters = int(result.shown.sum()), result.responsibilities.shape[1]
        rows |= {
            "clusters.csv": table.n_items,
            "membership.csv": shown * n_clusters,
            "embedding.csv": shown,
            "confusion.csv": int(result.answered.sum()) * n_clusters**2,
        }
    rows["workers.csv"] = table.n_workers
    rows |= question_rows(campaign)
    found = [TableToWrite(name, ABOUT[name], count) for name, count in rows.items() if count]
    return (*found, TableToWrite("summary.json", ABOUT["summary.json"], None))


def files_in_the_way(folder: Path, names: tuple[str, ...]) -> tuple[str, ...]:
    """Which of these files are in a folder already."""
    return tuple(name for name in names if (folder / name).is_file())
