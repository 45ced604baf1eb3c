"""What a report says of how its figures came about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdclust_app.domain.campaign import PlanSettings
from crowdclust_app.domain.methods import METHODS
from crowdclust_app.domain.report import Facts, Paragraph, Section, Sentences
from crowdclust_app.services.fits.results import Run

_REFERENCES = (
    "R. Gomes, P. Welinder, A. Krause and P. Perona. Crowdclustering. Advances in Neural Information Processing "
    "Systems 24, 2011.",
    "A. Strehl and J. Ghosh. Cluster ensembles: a knowledge reuse framework for combining multiple partitions. "
    "Journal of Machine Learning Research 3, 2002.",
)


def method_section(run: Run, plan: PlanSettings | None) -> Section:
    """Say in sentences how the answers were gathered and what was made of them.

    Parameters
    ----------
    run
        Whose settings.
    plan
        How the photos were distributed; None where all responses were imported.
    """
    blocks: list[Paragraph | Facts | Sentences] = []
    if plan is not None:
        people = "person" if plan.workers_per_hit == 1 else "people"
        blocks.append(
            Paragraph(
                f"Photos were shown in sets (HITs) of at most {plan.items_per_hit}; every photo was to be in about "
                f"{plan.redundancy} sets, and every set was to be sorted by {plan.workers_per_hit} {people}. Which "
                "photos stand together was decided by the object-distributed sampling of Strehl and Ghosh (2002). "
                "Everybody made as many groups as they saw fit; two photos of one set are a pair label, same or "
                "different."
            )
        )
    blocks.append(Paragraph(METHODS[run.settings.method].sentence))
    blocks += [Paragraph(text) for text in _choices(run.settings.as_dict(), run.result.summary)]
    blocks.append(Facts(settings_rows(run)))
    blocks.append(Sentences(_REFERENCES))
    return Section("Method", tuple(blocks))


def _choices(settings: Mapping[str, Any], summary: Mapping[str, Any]) -> list[str]:
    """What was chosen and how, of the settings that a reviewer asks about."""
    if METHODS[settings["method"]].kind != "clustering":
        return []
    chosen = summary.get("chosen") or {}
    texts = []
    if settings["clusters"] == "heldout":
        texts.append(
            "The number of clusters is the smallest that predicts held-out responses as well as the best number does, "
            "within one standard error."
        )
    elif settings["clusters"] == "bound":
        texts.append("The number of clusters is the one that the lower bound favours, as in the paper.")
    else:
        texts.append(f"The number of clusters was set to {settings['clusters']} by hand.")
    weight = chosen.get("label_weight") if settings["label_weight"] == "auto" else settings["label_weight"]
    if weight is not None and float(weight) != 1.0:
        how = "chosen by held-out responses" if settings["label_weight"] == "auto" else "set by hand"
        texts.append(
            f"Every pair label counts {float(weight):g} ({how}), because the labels of one set are not independent of "
            "each other; 1 would be the paper's model."
        )
    if settings["worker_prior"] == "shared":
        texts.append("What is expected of a worker before any answer was learnt from all workers (empirical Bayes).")
    return texts


def settings_rows(run: Run) -> tuple[tuple[str, str], ...]:
    """Everything that decides the run, as words and values, versions included."""
    rows = [(name.replace("_", " "), _said(value)) for name, value in run.settings.as_dict().items()]
    rows += [(f"version of {name}", str(version)) for name, version in run.versions.items()]
    rows.append(("fingerprint of the responses", run.fingerprint))
    return tuple(rows)


def _said(value: object) -> str:
    if value is None:
        return "default"
    return f"{value:g}" if isinstance(value, float) else str(value)
