"""The rows of the tree: the whole collection, its clusters, the clusters of their stages, and what was removed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from crowdclust_app.domain.campaign import WHOLE_COLLECTION
from crowdclust_app.domain.stages import StageInfo
from crowdclust_app.gui.wording import count_of
from crowdclust_app.services.stages.stage_tree import CategoryNode, StageNode, StageTree


class Kind(StrEnum):
    """What a row is."""

    STAGE = "stage"
    CATEGORY = "category"
    REMOVED = "removed"


@dataclass(eq=False)
class Row:
    """One row of the tree.

    Parameters
    ----------
    kind
        What it is.
    title
        What its first column says.
    key
        What it is found by when the tree is read again.
    of
        The stage in whose run a category was found; for other rows None.
    category
        For a category.
    stage
        What is below it; None for a category that is not subdivided.
    info
        The stage of a row that has one, a removed one's too.
    """

    kind: Kind
    title: str
    key: str
    of: StageNode | None = None
    category: CategoryNode | None = None
    stage: StageNode | None = None
    info: StageInfo | None = None
    parent: Row | None = None
    place: int = 0
    children: list[Row] = field(default_factory=list)

    def add(self, child: Row) -> None:
        """Put a row below this one."""
        child.parent, child.place = self, len(self.children)
        self.children.append(child)

    @property
    def size(self) -> int:
        """Number of photos."""
        if self.category is not None:
            return len(self.category.items)
        return self.info.items if self.info is not None else 0

    @property
    def mean_probability(self) -> float | None:
        """Mean probability of a category's photos to be in their cluster."""
        return self.category.mean_probability if self.category is not None else None

    @property
    def doubtful(self) -> int | None:
        """Doubtful photos of a category."""
        return self.category.doubtful if self.category is not None else None

    @property
    def hits(self) -> str:
        """HITs done of planned."""
        if self.info is None or self.kind is Kind.REMOVED:
            return ""
        return f"{self.info.hits_complete:,} of {self.info.hits:,}"

    @property
    def state(self) -> str:
        """What has become of it, in a few words."""
        if self.kind is Kind.REMOVED:
            return "removed"
        if self.stage is None:
            return "" if self.category is None or self.category.divisible else "a single photo"
        return stage_state(self.stage)

    def every(self) -> list[Row]:
        """The row itself and all below it."""
        return [self, *(row for child in self.children for row in child.every())]


def stage_state(stage: StageNode) -> str:
    """What has become of a stage, in a few words."""
    if stage.view is None:
        return "not run yet" if stage.info.responses else "no answers yet"
    if stage.cannot_be_divided:
        found = "cannot be divided"
    else:
        noun = "cluster" if stage.info.parent is None else "subcluster"
        found = count_of(len(stage.categories), noun)
    if stage.view.new_responses:
        return f"{found} · {count_of(stage.view.new_responses, 'new response')}"
    return found


def rows_of(tree: StageTree) -> Row:
    """The whole tree; the first row is the whole collection."""
    root = Row(Kind.STAGE, "Whole collection", WHOLE_COLLECTION, stage=tree.root, info=tree.root.info)
    _fill(root, tree.root)
    return root


def _fill(row: Row, stage: StageNode) -> None:
    for category in stage.categories:
        below = category.stage
        info = below.info if below is not None else None
        child = Row(Kind.CATEGORY, category.title, category.path, stage, category, below, info)
        row.add(child)
        if below is not None and not below.cannot_be_divided:
            _fill(child, below)
        elif below is not None:
            _fill_apart(child, below)
    _fill_apart(row, stage)


def _fill_apart(row: Row, stage: StageNode) -> None:
    """What hangs on no category that is shown: stages of earlier runs, and removed ones."""
    for other in stage.elsewhere:
        origin = f"from run {other.info.run}" if other.info.run is not None else "from a table"
        child = Row(
            Kind.STAGE, f"{other.info.name}, {origin}", f"stage {other.info.name}", stage=other, info=other.info
        )
        row.add(child)
        _fill(child, other)
    for info in stage.removed:
        row.add(Row(Kind.REMOVED, f"{info.name}", f"removed {info.name}", info=info))


def title_of(tree: StageTree | None) -> str:
    """How many categories the leaves make, and how many stages there are."""
    if tree is None or tree.root.view is None:
        return ""
    leaves, stages = _leaves(tree.root)
    return f"{count_of(leaves, 'category', 'categories')}, {count_of(stages, 'stage')}"


def _leaves(stage: StageNode) -> tuple[int, int]:
    """Leaves below a stage, and stages below it."""
    leaves = stages = 0
    for category in stage.categories:
        if category.stage is None:
            leaves += 1
            continue
        more, deeper = _leaves(category.stage)
        leaves, stages = leaves + max(1, more), stages + 1 + deeper
    return leaves, stages
