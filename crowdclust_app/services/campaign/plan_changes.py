"""Changing a campaign that is under way: more sets, more people a set, more images.

What was answered stays as it is, and HITs that were handed out stay the same. New HITs come after those there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdclust_app.domain.campaign import WHOLE_COLLECTION, PlanSettings
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.sampling.plan import make_plan
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.scanning import ScanReport, scan_images
from crowdclust_app.services.progress_report import Progress
from crowdclust_app.services.stages.stages import find_stage, stage_hits
from crowdclust_app.storage import catalogue, decisions, progress_statistics, stages
from crowdclust_app.storage.connection import Connection
from crowdclust_app.storage.times import now

GROW, IMAGES = "grow", "images"
MOST_MORE = 1000


@dataclass(frozen=True, slots=True)
class Growth:
    """What was added.

    Parameters
    ----------
    stage
        To which stage.
    items, hits, assignments
        Images, HITs, and turns at HITs of all workers together.
    warnings
        Sentences for the lead.
    """

    stage: str
    items: int
    hits: int
    assignments: int
    warnings: tuple[str, ...] = ()


def add_redundancy(campaign: Campaign, more: int, stage: str = WHOLE_COLLECTION) -> Growth:
    """Plan more HITs, so that every item is expected in `more` further ones (a larger `V`).

    The same campaign and number give the same HITs; they are drawn anew and not those of the first plan again.

    Raises
    ------
    UserError
        When the number is out of range, or the stage has too few items.
    """
    _refuse_number(more, "sets an image")
    found = find_stage(campaign, stage)
    with campaign.database.write() as connection:
        items = stages.item_numbers(connection, stage)
        numbers = items if items is not None else tuple(item.number for item in catalogue.items(connection))
        if len(numbers) < 2:
            raise UserError("fewer than two images cannot be shown together", todo="add images first")
        settings = replace(found.settings, redundancy=more, seed=_seed(connection, found.settings))
        plan = make_plan(len(numbers), settings)
        # a plan puts neighbours together, so they have to be others this time
        order = np.random.default_rng(settings.seed).permutation(numbers)
        members = [tuple(order[hit].tolist()) for hit in plan.hits]
        catalogue.insert_hits(connection, stage_hits(connection, members, settings, stage))
        progress_statistics.grow_redundancy(connection, stage, more)
        _note(connection, GROW, {"stage": stage, "redundancy": more, "hits": len(members), "seed": settings.seed})
    campaign.read_settings()
    return Growth(stage, 0, len(members), len(members) * settings.workers_per_hit)


def add_workers_per_hit(campaign: Campaign, more: int, stage: str = WHOLE_COLLECTION) -> Growth:
    """Have `more` further people do every planned HIT (a larger `R`).

    Raises
    ------
    UserError
        When the number is out of range, or the stage has no planned HITs.
    """
    _refuse_number(more, "people a set")
    find_stage(campaign, stage)
    with campaign.database.write() as connection:
        hits = progress_statistics.grow_workers(connection, stage, more)
        if not hits:
            raise UserError("nothing is planned here, so nobody can be added", todo="add sets first")
        _note(connection, GROW, {"stage": stage, "workers_per_hit": more})
    campaign.read_settings()
    return Growth(stage, 0, 0, hits * more)


def new_images(campaign: Campaign, progress: Progress | None = None, cancel: CancelToken | None = None) -> ScanReport:
    """Images in the campaign's folder that are not its items yet, by path and by content.

    Raises
    ------
    UserError
        When the campaign has no folder, or it cannot be found.
    Cancelled
        When asked to stop.
    """
    if not campaign.has_images or not campaign.images_found:
        raise UserError("the folder of this campaign's images cannot be found", todo="say where the images are")
    scan = scan_images(campaign.image_root, progress, cancel)
    items = campaign.items()
    paths = {item.path for item in items}
    contents = {item.content_hash: item.path for item in items}
    fresh = [item for item in scan.items if item.path not in paths and item.content_hash not in contents]
    copies = tuple(
        (item.path, contents[item.content_hash])
        for item in scan.items
        if item.path not in paths and item.content_hash in contents
    )
    numbered = tuple(replace(item, number=len(items) + place) for place, item in enumerate(fresh))
    return replace(scan, items=numbered, duplicates=copies)


def add_images(campaign: Campaign, scan: ScanReport) -> Growth:
    """Make the images of a scan items, and plan HITs in which they stand among the earlier ones.

    Half of each new HIT are new images and half are earlier ones drawn at random, so that new and old are tied
    together; every new image is in `V` of these HITs.

    Parameters
    ----------
    scan
        From `new_images`.

    Raises
    ------
    UserError
        When there are no new images, or the campaign has got others in the meantime; nothing is changed then.
    """
    if not scan.items:
        raise UserError("there are no new images in the folder", where=str(campaign.image_root))
    settings = campaign.settings
    with campaign.database.write() as connection:
        earlier = catalogue.items(connection)
        if scan.items[0].number != len(earlier):
            raise UserError("images were added by somebody else in the meantime", todo="look for new images again")
        seed = _seed(connection, settings)
        members = mixed_hits(len(earlier), len(scan.items), replace(settings, seed=seed))
        catalogue.insert_items(connection, scan.items)
        hits = stage_hits(connection, members, settings, WHOLE_COLLECTION)
        catalogue.insert_hits(connection, hits)
        _note(connection, IMAGES, {"items": len(scan.items), "hits": len(hits), "seed": seed})
    return Growth(WHOLE_COLLECTION, len(scan.items), len(hits), len(hits) * settings.workers_per_hit, scan.warnings())


def mixed_hits(n_earlier: int, n_new: int, settings: PlanSettings) -> list[tuple[int, ...]]:
    """HITs of new items among earlier ones.

    Parameters
    ----------
    n_earlier, n_new
        Items `0..n_earlier - 1` and the `n_new` after them.
    settings
        `M`, `V`, seed.

    Returns
    -------
    list of tuple of int
        Every new item is in `V` HITs; each HIT has at most `M` items, all different, at least one of them earlier when
        there are any.
    """
    rng = np.random.default_rng(settings.seed)
    wanted = min(settings.items_per_hit, n_earlier + n_new)
    share = min(n_new, max(1, (wanted + 1) // 2 if n_earlier else wanted))
    members = []
    for _ in range(settings.redundancy):
        order = n_earlier + rng.permutation(n_new)
        for piece in np.array_split(order, -(-n_new // share)):
            others = rng.choice(n_earlier, size=min(n_earlier, wanted - len(piece)), replace=False)
            members.append(tuple(int(item) for item in rng.permutation(np.concatenate([piece, others]))))
    return members


def _seed(connection: Connection, settings: PlanSettings) -> int:
    """A seed of its own for every growth of a campaign, the same each time."""
    made = len(decisions.standing(connection, GROW, IMAGES))
    return int(np.random.SeedSequence([settings.seed, made + 1]).generate_state(1)[0])


def _note(connection: Connection, kind: str, detail: dict[str, object]) -> None:
    decisions.insert_decision(connection, kind, detail, now(), None)
    catalogue.bump_revision(connection)


def _refuse_number(more: int, what: str) -> None:
    if not 1 <= more <= MOST_MORE:
        raise UserError(f"{more} more {what} cannot be added", todo=f"choose 1 to {MOST_MORE}")
