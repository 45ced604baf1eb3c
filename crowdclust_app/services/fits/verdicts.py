"""What the figures of a fit mean, in full sentences: whether there is structure, what was chosen, who sorts oddly."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.crowdclustering.selection.heldout import DECISION, HeldOut
from crowdclust_app.services.fits.stability import UNSTABLE_BELOW
from crowdclust_app.services.workers.worker_rows import ALL_APART, ONE_GROUP, RANDOM, worker_rows

# A gain of fewer standard errors than this is none.
_SURE = 2.0
# As shares of a pair label's log-loss without clusters: what clusters gain below the first is nothing, however sure it
# is, and below the second too little to be of use. Of a decision, in nats, what is too little.
_NOTHING, _LITTLE, _LITTLE_OF_A_DECISION = 0.01, 0.05, 0.1
NO_STRUCTURE, TRACE, STRUCTURE = "none", "trace", "found"
# Iterations without a change of clusters after which they are settled.
_SETTLED = 10
# Names that a sentence lists; more are counted.
_NAMES = 5

_OF_WORKERS = (
    "hardly more like the clusters than chance would be",
    "one group for everything",
    "a group of its own for everything",
)


def structure(heldout: HeldOut | None, found: int | None = None) -> str | None:
    """How much clusters help to predict held-out responses: `NO_STRUCTURE`, `TRACE` or `STRUCTURE`.

    They are held against the prediction without clusters, which is shrunk as they are. None where nothing was
    predicted.

    Parameters
    ----------
    heldout
        What held-out responses say of the fit.
    found
        How many clusters it has: one is no structure.
    """
    if heldout is None or not heldout.scored:
        return None
    if found == 1 or not heldout.gain > _SURE * heldout.gain_se:
        return NO_STRUCTURE
    if heldout.unit == DECISION:
        return STRUCTURE if heldout.gain >= _LITTLE_OF_A_DECISION else TRACE
    share = heldout.gain / max(-heldout.base_loglik, 1e-9)
    return NO_STRUCTURE if share < _NOTHING else TRACE if share < _LITTLE else STRUCTURE


def structure_sentence(heldout: HeldOut | None) -> str:
    """Whether held-out responses are predicted better than without clusters."""
    if heldout is None:
        return "No response could be held out, so nothing says how well the clusters predict what they have not seen."
    found = structure(heldout)
    if found is None:
        return "No two items of a held-out response are in the others too, so nothing could be predicted."
    # z: no minus before zeros
    figures = f"{heldout.loglik:z.3f} nats a {heldout.unit} against {heldout.base_loglik:z.3f}"
    base = "all items in one cluster" if heldout.unit == DECISION else "one base rate a worker"
    if found == NO_STRUCTURE:
        return (
            f"No structure found: held-out responses are predicted no better by the clusters than by {base} "
            f"({figures})."
        )
    figures += f", standard error of the difference {heldout.gain_se:.3f}"
    if found == TRACE:
        return (
            "No structure found that is of use: held-out responses are predicted hardly better by the clusters than "
            f"by {base} ({figures}). What they gain is more than chance, so there is a trace of structure; expect many "
            "items in the wrong cluster, and collect more responses."
        )
    return (
        f"There is structure: held-out responses are predicted better by the clusters than by {base} "
        f"({figures}); {heldout.accuracy:.1%} of their {heldout.unit}s are predicted rightly."
    )


def too_little_sentence(more_sets: int) -> str:
    """That there are too few answers, and about how many more would do."""
    sets = "1 more set" if more_sets == 1 else f"{more_sets:,} more sets"
    return (
        f"Too few answers to tell: about {sets} would have to be sorted before clusters can be told from chance, by "
        "other people too."
    )


def continuous_sentence(agreement: float) -> str:
    """That items lie without gaps.

    Parameters
    ----------
    agreement
        Mean adjusted Rand index of partitions of different responses.
    """
    return (
        "The items lie on a line or in a plane without gaps: there are no kinds to be told apart, and where one "
        f"cluster ends and the next begins is arbitrary (partitions of different responses agree to {agreement:.2f}; "
        "1 is the same, 0 what chance gives)."
    )


def one_cluster_sentence(settings: Mapping[str, Any], heldout: HeldOut | None) -> str:
    """That all items are in one cluster, and why."""
    wanted, chosen = settings.get("clusters"), 0
    if wanted == "heldout" and heldout is not None:
        chosen = heldout.clusters
    if wanted == 1:
        return "All items are in one cluster, the only one that was asked for."
    if isinstance(wanted, int) or chosen > 1:
        return f"All items are in one cluster: of {chosen or wanted} clusters the fit found items for no other."
    if wanted == "bound":
        return "All items are in one cluster: the bound of the fit favours no more."
    if heldout is None:
        return "All items are in one cluster: no response could be held out that would speak for more."
    if not heldout.scored:
        return "All items are in one cluster: nothing could be predicted that would speak for more."
    return (
        "No structure found: all items are in one cluster, because no larger number of clusters predicted held-out "
        "responses better by enough to count."
    )


def convergence_sentence(
    settings: Mapping[str, Any],
    n_iterations: int | None,
    converged: bool | None,
    lower_bounds: Sequence[tuple[str, float]] = (),
    n_unchanged: int = 0,
) -> str:
    """Whether the fit converged; where it did not, whether that matters to the clusters."""
    rounds = f"{n_iterations} joint iteration{'' if n_iterations == 1 else 's'}"
    if converged:
        return f"The fit converged after {rounds}."
    rising = f"The bound was still rising after {rounds}{_rise(lower_bounds)}"
    if settings.get("clusters") != "bound":
        return (
            f"{rising}. The clusters were settled before these iterations, which only adapt positions and workers to "
            "them; the workers' figures can still change a little."
        )
    if n_unchanged < _SETTLED:
        return f"The fit had not converged after {rounds}; its figures could still change."
    return (
        f"{rising}, but no item changed its cluster in the last {n_unchanged}: the clusters are settled, and the "
        "workers' figures can change a little."
    )


def _rise(lower_bounds: Sequence[tuple[str, float]]) -> str:
    """By how much the bound rose at the end."""
    bounds = [bound for phase, bound in lower_bounds if phase == "joint"][-_SETTLED:]
    if not bounds:
        return ""
    share = (bounds[-1] - bounds[0]) / max(abs(bounds[-1]), 1e-9)
    much = "less than 0.01%" if share < 1e-4 else f"{share:.2%}"
    return f", by {much} in the last {len(bounds)}"


def choice_sentence(settings: Mapping[str, Any], heldout: HeldOut | None, dimensions: int) -> str:
    """What was chosen by held-out responses; where these said nothing, what was taken in place of that.

    Parameters
    ----------
    settings, heldout
        What was asked for, and what held-out responses say of the fit.
    dimensions
        Of the fit.
    """
    chosen = []
    if settings.get("clusters") == "heldout" and heldout is not None:
        chosen.append(_counted(heldout.clusters, "cluster"))
    if settings.get("clusters") == "bound" and settings.get("label_weight") == "auto":
        chosen.append(f"label weight {1.0 if heldout is None else heldout.label_weight:g}")
    if settings.get("clusters") == "bound" and settings.get("dimensions") == "auto":
        chosen.append(_counted(dimensions, "dimension"))
    if not chosen:
        return ""
    listed = chosen[0] if len(chosen) == 1 else f"{', '.join(chosen[:-1])} and {chosen[-1]}"
    if heldout is None or not heldout.scored:
        return f"Nothing was chosen by held-out responses; the program's own settings were taken: {listed}."
    folds = "1 fold" if heldout.folds == 1 else f"{heldout.folds} folds"
    return f"Chosen by held-out responses, {folds}: {listed}."


def lost_clusters_sentence(settings: Mapping[str, Any], heldout: HeldOut | None, found: int) -> str:
    """That fewer clusters have items than were asked for or chosen."""
    wanted = settings.get("clusters")
    if wanted == "heldout" and heldout is not None:
        wanted = heldout.clusters
    if not isinstance(wanted, int) or found >= wanted:
        return ""
    others = "the other one" if wanted - found == 1 else f"the other {wanted - found}"
    return f"Of {wanted} clusters only {found} kept items; the fit found none for {others}."


def stability_sentences(stability: Sequence[float] | None) -> list[str]:
    """Which clusters are not found again when the responses are drawn anew, where that was tried."""
    if stability is None:
        return []
    if len(stability) == 1:
        return ["Responses were drawn anew, but with one cluster there is nothing to find again."]
    unstable = [f"{number} ({value:.0%})" for number, value in enumerate(stability, start=1) if value < UNSTABLE_BELOW]
    if not unstable:
        return [
            "Every cluster is found again when responses are drawn anew: on average each keeps at least "
            f"{min(stability):.0%} of its items."
        ]
    which = f"Cluster {unstable[0]} is" if len(unstable) == 1 else f"Clusters {', '.join(unstable)} are"
    return [
        f"{which} unstable: when responses are drawn anew, less than {UNSTABLE_BELOW:.0%} of the items stay together."
    ]


def label_weight_sentence(weight: float) -> str:
    """How much a pair label counted."""
    if weight == 1:
        return "Every pair label counts in full (label weight 1), as in the paper."
    return f"Every pair label counts {weight:.3g} (label weight), because the labels of one HIT are not independent."


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def worker_sentences(table: ResponseTable, labels: NDArray[np.int64]) -> list[str]:
    """Who seems to sort at random, put everything together or everything apart.

    Parameters
    ----------
    labels : ndarray of shape (N,)
        Cluster of each item, 0 for none.
    """
    rows = worker_rows(table, labels, {})
    sentences = []
    for flag, words in zip((RANDOM, ONE_GROUP, ALL_APART), _OF_WORKERS, strict=True):
        names = [row.name for row in rows if flag in row.flags]
        if names:
            sentences.append(f"{len(names)} worker{'' if len(names) == 1 else 's'} ({_listed(names)}): {words}.")
    return sentences


def without_names(summary: Mapping[str, Any]) -> dict[str, Any]:
    """A run's summary whose verdicts say how many workers they are about and not who these are."""
    named = re.compile(rf"(\d+ workers?) \(.*\): ({'|'.join(map(re.escape, _OF_WORKERS))})\.", re.DOTALL)
    told = [named.sub(r"\1: \2.", str(sentence)) for sentence in summary.get("verdicts") or ()]
    return {**summary, "verdicts": told}


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMES
    return ", ".join(names[:_NAMES]) + (f" and {more} more" if more > 0 else "")
