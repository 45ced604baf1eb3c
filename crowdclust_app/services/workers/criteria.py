"""Which workers share a criterion, in words, and what the lead calls it.

A name is kept with the members that the group had. So it follows the workers when a new run numbers its clusters and
groups otherwise: a group has the newest name that was given to a group of mostly the same members.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.decisions import Decision
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.response_table import ResponseTable
from crowdclust_app.inference.crowdclustering.partitions.cluster_pair_counts import count_cluster_pairs
from crowdclust_app.inference.crowdclustering.partitions.worker_groups import WorkerGroups, group_workers
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.decisions import decide, standing

GROUP_NAME = "group-name"
LONGEST_NAME = 80
# Share of all members of two groups that both have, from which on they count as the same.
_SAME_MEMBERS = 0.5

Blocks = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class WorkerGroup:
    """Workers who share a criterion.

    Parameters
    ----------
    number
        1 is the largest.
    members
        Names, the most active first.
    blocks
        The shared partition: cluster numbers of each block, those of cluster 1 first.
    together : ndarray of shape (K, K)
        Share of the members' labels that put two clusters together; NaN where no member had both before them.
    name
        What the lead calls it; "" for nothing yet.
    like
        Number of the group whose partition this one makes coarser; 0 for none.
    """

    number: int
    members: tuple[str, ...]
    blocks: Blocks
    together: NDArray[np.float64]
    name: str = ""
    like: int = 0

    @property
    def title(self) -> str:
        """The name, or which group it is."""
        return self.name or f"Group {self.number}"


@dataclass(frozen=True, slots=True)
class Criteria:
    """Which workers of a campaign share a sorting criterion, beside a run.

    Parameters
    ----------
    groups
        The largest first.
    group_of
        Number of the group by worker, of those who are in one.
    kind_of
        What every worker is: `KIND_WORDS`' keys.
    own
        Partitions of workers whose criterion no other worker shares.
    probability
        Of group or kind, by worker.
    """

    groups: tuple[WorkerGroup, ...]
    group_of: Mapping[str, int]
    kind_of: Mapping[str, str]
    own: Mapping[str, Blocks]
    probability: Mapping[str, float]

    @property
    def sentence(self) -> str:
        """How many groups there are."""
        if not self.groups:
            return "Nothing shows that two workers share a way to put the clusters together."
        members = sum(len(group.members) for group in self.groups)
        if len(self.groups) == 1:
            return f"One criterion: {members} workers put the same clusters together."
        return f"{len(self.groups)} criteria among {members} workers."

    def words(self, worker: str) -> str:
        """What is said of one worker, as a sentence."""
        group = self.group_of.get(worker)
        if group is not None:
            return f"{self.groups[group - 1].title}: {block_words(self.groups[group - 1].blocks)}."
        kind = self.kind_of.get(worker, SILENT)
        words = KIND_WORDS[kind]
        if worker in self.own:
            words = f"{words}: {block_words(self.own[worker])}"
        return f"In no group: {words}."

    def others(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Kinds outside the groups and who is of them, without those who said nothing."""
        found: dict[str, list[str]] = {}
        for worker, kind in self.kind_of.items():
            if kind not in (IN_GROUP, SILENT):
                found.setdefault(kind, []).append(worker)
        return tuple((kind, tuple(found[kind])) for kind in KIND_WORDS if kind in found)


SILENT, IN_GROUP, OWN_WAY, RANDOM = "silent", "in a group", "own way", "at random"
ONE_GROUP, ALL_APART, UNCLEAR = "one group", "all apart", "unclear"
KIND_WORDS = {
    IN_GROUP: "sorts as others do",
    OWN_WAY: "sorts in a way that nobody shares",
    RANDOM: "sorts without regard to the clusters, as if at random",
    ONE_GROUP: "puts everything into one group",
    ALL_APART: "puts everything into groups of its own",
    UNCLEAR: "too few answers to tell",
    SILENT: "has not sorted two clustered photos yet",
}
_KINDS = (SILENT, IN_GROUP, OWN_WAY, RANDOM, ONE_GROUP, ALL_APART, UNCLEAR)


def find_criteria(
    table: ResponseTable,
    labels: NDArray[np.int64],
    n_clusters: int,
    names: Sequence[Decision] = (),
    cancel: CancelToken | None = None,
) -> Criteria:
    """Group the workers by what they put together.

    Parameters
    ----------
    table
        The responses that count.
    labels : ndarray of shape (N,)
        Cluster of each item of the table from 1, 0 for none.
    n_clusters
        Clusters of the run.
    names
        Decisions of the kind `GROUP_NAME` that stand, oldest first.
    cancel
        Polled between steps.

    Raises
    ------
    Cancelled
        When asked to stop.
    """
    counts = count_cluster_pairs(table, labels - 1, max(n_clusters, 1))
    found = group_workers(counts, cancel)
    hits = np.bincount(table.worker_of_response, minlength=table.n_workers)
    groups = []
    for number, blocks in enumerate(found.partitions, start=1):
        inside = np.flatnonzero(found.group == number)
        inside = inside[np.argsort(-hits[inside], kind="stable")]
        members = tuple(table.worker_names[j] for j in inside.tolist())
        groups.append(
            WorkerGroup(
                number,
                members,
                blocks_of(blocks),
                found.together[number - 1],
                called(members, names),
                _finer(found, number),
            )
        )
    who = table.worker_names
    return Criteria(
        groups=tuple(groups),
        group_of={who[j]: int(group) for j, group in enumerate(found.group.tolist()) if group},
        kind_of={who[j]: _KINDS[kind] for j, kind in enumerate(found.kind.tolist())},
        own={who[j]: blocks_of(partition) for j, partition in found.own.items()},
        probability={who[j]: float(value) for j, value in enumerate(found.probability.tolist())},
    )


def group_names(campaign: Campaign) -> tuple[Decision, ...]:
    """What groups are called, oldest first."""
    return standing(campaign, GROUP_NAME)


def name_group(campaign: Campaign, members: Sequence[str], name: str) -> Decision:
    """Call a group of workers something; "" takes its name away.

    Raises
    ------
    UserError
        When there are no members, or the name is too long or has signs that cannot be seen.
    """
    words = " ".join(name.split())
    if not members:
        raise UserError("a group without workers has no name", todo="choose a group")
    if len(words) > LONGEST_NAME:
        raise UserError(f"the name is longer than {LONGEST_NAME} letters", todo="shorten it")
    return decide(campaign, GROUP_NAME, {"name": words, "members": list(members)})


def called(members: Sequence[str], names: Sequence[Decision]) -> str:
    """The newest name given to mostly these members."""
    ours = set(members)
    for decision in reversed(names):
        theirs = set(decision.detail.get("members", ()))
        if ours and len(ours & theirs) >= _SAME_MEMBERS * len(ours | theirs):
            return str(decision.detail.get("name", ""))
    return ""


def blocks_of(partition: NDArray[np.int64]) -> Blocks:
    """Cluster numbers from 1 of each block."""
    return tuple(
        tuple((np.flatnonzero(partition == block) + 1).tolist()) for block in range(int(partition.max(initial=-1)) + 1)
    )


def block_words(blocks: Blocks, title: Callable[[int], str] = str) -> str:
    """What a partition puts together: "puts together {1, 3} and {2, 4}".

    Parameters
    ----------
    title
        How a cluster is written.
    """
    several = ["{" + ", ".join(title(cluster) for cluster in block) + "}" for block in blocks if len(block) > 1]
    if len(blocks) == 1 and several:
        return "puts everything together"
    if not several:
        return "tells all clusters apart"
    listed = several[0] if len(several) == 1 else f"{', '.join(several[:-1])} and {several[-1]}"
    return f"puts together {listed}"


def _finer(found: WorkerGroups, number: int) -> int:
    """The first other group, unless it tells all clusters apart, whose blocks are parts of this one's; 0 for none."""
    ours = found.partitions[number - 1]
    K = len(ours)
    for other, theirs in enumerate(found.partitions, start=1):
        if other == number or np.array_equal(ours, theirs) or (theirs.max() + 1 == K and len(found.partitions) > 2):
            continue
        same = theirs[:, None] == theirs
        if bool((ours[:, None] == ours)[same].all()):
            return other
    return 0
