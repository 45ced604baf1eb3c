"""The demo: a campaign of pictures that the program draws, sorted by people that it invents, and fitted.

It is the paper's example. Half of the sensible workers sort by height and half by colour, so nobody's groups are the
four categories, which only come out of all of them together. One more worker sorts at random, one puts everything into
one group. The plan asks for more workers than it gets, so that whoever opens the demo can sort too. Some of them have
answered questions about one of the clusters as well.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdclust_app.domain.campaign import Assignment, PlanSettings
from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.fit_settings import FitSettings
from crowdclust_app.domain.sorting import Sorting
from crowdclust_app.evaluation.simulation import TALL_RED_CATEGORIES, SimulatedWorker
from crowdclust_app.io.atomic import make_folder
from crowdclust_app.io.drawings import draw_collection
from crowdclust_app.io.tables import write_table
from crowdclust_app.services.annotate import annotation
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.creating import create_campaign
from crowdclust_app.services.demo.demo_questions import ask_in_demo
from crowdclust_app.services.exchange.importing import import_table
from crowdclust_app.services.fits.campaign_fits import fit_campaign
from crowdclust_app.services.fits.results import Run
from crowdclust_app.services.fits.summary import compare_with_truth
from crowdclust_app.services.progress_report import Progress, ProgressReport

if TYPE_CHECKING:
    import numpy as np


PICTURES = 96
ITEMS_PER_HIT = 16
REDUNDANCY = 4
WORKERS_PER_HIT = 8
# Turns at each HIT that are left for people.
TURNS_LEFT = 2
NOISE = 0.03
# Labels of one HIT are not independent: with their full weight the strays break the clusters apart.
LABEL_WEIGHT = 0.2
# Enough for four categories; to try others would have kernels compiled for them on a new computer first.
DIMENSIONS = 4
INSTRUCTIONS = "Put together what belongs together for you. There is no right and no wrong, and any number of groups."

# Shares of the whole, for one bar that never goes back.
_STEPS = 1000
_DRAWN, _CREATED, _SORTED, _FITTED = 150, 200, 550, 900


@dataclass(frozen=True, slots=True)
class DemoReport:
    """What the demo made.

    Parameters
    ----------
    campaign
        Path of the campaign file.
    images
        Folder of the drawn pictures.
    added
        Pictures in the campaign.
    run
        Number of the fit that is stored in it.
    summary
        The figures of `crowdclust fit`, compared with the drawn categories, and
        `campaign, added, skipped, warnings, run`.
    warnings
        Sentences for the user.
    """

    campaign: Path
    images: Path
    added: int
    run: int
    summary: Mapping[str, Any]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Person:
    """An invented worker: how they sort, and their usual seconds for a picture."""

    sorts: SimulatedWorker
    pace: float


def build_demo(
    out_folder: Path, seed: int = 0, progress: Progress | None = None, cancel: CancelToken | None = None
) -> DemoReport:
    """Draw pictures, have invented workers sort them, fit, ask about a cluster, and keep everything as a campaign.

    Parameters
    ----------
    out_folder
        Where `demo.crowdclust` and its pictures go; made if it is not there. An earlier demo stays, the new one is then
        called `demo-2` and so on.
    seed
        Decides the pictures, the plan, the workers and the fit.
    progress
        Called often; `total` stays the same from beginning to end.
    cancel
        Polled between pictures and HITs, and within the fit.

    Raises
    ------
    UserError
        When the folder cannot be written.
    Cancelled
        When asked to stop; the unfinished demo is removed, as it is after any other failure.
    """
    make_folder(out_folder)
    path, images = _free_places(out_folder)
    # under a hidden name until it is finished, so that what is called a demo has everything in it
    hidden = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.part.crowdclust")
    with _removed_unless_finished(hidden, images):
        truth = _draw(images, seed, _part(progress, 0, _DRAWN), cancel)
        settings = PlanSettings(ITEMS_PER_HIT, REDUNDANCY, WORKERS_PER_HIT + TURNS_LEFT, seed)
        part = _part(progress, _DRAWN, _CREATED)
        created = create_campaign(hidden, images, settings, INSTRUCTIONS, _one_step(part), cancel)
        with Campaign.open(hidden) as campaign:
            _keep_truth(campaign, truth)
            _sort(campaign, truth, seed, _part(progress, _CREATED, _SORTED), cancel)
            run = _fit(campaign, seed, _part(progress, _SORTED, _FITTED), cancel)
            ask_in_demo(campaign, run, truth, seed, _part(progress, _FITTED, _STEPS), cancel)
        hidden.replace(path)
        summary = _summary(path, created.added, run, truth)
    if progress:
        progress(ProgressReport(_STEPS, _STEPS, "The demo is ready"))
    return DemoReport(path, images, created.added, run.number, summary, created.warnings)


def _free_places(folder: Path) -> tuple[Path, Path]:
    """Names that are still free: an earlier demo may have added workers."""
    number = 1
    while True:
        name = "demo" if number == 1 else f"demo-{number}"
        path, images = folder / f"{name}.crowdclust", folder / f"{name}-pictures"
        if not path.exists() and not images.exists():
            return path, images
        number += 1


@contextmanager
def _removed_unless_finished(path: Path, images: Path) -> Iterator[None]:
    try:
        images.mkdir()
        yield
    except BaseException as error:
        shutil.rmtree(images, ignore_errors=True)
        for file in path.parent.glob(f"{path.name}*"):
            file.unlink(missing_ok=True)
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            raise UserError(
                f"the demo cannot be written here ({reason})", where=str(path.parent), todo="choose another folder"
            ) from error
        raise


def _draw(images: Path, seed: int, progress: Progress, cancel: CancelToken | None) -> dict[str, str]:
    """Draw the pictures; what each one shows, by its name."""
    truth = {}
    for number, drawing in enumerate(draw_collection(PICTURES, seed), start=1):
        if cancel:
            cancel.check()
        drawing.save(images)
        truth[drawing.name] = drawing.category
        progress(ProgressReport(number, PICTURES, f"Drawing picture {number} of {PICTURES}"))
    return truth


def _keep_truth(campaign: Campaign, truth: Mapping[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "truth.csv"
        write_table(file, ("item", "category"), list(truth.items()))
        import_table(campaign, file, "truth")


def _people(seed: int) -> tuple[_Person, ...]:
    """Five who look at height, five at colour, one who does not look, one in a hurry."""

    def by_first_seen(words: Sequence[str]) -> tuple[int, ...]:
        numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
        return tuple(numbers[word] for word in words)

    heights = by_first_seen([category.split()[0] for category in TALL_RED_CATEGORIES])
    colours = by_first_seen([category.split()[1] for category in TALL_RED_CATEGORIES])
    rng = np.random.default_rng([seed, 10])
    people = []
    for kind, groups in (("height", heights), ("colour", colours)):
        for number in range(1, 6):
            worker = SimulatedWorker(f"By {kind} {number}", kind, groups, 2, NOISE)
            people.append(_Person(worker, float(rng.uniform(1.4, 2.6))))
    people.append(_Person(SimulatedWorker("At random", "random", (), 3, 1.0), 0.5))
    everything = (0,) * len(TALL_RED_CATEGORIES)
    people.append(_Person(SimulatedWorker("All in one group", "one group", everything, 1, 0.0), 0.3))
    return tuple(people)


def _sort(
    campaign: Campaign, truth: Mapping[str, str], seed: int, progress: Progress, cancel: CancelToken | None
) -> None:
    """Have the people do HITs in turn until each HIT has its invented workers."""
    number_of = {category: number for number, category in enumerate(TALL_RED_CATEGORIES)}
    categories = np.array([number_of[truth[item.path]] for item in campaign.items()])
    people = _people(seed)
    workers = [campaign.add_worker(person.sorts.name) for person in people]
    total = WORKERS_PER_HIT * len(campaign.hits())
    for turn in range(total):
        if cancel:
            cancel.check()
        who = turn % len(people)
        assignment = annotation.next_assignment(campaign, workers[who])
        assert assignment is not None, "the plan asks for more workers than were invented"
        rng = np.random.default_rng([seed, 11, turn])
        groups = people[who].sorts.sort(categories[list(assignment.items)], rng)
        _submit(campaign, assignment, groups.tolist(), people[who].pace, rng)
        progress(ProgressReport(turn + 1, total, f"{workers[who].name} sorts {assignment.hit_name}"))


def _submit(
    campaign: Campaign, assignment: Assignment, groups: Sequence[int], pace: float, rng: np.random.Generator
) -> None:
    """Place one group after the other, as a person might, and submit."""
    sorting = Sorting(len(groups))
    seconds = 1.0
    for group in range(max(groups) + 1):
        positions = [position for position, number in enumerate(groups) if number == group]
        action = sorting.place(positions, group + 1)
        assert action is not None
        sorting.apply(action)
        seconds += len(positions) * pace * float(rng.lognormal(0.0, 0.25))
        annotation.record(campaign, assignment, action, round(seconds, 1))
    annotation.submit(campaign, assignment, round(seconds + 0.5, 1))


def _fit(campaign: Campaign, seed: int, progress: Progress, cancel: CancelToken | None) -> Run:
    settings = FitSettings(label_weight=LABEL_WEIGHT, dimensions=DIMENSIONS, seed=seed)
    return fit_campaign(campaign, settings, progress, cancel)


def _summary(path: Path, added: int, run: Run, truth: Mapping[str, str]) -> dict[str, Any]:
    return {
        "campaign": str(path),
        "added": added,
        "skipped": 0,
        "warnings": [],
        "run": run.number,
        **run.result.summary,
        **compare_with_truth(run.item_names, run.result.labels, truth),
    }


def _part(progress: Progress | None, begin: int, end: int) -> Progress:
    """Reports of one part as reports of the whole."""

    def report(part: ProgressReport) -> None:
        if progress:
            done = begin + round((end - begin) * (part.fraction or 0.0))
            progress(ProgressReport(done, _STEPS, part.text))

    return report


def _one_step(progress: Progress) -> Progress:
    """Reports of something that counts from 0 several times over, as one step of unknown length."""
    return lambda part: progress(ProgressReport(0, 1, part.text))
