"""Known labels in the spelling of the labels that are compared with them, where it is certain which one is meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.names import truth_value
from crowdclust_app.inference.aggregators.columns import label_key, number_of

_SHOWN = 8


def match_truth(
    truth: Mapping[str, str], labels: Iterable[str | None], where: Path, classes: Sequence[str] | None = None
) -> tuple[dict[str, str], list[str]]:
    """Spell known labels as the labels are spelled.

    Parameters
    ----------
    truth
        Known label by task, of the tasks that have labels.
    labels
        What workers said; None where a label is missing.
    where
        The file of the truth.
    classes
        Classes that were declared besides.

    Returns
    -------
    dict and list of str
        The known labels, and sentences about what was matched or found no match.

    Raises
    ------
    UserError
        When the two spell their classes differently and it is not certain which is which.
    """
    said = {label_key(label): label for label in dict.fromkeys([*(classes or ()), *labels]) if label is not None}
    known = {label_key(label): label for label in dict.fromkeys(truth.values())}
    if not said or _measured(said) or _measured(known):
        return dict(truth), []
    words = [truth_value(text) for text in (*said.values(), *known.values())]
    meant: dict[str, str] = {}
    strange = []
    for key, label in known.items():
        found = [other for other in said if other == key] or [
            other for other, text in said.items() if text.casefold() == label.casefold()
        ]
        if not found and None not in words:
            found = [other for other, text in said.items() if truth_value(text) is truth_value(label)]
        if len(found) == 1:
            meant[label] = said[found[0]]
        else:
            strange.append(label)
    unmet = [label for label in said.values() if label not in meant.values()]
    if strange and (not meant or (unmet and len(said) <= 2)):
        what = f"the truth has {_listed(known.values())}; the labels have {_listed(said.values())}"
        raise UserError(what, where=str(where), todo="spell them alike")
    sentences = []
    read = [f"{label} as {ours}" for label, ours in meant.items() if label_key(label) != label_key(ours)]
    if read:
        sentences.append(f"{where}: It spells labels otherwise; read: {', '.join(read)}.")
    if strange:
        sentences.append(f"{where}: No label says {_listed(strange)}, so these tasks count as labelled wrongly.")
    return {task: meant.get(known[label_key(label)], label) for task, label in truth.items()}, sentences


def _measured(labels: Iterable[str]) -> bool:
    """Whether labels are measurements: all numbers, and not all whole ones."""
    numbers = [number_of(label) for label in labels]
    return None not in numbers and any(number % 1 for number in numbers if number is not None)


def _listed(labels: Iterable[str]) -> str:
    every = list(labels)
    return ", ".join(every[:_SHOWN]) + (f" and {len(every) - _SHOWN:,} more" if len(every) > _SHOWN else "")
