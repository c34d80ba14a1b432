"""Tables of figures, printed in a terminal beside a baseline or written as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table

# Changes below this share are not shown: runs on one machine differ by more than that.
_SHOWN_CHANGE = 0.005


@dataclass(frozen=True)
class Column:
    heading: str
    format: str = ",.0f"
    missing: str = ""

    def show(self, figure: float | None) -> str:
        return self.missing if figure is None else format(figure, self.format)


@dataclass(frozen=True)
class FigureTable:
    """Figures by row label and column. Rows of two runs are compared by their labels."""

    title: str
    label: str
    columns: Sequence[Column]
    rows: Mapping[str, Sequence[float | None]]
    notes: Sequence[str] = ()

    def to_console(self, baseline: "FigureTable | None" = None) -> Table:
        """Build the table for a terminal; each figure is followed by its change."""
        caption = "\n".join(self.notes)
        table = Table(self.label, title=self.title, caption=caption, caption_justify="left")
        for column in self.columns:
            table.add_column(column.heading, justify="right")
        for label, figures in self.rows.items():
            before = baseline.rows.get(label) if baseline else None
            table.add_row(label, *self._show_compared(figures, before))
        return table

    def _show_compared(
        self, figures: Sequence[float | None], before: Sequence[float | None] | None
    ) -> list[str]:
        if before is None or len(before) != len(figures):
            before = [None] * len(figures)
        return [
            f"{column.show(figure)}{_show_change(figure, old)}"
            for column, figure, old in zip(self.columns, figures, before, strict=True)
        ]

    def to_markdown(self) -> str:
        headings = [self.label, *(column.heading for column in self.columns)]
        lines = [
            f"**{self.title}**",
            "",
            f"| {' | '.join(headings)} |",
            f"|---|{'---:|' * len(self.columns)}",
        ]
        for label, figures in self.rows.items():
            cells = [c.show(figure) for c, figure in zip(self.columns, figures, strict=True)]
            lines.append(f"| {' | '.join([label, *cells])} |")
        if self.notes:
            lines += ["", *(f"- {note}" for note in self.notes)]
        return "\n".join(lines)


def _show_change(figure: float | None, before: float | None) -> str:
    if figure is None or not before:
        return ""
    change = figure / before - 1
    return f" ({change:+.0%})" if abs(change) >= _SHOWN_CHANGE else ""
