"""What all pictures share: colours, frames, and their display in notebooks."""

from __future__ import annotations

import io
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from matplotlib.figure import Figure

from zcube.results import formatting

# Okabe and Ito's palette, which is colour-blind safe. Where colours distinguish things, markers,
# line styles or words do so as well.
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, GREY = "#56B4E9", "#CC79A7", "#9A9A9A"
SERIES = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), (PURPLE, "D"), (SKY, "v"), (VERMILION, "P"))

DPI = 120


class Picture(Figure):
    """A figure that notebooks display without pyplot, which would show it twice."""

    def savefig(self, *arguments: Any, **options: Any) -> None:
        """Save it. A character that the font lacks becomes a box, which everybody sees."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
            # matplotlib up to 3.10 also warns of their script.
            warnings.filterwarnings("ignore", "Matplotlib .* not support .* natively", UserWarning)
            super().savefig(*arguments, **options)

    def png(self) -> bytes:
        """Return it as a PNG file's bytes."""
        target = io.BytesIO()
        self.savefig(target, format="png", dpi=DPI)
        return target.getvalue()

    def _repr_png_(self) -> bytes:
        return self.png()


def picture(
    rows: int, columns: int, size: tuple[float, float], **share: Any
) -> tuple[Picture, list[Any]]:
    """Return a picture and its panels in reading order; ``size`` is a panel's size in inches."""
    figure = Picture(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, **share).ravel().tolist()
    for panel in panels:
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    return figure, panels


def series(count: int) -> Iterator[tuple[str, str]]:
    """Return colour and marker for each of ``count`` lines."""
    return (SERIES[i % len(SERIES)] for i in range(count))


def plain(text: str) -> str:
    r"""Return a text of the user's in one line, and ``$`` so that matplotlib doesn't read TeX.

    >>> plain("a$b\tc\nd")
    'a\\$b c d'
    """
    printable = "".join(" " if unicodedata.category(c) == "Cc" else c for c in text)
    return printable.replace("$", r"\$")


def whole_numbers(axis: Any) -> None:
    """Put ticks only at whole numbers, for counts."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, nbins="auto", min_n_ticks=1))


def dates(axis: Any) -> None:
    """Show days since 1970 as dates."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(maxticks=8)  # type: ignore[no-untyped-call]
    axis.set_major_locator(locator)
    axis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def names(axis: Any, values: Sequence[str]) -> None:
    """Label positions with the names at these indexes, as many as stay readable."""
    from matplotlib.ticker import FixedLocator

    # What distinguishes texts is at their ends, or before.
    ways = (formatting.shorten, formatting.shorten_middle)
    cut = [[shorten(value, 16) for value in values] for shorten in ways]
    labels = max(cut, key=lambda texts: len(set(texts)))
    # Beside each other, long ones take more room than above each other.
    longest = max(map(len, labels), default=0)
    most = 8 if axis.axis_name == "y" else max(2, min(8, 64 // (longest + 2)))
    places = range(0, len(values), max(1, -(-len(values) // most)))
    axis.set_major_locator(FixedLocator(list(places)))
    axis.set_ticklabels([plain(labels[place]) for place in places])
