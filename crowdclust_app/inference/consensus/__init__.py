"""What crowdclustering is compared with: factorisation, cluster ensembles, spectral clustering."""

from crowdclust_app.inference.consensus.coassociation import Step
from crowdclust_app.inference.consensus.estimator import METHODS, NEED_METIS, ConsensusClustering

__all__ = ["METHODS", "NEED_METIS", "ConsensusClustering", "Step"]
