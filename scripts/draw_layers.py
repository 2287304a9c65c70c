"""Draws pyhudi's packages, the layers they stand on and the imports between them: `python -m scripts.draw_layers`.

Packages stand on the diagonal, the highest layer at the top left. An import leaves the importing package downwards and
enters the imported one from the left. So every allowed import runs down and to the right; one that goes up, or stays on
its layer, is drawn in red.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from scripts.import_graph import ROOT, layers, modules, package_edges, package_of

TARGET = ROOT / "docs" / "design" / "layers.svg"

STEP_X, STEP_Y = 58, 46
BOX_WIDTH, BOX_HEIGHT = 96, 28
MARGIN = 24
ARROW_TIP = (
    '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0 8 4 0 8z" fill="#8aa1b8"/></marker>'
)
STYLE = """
    .page { fill: #ffffff }
    text { font: 12px sans-serif; fill: #1d2733 }
    .box { fill: #e8f0fa; stroke: #35608f; rx: 4 }
    .band { fill: #f6f8fa }
    .import { fill: none; stroke: #8aa1b8; stroke-width: 1.1 }
    .corner { fill: #8aa1b8 }
    .wrong { stroke: #c22020; stroke-width: 2.5 }
"""


def render() -> str:
    """The drawing as SVG text, the same for the same source."""
    present = {package_of(module) for module in modules()}
    rows = [row for row in ([name for name in layer if name in present] for layer in layers()) if row]
    order = [name for row in rows for name in row]
    index = {name: number for number, name in enumerate(order)}
    layer_of = {name: number for number, row in enumerate(rows) for name in row}
    width = MARGIN * 2 + STEP_X * (len(order) - 1) + BOX_WIDTH + 20
    height = MARGIN * 2 + STEP_Y * (len(order) - 1) + BOX_HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        "  <title>pyhudi: packages by layer, and their imports</title>",
        f"  <defs>{ARROW_TIP}</defs>",
        f"  <style>{STYLE}  </style>",
        f'  <rect class="page" width="{width}" height="{height}"/>',
        *_bands(rows, index, width),
    ]
    for source, target in sorted(package_edges()):
        if source in index and target in index:
            parts += _arrow(source, target, index, wrong=layer_of[target] <= layer_of[source])
    parts += [line for name in order for line in _box(name, index[name])]
    return "\n".join([*parts, "</svg>", ""])


def _left(number: int) -> int:
    return MARGIN + number * STEP_X


def _top(number: int) -> int:
    return MARGIN + number * STEP_Y


def _bands(rows: list[list[str]], location: dict[str, int], width: int) -> list[str]:
    """Every second layer lies on a grey band."""
    bands = []
    for number, row in enumerate(rows):
        if number % 2 == 0:
            top = _top(location[row[0]]) - (STEP_Y - BOX_HEIGHT) // 2
            bands.append(f'  <rect class="band" x="0" y="{top}" width="{width}" height="{STEP_Y * len(row)}"/>')
    return bands


def _arrow(source: str, target: str, location: dict[str, int], *, wrong: bool) -> list[str]:
    start, end = location[source], location[target]
    x, y = _left(start) + 22, _top(end) + BOX_HEIGHT // 2
    leave = _top(start) + (BOX_HEIGHT if end > start else 0)
    enter = _left(end) + (0 if end > start else BOX_WIDTH)
    kind = "import wrong" if wrong else "import"
    label = escape(f"{source} imports {target}")
    return [
        f'  <path class="{kind}" marker-end="url(#tip)" d="M{x} {leave} V{y} H{enter}"><title>{label}</title></path>',
        f'  <circle class="corner" cx="{x}" cy="{y}" r="3"/>',
    ]


def _box(name: str, number: int) -> list[str]:
    x, y = _left(number), _top(number)
    return [
        f'  <rect class="box" x="{x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}"/>',
        f'  <text x="{x + BOX_WIDTH // 2}" y="{y + 18}" text-anchor="middle">{escape(name)}</text>',
    ]


def main(target: Path = TARGET) -> None:
    """Write the drawing to its place."""
    target.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
