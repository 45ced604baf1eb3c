"""What the lead reads over a question set: kinds of photos, cost, bounds."""

from __future__ import annotations

from crowdclust_app.domain.questions import Policy
from crowdclust_app.gui.verify.learnt_view import AGREED, DISPUTED
from crowdclust_app.gui.wording import count_of, people_time
from crowdclust_app.services.verify.verdicts import IN, OUT, UNDECIDED, Verification

KINDS = {
    DISPUTED: ("Disputed", "No photo has answers of both kinds."),
    UNDECIDED: ("Undecided", "Every photo is decided."),
    IN: ("Verified in", "No photo is verified in yet."),
    OUT: ("Verified out", "No photo is verified out yet."),
    AGREED: ("Agreed", "No photo has two answers that say the same yet."),
}


def answer_figures(verification: Verification) -> str:
    """Cost so far, and what the rest will cost."""
    planned, labels = verification.question_set.labels_planned, verification.labels
    words = f"{labels:,} of {count_of(planned, 'answer')} by {count_of(verification.workers, 'person', 'people')}"
    if not labels:
        return f"No answers yet, {count_of(planned, 'answer')} planned"
    spent = people_time(verification.seconds)
    left = max(0, planned - labels)
    rest = f", about {people_time(left * verification.seconds / labels)} to go" if left else ", none to go"
    return f"{words}; {spent} spent{rest}"


def bound_figures(verification: Verification) -> str:
    """What the theorems say of the verdicts."""
    if verification.bound is None or verification.bound_now is None:
        return "Wrong verdicts are estimated after the first answers"
    theorem = "Theorem 1" if verification.question_set.policy is Policy.UNIFORM else "Theorem 2"
    per_item = verification.question_set.wanted
    return (
        f"{theorem}: about {_percent(verification.bound_now)} wrong now, {_percent(verification.bound)} at "
        f"{count_of(per_item, 'answer')} a photo"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.095 else f"{100 * share:.1f} %"
