"""Items with features and a known class, for the experiments with experts: tables, or photos in folders by category."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.progress_report import Progress

if TYPE_CHECKING:
    from benchmarks.experiments.expert_sets import FeatureSet

FEATURES, TRUTH = "features.csv", "truth.csv"
_PIXEL = "pixel"


def read_feature_sets(folder: Path) -> tuple[FeatureSet, ...]:
    """Read every pair of `features.csv` and `truth.csv` in a folder or the folders in it, by name.

    The class that sorts last is yes. Features that are called `pixel...` and are as many as a square has are pictures.

    Raises
    ------
    UserError
        When a table is wrong, or a truth has not two classes.
    """
    places = [folder, *sorted(path for path in folder.glob("*") if path.is_dir())]
    return tuple(_read(path) for path in places if (path / FEATURES).is_file() and (path / TRUTH).is_file())


def _read(path: Path) -> FeatureSet:
    from benchmarks.experiments.expert_sets import FeatureSet
    from crowdclust_app.inference.experts.features import fill_missing
    from crowdclust_app.io.feature_tables import read_features
    from crowdclust_app.io.tables import read_truth

    rows, truth = read_features(path / FEATURES), read_truth(path / TRUTH)
    kept = [row for row, name in enumerate(rows.names) if name in truth]
    classes = sorted({truth[rows.names[row]] for row in kept})
    if len(classes) != 2:
        what = f"has {len(classes)} classes of items with features"
        raise UserError(what, where=str(path / TRUTH), todo="give a truth of two classes")
    yes = np.array([truth[rows.names[row]] == classes[1] for row in kept], dtype=np.int64)
    side = math.isqrt(len(rows.columns))
    pictures = side * side == len(rows.columns) and all(name.startswith(_PIXEL) for name in rows.columns)
    X, _ = fill_missing(rows.values[kept])
    if pictures:
        X = X / max(float(np.abs(X).max()), 1e-300)
    return FeatureSet(path.resolve().name, X, yes, side if pictures else 0, scale=not pictures)


def read_photos(
    folder: Path, wanted: str, progress: Progress | None = None, cancel: CancelToken | None = None
) -> FeatureSet | None:
    """Compute features of photos that lie in folders by category; None where there are none.

    Parameters
    ----------
    folder
        Has the folders, or has a folder that has them, or `images` with such a folder in it.
    wanted
        The category that is yes.
    progress, cancel
        As in `features_from_photos`.
    """
    from benchmarks.experiments.expert_sets import FeatureSet
    from crowdclust_app.services.verify.features import features_from_photos, photos_in

    places = [folder, *sorted(folder.glob("*")), *sorted(folder.glob("images/*"))]
    place = next((path for path in places if (path / wanted).is_dir()), None)
    if place is None:
        return None
    photos = [photo for photo in photos_in(place) if "/" in photo.name]
    table = features_from_photos(photos, progress=progress, cancel=cancel)
    yes = np.array([name.split("/")[0] == wanted for name in table.names], dtype=np.int64)
    return FeatureSet(f"{place.resolve().name}, {wanted}?", table.values, yes, scale=False)
