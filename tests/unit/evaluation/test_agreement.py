"""Agreement before any model, against the definitions label by label."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tall_red import TallRedSettings, tall_red_campaign

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import Cancelled
from crowdclust_app.domain.response_table import Response, ResponseTable
from crowdclust_app.evaluation.agreement import pair_agreement, self_agreement
from crowdclust_app.evaluation.simulation import SimulationSettings, simulate_campaign


def said(hit: str, worker: str, items: str, groups: str) -> Response:
    return Response(hit, worker, tuple(items), tuple(groups))


def slow_figures(table: ResponseTable) -> tuple[float, float]:
    """Mean pairwise agreement and Krippendorff's alpha from a table of coincidences."""
    judged: dict[tuple[int, int], dict[int, bool]] = {}
    for r in range(table.n_responses):
        span = range(table.response_ptr[r], table.response_ptr[r + 1])
        for p, q in combinations(span, 2):
            pair = tuple(sorted((int(table.items[p]), int(table.items[q]))))
            same = bool(table.groups[p] == table.groups[q])
            judged.setdefault(pair, {}).setdefault(int(table.worker_of_response[r]), same)  # type: ignore[arg-type]
    coincidence = np.zeros((2, 2))
    compared = []
    for judgements in judged.values():
        values = list(judgements.values())
        if len(values) > 1:
            for a, b in combinations(range(len(values)), 2):
                compared.append(values[a] == values[b])
                for x, y in ((a, b), (b, a)):
                    coincidence[int(values[x]), int(values[y])] += 1 / (len(values) - 1)
    n_of = coincidence.sum(axis=1)
    n = n_of.sum()
    expected = n_of[0] * n_of[1] * 2 / (n - 1)
    return float(np.mean(compared)), 1 - (coincidence[0, 1] + coincidence[1, 0]) / expected


@pytest.mark.parametrize("seed", range(3))
def test_figures_are_those_of_the_definition(seed: int) -> None:
    campaign = tall_red_campaign(TallRedSettings(items=30, items_per_hit=8, redundancy=3, noise=0.2, seed=seed))
    found = pair_agreement(campaign.table)
    assert found is not None
    agreement, alpha = slow_figures(campaign.table)
    assert found.agreement == pytest.approx(agreement)
    assert found.alpha == pytest.approx(alpha)
    assert found.share == 1.0


def test_intervals_hold_the_figures_of_other_campaigns_like_it() -> None:
    settings = SimulationSettings(items=120, clusters=5, items_per_hit=12, workers=12, noise=0.2, coarse=0.0)
    found = [
        pair_agreement(simulate_campaign(SimulationSettings(**{**vars_of(settings), "seed": seed})).table)  # type: ignore[arg-type]
        for seed in range(12)
    ]
    alphas = [each.alpha for each in found if each is not None and each.alpha is not None]
    assert len(alphas) == 12
    middle = float(np.mean(alphas))
    held = sum(each.alpha_interval[0] <= middle <= each.alpha_interval[1] for each in found if each.alpha_interval)
    assert held >= 9
    assert 0.2 < middle < 0.9


def vars_of(settings: SimulationSettings) -> dict[str, object]:
    return {name: getattr(settings, name) for name in settings.__dataclass_fields__}


def test_complete_agreement_chance_and_nothing_to_agree_about() -> None:
    agreeing = [said(f"h{n}", who, "abcd", "1122") for n in range(6) for who in ("x", "y")]
    found = pair_agreement(ResponseTable.from_responses(agreeing[:2]))
    assert found is not None
    assert (found.agreement, found.alpha, found.pairs, found.hits) == (1.0, 1.0, 6, 1)
    assert found.alpha_interval is None
    rng = np.random.default_rng(0)
    random = []
    for n in range(60):
        items = tuple(f"{n}{k}" for k in range(10))
        random += [Response(f"h{n}", who, items, tuple(map(str, rng.integers(0, 2, 10)))) for who in ("x", "y")]
    found = pair_agreement(ResponseTable.from_responses(random))
    assert found is not None
    assert found.alpha is not None
    assert found.alpha_interval is not None
    assert abs(found.alpha) < 0.1
    assert found.alpha_interval[0] < 0 < found.alpha_interval[1]
    lump = pair_agreement(ResponseTable.from_responses([said("h", who, "abc", "111") for who in ("x", "y")]))
    assert lump is not None
    assert (lump.agreement, lump.alpha) == (1.0, None)


def test_nobody_to_compare_with() -> None:
    assert pair_agreement(ResponseTable.from_responses([])) is None
    assert pair_agreement(ResponseTable.from_responses([said("h", "x", "abc", "112")])) is None
    twice = [said("h", "x", "abc", "112"), said("g", "x", "abc", "121"), said("f", "y", "d", "1")]
    assert pair_agreement(ResponseTable.from_responses(twice)) is None


def test_very_many_labels_are_looked_at_in_part_and_that_is_said() -> None:
    table = tall_red_campaign(TallRedSettings(noise=0.1)).table
    found, whole = pair_agreement(table, most_labels=table.n_pair_labels // 2), pair_agreement(table)
    assert found is not None
    assert whole is not None
    assert 0.3 < found.share < 0.6
    assert found.alpha == pytest.approx(whole.alpha, abs=0.05)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        pair_agreement(table, cancel=token)


def test_agreement_with_oneself_compares_repeats() -> None:
    table = ResponseTable.from_responses(
        [
            said("h", "x", "abcd", "1122"),
            said("other", "x", "abcd", "1111"),
            said("again", "x", "dcba", "1123"),
            said("h", "y", "abcd", "1122"),
            said("again", "z", "abcd", "1234"),
        ]
    )
    root = np.array([{"h": 0, "again": 0, "other": 1}[table.hit_names[h]] for h in table.hit_of_response])
    # of x's six pairs only a with b is judged otherwise the second time
    assert self_agreement(table, root).tolist() == [[6, 5], [0, 0], [0, 0]]
