"""The look of the whole program: the palette, and the style sheet of the standard widgets in its colours."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from crowdclust_app.gui.theme import (
    OKABE_ITO,
    PAGE,
    PART,
    Look,
    forget_icons,
    line_colour,
    mix,
    muted,
    palette_for,
    resource,
    text_on,
)


@dataclass(frozen=True, slots=True)
class _Chrome:
    """The colours of the chrome by what they are for, as style sheets write them."""

    window: str
    base: str
    button: str
    ink: str
    accent: str
    on_accent: str
    accent_hover: str
    line: str
    quiet: str
    faint: str
    hover: str
    press: str
    rail: str
    chosen: str
    off: str
    alarm: str
    alarm_on_base: str

    @classmethod
    def of(cls, palette: QPalette) -> _Chrome:
        """All taken or mixed from the palette's roles."""
        role = QPalette.ColorRole
        window, base = palette.color(role.Window), palette.color(role.Base)
        ink, accent, button = palette.color(role.WindowText), palette.color(role.Accent), palette.color(role.Button)
        alarm = QColor(OKABE_ITO[5])
        colours = {
            "window": window,
            "base": base,
            "button": button,
            "ink": ink,
            "accent": accent,
            "on_accent": text_on(accent),
            "accent_hover": mix(accent, ink, 0.12),
            "line": line_colour(palette),
            "quiet": muted(palette),
            "faint": palette.color(QPalette.ColorGroup.Disabled, role.WindowText),
            "hover": mix(button, ink, 0.07),
            "press": mix(button, ink, 0.14),
            "rail": mix(window, ink, 0.04),
            "chosen": mix(window, accent, 0.18),
            "off": mix(window, ink, 0.06),
            "alarm": mix(window, alarm, 0.16),
            "alarm_on_base": mix(base, alarm, 0.16),
        }
        return cls(**{name: colour.name() for name, colour in colours.items()})

    def shade(self, share: float) -> str:
        """The window's colour with so much of the ink."""
        return mix(QColor(self.window), QColor(self.ink), share).name()

    def on_base(self, share: float) -> str:
        """The colour of what is written on with so much of the ink."""
        return mix(QColor(self.base), QColor(self.ink), share).name()


def style_sheet(palette: QPalette) -> str:
    """Rules for the standard widgets, all colours taken or mixed from the palette's roles."""
    chrome = _Chrome.of(palette)
    return "".join(rules(chrome) for rules in (_buttons, _fields, _lists, _frame))


def apply_look(app: QApplication, look: Look) -> None:
    """Colour the whole program as the user chose."""
    hints = app.styleHints()
    scheme = {Look.LIGHT: Qt.ColorScheme.Light, Look.SYSTEM: Qt.ColorScheme.Unknown}.get(look, Qt.ColorScheme.Dark)
    hints.setColorScheme(scheme)
    asks_contrast = hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast
    chosen = palette_for(look, hints.colorScheme() == Qt.ColorScheme.Dark, asks_contrast)
    palette = QApplication.style().standardPalette() if chosen is None else chosen
    app.setPalette(palette)
    app.setStyleSheet(style_sheet(palette))
    forget_icons()


def _buttons(c: _Chrome) -> str:
    """Labels and buttons."""
    return f"""
    QToolTip {{ background: {c.ink}; color: {c.window}; border: 0; padding: 4px 8px; }}
    QLabel[rank="second"] {{ color: {c.quiet}; }}
    QLabel[heading="page"] {{ font-size: {PAGE}pt; font-weight: 600; }}
    QLabel[heading="part"] {{ font-size: {PART}pt; font-weight: 600; }}
    QPushButton {{ background: {c.button}; color: {c.ink}; border: 1px solid {c.line}; border-radius: 6px;
        padding: 6px 16px; min-height: 20px; }}
    QPushButton:hover {{ background: {c.hover}; }}
    QPushButton:pressed {{ background: {c.press}; }}
    QPushButton:focus {{ border: 2px solid {c.accent}; padding: 5px 15px; }}
    QPushButton:disabled {{ color: {c.faint}; background: {c.off}; }}
    QPushButton[rank="first"] {{ background: {c.accent}; color: {c.on_accent}; border-color: {c.accent};
        font-weight: 600; }}
    QPushButton[rank="first"]:hover {{ background: {c.accent_hover}; }}
    QPushButton[rank="first"]:focus {{ border-color: {c.ink}; }}
    QPushButton[rank="first"]:disabled {{ background: {c.off}; color: {c.quiet}; border-color: {c.line};
        font-weight: 400; }}
    QPushButton[rank="card"] {{ background: {c.base}; border-radius: 8px; padding: 0; text-align: left; }}
    QPushButton[rank="card"]:hover {{ background: {c.on_base(0.05)}; border-color: {c.quiet}; }}
    QPushButton[rank="card"]:pressed {{ background: {c.press}; }}
    QPushButton[rank="card"]:focus {{ border: 2px solid {c.accent}; padding: 0; }}
    QPushButton[rank="row"] {{ background: transparent; border-color: transparent; padding: 0; text-align: left; }}
    QPushButton[rank="row"]:hover {{ background: {c.shade(0.06)}; }}
    QPushButton[rank="row"]:focus {{ border: 2px solid {c.accent}; padding: 0; }}
    QPushButton[rank="row"]:disabled {{ background: transparent; }}
    QPushButton[tall="true"], QLineEdit[tall="true"] {{ min-height: 30px; }}
    QLabel[state="missing"] {{ color: {c.faint}; }}
    QPushButton[rank="plain"] {{ background: transparent; border-color: transparent; }}
    QPushButton[rank="plain"]:hover {{ background: {c.shade(0.08)}; }}
    QPushButton[rank="plain"]:focus {{ border-color: {c.accent}; }}
    QPushButton[rank="plain"]:checked {{ background: {c.chosen}; }}
    QPushButton[rank="plain"]:disabled {{ background: transparent; }}
    """


def _fields(c: _Chrome) -> str:
    """Where something is typed, chosen or ticked."""
    tick = "tick-white.svg" if QColor(c.on_accent).lightnessF() > 0.5 else "tick-black.svg"
    return f"""
    QCheckBox {{ color: {c.ink}; spacing: 8px; }}
    QCheckBox:disabled {{ color: {c.faint}; }}
    QCheckBox::indicator {{ width: 14px; height: 14px; border: 1px solid {c.quiet}; border-radius: 4px;
        background: {c.base}; }}
    QCheckBox::indicator:hover {{ border-color: {c.ink}; }}
    QCheckBox::indicator:focus {{ border: 2px solid {c.accent}; }}
    QCheckBox::indicator:checked {{ background: {c.accent}; border-color: {c.accent};
        image: url("{resource(tick, "marks").as_posix()}"); }}
    QCheckBox::indicator:disabled {{ border-color: {c.line}; background: {c.off}; }}
    QLineEdit, QPlainTextEdit, QTextEdit, QComboBox {{ background: {c.base};
        color: {c.ink}; border: 1px solid {c.line}; border-radius: 6px; padding: 5px 8px; min-height: 20px;
        selection-background-color: {c.accent}; selection-color: {c.on_accent}; }}
    QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QComboBox:focus {{
        border: 2px solid {c.accent}; padding: 4px 7px; }}
    QAbstractSpinBox {{ min-height: 26px; }}
    QAbstractSpinBox QLineEdit, QComboBox QLineEdit {{ border: 0; padding: 0 4px; min-height: 0;
        background: transparent; }}
    QComboBox::drop-down {{ border: 0; width: 24px; }}
    QComboBox::down-arrow {{ image: url("{resource("chevron.svg").as_posix()}"); width: 12px; height: 12px; }}
    QLineEdit:disabled, QComboBox:disabled {{ color: {c.faint}; background: {c.off}; }}
    """


def _lists(c: _Chrome) -> str:
    """Lists, and what scrolls or grows."""
    return f"""
    QAbstractItemView {{ background: {c.base}; color: {c.ink}; border: 1px solid {c.line};
        border-radius: 6px; selection-background-color: {c.accent}; selection-color: {c.on_accent}; outline: 0; }}
    QHeaderView::section {{ background: {c.window}; color: {c.quiet}; border: 0;
        border-bottom: 1px solid {c.line}; padding: 4px 8px; }}
    QListWidget#command-list {{ border: 0; }}
    QListWidget#command-list::item {{ padding-left: 8px; border-radius: 6px; }}
    QListWidget#command-list::item:selected {{ background: {c.accent}; color: {c.on_accent}; }}
    QWidget#help-page {{ background: {c.base}; }}
    QSplitter::handle {{ background: {c.window}; }}
    QSplitter::handle:hover {{ background: {c.line}; }}
    QScrollArea {{ border: 0; background: transparent; }}
    QScrollBar:vertical {{ background: transparent; width: 12px; margin: 0; }}
    QScrollBar:horizontal {{ background: transparent; height: 12px; margin: 0; }}
    QScrollBar::handle {{ background: {c.shade(0.30)}; border-radius: 4px; margin: 2px;
        min-height: 32px; min-width: 32px; }}
    QScrollBar::handle:hover {{ background: {c.shade(0.50)}; }}
    QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page {{
        background: transparent; border: 0; width: 0; height: 0; }}
    QProgressBar {{ background: {c.shade(0.12)}; border: 0; border-radius: 3px; max-height: 6px;
        min-height: 6px; }}
    QProgressBar::chunk {{ background: {c.accent}; border-radius: 3px; }}
    """


def _frame(c: _Chrome) -> str:
    """The frame of the window, and its highlighted parts."""
    return f"""
    QWidget#rail {{ background: {c.rail}; }}
    QWidget#rail QToolButton {{ background: transparent; color: {c.quiet}; border: 2px solid transparent;
        border-radius: 8px; padding: 6px 0; }}
    QWidget#rail QToolButton:hover {{ background: {c.shade(0.10)}; color: {c.ink}; }}
    QWidget#rail QToolButton:focus {{ border-color: {c.accent}; }}
    QWidget#rail QToolButton:checked {{ background: {c.chosen}; color: {c.ink}; }}
    QWidget#rail QToolButton:disabled {{ color: {c.faint}; }}
    QWidget#status-line {{ background: {c.rail}; }}
    QWidget#status-line QLabel {{ color: {c.quiet}; }}
    QFrame#error-bar {{ background: {c.alarm_on_base}; border: 0;
        border-left: 4px solid {OKABE_ITO[5]}; }}
    QLabel[state="warning"] {{ background: {c.alarm};
        border-left: 4px solid {OKABE_ITO[5]}; padding: 4px 8px; }}
    QFrame[card="true"] {{ background: {c.base}; border: 1px solid {c.line}; border-radius: 8px; }}
    """
