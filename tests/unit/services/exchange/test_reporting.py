"""Parts of a report: criteria of the workers, numbers of figures, and no names where none are wanted."""

from __future__ import annotations

import numpy as np
import pytest
from campaign_making import MakeCampaign

from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.report import DataTable, Figure, Paragraph
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.exchange.reporting.contents import campaign_report
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.fits.verdicts import without_names

WAYS = {
    'Ann, "A"': (0, 0, 1, 1),
    "=Ben": (0, 0, 1, 1),
    "דן 🌲": (0, 1, 0, 1),
    "Zoé Q": (0, 1, 0, 1),
    "Fay": (0, 0, 0, 0),
}


@pytest.fixture
def two_ways(make_campaign: MakeCampaign) -> Campaign:
    """Photos of four kinds; two people sort by one property of the kinds, two by another, one puts all together."""
    campaign = make_campaign()
    for name, ways in WAYS.items():
        worker = campaign.add_worker(name)
        while (turn := annotation.next_assignment(campaign, worker)) is not None:
            groups = tuple((place, ways[item % 4] + 1) for place, item in enumerate(turn.items))
            annotation.record(campaign, turn, Action(ActionKind.PLACE, groups), 5.0)
            annotation.submit(campaign, turn, 6.0)
    fit_campaign(campaign, FitSettings(dimensions=2, n_starts=1, n_clusters=4, label_weight=1.0, folds=0))
    return campaign


def test_figures_are_numbered_through(two_ways: Campaign) -> None:
    report = campaign_report(two_ways)
    captions = [block.caption for section in report.sections for block in section.blocks if isinstance(block, Figure)]
    assert len(captions) > 2
    assert [caption.split(".")[0] for caption in captions] == [f"Figure {n + 1}" for n in range(len(captions))]


@pytest.mark.parametrize("anonymous", [False, True])
def test_the_report_says_who_sorts_by_the_same_criterion(two_ways: Campaign, anonymous: bool) -> None:
    report = campaign_report(two_ways, anonymous=anonymous)
    section = next(section for section in report.sections if section.title == "Criteria of the workers")
    words = section.blocks[0]
    assert isinstance(words, Paragraph)
    told = repr(report.sections)
    named = [name for name in WAYS if repr(name)[1:-1] in told]
    assert named == ([] if anonymous else list(WAYS))
    tables = [block for block in section.blocks if isinstance(block, DataTable)]
    assert np.array([len(row) == 4 for table in tables for row in table.rows]).all()
    assert tables or len(section.blocks) > 1


def test_a_summary_without_names_keeps_every_other_word() -> None:
    kept = "Every pair label counts 0.2 (label weight), because the labels of one HIT are not independent."
    odd = "2 workers (A (b): one group for everything, =x\n): hardly more like the clusters than chance would be."
    told = without_names({"clusters": 4, "verdicts": [kept, odd, "1 worker (Fay): one group for everything."]})
    assert told["clusters"] == 4
    assert told["verdicts"] == [
        kept,
        "2 workers: hardly more like the clusters than chance would be.",
        "1 worker: one group for everything.",
    ]
    assert without_names({})["verdicts"] == []
