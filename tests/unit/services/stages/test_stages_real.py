"""Trees of clusters on real data: photos of waste sorted by truth, and cards that children really sorted in levels."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from nested_campaign import rows_of

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.sorting import Action, ActionKind
from crowdclust_app.evaluation.metrics import adjusted_rand_index
from crowdclust_app.io.tables import write_table
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.checking import check_campaign
from crowdclust_app.services.campaign.creating import create_campaign, create_without_images
from crowdclust_app.services.exchange.exporting import export_campaign
from crowdclust_app.services.exchange.importing import import_table
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.fits.results import Run
from crowdclust_app.services.stages.stages import cluster_items, subdivide

PHOTOS_A_MATERIAL = 12
COARSE = {
    "cardboard": "flat",
    "paper": "flat",
    "glass": "vessel",
    "metal": "vessel",
    "plastic": "vessel",
    "trash": "rest",
}
QUICK = FitSettings(dimensions=2, n_starts=2, n_clusters="bound", label_weight=0.3, folds=0, worker_prior="independent")


def sort_by_truth(campaign: Campaign, seed: int) -> None:
    """Three workers sort by kind of thing, and by material among things of one kind; a photo in 25 strays."""
    random = np.random.default_rng(seed)
    materials = sorted(COARSE)
    kinds = sorted(set(COARSE.values()))
    truth = [item.path.split("/")[0] for item in campaign.items()]
    known = {worker.name: worker for worker in campaign.workers()}
    for name in ("Ada", "Ben", "Cyd"):
        worker = known.get(name) or campaign.add_worker(name)
        while (turn := annotation.next_assignment(campaign, worker)) is not None:
            alike = len({COARSE[truth[item]] for item in turn.items}) == 1
            groups = [materials.index(truth[i]) if alike else kinds.index(COARSE[truth[i]]) for i in turn.items]
            strays = random.random(len(groups)) < 0.04
            groups = [int(random.integers(3)) if stray else group for stray, group in zip(strays, groups, strict=True)]
            placed = tuple((place, group + 1) for place, group in enumerate(groups))
            annotation.record(campaign, turn, Action(ActionKind.PLACE, placed), 20.0)
            annotation.submit(campaign, turn, 40.0)


def cluster_of(campaign: Campaign, run: Run, kind: str) -> int:
    """The cluster that most photos of a kind of thing are in."""
    names = [COARSE[item.path.split("/")[0]] for item in campaign.items()]
    sizes = {
        number: sum(names[item] == kind for item in cluster_items(campaign, run, number))
        for number in set(run.result.labels.tolist())
    }
    return max(sizes, key=lambda number: sizes[number])


def test_photos_of_waste_end_in_a_tree(shared_data: Path, tmp_path: Path) -> None:
    for material in COARSE:
        folder = tmp_path / "photos" / material
        folder.mkdir(parents=True)
        for photo in sorted((shared_data / "images" / "trash6" / material).glob("*.jpg"))[:PHOTOS_A_MATERIAL]:
            shutil.copy(photo, folder / photo.name)
    path = tmp_path / "trash.crowdclust"
    create_campaign(path, tmp_path / "photos", PlanSettings(18, 5, 3, 1))
    with Campaign.open(path) as campaign:
        sort_by_truth(campaign, 0)
        run = fit_campaign(campaign, QUICK)
        number = cluster_of(campaign, run, "vessel")
        stage = subdivide(campaign, "all", number, PlanSettings(12, 5, 3, 2)).stage
        sort_by_truth(campaign, 1)
        below = fit_campaign(campaign, QUICK, stage=stage)
        export_campaign(campaign, tmp_path / "out")
    assert run.result.summary["clusters"] == 3
    assert below.result.summary["clusters"] == 3
    rows = rows_of(tmp_path / "out", "clusters.csv")
    truth = {row["item"]: row["item"].split("/")[0] for row in rows}
    vessels = [row for row in rows if row["stage"] == stage]
    assert len(vessels) == 3 * PHOTOS_A_MATERIAL
    assert {row["path"] for row in vessels} == {f"{stage}/{cluster}" for cluster in (1, 2, 3)}
    assert {row["path"] for row in rows if row["stage"] == "all"} == {f"all/{n}" for n in {1, 2, 3} - {number}}
    wanted = ["flat" if COARSE[truth[row["item"]]] == "flat" else truth[row["item"]] for row in rows]
    assert adjusted_rand_index([row["path"] for row in rows], wanted) == pytest.approx(1.0)
    assert check_campaign(path).ok


def nested_sorts(path: Path) -> dict[str, list[dict[str, str]]]:
    """Group of each card by judge and level, the coarsest first."""
    levels: dict[str, dict[int, dict[str, str]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            levels.setdefault(row["worker"], {}).setdefault(int(row["level"]), {})[row["item"]] = row["group"]
    return {judge: [sorts[level] for level in sorted(sorts)] for judge, sorts in levels.items()}


def write_sorts(path: Path, sorts: Mapping[str, Mapping[str, str]], hit: str, stage: str) -> Path:
    """One sort a judge as a table of responses."""
    rows = [(hit, judge, card, group, stage) for judge, sort in sorts.items() for card, group in sort.items()]
    write_table(path, ("hit", "worker", "item", "group", "stage"), rows)
    return path


def separations(sorts: list[Mapping[str, str]], cards: list[str]) -> np.ndarray:
    """Share of the levels at which each pair of cards is together."""
    return np.array([np.mean([sort[a] == sort[b] for sort in sorts]) for a, b in combinations(cards, 2)])


def test_a_tree_of_cards_that_children_sorted_in_levels(shared_data: Path, tmp_path: Path) -> None:
    sorts = nested_sorts(shared_data / "groupings" / "cards_hierarchical" / "responses.csv")
    assert len(sorts) == 30
    path = tmp_path / "cards.crowdclust"
    create_without_images(path, PlanSettings(16, 1, 30))
    with Campaign.open(path) as campaign:
        import_table(campaign, write_sorts(tmp_path / "1.csv", {j: s[0] for j, s in sorts.items()}, "first", "all"))
        # left open, it would be 4: some children make pairs at once
        run = fit_campaign(campaign, FitSettings(n_clusters=2))
        cards = [item.path for item in campaign.items()]
        leaf_of: dict[str, str] = {}
        for number in range(1, int(run.result.summary["clusters"]) + 1):
            stage = subdivide(campaign, "all", number).stage
            inside = [cards[item] for item in cluster_items(campaign, run, number)]
            last = {judge: {card: s[-1][card] for card in inside} for judge, s in sorts.items()}
            import_table(campaign, write_sorts(tmp_path / "2.csv", last, f"below {number}", stage))
            below = fit_campaign(campaign, FitSettings(), stage=stage)
            leaf_of |= {card: f"{number}/{k}" for card, k in zip(below.item_names, below.result.labels, strict=True)}
        root = dict(zip(run.item_names, run.result.labels.tolist(), strict=True))
    mine = separations([root, leaf_of], cards)
    theirs = np.mean([separations(s, cards) for s in sorts.values()], axis=0)  # type: ignore[arg-type]
    agreement = float(np.corrcoef(mine, theirs)[0, 1])
    # how far one child's tree is like all the others'
    each = {judge: separations(s, cards) for judge, s in sorts.items()}  # type: ignore[arg-type]
    usual = np.mean(
        [np.corrcoef(own, np.mean([o for j, o in each.items() if j != judge], axis=0))[0, 1]
         for judge, own in each.items() if own.std() > 0]
    )  # fmt: skip
    last_sorts = [[s[-1][card] for card in cards] for s in sorts.values()]
    leaves = float(np.mean([adjusted_rand_index([leaf_of[card] for card in cards], sort) for sort in last_sorts]))
    among = float(np.mean([adjusted_rand_index(a, b) for a, b in combinations(last_sorts, 2)]))
    # measured: two halves of 8, then the 8 pairs that the cards were drawn as; 0.98 against 0.68, 0.67 against 0.44
    assert run.result.summary["cluster_sizes"] == [8, 8]
    assert sorted(map(sorted, pairs_of(leaf_of))) == [
        ["A", "K"], ["B", "N"], ["C", "O"], ["D", "I"], ["E", "G"], ["F", "P"], ["H", "J"], ["L", "M"]
    ]  # fmt: skip
    assert agreement > 0.95
    assert agreement > usual + 0.2
    assert leaves > among + 0.15


def pairs_of(leaf_of: Mapping[str, str]) -> list[list[str]]:
    """Cards by leaf."""
    found: dict[str, list[str]] = {}
    for card, leaf in leaf_of.items():
        found.setdefault(leaf, []).append(card)
    return list(found.values())
