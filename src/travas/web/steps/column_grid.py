"""The first rows of the log in a grid, with the columns of case, activity and time first. Confidential."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from ...sources.reading import Reading
from ..preview import Preview

MOST_COLUMNS = 60
_LONGEST_CELL = 80
HIDDEN = "•••••"
"""Replaces every value until the user asks for the values: only then are they sent to the browser."""

_ROLES = ("case", "activity", "time")
_WIDTHS = {"case": 150, "activity": 150, "time": 190}


def roles_of(preview: Preview, reading: Reading) -> dict[str, str]:
    """Return the role of each column that has one: case, activity or time.

    In XES the case is not a column of events, and times are recognised even if the order is that of the file.
    """
    is_table = preview.kind == "table"
    roles = {} if reading.case is None or not is_table else {reading.case: "case"}
    timestamp = reading.timestamp if is_table else reading.timestamp or preview.timestamp
    roles |= {} if timestamp is None else {timestamp: "time"}
    return roles | dict.fromkeys(reading.activity, "activity")


def grid_options(preview: Preview, reading: Reading, shows_values: bool) -> dict[str, Any]:
    """Return the options of the grid: text only, pinned columns first, values only if they are to be shown."""
    roles = roles_of(preview, reading)
    names = list(preview.columns[:MOST_COLUMNS])
    columns = []
    for index, name in sorted(enumerate(names), key=lambda each: _rank(roles.get(each[1]))):
        role = roles.get(name)
        column: dict[str, Any] = {"field": f"c{index}", "headerName": name, "minWidth": 130}
        if role is not None:
            column |= {
                "headerName": f"{role}: {name}",
                "headerClass": f"role-{role}",
                "pinned": "left",
                "width": _WIDTHS[role],
            }
        columns.append(column)
    rows = [
        {f"c{index}": cell[:_LONGEST_CELL] if shows_values else HIDDEN for index, cell in enumerate(row[: len(names)])}
        for row in preview.rows
    ]
    return {
        "columnDefs": columns,
        "rowData": rows,
        "defaultColDef": {"sortable": False, "suppressMovable": True, "cellDataType": "text"},
        "domLayout": "autoHeight",
        "suppressFieldDotNotation": True,
        "ensureDomOrder": True,
    }


def _rank(role: str | None) -> int:
    return len(_ROLES) if role is None else _ROLES.index(role)


class ColumnGrid:
    """The grid, which follows the chosen columns. Values are hidden until `show_values`."""

    def __init__(self, preview: Preview, reading: Reading, shows_values: bool) -> None:
        self._preview, self._shows_values = preview, shows_values
        options = grid_options(preview, reading, shows_values)
        self._grid = ui.aggrid(options, auto_size_columns=False).classes("column-grid w-full")
        self._mark()

    def follow(self, reading: Reading) -> None:
        """Show the columns of another reading first."""
        self._grid.options.update(grid_options(self._preview, reading, self._shows_values))
        self._grid.update()

    def show_values(self, reading: Reading) -> None:
        """Show the values."""
        self._shows_values = True
        self._mark()
        self.follow(reading)

    def _mark(self) -> None:
        self._grid.classes(
            remove="blurred" if self._shows_values else None, add=None if self._shows_values else "blurred"
        )
