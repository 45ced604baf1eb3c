"""HITs that are handed out a second time to people who sorted them, to see how far people agree with themselves.

A repeat is a HIT of its own with the same items. It is handed only to workers who submitted the HIT that it repeats,
some HITs later, and shows the photos in another order. Its answers count in runs as all others do; when responses are
held out, what one worker said of one set of photos stays together.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdclust_app.domain.campaign import WHOLE_COLLECTION
from crowdclust_app.domain.errors import UserError
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.plan_changes import GROW, Growth
from crowdclust_app.services.campaign.planning import planned_repeats
from crowdclust_app.services.stages.stages import find_stage, stage_hits
from crowdclust_app.storage import catalogue, decisions
from crowdclust_app.storage.times import now

USUAL_SHARE = 0.1


def add_repeats(campaign: Campaign, share: float = USUAL_SHARE, stage: str = WHOLE_COLLECTION) -> Growth:
    """Have a share of the planned HITs repeated.

    Each repeat wants half of the HIT's workers, rounded up: not everybody who did the first one will come again.

    Parameters
    ----------
    share
        Of the planned HITs that are not repeats, in (0, 1]; at least one of those that have no repeat yet.

    Raises
    ------
    UserError
        When the share is out of range, the stage has no planned HITs, or all of them have a repeat.
    """
    if not 0 < share <= 1:
        raise UserError(f"{share:g} is no share of the HITs", todo="choose a number above 0 and up to 1")
    settings = find_stage(campaign, stage).settings
    with campaign.database.write() as connection:
        repeats = catalogue.repeats(connection)
        planned = [hit for hit in catalogue.hits(connection) if hit.stage == stage and hit.workers_wanted]
        first = [hit for hit in planned if hit.number not in repeats]
        free = [hit for hit in first if hit.number not in repeats.values()]
        if not free:
            what = "every planned HIT has a repeat already" if first else "nothing is planned here to be repeated"
            raise UserError(what, todo="plan more HITs first")
        wanted = min(len(free), planned_repeats(len(first), share, 1)[0])
        rng = np.random.default_rng([settings.seed, 20, len(repeats)])
        chosen = sorted(rng.choice(len(free), wanted, replace=False).tolist())
        originals = [free[place] for place in chosen]
        added = [
            replace(hit, workers_wanted=-(-original.workers_wanted // 2))
            for hit, original in zip(
                stage_hits(connection, [original.items for original in originals], settings, stage),
                originals,
                strict=True,
            )
        ]
        catalogue.insert_hits(connection, added)
        pairs = zip(added, originals, strict=True)
        catalogue.set_repeats(connection, {hit.number: original.number for hit, original in pairs})
        detail = {"stage": stage, "repeats": [hit.name for hit in added]}
        decisions.insert_decision(connection, GROW, detail, now(), None)
        catalogue.bump_revision(connection)
    return Growth(stage, 0, len(added), sum(hit.workers_wanted for hit in added))
