"""What the clusters would be without one worker."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from tall_red import TallRedSettings, tall_red_campaign

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled, UserError
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.evaluation.metrics import variation_of_information
from crowdclust_app.services.fits.fitting import fit_table
from crowdclust_app.services.fits.results import Run
from crowdclust_app.services.progress_report import ProgressReport
from crowdclust_app.services.workers.leave_one_out import can_leave_out, moved_items, without_worker

QUICK = FitSettings(dimensions=4, n_starts=1, n_clusters=4, label_weight=0.5, folds=0)


def run_of(table: ResponseTable, settings: FitSettings = QUICK) -> Run:
    result = fit_table(table, settings)
    names = table.item_names, table.worker_names
    return Run(1, "all", datetime.now(UTC), settings, 0, {}, table.fingerprint(), 1.0, result, *names)


@pytest.fixture(scope="module")
def two_kinds() -> tuple[Run, ResponseTable]:
    # one worker alone tells colours apart
    settings = TallRedSettings(
        colour_workers=1, height_workers=4, random_workers=0, one_group_workers=0, workers_per_hit=5, redundancy=6
    )
    table = tall_red_campaign(settings).table
    return run_of(table), table


def test_the_only_one_who_sees_colour_makes_the_colours(two_kinds: tuple[Run, ResponseTable]) -> None:
    run, table = two_kinds
    told: list[ProgressReport] = []
    alone = without_worker(run, table, "colour 1", told.append)
    one_of_many = without_worker(run, table, "height 1")
    assert alone.vi_bits > 0.5
    assert alone.moved > 20
    assert one_of_many.vi_bits < 0.1
    assert one_of_many.moved <= 2
    assert "colour 1" in alone.sentence
    assert "would change their cluster" in alone.sentence
    assert told[-1].text == "Fitting without colour 1"
    assert [report.done for report in told] == sorted(report.done for report in told)


def test_a_fit_without_the_worker_from_the_beginning_says_the_same(two_kinds: tuple[Run, ResponseTable]) -> None:
    run, table = two_kinds
    other = table.take(np.flatnonzero(table.worker_of_response != table.worker_names.index("height 2")))
    fresh = fit_table(other, QUICK).labels
    assert variation_of_information(fresh, run.result.labels) < 0.1
    assert without_worker(run, table, "height 2").vi_bits < 0.1


def test_what_cannot_be_left_out_is_refused(two_kinds: tuple[Run, ResponseTable]) -> None:
    run, table = two_kinds
    with pytest.raises(UserError, match="no response of Nobody counts"):
        without_worker(run, table, "Nobody")
    alone = table.take(np.flatnonzero(table.worker_of_response == 0))
    with pytest.raises(UserError, match="nobody but height 1"):
        without_worker(run, alone, "height 1")
    baseline = replace(run, settings=FitSettings(method="spectral", n_clusters=4))
    assert not can_leave_out(baseline)
    with pytest.raises(UserError, match="spectral cannot be fitted again"):
        without_worker(baseline, table, "height 1")
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        without_worker(run, table, "height 1", cancel=token)


def test_later_items_and_workers_and_what_only_one_saw() -> None:
    table = tall_red_campaign(TallRedSettings()).table
    run = run_of(table)
    responses = []
    for r in range(table.n_responses):
        span = slice(int(table.response_ptr[r]), int(table.response_ptr[r + 1]))
        responses.append(
            Response(
                table.hit_names[table.hit_of_response[r]],
                table.worker_names[table.worker_of_response[r]],
                tuple(table.item_names[i] for i in table.items[span]),
                tuple(map(str, table.groups[span])),
            )
        )
    responses.append(Response("later", "new, “one” 🌲", ("late a", "late b", *table.item_names[:4]), tuple("112233")))
    later = ResponseTable.from_responses(responses, table.item_names, table.worker_names)
    found = without_worker(run, later, "new, “one” 🌲")
    assert found.lost == 2
    assert found.items == 80
    assert found.vi_bits < 0.1
    assert "2 that nobody else saw would have none" in found.sentence
    consensus = run_of(table, replace(QUICK, method="consensus"))
    assert (
        without_worker(consensus, table, "At random" if "At random" in table.worker_names else "random 1").items == 80
    )


def test_clusters_are_matched_before_moves_are_counted() -> None:
    assert moved_items(np.array([1, 1, 2, 2, 3]), np.array([3, 3, 1, 1, 2])) == 0
    assert moved_items(np.array([1, 1, 2, 2]), np.array([5, 5, 5, 2])) == 1
    assert moved_items(np.zeros(0, np.int64), np.zeros(0, np.int64)) == 0
