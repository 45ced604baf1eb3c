"""Which items are shown together: the scheme of strehl2002 (gomes2011, section 2), and what it amounts to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.sampling.coverage import component_labels, count_distinct_pairs

# Showings (HITs times items a HIT) of the largest plan, 0.8 GB of item numbers; far beyond what people can sort.
MAX_SHOWINGS = 100_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """The constructed HITs of a campaign.

    Parameters
    ----------
    n_items
        Number of items `N`.
    settings
        What was asked for.
    hits : tuple of ndarray of shape (M,)
        Item numbers `0..N-1` of each constructed HIT, each item once in a HIT.
    """

    n_items: int
    settings: PlanSettings
    hits: tuple[NDArray[np.int64], ...]


@dataclass(frozen=True, slots=True)
class PlanFigures:
    """What a plan amounts to.

    Parameters
    ----------
    hits
        Constructed HITs, `ceil(N V / M)`; each is done by `R` workers.
    pair_labels
        `T`, pair labels that all responses together will stand for: `R` times the sum of `M_h (M_h - 1) / 2`.
    assignments
        `R` times `hits`: one worker's turn at one HIT each.
    shown_min, shown_mean, shown_max
        In how many constructed HITs an item is; `R` times as many responses hold it.
    components
        Components of the co-occurrence graph; 1 when every two items are tied through others.
    pairs_covered
        Distinct pairs of items that are together in at least one HIT.
    warnings
        Sentences for the lead.
    """

    hits: int
    pair_labels: int
    assignments: int
    shown_min: int
    shown_mean: float
    shown_max: int
    components: int
    pairs_covered: int
    warnings: tuple[str, ...]


def make_plan(n_items: int, settings: PlanSettings) -> Plan:
    """Distribute items over HITs.

    `ceil(N V / M)` HITs. HIT `h` first gets the `ceil(M / V)` items from number `h ceil(M / V)` on, as far as there
    are any; the rest of its `M` places is drawn without replacement from the other items. So every item is in at least
    one HIT. When all items fit into one HIT there is just that one.

    Parameters
    ----------
    n_items
        Number of items `N`, at least 2.
    settings
        `M`, `V`, `R` and the seed.

    Returns
    -------
    Plan
        The same for the same arguments.

    Raises
    ------
    InvalidInputError
        When there are fewer than 2 items, or the plan would be absurdly large.
    """
    if n_items < 2:
        have = "there is only 1 item" if n_items == 1 else "there are no items"
        raise InvalidInputError(f"{have}, and a plan needs at least 2", todo="add images and try again")
    size = settings.items_per_hit
    if n_items <= size:
        return Plan(n_items, settings, (np.arange(n_items, dtype=np.int64),))
    n_hits = -(-n_items * settings.redundancy // size)
    if n_hits * size > MAX_SHOWINGS:
        raise InvalidInputError(
            f"{n_hits:,} HITs of {size:,} items are more than this program plans", todo="lower the redundancy (V)"
        )
    n_fixed = -(-size // settings.redundancy)
    rng = np.random.default_rng(settings.seed)
    hits = []
    for number in range(n_hits):
        start = min(number * n_fixed, n_items)
        stop = min(start + n_fixed, n_items)
        others = rng.choice(n_items - (stop - start), size=size - (stop - start), replace=False)
        # drawn among the numbers that remain when start..stop-1 are taken out
        others = np.where(others < start, others, others + (stop - start))
        hits.append(np.concatenate([np.arange(start, stop), others]).astype(np.int64))
    return Plan(n_items, settings, tuple(hits))


def plan_figures(plan: Plan) -> PlanFigures:
    """Work out what a plan amounts to.

    Parameters
    ----------
    plan
        The plan; items that are in no HIT are counted and warned about.

    Returns
    -------
    PlanFigures
        `shown_*` count constructed HITs, not responses.
    """
    sizes = np.array([len(hit) for hit in plan.hits], dtype=np.int64)
    ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    items = np.concatenate([*plan.hits, np.zeros(0, dtype=np.int64)]).astype(np.int64)
    shown = np.bincount(items, minlength=plan.n_items)
    labels = component_labels(plan.n_items, ptr, items)
    repeats = plan.settings.workers_per_hit
    return PlanFigures(
        hits=len(plan.hits),
        pair_labels=repeats * int((sizes * (sizes - 1) // 2).sum()),
        assignments=repeats * len(plan.hits),
        shown_min=int(shown.min()),
        shown_mean=float(shown.mean()),
        shown_max=int(shown.max()),
        components=int(labels.max()) + 1,
        pairs_covered=count_distinct_pairs(plan.n_items, ptr, items),
        warnings=design_warnings(labels, shown, plan.n_items, todo="raise the redundancy (V)"),
    )


def design_warnings(
    components: NDArray[np.int64], shown: NDArray[np.int64], n_items: int, todo: str | None = None
) -> tuple[str, ...]:
    """Say what a design cannot answer.

    Parameters
    ----------
    components : ndarray of shape (N,)
        Component of each item in the co-occurrence graph.
    shown : ndarray of shape (N,)
        How often each item is shown.
    n_items
        Number of items `N`.
    todo
        What would mend a disconnected design.

    Returns
    -------
    tuple of str
        Full sentences; empty when all is well.
    """
    warnings = []
    parts = len(np.unique(components[shown > 0]))
    if parts > 1:
        advice = f"; {todo}" if todo else ""
        warnings.append(
            f"The design falls into {parts:,} parts that share no item, and clusters cannot be compared across the "
            f"parts{advice}."
        )
    never = int(np.count_nonzero(shown == 0))
    if never:
        subject = "1 item is" if never == 1 else f"{never:,} of {n_items:,} items are"
        warnings.append(f"{subject} never shown, so nothing can be said about {'it' if never == 1 else 'them'}.")
    return tuple(warnings)
