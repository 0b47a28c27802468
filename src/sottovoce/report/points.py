"""Charts of points: means with whiskers by category, and clouds whose colour is a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from sottovoce.report.similarity import colour
from sottovoce.report.svg import (
    BOTTOM,
    COLOURS,
    HEIGHT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    Figure,
    at_x,
    at_y,
    grid,
    make_figure,
)

LEVELS = 48
"""Different colours of a scale."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean and a standard deviation over several values."""

    mean: float
    deviation: float
    """0 for a single value."""
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Summarise values; the standard deviation is that of a sample.

        Parameters
        ----------
        values : sequence of float
            At least one.
        """
        deviation = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        return cls(float(np.mean(values)), deviation, len(values))


def whisker_chart(
    title: str, description: str, label: str, categories: dict[str, Spread], *, high: float
) -> Figure:
    """Draw mean ± standard deviation of each category.

    Parameters
    ----------
    title, description : str
        Heading, and what it shows for those who do not see it.
    label : str
        Label of the vertical axis, which begins at 0.
    categories : dict of str to Spread
        From left to right.
    high : float
        Upper end of the vertical axis.
    """
    count = len(categories)
    ticks = tuple((i + 0.5, name) for i, name in enumerate(categories))
    x = Axis("", 0, count, ticks)
    y = Axis.nice(label, 0, high)
    parts = grid(x, y)
    for i, spread in enumerate(categories.values()):
        parts += _whisker(i, spread, x, y)
    numbers = "; ".join(
        f"{name}: {spread.mean:.3g} ± {spread.deviation:.2g}" for name, spread in categories.items()
    )
    return make_figure(title, f"{description} {numbers}.", HEIGHT, parts)


def _whisker(i: int, spread: Spread, x: Axis, y: Axis) -> list[str]:
    across = float(at_x(x, i + 0.5))
    middle, low, high = (
        float(at_y(y, float(np.clip(spread.mean + sign * spread.deviation, y.low, y.high))))
        for sign in (0, -1, 1)
    )
    fill = COLOURS[1 + i % (len(COLOURS) - 1)]
    return [
        f'<path d="M{across:.1f} {low:.1f}V{high:.1f}M{across - 9:.1f} {low:.1f}h18'
        f'M{across - 9:.1f} {high:.1f}h18" stroke="#222" stroke-width="1.5"/>',
        f'<circle cx="{across:.1f}" cy="{middle:.1f}" r="6" fill="{fill}" stroke="#222"/>',
        f'<text x="{across + 14:.1f}" y="{middle + 4:.1f}" font-size="12">{spread.mean:.3g}</text>',
    ]


@dataclass(frozen=True, slots=True)
class Dot:
    """A point whose colour is a number."""

    x: float
    y: float
    value: float
    label: str = ""
    """What it is, shown by browsers under the pointer."""


def dot_chart(
    title: str,
    description: str,
    x: Axis,
    y: Axis,
    dots: Sequence[Dot],
    *,
    scale: str,
    diagonal: tuple[float, float, float, float] | None = None,
) -> Figure:
    """Draw points coloured by a number, with the scale of colours beside them.

    Parameters
    ----------
    title, description : str
        Heading, and what it shows for those who do not see it.
    x, y : Axis
        The axes; points beyond their ends are drawn at the ends.
    dots : sequence of Dot
        At least one.
    scale : str
        What the colours show.
    diagonal : tuple of four float, optional
        A line of reference from (x, y) to (x, y).
    """
    values = [dot.value for dot in dots]
    low, high = min(values), max(values)
    parts = grid(x, y)
    if diagonal is not None:
        ends = [(float(at_x(x, diagonal[i])), float(at_y(y, diagonal[i + 1]))) for i in (0, 2)]
        line = "L".join(f"{across:.1f} {up:.1f}" for across, up in ends)
        parts.append(f'<path d="M{line}" stroke="#888" stroke-dasharray="6 4"/>')
    parts += [_dot(dot, x, y, (dot.value - low) / (high - low or 1)) for dot in dots]
    return make_figure(title, description, HEIGHT, [*parts, *_scale(scale, low, high)])


def _dot(dot: Dot, x: Axis, y: Axis, share: float) -> str:
    across = float(at_x(x, float(np.clip(dot.x, x.low, x.high))))
    up = float(at_y(y, float(np.clip(dot.y, y.low, y.high))))
    return (
        f'<circle cx="{across:.1f}" cy="{up:.1f}" r="5" fill="{colour(share)}" stroke="#222" '
        f'stroke-width="0.7"><title>{escape(dot.label)}</title></circle>'
    )


def _scale(label: str, low: float, high: float) -> list[str]:
    left, side = WIDTH - RIGHT + 16, HEIGHT - TOP - BOTTOM
    step = side / LEVELS
    parts = [
        f'<rect x="{left}" y="{TOP + side - (level + 1) * step:.1f}" width="14" '
        f'height="{step + 0.5:.1f}" fill="{colour(level / (LEVELS - 1))}"/>'
        for level in range(LEVELS)
    ]
    ends = ((TOP + side, low), (TOP + 8, high))
    parts += [f'<text x="{left + 18}" y="{y}" font-size="11">{v:.2g}</text>' for y, v in ends]
    parts.append(f'<text x="{WIDTH - 6}" y="{TOP - 8}" text-anchor="end">{escape(label)}</text>')
    return parts
