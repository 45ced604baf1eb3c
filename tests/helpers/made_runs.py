"""Campaigns with runs of arbitrary clusters, stored without fitting anything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from made_results import VERSIONS, result
from numpy.typing import NDArray

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.creating import create_without_images
from crowdclust_app.services.campaign.responses import read_table
from crowdclust_app.services.clusters.carrying_over import carry_over
from crowdclust_app.services.exchange.importing import import_table
from crowdclust_app.services.fits.results import Run
from crowdclust_app.services.fits.run_store import save_run


def make_table_campaign(folder: Path, n_items: int) -> Path:
    """A campaign without images whose first items one worker has sorted."""
    path = folder / "made.crowdclust"
    create_without_images(path, PlanSettings(8, 2, 2), (f"item {number:05d}" for number in range(n_items)))
    rows = "".join(f"h,Ann,item {number:05d},{number % 2}\n" for number in range(min(4, n_items)))
    (folder / "responses.csv").write_text("hit,worker,item,group\n" + rows, encoding="utf-8")
    with Campaign.open(path) as campaign:
        import_table(campaign, folder / "responses.csv")
    return path


def store_run(campaign: Campaign, labels: NDArray[np.int64], dimensions: int = 3, seed: int = 1) -> Run:
    """A run with these clusters, each around a place of its own; every seventh item is doubtful."""
    n_clusters = int(labels.max(initial=0))
    found = result(seed, len(labels), 2, max(n_clusters, 1), dimensions)
    centres = np.random.default_rng(seed).normal(size=(n_clusters + 1, dimensions)) * 5
    positions = centres[labels] + found.positions * 0.3
    sure = np.where(np.arange(len(labels)) % 7 == 3, 0.6, 0.99)
    beliefs = np.tile(((1 - sure) / max(n_clusters - 1, 1))[:, None], (1, max(n_clusters, 1)))
    shown = labels > 0
    beliefs[shown, labels[shown] - 1] = sure[shown] if n_clusters > 1 else 1.0
    summary = {
        "method": "crowdclustering",
        "items": len(labels),
        "workers": 1,
        "responses": 1,
        "pair_labels": 6,
        "clusters": n_clusters,
        "bound": found.bound,
        "starts": list(found.start_bounds),
        "entropy_bits": 0.1,
        "converged": True,
        "verdicts": [],
        "seconds": 1.0,
    }
    made = replace(
        found,
        labels=labels,
        shown=shown,
        positions=positions,
        fisher=positions[:, :2].copy() if dimensions > 1 else np.column_stack([positions[:, 0], 0 * positions[:, 0]]),
        means=centres[1:] if n_clusters else centres,
        responsibilities=beliefs,
        confusion=np.clip(np.abs(found.confusion), 0, 1),
        confusion_bound=np.clip(np.abs(found.confusion_bound), 0, 1),
        answered=np.array([True, False]),
        summary=summary,
    )
    settings = FitSettings(n_clusters=max(n_clusters, 1), dimensions=dimensions, label_weight=1.0)
    run = save_run(campaign, read_table(campaign), settings, made, versions=VERSIONS, stage="all")
    carry_over(campaign, run)
    return run
