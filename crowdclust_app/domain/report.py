"""A report as blocks of words, figures, tables and photos, before anybody decides how it looks."""

from __future__ import annotations

from dataclasses import dataclass

from crowdclust_app.domain.plots import Plot


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A few sentences."""

    text: str


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences that each stand alone, as a list."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Words and what they are, in two columns."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class DataTable:
    """A small table.

    Parameters
    ----------
    rows
        As text.
    numbers
        Which columns hold numbers and stand to the right.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[bool, ...]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot and what to see in it."""

    plot: Plot
    caption: str


@dataclass(frozen=True, slots=True)
class ReportPhoto:
    """One small photo.

    Parameters
    ----------
    name
        Of the item.
    jpeg
        The picture; None where it could not be read.
    note
        What stands below it.
    """

    name: str
    jpeg: bytes | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class PhotoRow:
    """Photos in a row."""

    title: str
    caption: str
    photos: tuple[ReportPhoto, ...]


Block = Paragraph | Sentences | Facts | DataTable | Figure | PhotoRow


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what is below it."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All of it.

    Parameters
    ----------
    made_with
        Program and version.
    """

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    made_with: str
