"""A folder with everything that gives the clusters of a run again, on another computer and without the campaign."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.io.atomic import write_json, write_text
from crowdclust_app.io.tables import write_table
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.clusters.run_view import RunView
from crowdclust_app.services.exchange.exporting import worker_labels
from crowdclust_app.services.exchange.result_tables import Fitted, result_tables
from crowdclust_app.services.exchange.simulated_tables import response_rows
from crowdclust_app.services.fits.verdicts import without_names

RESPONSES, CLUSTERS, RUN, READ_ME = "responses.csv", "clusters.csv", "run.json", "README.txt"


def write_reproduction(campaign: Campaign, view: RunView, folder: Path, anonymous: bool = False) -> None:
    """Write the responses of a run's stage, its settings, versions and clusters, and the command that joins them.

    Parameters
    ----------
    folder
        Where; it must exist.
    anonymous
        Write workers as numbers; the order in which they are read, and so the result, stays the same.
    """
    run = view.run
    table, certain = responses_of_run(view)
    label = worker_labels([worker.name for worker in campaign.workers()], anonymous)
    write_table(folder / RESPONSES, ("hit", "worker", "item", "group"), response_rows(table, label))
    fitted = Fitted(run.result, run.item_names, run.worker_names, run.stage)
    clusters = next(one for one in result_tables(fitted, table, {}, label) if one.name == CLUSTERS)
    write_table(folder / CLUSTERS, clusters.header, clusters.rows)
    write_json(
        folder / RUN,
        {
            "run": run.number,
            "stage": run.stage,
            "created_at": run.created_at.isoformat(),
            "settings": run.settings.as_dict(),
            "versions": dict(run.versions),
            "fingerprint": run.fingerprint,
            "summary": without_names(run.result.summary) if anonymous else dict(run.result.summary),
        },
    )
    write_text(folder / READ_ME, _words(view, _command(run.settings.as_dict()), certain))


def responses_of_run(view: RunView) -> tuple[ResponseTable, bool]:
    """The responses that the run saw, and whether that is certain.

    Responses that came later are left out, as far as the run's fingerprint says that nothing else has changed.
    """
    run, table = view.run, view.table
    earlier = np.arange(min(int(run.result.summary["responses"]), table.n_responses))
    for tried in (table, table.take(earlier)):
        if tried.fingerprint() == run.fingerprint:
            return tried, True
    return table, False


def _command(settings: Mapping[str, Any]) -> str:
    """The command line that fits exported responses with these settings."""
    options = ("method", "clusters", "dimensions", "label_weight", "worker_prior", "starts", "seed")
    return " ".join(
        ["crowdclust fit responses.csv", *(f"--{name.replace('_', '-')} {settings[name]}" for name in options)]
    )


def _words(view: RunView, command: str, certain: bool) -> str:
    run = view.run
    versions = "\n".join(f"  {name} {version}" for name, version in run.versions.items())
    text = (
        f"Run {run.number} of {run.created_at:%Y-%m-%d %H:%M} UTC, stage {run.stage}\n\n"
        f"The command\n\n  {command}\n\n"
        "gives the clusters in clusters.csv from the answers in responses.csv. What decided the run besides is in "
        "run.json;\n"
        f"it was computed with\n\n{versions}\n"
    )
    if not certain:
        text += "\nAnswers were excluded or taken back in since the run, so these responses are not exactly those it "
        "saw.\n"
    return text
