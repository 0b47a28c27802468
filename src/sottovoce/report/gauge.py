"""One rate on a bar: how far from guessing, how near to speech that was not anonymised."""

from __future__ import annotations

from html import escape

from sottovoce.report.page import Markup, element
from sottovoce.report.readings import Found, between, crowd, percent, same_point

WIDTH, HEIGHT, TOP, THICK = 560, 66, 26, 16
ROOM = 4


def gauge(row: Found, originals: Found) -> Markup | None:
    """Linkability of an attack between chance and what it is without anonymisation."""
    point = crowd(row, "linkability")
    if point is None:
        return None
    before = same_point(originals, point)
    chance, value = _at(point["chance"]), _at(point["value"])
    words = f"{percent(point['value'])}{between(point)}, chance {percent(point['chance'])}"
    words += f", originals {percent(before['value'])}" if before else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="13" fill="#222">',
        f"<title>Linkability: {escape(words)}</title>",
        f'<rect class="track" x="{ROOM}" y="{TOP}" width="{WIDTH - 2 * ROOM}" height="{THICK}"/>',
        f'<rect class="bar" x="{ROOM}" y="{TOP}" width="{value - ROOM:.1f}" height="{THICK}"/>',
        *_spread(point),
        _tick(chance, f"chance {percent(point['chance'])}", below=True),
        _tick(value, f"Linkability {percent(point['value'])}", below=False),
    ]
    if before:
        label = f"originals {percent(before['value'])}"
        parts.append(_tick(_at(before["value"]), label, below=True))
    return element("div", Markup("".join([*parts, "</svg>"])), class_="gauge")


def _at(share: float) -> float:
    return ROOM + share * (WIDTH - 2 * ROOM)


def _spread(point: Found) -> list[str]:
    """The interval as a line through the bar."""
    if point.get("low") is None or point.get("high") is None:
        return []
    low, high, middle = _at(point["low"]), _at(point["high"]), TOP + THICK / 2
    path = f"M{low:.1f} {middle - 4}v8m0-4H{high:.1f}m0-4v8"
    return [
        f'<path class="halo" d="{path}" fill="none" stroke-width="6"/>',
        f'<path d="{path}" fill="none" stroke="#222" stroke-width="2"/>',
    ]


def _tick(x: float, label: str, *, below: bool) -> str:
    anchor = "end" if x > WIDTH * 0.6 else "start" if x < WIDTH * 0.3 else "middle"
    y, text = (TOP + THICK, HEIGHT - 6) if below else (TOP - 6, TOP - 10)
    return (
        f'<path d="M{x:.1f} {y}v6" stroke="#222" stroke-width="2"/>'
        f'<text x="{x:.1f}" y="{text}" text-anchor="{anchor}">{escape(label)}</text>'
    )
