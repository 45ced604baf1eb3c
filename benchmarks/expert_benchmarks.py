"""The experiments with experts as one command: learning a classifier and whom to trust against trusting votes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.report import (
    BenchReport,
    check_names,
    check_seeds,
    data_folder,
    place_for,
    plain_rows,
    report_of,
    watch_over,
    write_outcome,
)
from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.progress_report import Progress

if TYPE_CHECKING:
    from benchmarks.experiments.expert_sets import FeatureSet
    from benchmarks.experiments.results import ExperimentResult, Watch
    from crowdclust_app.domain.cancellation import CancelToken
    from crowdclust_app.evaluation.label_simulation import LabelledTasks

NAME = "experts"
EXPERIMENTS = {
    NAME: "learning from experts: raykar2009's figures, the Gaussian process against trusting votes, asking experts "
    "against asking anybody, active sets, and photos (--data)"
}
PARTS = ("raykar", "crowds", "asking", "active-sets", "photos")
"""What `--methods` chooses among; all without it."""

SIX_WORKERS = (0.95, 0.92, 0.5, 0.5, 0.5, 0.15)
"""Two experts, three who guess, one who says the opposite."""

_RTE = "rte"
_WANTED = "glass"


@dataclass(frozen=True, slots=True)
class ExpertBenchSettings:
    """What is run.

    Parameters
    ----------
    parts
        Some of `PARTS`; all when empty.
    seed, seeds
        The first seed, and how many.
    quick
        Run a small version that shows how it works and nothing else.
    data
        A folder with any of: folders with a `features.csv` and a `truth.csv` of two classes; a folder `rte` with
        labels and truth; a folder of photos in folders by category, one of them `glass`.
    """

    parts: tuple[str, ...] = ()
    seed: int = 0
    seeds: int = 3
    quick: bool = False
    data: Path | None = None

    def __post_init__(self) -> None:
        check_names("part", self.parts, PARTS)
        check_seeds(self.seed, self.seeds)
        if self.data is not None and not self.data.is_dir():
            raise UserError("there is no such folder", where=str(self.data), todo="name the folder with the data")

    @property
    def all_seeds(self) -> tuple[int, ...]:
        """Every seed."""
        return tuple(range(self.seed, self.seed + self.seeds))


@dataclass(frozen=True, slots=True)
class _Data:
    """What the folder has."""

    sets: tuple[FeatureSet, ...]
    rte: LabelledTasks | None
    photos: FeatureSet | None


def run_expert_bench(
    settings: ExpertBenchSettings,
    out: Path | None = None,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> BenchReport:
    """Run the experiments.

    Parameters
    ----------
    settings
        Which, how often.
    out
        Folder for the tables (CSV) and plots (PNG), each named after its part; nothing is written when None.
    progress, cancel
        As everywhere; a cancel stops within an iteration.

    Raises
    ------
    UserError
        When a package is missing or the data are wrong, before anything is computed.
    """
    data = _read(settings, progress, cancel)
    parts = settings.parts or PARTS
    warnings = []
    if "raykar" in parts and data.rte is None:
        warnings.append(f"Figure 4 is left out: it needs labels.csv and truth.csv in a folder {_RTE} (--data)")
    if "photos" in parts and data.photos is None:
        warnings.append(f"photos are left out: they need photos in folders, one of them {_WANTED} (--data)")
        parts = tuple(part for part in parts if part != "photos")
    found: list[tuple[str, ExperimentResult]] = []
    written: list[Path] = []
    with place_for(out):
        for part in parts:
            outcome = _RUN[part](settings, data, watch_over(progress, cancel, part), cancel)
            found.append((part, outcome))
            if out is not None:
                written += write_outcome(f"{NAME}_{part.replace('-', '_')}", outcome, out)
    if not found:
        raise UserError("nothing is left to run", todo="name --data, or choose other parts")
    return _report(settings, found, warnings, tuple(written))


def _report(
    settings: ExpertBenchSettings,
    found: list[tuple[str, ExperimentResult]],
    warnings: list[str],
    written: tuple[Path, ...],
) -> BenchReport:
    """One report of all parts: the first part's figures, then the others as further tables."""
    names = [part for part, _ in found]
    report = report_of(NAME, settings.quick, settings.all_seeds, names, warnings, found[0][1], written)
    more = []
    for number, (part, outcome) in enumerate(found):
        report.summary[part] = plain_rows(outcome.figures)
        tables = outcome.sheets if number == 0 else (outcome.figures, *outcome.sheets)
        more += [(part if sheet is outcome.figures else sheet.name, sheet.header, sheet.rows) for sheet in tables]
        report.summary.update({sheet.name: plain_rows(sheet) for sheet in outcome.sheets})
    return replace(report, more=tuple(more))


def _raykar(settings: ExpertBenchSettings, data: _Data, watch: Watch, cancel: CancelToken | None) -> ExperimentResult:
    from benchmarks.experiments.raykar import Raykar, run_raykar
    from benchmarks.radiologists import read_cases

    chosen = Raykar(settings.all_seeds, rte=data.rte)
    if settings.quick:
        chosen = replace(chosen, positives=60, negatives=120, features=6, small=(8, 12, 3), draws=2, counts=(10, 20))
    return run_raykar(chosen, lambda method, cases, test: read_cases(method, cases, test, cancel), watch)


def _crowds(settings: ExpertBenchSettings, data: _Data, watch: Watch, cancel: CancelToken | None) -> ExperimentResult:
    from benchmarks.experiments.gp import Crowds, run_crowds
    from benchmarks.expert_learners import ExpertLearner

    chosen = Crowds(settings.all_seeds, sets=data.sets)
    if settings.quick:
        chosen = replace(chosen, sets=_small_sets(), kept=(0.5,), train=60)
    return run_crowds(chosen, ExpertLearner(cancel), watch)


def _asking(settings: ExpertBenchSettings, data: _Data, watch: Watch, cancel: CancelToken | None) -> ExperimentResult:
    from benchmarks.experiments.gp import Asking, run_asking
    from benchmarks.expert_learners import AskingLearner

    chosen = Asking(settings.all_seeds, sets=data.sets)
    if settings.quick:
        chosen = replace(chosen, sets=_small_sets(), pool=40, start=10, rounds=4, every=2)
    return run_asking(chosen, lambda items, kind, seed: AskingLearner(items, kind, seed, cancel), watch)


def _active_sets(
    settings: ExpertBenchSettings, data: _Data, watch: Watch, cancel: CancelToken | None
) -> ExperimentResult:
    from benchmarks.experiments.gp_active_sets import ActiveSets, run_active_sets
    from benchmarks.expert_learners import ExpertLearner

    # pictures can be copied with small differences; other features cannot
    pictures = next((one for one in data.sets if one.side), None)
    chosen = ActiveSets(settings.all_seeds, items=pictures)
    if settings.quick:
        chosen = replace(chosen, items=_small_sets()[0], counts=(120,), sizes=(30,), base=60, kernel_items=40)
    return run_active_sets(chosen, ExpertLearner(cancel), watch)


def _photos(settings: ExpertBenchSettings, data: _Data, watch: Watch, cancel: CancelToken | None) -> ExperimentResult:
    from benchmarks.experiments.gp import BOTH_ENDS, Asking, questions_needed, run_asking
    from benchmarks.experiments.results import ResultSheet
    from benchmarks.expert_learners import AskingLearner

    photos = data.photos
    assert photos is not None
    pool = 2 * len(photos.X) // 3
    sets = photos, balanced(photos)
    chosen = Asking(
        settings.all_seeds, sets=sets, strategies=BOTH_ENDS, pool=pool, rounds=pool - 20, every=10, workers=SIX_WORKERS
    )
    if settings.quick:
        chosen = replace(chosen, start=6, rounds=6, every=3)
    outcome = run_asking(chosen, lambda items, kind, seed: AskingLearner(items, kind, seed, cancel), watch)
    rows = []
    votes, learning = (strategy.name for strategy in BOTH_ENDS)
    for one in chosen.sets:
        # the accuracies that the vote comes to, each from the questions at which it first does
        reached = {round(row[5], 3) for row in outcome.figures.rows if row[:2] == (one.name, votes)}
        for accuracy in sorted(reached):
            needed = questions_needed(outcome, accuracy - 5e-4)
            pair = needed[one.name, votes], needed[one.name, learning]
            share = None if None in pair or not pair[0] else pair[1] / pair[0]  # type: ignore[operator]
            rows.append((one.name, accuracy, *pair, share))
    header = ("data", "accuracy", "questions_majority", "questions_learning", "share")
    return replace(outcome, sheets=(ResultSheet("needed", header, tuple(rows)),))


_RUN: dict[str, Callable[[ExpertBenchSettings, _Data, Watch, CancelToken | None], ExperimentResult]] = {
    "raykar": _raykar,
    "crowds": _crowds,
    "asking": _asking,
    "active-sets": _active_sets,
    "photos": _photos,
}


def balanced(items: FeatureSet) -> FeatureSet:
    """As many items of no as of yes: where nearly all are no, saying no to everything is hard to beat."""
    import numpy as np

    from benchmarks.experiments.expert_sets import rows_of

    rng = np.random.default_rng(0)
    sides = [rng.permutation(np.flatnonzero(items.truth == side)) for side in (0, 1)]
    count = min(map(len, sides))
    chosen = np.sort(np.concatenate([side[:count] for side in sides]))
    return replace(rows_of(items, chosen), name=f"{items.name}, balanced")


def _small_sets() -> tuple[FeatureSet, ...]:
    from benchmarks.experiments.expert_sets import drawn_signs

    return (drawn_signs(150, 0),)


def _read(settings: ExpertBenchSettings, progress: Progress | None, cancel: CancelToken | None) -> _Data:
    from benchmarks.expert_data import read_feature_sets, read_photos
    from benchmarks.label_sets import read_label_set

    folder = data_folder(settings.data)
    if folder is None:
        return _Data((), None, None)
    parts = settings.parts or PARTS
    rte = None
    for place in (folder, folder / _RTE, folder / "labels" / _RTE):
        if place.name == _RTE and (place / "labels.csv").is_file() and (place / "truth.csv").is_file():
            one = read_label_set(place)
            known = one.as_yes_or_no() if one is not None else None
            rte = known.tasks if known is not None else None
    photos = read_photos(folder, _WANTED, progress, cancel) if "photos" in parts else None
    return _Data(read_feature_sets(folder), rte, photos)
