"""Simulated campaigns are what their settings say, the same for the same seed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from tall_red import TallRedSettings, tall_red_campaign

from crowdclust_app.domain.errors import UserError
from crowdclust_app.evaluation.simulation import SimulatedCampaign, SimulationSettings, simulate_campaign

SMALL: dict[str, Any] = {
    "items": 60,
    "clusters": 5,
    "items_per_hit": 10,
    "redundancy": 3,
    "workers_per_hit": 4,
    "workers": 12,
}


def sorted_by(campaign: SimulatedCampaign, worker: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """What a worker did: true category numbers and groups, a response each."""
    table = campaign.table
    number = {name: k for k, name in enumerate(campaign.categories)}
    truth = np.array([number[name] for name in campaign.truth])
    slices = [slice(*table.response_ptr[r : r + 2]) for r in np.flatnonzero(table.worker_of_response == worker)]
    return [(truth[table.items[s]], table.groups[s]) for s in slices]


def test_the_size_of_the_scenes_campaign() -> None:
    campaign = simulate_campaign(SimulationSettings())
    assert campaign.table.n_items == 1000
    assert campaign.table.n_responses == 835
    assert campaign.table.n_pair_labels == 526_050
    assert campaign.table.n_workers == 130
    assert Counter(Counter(campaign.truth).values()) == {100: 10}
    assert campaign.table.times_shown.min() >= 5


@pytest.mark.parametrize("pareto", [False, True])
def test_no_worker_does_a_hit_twice_and_every_hit_has_its_workers(pareto: bool) -> None:
    table = simulate_campaign(SimulationSettings(**SMALL, pareto=pareto)).table
    pairs = list(zip(table.hit_of_response.tolist(), table.worker_of_response.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert set(Counter(hit for hit, _ in pairs).values()) == {4}
    for r in range(table.n_responses):
        items = table.items[table.response_ptr[r] : table.response_ptr[r + 1]]
        assert len(set(items.tolist())) == 10


def test_all_do_the_same_share_unless_a_few_do_most() -> None:
    even = simulate_campaign(SimulationSettings()).table
    shares = np.bincount(even.worker_of_response, minlength=130)
    assert shares.max() - shares.min() <= 1
    few = simulate_campaign(SimulationSettings(pareto=True)).table
    shares = np.sort(np.bincount(few.worker_of_response, minlength=130))[::-1]
    assert 0.6 < shares[:26].sum() / shares.sum() < 0.9


def test_the_seed_decides_everything() -> None:
    first, again = (simulate_campaign(SimulationSettings(**SMALL, seed=3)) for _ in range(2))
    other = simulate_campaign(SimulationSettings(**SMALL, seed=4))
    assert first.table.fingerprint() == again.table.fingerprint()
    assert first.truth == again.truth
    assert first.workers == again.workers
    assert first.table.fingerprint() != other.table.fingerprint()


def test_without_noise_a_worker_merges_categories_and_never_splits_one() -> None:
    campaign = simulate_campaign(SimulationSettings(**SMALL, noise=0.0))
    merged = [len(set(worker.groups)) for worker in campaign.workers]
    assert min(merged) < 5
    for worker, how in enumerate(campaign.workers):
        for truth, groups in sorted_by(campaign, worker):
            own = np.array(how.groups)[truth]
            assert np.array_equal(own[:, None] == own[None], groups[:, None] == groups[None])


def test_coarse_nought_and_one() -> None:
    fine = simulate_campaign(SimulationSettings(**SMALL, coarse=0.0))
    assert all(worker.groups == (0, 1, 2, 3, 4) for worker in fine.workers)
    coarse = simulate_campaign(SimulationSettings(**SMALL, coarse=1.0))
    assert len({worker.groups for worker in coarse.workers}) == 1
    assert len(set(coarse.workers[0].groups)) <= 2


def test_noise_is_the_share_of_stray_placements() -> None:
    campaign = simulate_campaign(SimulationSettings(coarse=0.0, noise=0.2, clusters=2))
    agree = total = 0
    for worker in range(campaign.table.n_workers):
        for truth, groups in sorted_by(campaign, worker):
            same = (truth == groups).mean()
            agree += max(same, 1 - same) * len(truth)
            total += len(truth)
    # half of the strays land where they belong
    assert agree / total == pytest.approx(0.9, abs=0.01)


def test_random_workers_are_as_many_as_asked_for() -> None:
    campaign = simulate_campaign(SimulationSettings(**SMALL, random_workers=3))
    assert Counter(campaign.worker_kinds) == {"random": 3, "sorts": 9}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"clusters": 61}, "60 items cannot fall into 61 clusters"),
        ({"clusters": 0}, "cannot fall into 0 clusters"),
        ({"workers": 3}, "needs 4 different workers and there are 3"),
        ({"random_workers": 13}, "13 of 12 workers cannot be random"),
        ({"noise": 1.5}, "the noise 1.5 is not a share"),
        ({"coarse": float("nan")}, "the coarse nan is not a share"),
        ({"redundancy": 0}, "redundancy"),
    ],
)
def test_settings_that_cannot_be_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        SimulationSettings(**{**SMALL, **change})


def test_the_tall_and_red_example() -> None:
    names = [f"drawn/{n}.png" for n in range(80)]
    campaign = tall_red_campaign(TallRedSettings(noise=0.0), names)
    assert campaign.table.item_names == tuple(names)
    assert campaign.truth[:4] == ("tall red", "tall blue", "short red", "short blue")
    assert Counter(campaign.worker_kinds) == {"height": 5, "colour": 5, "random": 1, "one group": 1}
    for worker, kind in enumerate(campaign.worker_kinds):
        done = sorted_by(campaign, worker)
        assert done
        for truth, groups in done:
            if kind == "random":
                assert len(set(groups.tolist())) > 1
                continue
            own = {"height": truth // 2, "colour": truth % 2, "one group": truth * 0}[kind]
            assert np.array_equal(own[:, None] == own[None], groups[:, None] == groups[None])


def test_the_example_needs_enough_workers() -> None:
    with pytest.raises(UserError, match="needs 8 different workers and there are 7"):
        tall_red_campaign(TallRedSettings(height_workers=0))


@pytest.mark.parametrize(("items", "clusters", "ratio"), [(1000, 10, 4.0), (12, 5, 8.0), (5, 5, 3.0), (7, 1, 2.0)])
def test_categories_of_uneven_size(items: int, clusters: int, ratio: float) -> None:
    settings = SimulationSettings(items=items, clusters=clusters, size_ratio=ratio, workers=8)
    sizes = sorted(Counter(simulate_campaign(settings).truth).values())
    assert len(sizes) == clusters
    assert sum(sizes) == items
    if items == 1000:
        assert sizes[-1] / sizes[0] == pytest.approx(ratio, rel=0.1)
        assert np.ptp(np.diff(sizes)) <= 2


def test_a_size_ratio_below_one_is_refused() -> None:
    with pytest.raises(UserError, match=r"the largest category cannot be 0\.5 times"):
        SimulationSettings(size_ratio=0.5)
