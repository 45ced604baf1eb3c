"""Learning from experts: classifiers of items with features that learn whom to trust.

`GaussianProcessExperts` (long2016): a Gaussian process, each worker's expertise and the labels' global noise, all
at once, by expectation propagation and generalised EM; whom to ask what next; active sets for many items.

    from crowdclust_app.inference.experts import GaussianProcessExperts
    model = GaussianProcessExperts().fit(X, table)      # table: columns task, worker, label; tasks are row numbers of X
    model.probabilities_, model.expertise_, model.noise_, model.warnings_
    model.predict_proba(X_new)                          # shape (M, 2), columns as classes_
    model.next_question(["w1", "w2"])                   # item, worker, entropy, information in bits
    model.update(more_labels)                           # the kernel stays, everything else is learned on from here

`LogisticExperts` (raykar2009): a logistic regression (or another classifier) and two coins a worker, by EM; any number
of classes, ordered or not. It is fitted in the same way.

All fields of a label aggregator are there as well (`labels_`, `accuracy_`, `notes_`, ...).
"""

from __future__ import annotations

from crowdclust_app.inference.experts.active_set import ActiveSet
from crowdclust_app.inference.experts.gaussian_process import GaussianProcessExperts
from crowdclust_app.inference.experts.kernel import Kernel
from crowdclust_app.inference.experts.logistic import LogisticExperts
from crowdclust_app.inference.experts.next_question import QuestionChoice

Learner = LogisticExperts | GaussianProcessExperts

__all__ = ["ActiveSet", "GaussianProcessExperts", "Kernel", "Learner", "LogisticExperts", "QuestionChoice"]
