"""What every estimator of clusters offers besides its parameters: names, one-step fits, a data frame, one warning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from crowdclust_app.domain.data_frames import frame_of_columns
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.parameters import Parameters

if TYPE_CHECKING:
    import pandas as pd

NOT_SHOWN = 0
"""The label of an item that is in no response with another one."""


class ClusterEstimator(Parameters):
    """Clusters of items from responses.

    Attributes
    ----------
    items_, workers_ : ndarray of str, shape (N,) and (J,)
        Their names, in the order of everything fitted.
    labels_ : ndarray of shape (N,)
        Cluster of each item, counted from 1; 0 for an item in no response with another one.
    responsibilities_ : ndarray of shape (N, K)
        Probability of each cluster.
    """

    _estimator_type = "clusterer"
    items_: NDArray[np.object_]
    workers_: NDArray[np.object_]
    labels_: NDArray[np.int64]
    responsibilities_: NDArray[np.float64]

    def fit(self, responses: Any) -> Self:
        """Find the clusters."""
        raise NotImplementedError

    def fit_predict(self, responses: Any) -> NDArray[np.int64]:
        """Fit, and give `labels_`: the cluster of each item, in the order of `items_`.

        Parameters
        ----------
        responses
            As in `fit`.

        Returns
        -------
        ndarray of shape (N,)
        """
        return self.fit(responses).labels_

    def to_frame(self) -> pd.DataFrame:
        """One row an item, in the order of `items_`.

        Returns
        -------
        pandas.DataFrame
            `item`; `cluster`, counted from 1, or 0 for an item in no response with another one; `probability` of that
            cluster, and `entropy_bits` of the probabilities of all clusters, both missing where the cluster is 0.

        Raises
        ------
        NotFittedError
            Before `fit`.
        UserError
            When pandas is not installed.
        """
        known = self.labels_ != NOT_SHOWN
        own = self.responsibilities_[np.arange(len(known)), np.maximum(self.labels_, 1) - 1]
        likely = getattr(self, "probability_", own)
        entropy = np.abs(entr(self.responsibilities_).sum(axis=1)) / np.log(2.0)
        return frame_of_columns(
            {
                "item": self.items_,
                "cluster": self.labels_,
                "probability": np.where(known, likely, np.nan),
                "entropy_bits": np.where(known, entropy, np.nan),
            }
        )

    def _keep_names(self, table: ResponseTable) -> None:
        self.items_ = np.array(table.item_names, dtype=object)
        self.workers_ = np.array(table.worker_names, dtype=object)
