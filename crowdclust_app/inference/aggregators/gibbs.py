"""Gibbs sampling of the one-coin model (the Monte Carlo method of manino2019)."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.inference.aggregators.base import Aggregator, Common
from crowdclust_app.inference.aggregators.iterations import Iterations
from crowdclust_app.inference.aggregators.label_posterior import LabelPosterior
from crowdclust_app.inference.aggregators.label_table import LabelTable

# Sweeps between two looks at the cancel token.
_SLICE = 20


class Gibbs(Aggregator):
    """Draws classes and accuracies in turn, in several chains (manino2019).

    The posterior can have several modes that one chain does not leave; `chain_sd_` says how far the chains disagree
    about each task, and `notes_` says it when they do.

    Parameters
    ----------
    n_starts
        How many chains, each from its own start: every task's class is drawn from its votes.
    burn_in, samples
        Sweeps of each chain that are thrown away, and that count after them.

    Attributes
    ----------
    chain_probabilities_ : ndarray of shape (C, M)
        Probability of the second class in each chain.
    chain_sd_ : ndarray of shape (M,)
        Standard deviation between the chains.

    Examples
    --------
    >>> votes = [1, 1, 1, 2, 2, 2, 3, 3, 3], list("abcabcabc"), [1, 1, 0, 0, 0, 1, 1, 1, 1]
    >>> fitted = Gibbs(n_starts=2).fit(*votes)
    >>> fitted.predict().tolist(), bool(fitted.chain_sd_.max() < 0.05)
    ([1, 0, 1], True)
    """

    name = "gibbs"
    compiled = True

    def __init__(self, *, n_starts: int = 4, burn_in: int = 200, samples: int = 500, **common: Unpack[Common]) -> None:
        super().__init__(**common)
        self.n_starts = n_starts
        self.burn_in = burn_in
        self.samples = samples

    def _infer(self, table: LabelTable, run: Iterations) -> LabelPosterior:
        # compiled kernels take a second to load; most methods need none
        from crowdclust_app.inference.aggregators.gibbs_kernels import gibbs_sweeps

        if self.n_starts < 1 or self.burn_in < 0 or self.samples < 1:
            raise InvalidInputError("n_starts, burn_in or samples is too small", todo="take 4, 200 and 500")
        rows = table.canonical
        prevalence, estimated = self._start_prevalence(table)
        start = self._start_shares(table)[:, 1]
        columns = (rows.task, rows.worker, rows.label, *self._beta)
        means, shares = [], []
        for sequence in np.random.SeedSequence(self.seed).spawn(self.n_starts):
            rng = np.random.default_rng(sequence)
            classes = (rng.random(table.n_tasks) < start).astype(np.int64)
            total = np.zeros(table.n_tasks)
            share = float(prevalence[1])
            for sweeps, kept in ((self.burn_in, False), (self.samples, True)):
                for begin in range(0, sweeps, _SLICE):
                    run.check()
                    count = min(_SLICE, sweeps - begin)
                    share = gibbs_sweeps(rng, count, kept, estimated, *columns, share, classes, total)
            means.append(total / self.samples)
            shares.append(share)
            run.max_iterations = self.n_starts * (self.burn_in + self.samples)
            run.iterations += self.burn_in + self.samples - 1
            run.step(0.0)
        if estimated:
            prevalence = np.array([1.0 - np.mean(shares), np.mean(shares)])
        chains = np.array(means)
        second = np.clip(chains.mean(axis=0), 1e-15, 1.0 - 1e-15)
        spread = chains.std(axis=0)
        extras = {"chain_probabilities_": chains, "chain_sd_": spread}
        unsure = int((spread > 0.25).sum())
        notes = [f"the chains disagree about {unsure} of {table.n_tasks} tasks"] if unsure else []
        return LabelPosterior(np.log(np.stack([1.0 - second, second], axis=1)), prevalence, extras, notes)
