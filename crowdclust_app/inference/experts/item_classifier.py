"""What scikit-learn expects of a classifier, so that cross-validation, searches and pipelines work."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.inference.aggregators.label_table import label_key
from crowdclust_app.inference.experts.features import item_labels


def class_values(classes: Sequence[Hashable]) -> NDArray[Any]:
    """Give classes as an array, of their own type where they have one, as scikit-learn's scorers want it."""
    kinds = set(map(type, classes))
    if len(kinds) == 1 and kinds <= {bool, int, float, str}:
        return np.array(classes)
    values = np.empty(len(classes), dtype=object)
    values[:] = classes
    return values


class ItemClassifier:
    """A classifier of items by their features that is learnt from several workers' labels.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Class values by code.
    """

    classes: Sequence[Hashable] | None
    classes_: Any  # a tuple in aggregators
    _estimator_type: str | None = "classifier"

    def predict(self, X: Any = None) -> NDArray[Any]:
        """Give a class for each row."""
        raise NotImplementedError

    def score(self, X: Any, table: Any, worker: Any = None, label: Any = None) -> float:
        """Give the share of labels that equal the class predicted for their item, between 0 and 1.

        Parameters
        ----------
        X : array of shape (N, D), or None
            Features of the items; those of the fit, with their labels, when None.
        table, worker, label
            Known classes, one an item, or workers' labels, as in `fit`; tasks are the numbers of the rows.

        Raises
        ------
        NotFittedError
            Before `fit`.
        InvalidInputError
            When features or labels cannot be used.
        """
        predicted = self.predict(X)
        known = item_labels(len(predicted), table, worker, label, classes=self.classes)
        number = {label_key(value): code for code, value in enumerate(known.classes)}
        codes = np.array([number.get(label_key(value), -1) for value in predicted], dtype=np.int64)
        return float((codes[known.task] == known.label).mean())
