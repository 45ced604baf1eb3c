"""Pair labels of a table as the groupings they stand for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.partition import groups_from_pair_labels
from crowdclust_app.domain.response_table import Response
from crowdclust_app.io.tables import PairRecord, ResponseRecord


@dataclass(slots=True)
class _Gathered:
    """What one worker said in one HIT."""

    line: int
    items: dict[str, int] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)
    labels: dict[tuple[int, int], int] = field(default_factory=dict)

    def position(self, item: str, line: int) -> int:
        if item not in self.items:
            self.lines.append(line)
        return self.items.setdefault(item, len(self.items))


def responses_of_pairs(file: Path, pairs: Iterable[PairRecord]) -> list[ResponseRecord]:
    """Find the grouping of each worker and HIT.

    Where the table names no HIT, all pairs of a worker are one HIT called `pairs of WORKER`.

    Raises
    ------
    UserError
        With file and line, when a pair is missing, contradicts itself, or the labels are nobody's grouping.
    """
    gathered: dict[tuple[str, str], _Gathered] = {}
    for pair in pairs:
        key = (pair.worker, pair.hit or f"pairs of {pair.worker}")
        said = gathered.setdefault(key, _Gathered(pair.line))
        a, b = said.position(pair.item_a, pair.line), said.position(pair.item_b, pair.line)
        both = (min(a, b), max(a, b))
        if said.labels.setdefault(both, pair.label) != pair.label:
            raise UserError(
                f"{pair.worker} calls {pair.item_a} and {pair.item_b} both same and different in one HIT",
                where=f"{file}, line {pair.line}",
                todo="keep one of the rows",
            )
    records = []
    for (worker, hit), said in gathered.items():
        where = f"{file}, line {said.line}"
        names = list(said.items)
        if len(said.labels) < len(names) * (len(names) - 1) // 2:
            a, b = next(both for both in combinations(range(len(names)), 2) if both not in said.labels)
            raise UserError(
                f"the pair {names[a]} and {names[b]} of {worker} in the HIT {hit} has no label, "
                "so the groups are not determined",
                where=where,
                todo="add a row for it",
            )
        try:
            groups = groups_from_pair_labels(len(names), ((a, b, label) for (a, b), label in said.labels.items()))
        except UserError as error:
            raise UserError(
                f"the labels of {worker} in the HIT {hit} contradict each other (A with B, B with C, A not with C)",
                where=where,
                todo="correct them or take this HIT out",
            ) from error
        response = Response(hit, worker, tuple(names), tuple(str(group + 1) for group in groups.tolist()))
        records.append(ResponseRecord(response=response, line=said.line, lines=tuple(said.lines)))
    return records
