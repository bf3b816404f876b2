"""Figures and tables in readable form."""

from __future__ import annotations

import html
from collections.abc import Sequence
from datetime import datetime


def size(count: int) -> str:
    """Write a number of bytes.

    Examples:
        >>> size(1536), size(3 << 30)
        ('1.5 KiB', '3.0 GiB')
    """
    value, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"


def counted(number: int, noun: str) -> str:
    """Write a number with its noun in the singular or plural.

    Examples:
        >>> counted(1, "file"), counted(2, "file"), counted(0, "file")
        ('1 file', '2 files', '0 files')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def number(value: float | None) -> str:
    """Write a number with at most two decimals, or a dash for None.

    Examples:
        >>> number(1.256), number(7), number(None)
        ('1.26', '7', '–')
    """
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.2f}"


def share(value: float | None) -> str:
    """Write a share of 1 in percent, or a dash for None.

    Examples:
        >>> share(0.125), share(None)
        ('12.5 %', '–')
    """
    return "–" if value is None else f"{100 * value:.1f} %"


def shorten(text: str, length: int = 40) -> str:
    """Truncate a long text, with an ellipsis.

    Examples:
        >>> shorten("user = 5", 6)
        'user …'
    """
    return text if len(text) <= length else text[: length - 1] + "…"


def shorten_middle(text: str, length: int) -> str:
    """Cut the middle out of a long text: long texts of one kind often begin alike.

    Examples:
        >>> shorten_middle("https://example.org/a/1", 12)
        'https:…g/a/1'
    """
    if len(text) <= length:
        return text
    end = (length - 1) // 2
    return text[: length - 1 - end] + "…" + text[len(text) - end :]


def seconds(milliseconds: int) -> str:
    """Write a time in seconds.

    Examples:
        >>> seconds(1260)
        '1.3 s'
    """
    return f"{milliseconds / 1000:.1f} s"


def moment(time: datetime) -> str:
    """Write a local time with its zone, to the second."""
    return f"{time.astimezone():%Y-%m-%d %H:%M:%S %Z}"


def table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lay out a table for a fixed-width font; the first column is text, the others numbers."""
    widths = [max(len(row[i]) for row in [titles, *rows]) for i in range(len(titles))]
    return [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [titles, *rows]
    ]


def html_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write the same table as HTML."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(titles, 'th')}</thead><tbody>{body}</tbody></table>"
