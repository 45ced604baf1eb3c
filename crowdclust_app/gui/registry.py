"""Which screens there are, and where each is; their modules are imported when they are first shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ScreenEntry:
    """One screen the window can make.

    Parameters
    ----------
    name, title, icon
        The name for `show_screen`, the word in the rail, the file name of the rail's icon without `.svg`.
    module, kind
        Where its class is; imported when the screen is first shown.
    late
        Whether that class is the screen's content (a `ScreenContent`), whose modules take long to import: that is done
        off the main thread. Else it is the screen itself (a `Screen`).
    needs_campaign
        Whether it can only be shown with a campaign.
    in_rail
        Whether the rail lists it.
    about
        What the help says of it.
    """

    name: str
    title: str
    icon: str
    module: str
    kind: str
    late: bool = True
    needs_campaign: bool = True
    in_rail: bool = True
    about: str = ""


SCREENS = (
    ScreenEntry(
        "start",
        "Campaign",
        "campaign",
        "crowdclust_app.gui.start",
        "StartScreen",
        late=False,
        needs_campaign=False,
        about="A campaign is one file with the photos' names, the plan, everybody's groups and the results. "
        "Open one, make a new one from a folder of photos, or look at the demo.",
    ),
    ScreenEntry(
        "new",
        "New campaign",
        "new",
        "crowdclust_app.gui.new_campaign",
        "NewCampaignScreen",
        late=False,
        needs_campaign=False,
        in_rail=False,
        about="Choose a folder of photos and how many of them are shown together; the figures say what that asks of "
        "the people who sort. The photos themselves are never changed or copied.",
    ),
    ScreenEntry(
        "annotate",
        "Annotate",
        "annotate",
        "crowdclust_app.gui.annotate.screen",
        "AnnotateScreen",
        late=False,
        about="Put photos that belong together into the same group; how many groups there are is up to you. "
        "Choose a group with its number, then click the photos. Everything is kept as you go.",
    ),
    ScreenEntry(
        "progress",
        "Progress",
        "progress",
        "crowdclust_app.gui.progress.content",
        "ProgressContent",
        about="How far the sorting is, by whom, how long it will take, and who has a set open. Here the plan grows: "
        "more sets, more people, more images.",
    ),
    ScreenEntry(
        "clusters",
        "Clusters",
        "clusters",
        "crowdclust_app.gui.clusters.content",
        "ClustersContent",
        about="Clusters are what everybody's groups have in common. Run the inference, then look at its clusters in "
        "the plot and in the gallery.",
    ),
    ScreenEntry(
        "workers",
        "Workers",
        "workers",
        "crowdclust_app.gui.workers.content",
        "WorkersContent",
        about="How each person sorts, and how far each can be trusted.",
    ),
    ScreenEntry(
        "stages",
        "Stages",
        "stages",
        "crowdclust_app.gui.stages.content",
        "StagesContent",
        about="Subdivide a cluster: its photos are sorted once more, among themselves, and what people see there "
        "hangs below it in the tree. The leaves are the categories.",
    ),
    ScreenEntry(
        "verify",
        "Verify",
        "verify",
        "crowdclust_app.gui.verify.content",
        "VerifyContent",
        about="Yes/no questions about single photos: does this really belong? Several people answer, and their answers "
        "are weighed by how far each can be trusted.",
    ),
    ScreenEntry(
        "export",
        "Export",
        "export",
        "crowdclust_app.gui.export.content",
        "ExportContent",
        about="Write the tables as CSV files for other programs.",
    ),
)
