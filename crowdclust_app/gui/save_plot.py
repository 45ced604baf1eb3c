"""A plot of the screen as files: PNG, SVG and the numbers behind it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from crowdclust_app.domain.plots import Plot
from crowdclust_app.gui.screen import Shell
from crowdclust_app.services.exchange.plot_files import files_of_plot, save_plot

FOLDER = "plots-folder"


def ask_and_save(shell: Shell, plot: Plot, page: QWidget) -> None:
    """Ask for a name, then write the plot beside it in the background.

    The dialog asks before it replaces a picture; where only one of the other two files is in the way, nothing is
    written and the error bar says so.
    """
    kept = shell.recall(FOLDER)
    folder = Path(kept) if isinstance(kept, str) and Path(kept).is_dir() else None
    if folder is None and shell.campaign is not None:
        folder = shell.campaign.path.parent
    start = str((folder or Path()) / f"{plot.name}.png")
    chosen, _ = QFileDialog.getSaveFileName(page, "Save as PNG and SVG with the numbers", start, "Pictures (*.png)")
    if not chosen:
        return
    path = Path(chosen)
    files = files_of_plot(path)
    in_the_way = [file.name for file in files if file.exists()]
    if in_the_way and not files[0].exists():
        shell.show_error(f"{in_the_way[0]} is there already, and was left alone. Choose another name.")
        return
    shell.remember(FOLDER, str(path.parent))
    shell.jobs.start(
        "decode",
        lambda _progress, _cancel: save_plot(plot, path),
        title="Saving the plot",
        on_done=lambda written: shell.say(f"Saved {', '.join(file.name for file in written)} in {path.parent}"),
        on_failed=shell.show_failure,
        owner=page,
    )
