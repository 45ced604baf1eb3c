"""Majority and soft vote: all workers count the same (liu2012 section 2; raykar2009 equations 1 and 2)."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.base import Aggregator, Common
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import LabelPosterior
from crowdclust_app.inference.aggregators.label_table import Floats, LabelTable


def _log(shares: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares))


class Majority(Aggregator):
    """The most frequent label of each task; its probability is the share of the votes (liu2012, section 2).

    Examples
    --------
    >>> Majority().fit_predict([1, 1, 1, 2, 2], list("abcab"), ["x", "x", "y", "x", "y"]).tolist()
    ['x', None]
    """

    name = "majority"
    fewest_classes = 1
    most_classes = None

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        run.step(0.0)
        prevalence, estimated = self._start_prevalence(table)
        if estimated:
            prevalence = np.maximum(table.votes.sum(axis=0) / table.n_labels, 1e-12)
        return LabelPosterior(_log(table.shares), prevalence)


class SoftVote(Aggregator):
    """The votes as a probability, with one vote shared out by the prevalence added.

    Without that vote (`pseudo_votes=0`) this is raykar2009's equation 2, in which a single label is certainty.

    Parameters
    ----------
    pseudo_votes
        How many votes the prevalence counts for.

    Examples
    --------
    >>> SoftVote().fit_predict_proba([1, 1, 2], list("aba"), ["x", "y", "x"]).tolist()
    [[0.5, 0.5], [0.75, 0.25]]
    """

    name = "soft-vote"
    fewest_classes = 1
    most_classes = None

    def __init__(self, *, pseudo_votes: float = 1.0, **common: Unpack[Common]) -> None:
        super().__init__(**common)
        self.pseudo_votes = pseudo_votes

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        if not 0 <= self.pseudo_votes < np.inf:
            raise InvalidInputError("pseudo_votes is below 0", todo="take 1")
        run.step(0.0)
        prevalence, estimated = self._start_prevalence(table)
        if estimated:
            prevalence = np.maximum(table.votes.sum(axis=0) / table.n_labels, 1e-12)
        votes = table.votes + self.pseudo_votes * prevalence
        counts = table.task_counts[:, None] + self.pseudo_votes
        shares = np.where(counts > 0, votes / np.maximum(counts, 1e-300), prevalence)
        return LabelPosterior(_log(shares), prevalence)
