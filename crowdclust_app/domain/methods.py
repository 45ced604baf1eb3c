"""Every method by name: what the command line, the window, reports and benchmarks list is made from this one table.

A new aggregator is a class in `inference/aggregators` and a row here. Nothing is imported, so that `--help` is quick;
classes are found by their path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["clustering", "baseline", "aggregator", "learner"]
Scale = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True, slots=True)
class Method:
    """A method.

    Parameters
    ----------
    name
        On the command line, in files, and `name` of the class.
    title
        On screen.
    kind
        `clustering`: of items, from responses, with a model of each worker; `baseline`: of items, all workers alike;
        `aggregator`: of labels; `learner`: of labels and features.
    path
        Module and class.
    reference
        Key in docs/references.md; empty where there is none.
    sentence
        What it does: in reports (clusterings), beside the name on screen (aggregators).
    needs_metis
        Whether it partitions graphs with METIS.
    scale
        Of the labels that it is for.
    verify_row
        Its row on the Verify screen, from 1; 0 where it is not shown there.
    """

    name: str
    title: str
    kind: Kind
    path: str
    reference: str
    sentence: str
    needs_metis: bool = False
    scale: Scale = "nominal"
    verify_row: int = 0


_CROWDCLUSTERING = "crowdclust_app.inference.crowdclustering:Crowdclustering"
_CONSENSUS = "crowdclust_app.inference.consensus:ConsensusClustering"
_AGGREGATORS = "crowdclust_app.inference.aggregators"
_EXPERTS = "crowdclust_app.inference.experts"

_ALL = (
    Method("crowdclustering", "Crowdclustering", "clustering", _CROWDCLUSTERING, "gomes2011",
           "Clusters were inferred by Bayesian crowdclustering (Gomes, Welinder, Krause and Perona, 2011): every photo "
           "is a point, every worker a symmetric matrix and a bias that say how likely two points are put together, "
           "and the points come from a Dirichlet process mixture of Gaussians whose components are the clusters. The "
           "posterior was approximated variationally, by maximising a lower bound on the log evidence."),
    Method("consensus", "Consensus", "clustering", _CROWDCLUSTERING, "gomes2011",
           "Clusters were inferred by Bayesian consensus: crowdclustering (Gomes, Welinder, Krause and Perona, 2011) "
           "with all responses given to one worker."),
    Method("nmf", "NMF", "baseline", _CONSENSUS, "li2007",
           "Clusters were inferred by non-negative matrix factorisation of the consensus matrix (Li, Ding and Jordan, "
           "2007), pairs never shown together counted as different."),
    Method("nmf-masked", "NMF, seen pairs", "baseline", _CONSENSUS, "li2007",
           "Clusters were inferred by non-negative matrix factorisation of the consensus matrix (after Li, Ding and "
           "Jordan, 2007), of the pairs that were shown together alone."),
    Method("cspa", "CSPA", "baseline", _CONSENSUS, "strehl2002",
           "Clusters were inferred by the cluster-based similarity partitioning algorithm (Strehl and Ghosh, 2002).",
           needs_metis=True),
    Method("mcla", "MCLA", "baseline", _CONSENSUS, "strehl2002",
           "Clusters were inferred by the meta-clustering algorithm (Strehl and Ghosh, 2002).", needs_metis=True),
    Method("hbgf", "HBGF", "baseline", _CONSENSUS, "fern2004",
           "Clusters were inferred by the hybrid bipartite graph formulation (Fern and Brodley, 2004).",
           needs_metis=True),
    Method("spectral", "Spectral", "baseline", _CONSENSUS, "",
           "Clusters were inferred by spectral clustering of the co-occurrence operator."),
    Method("majority", "Majority vote", "aggregator", f"{_AGGREGATORS}.voting:Majority", "liu2012",
           "what more people say; even votes are undecided", verify_row=1),
    Method("soft-vote", "Soft vote", "aggregator", f"{_AGGREGATORS}.voting:SoftVote", "raykar2009",
           "the votes as a probability"),
    Method("em", "EM", "aggregator", f"{_AGGREGATORS}.one_coin:EM", "liu2012",
           "one reliability a worker, by EM", verify_row=2),
    Method("amf", "Approximate mean field", "aggregator", f"{_AGGREGATORS}.one_coin:ApproximateMeanField", "liu2012",
           "one reliability a worker, by mean field to first order"),
    Method("mf", "Mean field", "aggregator", f"{_AGGREGATORS}.one_coin:MeanField", "liu2012",
           "one reliability a worker, by mean field", verify_row=4),
    Method("bp", "Belief propagation", "aggregator", f"{_AGGREGATORS}.belief_propagation:BeliefPropagation", "liu2012",
           "one reliability a worker, by belief propagation", verify_row=5),
    Method("bp-max", "Max-product", "aggregator", f"{_AGGREGATORS}.belief_propagation:MaxProduct", "liu2012",
           "one reliability a worker, by max-product belief propagation"),
    Method("kos", "KOS", "aggregator", f"{_AGGREGATORS}.kos:KOS", "karger2011",
           "message passing without a prior"),
    Method("kos-normalised", "KOS, normalised", "aggregator", f"{_AGGREGATORS}.kos:NormalisedKOS", "karger2011",
           "message passing without a prior, sums divided by the degree"),
    Method("em2", "EM, two coins", "aggregator", f"{_AGGREGATORS}.confusion_matrices:TwoCoinEM", "liu2012",
           "sensitivity and specificity a worker, by EM", verify_row=3),
    Method("amf2", "Approximate mean field, two coins", "aggregator",
           f"{_AGGREGATORS}.confusion_matrices:TwoCoinApproximateMeanField", "liu2012",
           "sensitivity and specificity a worker, by mean field to first order"),
    Method("mf2", "Mean field, two coins", "aggregator", f"{_AGGREGATORS}.confusion_matrices:TwoCoinMeanField",
           "liu2012", "sensitivity and specificity a worker, by mean field"),
    Method("bp2", "Belief propagation, two coins", "aggregator",
           f"{_AGGREGATORS}.belief_propagation:TwoCoinBeliefPropagation", "liu2012",
           "sensitivity and specificity a worker, belief propagation", verify_row=6),
    Method("sbic-fast", "Fast SBIC", "aggregator", f"{_AGGREGATORS}.sbic:FastSBIC", "manino2019",
           "one pass; what chooses the next question", verify_row=8),
    Method("sbic-sorted", "Sorted SBIC", "aggregator", f"{_AGGREGATORS}.sbic:SortedSBIC", "manino2019",
           "one pass for each task, its own labels last"),
    Method("sbic-sorted-shared", "Sorted SBIC, shared views", "aggregator", f"{_AGGREGATORS}.sbic:SharedSortedSBIC",
           "manino2019", "one pass for each task, its own labels last, beginnings shared"),
    Method("gibbs", "Gibbs sampling", "aggregator", f"{_AGGREGATORS}.gibbs:Gibbs", "manino2019",
           "one reliability a worker, by Gibbs sampling"),
    Method("te", "Triangular estimation", "aggregator", f"{_AGGREGATORS}.triangular_estimation:TriangularEstimation",
           "bonald2017", "one reliability a worker, from the agreement of three workers at a time"),
    Method("te-overlap", "Triangular estimation, overlapping", "aggregator",
           f"{_AGGREGATORS}.triangular_estimation:OverlapTriangularEstimation", "bonald2017",
           "triangular estimation, each worker beside two who share tasks with that worker"),
    Method("glad", "GLAD", "aggregator", f"{_AGGREGATORS}.glad:GLAD", "whitehill2009",
           "one ability a worker and one difficulty a task"),
    Method("dawid-skene", "Dawid-Skene", "aggregator", f"{_AGGREGATORS}.confusion_matrices:DawidSkene", "dawid1979",
           "sensitivity, specificity and the share of yes, by EM", verify_row=7),
    Method("dawid-skene-map", "Dawid-Skene, MAP", "aggregator", f"{_AGGREGATORS}.confusion_matrices:DawidSkeneMAP",
           "raykar2009", "a confusion matrix a worker, with a prior, by EM"),
    Method("ebcc", "EBCC", "aggregator", f"{_AGGREGATORS}.ebcc:EBCC", "li2019",
           "Dawid-Skene with kinds of tasks in each class, on which workers err together"),
    Method("community-bcc", "CommunityBCC", "aggregator", f"{_AGGREGATORS}.community_bcc:CommunityBCC", "venanzi2014",
           "a confusion matrix a worker, near that of the worker's community"),
    Method("ordinal", "Ordinal", "aggregator", f"{_AGGREGATORS}.ordinal:Ordinal", "raykar2009",
           "ordered classes, as questions whether a task is above each", scale="ordinal"),
    Method("continuous", "Continuous", "aggregator", f"{_AGGREGATORS}.continuous:Continuous", "raykar2009",
           "measurements, with one precision a worker", scale="interval"),
    Method("experts", "Experts: two coins, logistic", "learner", f"{_EXPERTS}.logistic:LogisticExperts", "raykar2009",
           "two coins a worker and a logistic regression on features, by EM"),
    Method("gp", "Gaussian process", "learner", f"{_EXPERTS}.gaussian_process:GaussianProcessExperts", "long2016",
           "a Gaussian process on features and one expertise a worker"),
)  # fmt: skip

METHODS: dict[str, Method] = {method.name: method for method in _ALL}


def names_of(*kinds: Kind) -> tuple[str, ...]:
    """Names of the methods of these kinds, in the order of the table."""
    return tuple(method.name for method in METHODS.values() if method.kind in kinds)


def verify_names() -> tuple[str, ...]:
    """Names of the aggregators on the Verify screen, in the order of their rows there."""
    shown = sorted((method.verify_row, method.name) for method in METHODS.values() if method.verify_row)
    return tuple(name for _, name in shown)


def title_of(name: str) -> str:
    """Title of a method; a stored run may have one that this version does not know, which keeps its name."""
    return METHODS[name].title if name in METHODS else name
