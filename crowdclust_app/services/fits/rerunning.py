"""Running the inference again by itself, after as many new responses as the lead wants."""

from __future__ import annotations

from crowdclust_app.domain.campaign import WHOLE_COLLECTION
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.progress_statistics import rerun_every, responses_since_run
from crowdclust_app.services.fits.run_store import load_run, run_list


def is_due(campaign: Campaign) -> bool:
    """Whether so many responses have come since the newest run that the inference is to run again."""
    every = rerun_every(campaign)
    return every > 0 and responses_since_run(campaign) >= every


def settings_of_newest(campaign: Campaign) -> FitSettings:
    """The settings of the newest run of the whole collection; the usual ones before the first."""
    numbers = [run.number for run in run_list(campaign) if run.stage == WHOLE_COLLECTION]
    return load_run(campaign, numbers[-1]).settings if numbers else FitSettings()
