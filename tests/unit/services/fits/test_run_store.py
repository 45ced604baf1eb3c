from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from campaign_making import MakeCampaign, do_next
from made_results import VERSIONS, result

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.responses import read_table
from crowdclust_app.services.fits.results import FitResult
from crowdclust_app.services.fits.run_store import load_run, pack, run_list, save_run, unpack


def same(a: FitResult, b: FitResult) -> bool:
    for field in fields(FitResult):
        left, right = getattr(a, field.name), getattr(b, field.name)
        if isinstance(left, np.ndarray):
            if left.dtype != right.dtype or not np.array_equal(left, right, equal_nan=left.dtype.kind == "f"):
                return False
        elif left != right or type(left) is not type(right):
            return False
    return True


def test_a_run_comes_back_as_it_was_and_is_not_overwritten(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    do_next(campaign, campaign.add_worker("Ann"))
    table = read_table(campaign)
    settings = FitSettings(n_clusters=3, label_weight=0.2, seed=4)
    before = campaign.revision
    first = save_run(campaign, table, settings, result(1), versions=VERSIONS, stage="all")
    second = save_run(campaign, table, replace(settings, seed=5), result(2), versions=VERSIONS, stage="all")
    assert campaign.revision > before
    assert (first.number, second.number) == (1, 2)
    campaign.close()
    with Campaign.open(campaign.path) as again:
        run = load_run(again, 1)
        assert same(run.result, result(1))
        assert same(load_run(again, 2).result, result(2))
        assert (run.settings, run.seed, run.stage, run.seconds) == (settings, 4, "all", 1.5)
        assert run.versions == VERSIONS
        assert run.fingerprint == table.fingerprint()
        assert (run.item_names, run.worker_names) == (table.item_names, ("Ann",))
        assert run.created_at == first.created_at
        infos = run_list(again)
        assert [(info.number, info.method, info.seed) for info in infos] == [
            (1, "crowdclustering", 4),
            (2, "crowdclustering", 5),
        ]
        assert infos[0].summary["verdicts"] == ["Fine."]
        with pytest.raises(UserError, match="no run 3; choose one of 1, 2"):
            load_run(again, 3)


def test_numbers_that_no_number_is_survive_outside_the_summary(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    odd = replace(result(1), bound=float("-inf"), n_iterations=np.int64(3))  # type: ignore[arg-type]
    run = save_run(campaign, read_table(campaign), FitSettings(), odd, versions=VERSIONS, stage="all")
    assert (run.result.bound, run.result.n_iterations) == (float("-inf"), 3)
    with pytest.raises(ValueError, match="JSON"):
        save_run(
            campaign,
            read_table(campaign),
            FitSettings(),
            replace(odd, summary={"bound": float("nan")}),
            versions=VERSIONS,
            stage="all",
        )
    assert len(run_list(campaign)) == 1


def test_a_campaign_without_runs_says_what_to_do(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    assert run_list(campaign) == ()
    with pytest.raises(UserError, match="run the inference first"):
        load_run(campaign, 1)


def test_a_setting_of_another_version_does_no_harm(make_campaign: MakeCampaign) -> None:
    campaign = make_campaign()
    save_run(campaign, read_table(campaign), FitSettings(), result(1), versions=VERSIONS, stage="all")
    with campaign.database.write() as connection:
        connection.exec_driver_sql("DROP TRIGGER runs_no_update")
        connection.exec_driver_sql(
            "UPDATE runs SET settings = json_remove(json_set(settings, '$.newer', 1), '$.scale')"
        )
    assert load_run(campaign, 1).settings == FitSettings()


def test_arrays_are_packed_without_pickle() -> None:
    arrays = {"a": np.arange(6).reshape(2, 3), "file": np.array([True]), "names": np.array(["x", "yy"])}
    back = unpack(pack(arrays))
    assert set(back) == set(arrays)
    assert all(np.array_equal(back[name], arrays[name]) and back[name].dtype == arrays[name].dtype for name in arrays)
    with pytest.raises(ValueError, match="pickle"):
        pack({"o": np.array([object()])})
