"""Put a report of a campaign together, and write it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from crowdclust_app.domain.cancellation import CancelToken
from crowdclust_app.domain.errors import UserError
from crowdclust_app.domain.plots import Plot
from crowdclust_app.domain.report import Block, Figure, Paragraph, Report, Section
from crowdclust_app.io.atomic import write_text
from crowdclust_app.io.report_html import report_html
from crowdclust_app.services.campaign.campaigns import Campaign
from crowdclust_app.services.campaign.counts import campaign_figures
from crowdclust_app.services.clusters.categories import read_categories
from crowdclust_app.services.clusters.embedding import DOUBT, SHOWN, colouring, embedding_plot
from crowdclust_app.services.clusters.overview import CampaignOverview, load_overview
from crowdclust_app.services.clusters.plots import (
    cluster_numbers_plot,
    cluster_scores,
    known_categories_plot,
    trace_plot,
)
from crowdclust_app.services.clusters.run_view import RunView
from crowdclust_app.services.exchange.exporting import worker_labels
from crowdclust_app.services.exchange.reporting.findings import clusters_section, glance_section, photo_maker
from crowdclust_app.services.exchange.reporting.method import method_section
from crowdclust_app.services.exchange.reporting.people import criteria_section, verification_section, workers_section
from crowdclust_app.services.exchange.reporting.tree import tree_section
from crowdclust_app.services.exchange.result_tables import Fitted, heldout_of_workers
from crowdclust_app.services.fits.run_store import load_run, run_list
from crowdclust_app.services.progress_report import Progress, ProgressReport
from crowdclust_app.services.workers.plots import confusion_grid, pareto_plot, rank_plot
from crowdclust_app.version import __version__

_STEPS = 9


def campaign_report(
    campaign: Campaign,
    run: int | None = None,
    anonymous: bool = False,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> Report:
    """Put together what a run of a campaign amounts to.

    Parameters
    ----------
    run
        Its number; the newest when None.
    anonymous
        Write workers as numbers, the same that an export writes.
    progress, cancel
        Told and looked at before each section.

    Raises
    ------
    UserError
        When the campaign has no run, or not this one.
    Cancelled
        When asked to stop.
    """
    if not run_list(campaign):
        raise UserError("the campaign has no run, so there is nothing to report", todo="run the inference first")
    if run is not None:
        load_run(campaign, run)  # says so when there is none
    overview = load_overview(campaign, run, cancel)
    view = overview.view
    assert view is not None
    sections = []
    for done, section in enumerate(_sections(campaign, overview, view, anonymous, cancel)):
        if cancel is not None:
            cancel.check()
        if progress is not None:
            progress(ProgressReport(min(done, _STEPS), _STEPS, f"Report: {section.title}"))
        sections.append(section)
    found = f"{len(view.clusters):,} cluster{'' if len(view.clusters) == 1 else 's'}"
    when = f"{view.run.created_at:%d %B %Y}".lstrip("0")
    return Report(
        title=campaign.name,
        subtitle=f"{found} of {len(view.labels):,} photos, run {view.run.number} of {when}",
        sections=_with_numbers(sections),
        made_with=f"Made with Crowdclust {__version__}.",
    )


def _with_numbers(sections: Sequence[Section]) -> tuple[Section, ...]:
    """The same with the figures' captions numbered through, so that a text can point to them."""
    number = count(1)

    def numbered(block: Block) -> Block:
        return replace(block, caption=f"Figure {next(number)}. {block.caption}") if isinstance(block, Figure) else block

    return tuple(replace(section, blocks=tuple(numbered(block) for block in section.blocks)) for section in sections)


def write_html_report(
    campaign: Campaign,
    path: Path,
    run: int | None = None,
    anonymous: bool = False,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> Path:
    """Write a report as one HTML file that needs no other; parameters and errors as `campaign_report`.

    Raises
    ------
    UserError
        Also when the file cannot be written.
    """
    report = campaign_report(campaign, run, anonymous, progress, cancel)
    text = report_html(report)
    if cancel is not None:
        cancel.check()
    write_text(path, text)
    return path


def _sections(
    campaign: Campaign, overview: CampaignOverview, view: RunView, anonymous: bool, cancel: CancelToken | None
) -> Iterator[Section]:
    categories = read_categories(campaign, view.run.number, len(view.run.result.means))
    names = {row.number: categories.name(row.number) for row in view.clusters}
    label = worker_labels([worker.name for worker in campaign.workers()], anonymous)
    planned = any(hit.workers_wanted for hit in campaign.hits())
    yield glance_section(view, campaign_figures(campaign), anonymous)
    embedding = Figure(
        embedding_plot(view),
        "Every photo where the crowd has put it, on the two Fisher axes that part the clusters best.",
    )
    yield clusters_section(view, names, photo_maker(view, overview.files), (embedding,))
    yield from _truth_section(campaign, view, names)
    tree = tree_section(campaign, view.run.number, cancel)
    if tree is not None:
        yield tree
    fitted = Fitted(view.run.result, view.run.item_names, view.run.worker_names, view.run.stage)
    yield workers_section(view, heldout_of_workers(fitted), label, _worker_figures(view, label))
    criteria = criteria_section(campaign, view, names, label, cancel)
    if criteria is not None:
        yield criteria
    verification = verification_section(campaign, cancel)
    if verification is not None:
        yield verification
    method = method_section(view.run, campaign.settings if planned else None)
    trace = trace_plot(view)
    if trace is not None:
        bound = Figure(trace, "The lower bound by iteration; it never falls within a phase.")
        method = Section(method.title, (*method.blocks, bound))
    yield method
    yield _reproduction_section(view)


def every_plot(campaign: Campaign, view: RunView, anonymous: bool = False) -> Iterator[Plot]:
    """Every plot of a run that has something to show."""
    categories = read_categories(campaign, view.run.number, len(view.run.result.means))
    names = {row.number: categories.name(row.number) for row in view.clusters}
    label = worker_labels([worker.name for worker in campaign.workers()], anonymous)
    yield embedding_plot(view)
    for key, words in ((DOUBT, "doubt"), (SHOWN, "times shown")):
        plot = embedding_plot(view, colours=colouring(view, key, None, {}))
        yield replace(plot, name=f"embedding-{key}", title=f"Photos by {words}")
    plots = (
        known_categories_plot(view, campaign.truth(), names),
        _numbers_plot(campaign, view),
        trace_plot(view),
        confusion_grid(view, label),
        rank_plot(view),
        pareto_plot(view),
    )
    yield from (plot for plot in plots if plot is not None)


def _numbers_plot(campaign: Campaign, view: RunView) -> Plot | None:
    """Held-out prediction by the number of clusters; None where none was tried."""
    found = cluster_scores(run_list(campaign), view.run)
    return None if found is None else cluster_numbers_plot(view.run, found[1], found[0])


def _truth_section(campaign: Campaign, view: RunView, names: Mapping[int, str]) -> Iterator[Section]:
    plot = known_categories_plot(view, campaign.truth(), names)
    if plot is not None:
        caption = "How many photos of each known category (rows) are in each cluster (columns)."
        yield Section("Known categories", (Figure(plot, caption),))


def _worker_figures(view: RunView, label: Callable[[str], str]) -> tuple[Figure, ...]:
    grid = confusion_grid(view, label)
    found = [
        Figure(rank_plot(view), "How many HITs each worker did, the most active first."),
        Figure(pareto_plot(view), "The share of all HITs that the most active share of the workers did."),
    ]
    if grid is not None:
        clusters = ", ".join(grid.labels)
        caption = (
            "How likely each of the most active workers is to put two clusters into one group; the number of HITs is "
            "below "
            f"each matrix. Clusters from the top and from the left: {clusters}."
        )
        found.insert(0, Figure(grid, caption))
    return tuple(found)


def _reproduction_section(view: RunView) -> Section:
    """The command that gives the same clusters from the exported responses."""
    settings = view.run.settings
    words = [
        "crowdclust fit responses.csv",
        f"--method {settings.method}",
        f"--clusters {settings.n_clusters}",
        f"--dimensions {settings.dimensions}",
        f"--label-weight {settings.label_weight}",
        f"--worker-prior {settings.worker_prior}",
        f"--starts {settings.n_starts}",
        f"--seed {settings.seed}",
    ]
    text = "The same clusters come from the exported responses by the command: " + " ".join(words)
    return Section("Reproduction", (Paragraph(text),))
