"""What an export says of answers that runs leave out, read back with pandas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from campaign_making import MakeCampaign

from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.exclusions import bring_back, exclude_response, exclusions, retire_worker, take_in
from crowdclust_app.services.campaign.responses import read_responses, read_table
from crowdclust_app.services.exchange.exporting import export_campaign
from crowdclust_app.services.fits.campaign_fits import fit_campaign

WHO = ("=SUM(1;2)", 'Bo "B", Jr.', "ג'ון 🌲")
QUICK = FitSettings(dimensions=2, n_starts=1, n_clusters=2, label_weight=1.0, folds=2)


@pytest.fixture
def campaign(make_campaign: MakeCampaign) -> Campaign:
    made = make_campaign(n_items=16, items_per_hit=8, redundancy=3, workers_per_hit=3)
    for name in WHO:
        worker = made.add_worker(name)
        while (turn := annotation.next_assignment(made, worker)) is not None:
            groups = tuple((place, item % 2 + 1) for place, item in enumerate(turn.items))
            annotation.record(made, turn, Action(ActionKind.PLACE, groups), 5.0)
            annotation.submit(made, turn, 6.0)
    return made


def read(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / name, keep_default_na=False)


def test_all_answers_are_written_and_the_flags_say_what_does_not_count(campaign: Campaign, tmp_path: Path) -> None:
    hit = read_table(campaign).hit_names[0]
    before = len(read_responses(campaign))
    exclude_response(campaign, hit, WHO[0], '=1+1, "slipped"')
    retire_worker(campaign, WHO[1], "שלום, at random")
    run = fit_campaign(campaign, QUICK)
    out = tmp_path / "out"
    export_campaign(campaign, out)
    responses = read(out, "responses.csv")
    assert responses.groupby(["hit", "worker"]).ngroups == before
    workers = read(out, "workers.csv")
    assert list(workers.columns) == [
        "worker", "hits", "items", "pair_labels", "seconds_per_hit", "agreement", "heldout_loglik", "flags",
    ]  # fmt: skip
    flags = dict(zip(workers["worker"].str.lstrip("'"), workers["flags"], strict=True))
    assert (flags[WHO[0]], flags[WHO[2]]) == ("1 excluded", "")
    assert flags[WHO[1]].split("; ")[-1] == "retired"
    assert set(workers["hits"]) == {before // 3}
    heldout = dict(zip(workers["worker"].str.lstrip("'"), workers["heldout_loglik"], strict=True))
    assert heldout[WHO[1]] == ""
    assert float(heldout[WHO[2]]) < 0
    left = read(out, "exclusions.csv")
    assert list(left.columns) == ["worker", "hit", "reason", "decided_at"]
    assert left["hit"].tolist() == ["", hit]
    assert left["reason"].str.lstrip("'").tolist() == ["שלום, at random", '=1+1, "slipped"']
    confusion = read(out, "confusion.csv")
    assert set(confusion["worker"].str.lstrip("'")) == {WHO[0], WHO[2]}
    k = run.result.confusion.shape[1]
    assert len(confusion) == 2 * k * k
    assert np.isfinite(confusion[["probability", "eq10_bound"]].to_numpy(dtype=float)).all()


def test_anonymous_exclusions_have_numbers_and_none_no_file(campaign: Campaign, tmp_path: Path) -> None:
    retire_worker(campaign, WHO[1], "at random")
    export_campaign(campaign, tmp_path / "out", anonymous=True)
    left = read(tmp_path / "out", "exclusions.csv")
    assert left["worker"].astype(str).tolist() == ["2"]
    bring_back(campaign, WHO[1])
    export_campaign(campaign, tmp_path / "out", anonymous=True)
    assert not (tmp_path / "out" / "exclusions.csv").exists()


def test_runs_after_an_exclusion_was_taken_back_are_those_of_before(campaign: Campaign) -> None:
    first = fit_campaign(campaign, QUICK)
    hit = read_table(campaign).hit_names[1]
    exclude_response(campaign, hit, WHO[2], "why")
    without = fit_campaign(campaign, QUICK)
    take_in(campaign, hit, WHO[2])
    again = fit_campaign(campaign, QUICK)
    assert exclusions(campaign).decisions == ()
    assert first.fingerprint == again.fingerprint != without.fingerprint
    np.testing.assert_array_equal(first.result.positions, again.result.positions)
    assert not np.array_equal(first.result.positions, without.result.positions)
