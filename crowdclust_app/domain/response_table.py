"""All responses of a data set in compressed rows: what inference works on (docs/model.md, section 1)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.errors import InvalidInputError
from crowdclust_app.domain.partition import canonical_groups

COLUMNS = ("hit", "worker", "item", "group")
"""What a table of responses has to have."""


@dataclass(frozen=True, slots=True)
class Response:
    """One worker's submitted partial clustering of one HIT.

    Parameters
    ----------
    hit, worker
        Their names.
    items
        Names of the items, each once.
    groups
        One label an item; only equality matters.
    """

    hit: str
    worker: str
    items: tuple[str, ...]
    groups: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.items) != len(self.groups):
            raise InvalidInputError(f"the response of {self.worker} to {self.hit} has items without a group")
        if len(set(self.items)) != len(self.items):
            twice = next(item for item in self.items if self.items.count(item) > 1)
            raise InvalidInputError(f"the response of {self.worker} to {self.hit} has the item {twice} twice")


@dataclass(frozen=True, slots=True)
class ResponseTable:
    """`R` responses over `N` items by `J` workers as flat arrays.

    Parameters
    ----------
    item_names, worker_names, hit_names
        Names by number; items that were never shown are in `item_names` all the same.
    response_ptr : ndarray of shape (R + 1,)
        Response `r` holds the positions `response_ptr[r]:response_ptr[r + 1]` of `items` and `groups`.
    items, groups : ndarray of shape (sum M_r,)
        Item number and canonical group number at each position.
    worker_of_response, hit_of_response : ndarray of shape (R,)
        Who answered, and which HIT.
    """

    item_names: tuple[str, ...]
    worker_names: tuple[str, ...]
    hit_names: tuple[str, ...]
    response_ptr: NDArray[np.int64]
    items: NDArray[np.int64]
    groups: NDArray[np.int64]
    worker_of_response: NDArray[np.int64]
    hit_of_response: NDArray[np.int64]

    @classmethod
    def from_responses(
        cls, responses: Iterable[Response], item_names: Sequence[str] = (), worker_names: Sequence[str] = ()
    ) -> ResponseTable:
        """Number items, workers and HITs in order of first appearance, the given names first."""
        item_number = {name: number for number, name in enumerate(item_names)}
        worker_number = {name: number for number, name in enumerate(worker_names)}
        hit_number: dict[str, int] = {}
        ptr = [0]
        items: list[int] = []
        groups: list[NDArray[np.int64]] = []
        workers: list[int] = []
        hits: list[int] = []
        for response in responses:
            items.extend(item_number.setdefault(name, len(item_number)) for name in response.items)
            groups.append(canonical_groups(response.groups))
            workers.append(worker_number.setdefault(response.worker, len(worker_number)))
            hits.append(hit_number.setdefault(response.hit, len(hit_number)))
            ptr.append(len(items))
        return cls(
            item_names=tuple(item_number),
            worker_names=tuple(worker_number),
            hit_names=tuple(hit_number),
            response_ptr=np.array(ptr, dtype=np.int64),
            items=np.array(items, dtype=np.int64),
            groups=np.concatenate(groups) if groups else np.zeros(0, dtype=np.int64),
            worker_of_response=np.array(workers, dtype=np.int64),
            hit_of_response=np.array(hits, dtype=np.int64),
        )

    @classmethod
    def from_columns(cls, columns: Any) -> ResponseTable:
        """Make a table of columns: one row for each item that a worker put into a group.

        All rows of one worker in one HIT are one response, wherever they stand.

        Parameters
        ----------
        columns
            A data frame, or a mapping, with the columns `hit`, `worker`, `item` and `group`; names and numbers count
            as their text. Other columns are ignored.

        Raises
        ------
        InvalidInputError
            When a column is missing, a cell is empty, or an item is twice in a response.
        """
        if not (hasattr(columns, "__contains__") and hasattr(columns, "__getitem__")):
            raise InvalidInputError(
                f"responses are no {type(columns).__name__}", todo="give a data frame or a dict of columns"
            )
        missing = [name for name in COLUMNS if name not in columns]
        if missing:
            todo = f"give the columns {', '.join(COLUMNS)}"
            raise InvalidInputError(f"the responses have no column {missing[0]}", todo=todo)
        gathered: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
        for number, cells in enumerate(zip(*(columns[name] for name in COLUMNS), strict=True)):
            texts = [_text(cell) for cell in cells]
            if "" in texts:
                name = COLUMNS[texts.index("")]
                raise InvalidInputError(f"the {name} of row {number} is empty", todo="fill it in or take the row out")
            hit, worker, item, group = texts
            items, groups = gathered.setdefault((hit, worker), ([], []))
            items.append(item)
            groups.append(group)
        return cls.from_responses(
            Response(hit, worker, tuple(items), tuple(groups)) for (hit, worker), (items, groups) in gathered.items()
        )

    @property
    def n_items(self) -> int:
        """Number of items `N`, shown or not."""
        return len(self.item_names)

    @property
    def n_workers(self) -> int:
        """Number of workers `J`."""
        return len(self.worker_names)

    @property
    def n_responses(self) -> int:
        """Number of responses `R`."""
        return len(self.response_ptr) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Items in each response, `M_r`; shape (R,)."""
        return np.diff(self.response_ptr)

    @property
    def n_pair_labels(self) -> int:
        """Number of pair labels `T = sum M_r (M_r - 1) / 2`."""
        sizes = self.sizes
        return int((sizes * (sizes - 1) // 2).sum())

    @property
    def times_shown(self) -> NDArray[np.int64]:
        """In how many responses each item is; shape (N,)."""
        return np.bincount(self.items, minlength=self.n_items).astype(np.int64)

    def take(self, responses: NDArray[np.int64]) -> ResponseTable:
        """Keep these responses, in this order; items, workers and HITs keep their numbers.

        Parameters
        ----------
        responses : ndarray of shape (n,)
            Response numbers, or a boolean mask of shape (R,).
        """
        chosen = np.arange(self.n_responses)[responses]
        sizes = self.sizes[chosen]
        ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        # position p of the result is the (p - ptr[r])-th position of its source response
        source = np.repeat(self.response_ptr[chosen] - ptr[:-1], sizes) + np.arange(ptr[-1])
        return ResponseTable(
            item_names=self.item_names,
            worker_names=self.worker_names,
            hit_names=self.hit_names,
            response_ptr=ptr,
            items=self.items[source],
            groups=self.groups[source],
            worker_of_response=self.worker_of_response[chosen],
            hit_of_response=self.hit_of_response[chosen],
        )

    def fingerprint(self) -> str:
        """Hash of everything that inference sees: equal exactly for equal data (hexadecimal, 64 digits)."""
        digest = hashlib.sha256()
        for names in (self.item_names, self.worker_names, self.hit_names):
            digest.update(repr(names).encode())
        arrays = (self.response_ptr, self.items, self.groups, self.worker_of_response, self.hit_of_response)
        for array in arrays:
            digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
        return digest.hexdigest()


def as_response_table(responses: Any) -> ResponseTable:
    """Take a table of responses as it is, and make one of anything else, as `ResponseTable.from_columns` does."""
    return responses if isinstance(responses, ResponseTable) else ResponseTable.from_columns(responses)


def _text(cell: Any) -> str:
    """A name as text; empty for what data frames hold where there is nothing."""
    text = str(cell).strip()
    return "" if cell is None or (text in ("nan", "NaT", "<NA>") and not isinstance(cell, str)) else text
