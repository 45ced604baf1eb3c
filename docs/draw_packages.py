"""Draw the packages, the rooms inside them and who imports whom, from the imports themselves, as SVG."""

from __future__ import annotations

import ast
from html import escape
from itertools import product
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "crowdclust_app"
# where each package is drawn: left edge, row, width
PLACES = {
    "cli": (0, 0, 230),
    "gui": (250, 0, 480),
    "api": (750, 0, 230),
    "services": (0, 1, 980),
    "storage": (0, 2, 150),
    "io": (170, 2, 150),
    "inference": (340, 2, 390),
    "evaluation": (750, 2, 230),
    "sampling": (750, 3, 230),
    "domain": (0, 4, 980),
}
ROWS = (0, 122, 228, 342, 466)
LINE, PAD = 17, 12


def imported(path: Path) -> set[str]:
    """Packages of ours that a module imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("crowdclust_app.")}


def arrows() -> list[tuple[str, str]]:
    """Who imports whom, without what follows from other arrows."""
    direct = {
        name: set().union(*map(imported, (PACKAGE / name).rglob("*.py"))) & set(PLACES) - {name} for name in PLACES
    }
    reached = {name: set(targets) for name, targets in direct.items()}
    for middle, start in product(PLACES, PLACES):
        if middle in reached[start]:
            reached[start] |= reached[middle]
    return [
        (start, end)
        for start, targets in direct.items()
        for end in sorted(targets)
        if not any(end in reached[other] for other in targets - {end})
    ]


def rooms(folder: Path) -> list[str]:
    """Packages inside a package."""
    return sorted(path.parent.name for path in folder.glob("*/__init__.py"))


def words(name: str) -> list[str]:
    """What is written in a package's box: what it is, then its rooms, in lines that fit."""
    folder = PACKAGE / name
    about = (ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or "").split(". ")[0]
    parts = [about.rstrip(".")]
    inside = [
        f"{room} ({', '.join(below)})" if (below := rooms(folder / room)) else room
        for room in rooms(folder)
        if folder.parent == PACKAGE
    ]
    parts += [", ".join(inside)] if inside else []
    most = int((PLACES[name][2] - 2 * PAD) / 6.4)
    lines: list[str] = []
    for part in parts:
        line = ""
        for word in part.split():
            if len(line) + len(word) + 1 > most:
                lines.append(line)
                line = ""
            line = f"{line} {word}".strip()
        lines.append(line)
    return lines


def heights() -> dict[str, int]:
    """Height of each box."""
    return {name: 2 * PAD + LINE * (1 + len(words(name))) for name in PLACES}


def draw(out: Path) -> None:
    """Write the picture.

    Raises
    ------
    ValueError
        When there is a package that has no place in it.
    """
    if left_out := set(rooms(PACKAGE)) - set(PLACES):
        raise ValueError(f"say where to draw {', '.join(sorted(left_out))}")
    tall = heights()
    parts = []
    for start, end in arrows():
        (left, row, width), (other, below, span) = PLACES[start], PLACES[end]
        low, high = max(left, other), min(left + width, other + span)
        x = (low + high) // 2 if low < high else left + width
        if row == below:
            y = ROWS[row] + 24
            parts.append(f'<path class="arrow" d="M{left + width},{y} H{other - 3}"/>')
        else:
            parts.append(f'<path class="arrow" d="M{x},{ROWS[row] + tall[start]} V{ROWS[below] - 3}"/>')
    for name, (left, row, width) in PLACES.items():
        y = ROWS[row]
        parts.append(f'<rect x="{left}" y="{y}" width="{width}" height="{tall[name]}" rx="6"/>')
        parts.append(f'<text class="name" x="{left + PAD}" y="{y + PAD + 13}">{name}</text>')
        for number, line in enumerate(words(name), start=2):
            parts.append(f'<text x="{left + PAD}" y="{y + PAD + 13 + (number - 1) * LINE}">{escape(line)}</text>')
    bottom = ROWS[-1] + tall["domain"] + 2
    style = (
        "rect{fill:#f5f7fa;stroke:#6b7c8d;stroke-width:1.2}"
        "text{font:12px sans-serif;fill:#24313d}.name{font-weight:bold;font-size:14px}"
        ".arrow{fill:none;stroke:#6b7c8d;stroke-width:1.6;marker-end:url(#tip)}"
    )
    tip = (
        '<marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#6b7c8d"/></marker>'
    )
    out.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 -2 984 {bottom + 2}" width="984" height="{bottom + 2}">'
        f"<style>{style}</style><defs>{tip}</defs>{''.join(parts)}</svg>\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    draw(Path("packages.svg"))
