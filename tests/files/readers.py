"""Independent readers: what Python's csv and openpyxl say is in a file, as text."""

import csv
import datetime as dt
import io
import json
import re
import warnings
import zipfile
from decimal import Decimal
from typing import Any

import openpyxl
from openpyxl.styles.numbers import is_date_format

from core import CODECS, Item


def read(item: Item) -> dict[str, Any]:
    """Returns what the manifest says about the content: expect, columns, rows, disagreements."""
    if item.kind == "none":
        return {}
    if item.kind == "xlsx":
        return read_sheet(item)
    data = item.data if item.inner is None else item.inner
    if item.kind == "jsonl":
        return read_lines(data.decode("utf-8-sig"))
    return read_csv(item, data)


def read_lines(content: str) -> dict[str, Any]:
    lines = [line.strip(" \t\r") for line in content.split("\n") if line.strip()]
    for line in lines:
        json.loads(line)
    rows = [{"row": number, "cells": [line]} for number, line in enumerate(lines, 1)]
    return {"expect": {"format": "jsonl"}, "columns": [], "rows": rows}


def read_csv(item: Item, data: bytes) -> dict[str, Any]:
    content = data.decode(CODECS[item.encoding], errors="replace").removeprefix("\ufeff")
    if re.match(r'"?sep=', content, re.IGNORECASE):
        content = re.sub(r"^[^\r\n]*(\r\n|\r|\n)", "", content, count=1)
    quoting = csv.QUOTE_MINIMAL if item.quote else csv.QUOTE_NONE
    quote = item.quote or None
    source = Lines(content)
    reader = csv.reader(source, delimiter=item.delimiter or "\0", quotechar=quote, quoting=quoting)
    # A row of quotes is a row, as in exports that write `""` for an empty line.
    rows = [row for row in reader if any(cell.strip(" \t") for cell in row) | source.take_quotes(quote)]
    if item.comment:
        rows = [row for row in rows if not row[0].startswith(item.comment)]
    header = rows[item.header - 1] if item.header else None
    body = rows[item.header:]
    columns = name_columns(header if header is not None else [""] * len(rows[0]))
    found = [{"row": number, "cells": trimmed(row)} for number, row in enumerate(body, 1)]
    expect: dict[str, Any] = {"encoding": item.encoding, "headerRow": item.header}
    if item.delimiter:
        expect["delimiter"] = item.delimiter
    if item.quote != '"':
        expect["quote"] = item.quote
    if item.encoding.startswith("UTF-16"):
        expect["encoding"] = "UTF-8"
        expect["originalEncoding"] = item.encoding
    return {"expect": expect, "columns": columns, "rows": found, "values": typed(item, columns, body),
            "failing": failing(columns, body, is_valid(item, data))}


def is_valid(item: Item, data: bytes) -> bool:
    try:
        data.decode(CODECS[item.encoding])
    except UnicodeDecodeError:
        return False
    return True


def failing(columns: list[str], body: list[list[str]], is_valid: bool) -> list[dict[str, Any]]:
    """Returns the rows that fail in every import: another number of cells than columns, or bad bytes."""
    found = []
    for number, row in enumerate(body, 1):
        if not is_valid and any("\ufffd" in cell for cell in row):
            found.append({"row": number, "code": "not_utf8"})
        elif len(row) != len(columns):
            code = "too_few_cells" if len(row) < len(columns) else "too_many_cells"
            found.append({"row": number, "code": code})
    return found


class Lines:
    """The lines of a text, for a reader that is asked if its last row had quotes."""

    def __init__(self, content: str) -> None:
        self.lines = io.StringIO(content, newline="")
        self.read: list[str] = []

    def __iter__(self) -> "Lines":
        return self

    def __next__(self) -> str:
        self.read.append(next(self.lines))
        return self.read[-1]

    def take_quotes(self, quote: str | None) -> bool:
        """Returns true if the lines that were read since the last call have quotes."""
        lines, self.read = self.read, []
        return quote is not None and any(quote in line for line in lines)


def typed(item: Item, columns: list[str], body: list[list[str]]) -> list[dict[str, Any]]:
    """Returns the values of the columns with a type, converted by Python."""
    if not item.types:
        return []
    values = []
    for number, row in enumerate(body, 1):
        cells = dict(zip(columns, row))
        row_values = {column: convert(cells[column], how) for column, how in item.types.items() if cells.get(column)}
        values.append({"row": number, "values": row_values})
    return values


def convert(cell: str, how: tuple[str, str]) -> Any:
    kind, notation = how
    if kind == "date":
        return dt.datetime.strptime(cell.strip(), notation).date().isoformat()
    if kind == "boolean":
        return cell.strip().lower() == notation
    plain = re.sub(r"[\s'\u2019" + ("." if notation == "," else ",") + "]", "", cell).replace(",", ".")
    number = Decimal(plain)
    return int(number) if number == number.to_integral_value() else float(number)


def name_columns(header: list[str]) -> list[str]:
    """Names columns as the guide says: trimmed; by position if empty; numbered if repeated."""
    names = [cell.strip().strip("\ufeff").strip() for cell in header]
    taken = set(names) | {f"column_{position}" for position in range(1, len(names) + 1)}
    seen: dict[str, int] = {}
    for position, name in enumerate(names):
        if not name:
            names[position] = f"column_{position + 1}"
        elif name in seen:
            while f"{name}_{seen[name]}" in taken:
                seen[name] += 1
            names[position] = f"{name}_{seen[name]}"
            taken.add(names[position])
        else:
            seen[name] = 2
    return names


def trimmed(cells: list[str]) -> list[str]:
    cells = list(cells)
    while cells and not cells[-1]:
        cells.pop()
    return cells


def read_sheet(item: Item) -> dict[str, Any]:
    data = item.data if item.inner is None else item.inner
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values, formulas = (openpyxl.load_workbook(io.BytesIO(data), data_only=only) for only in (True, False))
    sheets = [sheet for sheet in values.worksheets if sheet.sheet_state == "visible"]
    sheet = values[item.sheet] if item.sheet else sheets[0]
    formulas_sheet = formulas[sheet.title]
    texts = stored_texts(data, values.sheetnames.index(sheet.title) + 1)
    rows, differences = [], []
    for cells in sheet.iter_rows():
        found = []
        for cell in cells:
            theirs = cell_text(cell.value)
            ours = our_text(cell, formulas_sheet.cell(cell.row, cell.column), theirs, texts)
            if ours is not None:
                because = ours.pop("because")
                differences.append({"row": cell.row, "column": cell.column, **ours, "theirs": theirs, "because": because})
            found.append(theirs)
        number = cells[0].row
        has_error = any(difference["row"] == number for difference in differences)
        if trimmed(found) or has_error:
            rows.append({"row": number, "cells": trimmed(found)})
    # A negative number is the first row with text.
    header = item.header if item.header >= 0 else rows[0]["row"]
    above = [row for row in rows if row["row"] <= header]
    names = next((row["cells"] for row in rows if row["row"] == header), None)
    body = [row for row in rows if row["row"] > header]
    width = max((len(row["cells"]) for row in rows), default=0)
    expect = {"sheet": sheet.title, "headerRow": len(above), "headerSheetRow": header}
    # A sheet has no cells where its header ends early.
    columns = name_columns((names or []) + [""] * (width - len(names or [])))
    return {"expect": expect, "columns": columns, "rows": body, "disagreements": differences}


def cell_text(value: Any) -> str:
    """Formats a value of openpyxl as an import does: shortest decimals, ISO dates, lower-case booleans."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            number = Decimal(repr(float(value)))
            text = f"{number:f}"
            text = text.rstrip("0").rstrip(".") if "." in text else text
            return "0" if text == "-0" else text
        case dt.datetime():
            clock = clock_text(value.time())
            date = f"{value.year:04}-{value.month:02}-{value.day:02}"
            return date if clock == "00:00:00" else f"{date}T{clock}"
        case dt.date():
            return value.isoformat()
        case dt.time():
            return clock_text(value)
        case dt.timedelta():
            return duration_text(value)
        case _:
            return str(value)


def clock_text(clock: dt.time) -> str:
    milliseconds = round(clock.microsecond / 1000)
    text = f"{clock.hour:02}:{clock.minute:02}:{clock.second:02}"
    return f"{text}.{milliseconds:03}" if milliseconds else text


def duration_text(duration: dt.timedelta) -> str:
    total = round(duration.total_seconds() * 1000)
    seconds, rest = divmod(abs(total), 1000)
    text = f"{'-' if total < 0 else ''}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{rest:03}" if rest else text


def our_text(cell: Any, formula: Any, theirs: str, texts: set[str]) -> dict[str, Any] | None:
    """Returns our text and the reason, where it differs by design. `texts` are the cells with a stored text."""
    if formula.data_type == "f" and cell.value is None and cell.coordinate not in texts:
        return error(NO_VALUE, "a formula without a stored result is an error of its cell; openpyxl gives no value")
    if cell.data_type == "e":
        if is_date_format(cell.number_format):
            return error(NO_VALUE, "a date that does not exist; openpyxl gives #VALUE!")
        return error(theirs, "an error is an error of its cell, not text")
    if theirs in ("Infinity", "-Infinity"):
        return error(NO_VALUE, "the number is too large for a cell; openpyxl reads it as infinite")
    if isinstance(cell.value, str) and re.search("_x[0-9A-Fa-f]{4}_", theirs):
        ours = re.sub("_x([0-9A-Fa-f]{4})_", lambda found: chr(int(found[1], 16)), theirs)
        return {"ours": ours, "because": "escaped characters are replaced; openpyxl leaves them"}
    return None


#: What a cell without a value shows, unless it shows an error of its own.
NO_VALUE = "#VALUE!"


def error(shown: str, because: str) -> dict[str, Any]:
    """Returns a cell without a value, which fails its row, and the text that it shows."""
    return {"ours": shown, "isError": True, "because": because}


def stored_texts(data: bytes, position: int) -> set[str]:
    """Returns the cells of a sheet whose formula has a text as its stored result, which can be empty."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        name = f"xl/worksheets/sheet{position}.xml"
        xml = archive.read(name).decode("utf-8", "replace") if name in archive.namelist() else ""
    cells = re.findall(r"<c ([^>]*)>(?:(?!</c>).)*?<v\s*(?:/>|>)", xml, re.DOTALL)
    texts = [re.search(r'\br="([A-Z]+[0-9]+)"', cell) for cell in cells if 't="str"' in cell]
    return {found[1] for found in texts if found}
