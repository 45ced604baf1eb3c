"""What crowdclustering is compared with: factorisation, cluster ensembles, spectral clustering."""

from crowdclust_app.inference.consensus.coassociation import Step
from crowdclust_app.inference.consensus.estimator import ConsensusClustering

__all__ = ["ConsensusClustering", "Step"]
