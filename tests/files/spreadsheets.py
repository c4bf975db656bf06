"""Workbooks written by openpyxl and XlsxWriter."""

import datetime as dt
import io
import zipfile
from collections.abc import Callable

import openpyxl
import xlsxwriter
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.worksheet.table import Table

from core import Item

WHEN = dt.datetime(2024, 1, 31, 12)
OPENPYXL = f"made with openpyxl {openpyxl.__version__}"
WRITER = f"made with XlsxWriter {xlsxwriter.__version__}"
PEOPLE = [["id", "name", "city", "zip"], [1, "Ann", "Cork", "01067"], [2, "Bob", "Galway", "00501"],
          [3, "Zoë", "Köln", ""]]


def repacked(data: bytes, change: Callable[[str, bytes], bytes] = lambda name, part: part) -> bytes:
    """Returns the archive with fixed times, and its parts changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            new.writestr(info, change(name, old.read(name)), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def of_openpyxl(fill: Callable[[openpyxl.Workbook], None]) -> bytes:
    book = openpyxl.Workbook()
    fill(book)
    book.properties.created = book.properties.modified = WHEN
    out = io.BytesIO()
    book.save(out)
    stamp = b"2024-01-31T12:00:00Z"

    def fixed(name: str, part: bytes) -> bytes:
        if name != "docProps/core.xml":
            return part
        start = part.index(b"<dcterms:modified")
        start = part.index(b">", start) + 1
        return part[:start] + stamp + part[part.index(b"<", start):]

    return repacked(out.getvalue(), fixed)


def of_writer(fill: Callable[[xlsxwriter.Workbook], None], **how: bool) -> bytes:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True, **how})
    book.set_properties({"created": WHEN})
    fill(book)
    book.close()
    return repacked(out.getvalue())


def people(book: openpyxl.Workbook) -> None:
    for row in PEOPLE:
        book.active.append(row)


def titled(book: openpyxl.Workbook) -> None:
    sheet = book.active
    sheet.title = "Kunden"
    sheet["A1"] = "Customer report 2024"
    sheet.merge_cells("A1:D1")
    sheet["A2"] = dt.date(2024, 1, 31)
    for row, values in enumerate(PEOPLE, 4):
        for column, value in enumerate(values, 1):
            sheet.cell(row, column, value or None)
    sheet.freeze_panes = "A5"


def several(book: openpyxl.Workbook) -> None:
    book.active.title = "Cover"
    book.active["A1"] = "See the other sheets"
    data = book.create_sheet("Data 2024")
    hidden = book.create_sheet("Lists")
    hidden.sheet_state = "hidden"
    for row in PEOPLE:
        data.append(row)
    hidden.append(["yes", "no"])


def hidden_first(book: openpyxl.Workbook) -> None:
    book.active.title = "Secret"
    book.active.append(["hidden", "first"])
    people_sheet = book.create_sheet("People")
    book.active.sheet_state = "veryHidden"
    for row in PEOPLE:
        people_sheet.append(row)
    book.active = 1


def typed(book: openpyxl.Workbook) -> None:
    sheet = book.active
    sheet.append(["kind", "value"])
    day = dt.datetime(2024, 2, 29)
    rows = [("date", day, "yyyy-mm-dd"), ("german date", day, "dd.mm.yyyy"), ("us", day, "m/d/yy"),
            ("with time", dt.datetime(2024, 2, 29, 18, 30, 15), "dd/mm/yyyy hh:mm"),
            ("milliseconds", dt.datetime(2024, 2, 29, 18, 30, 15, 250000), "yyyy-mm-dd hh:mm:ss.000"),
            ("time", dt.time(7, 5), "hh:mm"), ("duration", dt.timedelta(hours=36, minutes=5), "[h]:mm"),
            ("short duration", dt.timedelta(seconds=90), "[mm]:ss"), ("percent", 0.125, "0.0%"),
            ("currency", -1234.5, '#,##0.00\\ "€"'), ("accounting", 1e6, '_-* #,##0.00\\ _€_-'),
            ("yes", True, "General"),
            ("no", False, "General"), ("fraction", 0.75, "# ?/?"), ("zip", 1067, "00000"), ("month", day, "mmm yy"),
            ("locale", day, "[$-407]d. mmmm yyyy;@"), ("text format", 42, "@"), ("quoted d", 5, '0 "days"'),
            ("old", dt.datetime(1900, 1, 1), "yyyy-mm-dd"), ("last", dt.datetime(9999, 12, 31), "yyyy-mm-dd")]
    for row, (kind, value, code) in enumerate(rows, 2):
        sheet.cell(row, 1, kind)
        sheet.cell(row, 2, value).number_format = code


def numbers(book: openpyxl.Workbook) -> None:
    sheet = book.active
    sheet.append(["number", "text"])
    for value in (0, 1, -1, 0.1, 1 / 3, 1e-7, 1e21, 123456789012345, 1234567890123456, 12345678901234567890, -0.0,
                  2.5e-300, 1.7976931348623157e308, 100.0, 0.30000000000000004):
        sheet.append([value, repr(value)])
    for value in ("007", "1.50", "+44 20", "1e5", "=1+1 as text", "'quoted", " spaced ", "12345678901234567890"):
        row = sheet.max_row + 1
        sheet.cell(row, 2, value).data_type = "s"


def formulas(book: xlsxwriter.Workbook) -> None:
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["a", "b", "sum", "text", "flag", "fault"])
    for row in range(1, 4):
        sheet.write_row(row, 0, [row, row / 2])
        sheet.write_formula(row, 2, f"=A{row + 1}+B{row + 1}", None, row * 1.5)
        sheet.write_formula(row, 3, f'="No. "&A{row + 1}', None, f"No. {row}")
        sheet.write_formula(row, 4, f"=A{row + 1}>1", None, row > 1)
    sheet.write_formula(1, 5, "=1/0", None, "#DIV/0!")
    sheet.write_formula(2, 5, '=""', None, "")
    sheet.write_formula(3, 5, "=NA()", None, "#N/A")


def uncached(book: openpyxl.Workbook) -> None:
    book.active.append(["a", "double"])
    for row in range(2, 5):
        book.active.append([row, f"=A{row}*2"])


def merged(book: openpyxl.Workbook) -> None:
    sheet = book.active
    for row in (["region", "city", "sales"], ["north", "Cork", 1], [None, "Galway", 2], ["south", "Trim", 3],
                [None, "Ennis", 4], ["Total", None, 10]):
        sheet.append(row)
    for area in ("A2:A3", "A4:A5", "A6:B6"):
        sheet.merge_cells(area)


def sparse(book: openpyxl.Workbook) -> None:
    sheet = book.active
    for place, value in {"B3": "id", "D3": "name", "G3": "note", "B4": 1, "D4": "Ann", "B7": 2, "G7": "x", "D9": "Bob",
                         "B9": 3, "AA9": "far"}.items():
        sheet[place] = value
    sheet["A5"].number_format = "0.00"
    sheet.row_dimensions[4].hidden = True
    sheet.column_dimensions["D"].hidden = True


def texts(book: openpyxl.Workbook) -> None:
    sheet = book.active
    sheet.append(["kind", "text"])
    for row in (["line breaks", "first\nsecond\n\nfourth"], ["spaces", "  both sides  "],
                ["xml", "<a href=\"x\">&amp;</a>"],
                ["emoji", "👩‍👩‍👧‍👦 🇮🇪 𝒳"], ["long", "word " * 6000], ["quote", 'say "hi", then; go|on\tend'],
                ["escape", "a_x000D_b and _x005F_ and _xZZ_"], ["right to left", "שלום עולם"], ["japanese", "漢字かな"]):
        sheet.append(row)
    sheet["B2"].comment = Comment("a comment is not the text", "ann")
    sheet["C2"].hyperlink = "https://example.com/"
    sheet["C2"] = "a link"
    bold = InlineFont(b=True)
    sheet.append(["rich", CellRichText("plain ", TextBlock(bold, "bold"), " and more")])


def table(book: openpyxl.Workbook) -> None:
    people(book)
    book.active.add_table(Table(displayName="People", ref="A1:D4"))
    book.active.auto_filter.ref = "A1:D4"


def of_1904(book: xlsxwriter.Workbook) -> None:
    sheet = book.add_worksheet("Mac")
    date = book.add_format({"num_format": "d/m/yyyy h:mm"})
    sheet.write_row(0, 0, ["name", "when"])
    days = [dt.datetime(2024, 2, 29), dt.datetime(1904, 1, 2), dt.datetime(1999, 12, 31, 23, 59)]
    for row, when in enumerate(days, 1):
        sheet.write(row, 0, f"row {row}")
        sheet.write_datetime(row, 1, when, date)


def memory(book: xlsxwriter.Workbook) -> None:
    sheet = book.add_worksheet("Inline")
    for row, values in enumerate(PEOPLE):
        sheet.write_row(row, 0, values)


def picture(book: xlsxwriter.Workbook) -> None:
    sheet = book.add_worksheet("Bild")
    for row, values in enumerate(PEOPLE):
        sheet.write_row(row, 0, values)
    chart = book.add_chart({"type": "column"})
    chart.add_series({"values": "=Bild!$A$2:$A$4"})
    sheet.insert_chart("F2", chart)
    line = book.add_chart({"type": "line"})
    line.add_series({"values": "=Bild!$A$2:$A$4"})
    book.add_chartsheet("Chart").set_chart(line)
    sheet.data_validation("C2:C9", {"validate": "list", "source": ["Cork", "Galway"]})
    bold = book.add_format({"bold": 1})
    sheet.conditional_format("A2:A9", {"type": "cell", "criteria": ">", "value": 1, "format": bold})
    sheet.protect()
    book.define_name("Ids", "=Bild!$A$2:$A$4")


def big(book: openpyxl.Workbook) -> None:
    book.active.append(["id", "word", "amount", "when"])
    for row in range(1, 201):
        when = dt.datetime(2024, 1, 1) + dt.timedelta(hours=13 * row)
        book.active.append([row, f"word {row % 17}", row * 1.25, when])


def wide(book: openpyxl.Workbook) -> None:
    for row in range(3):
        book.active.append([f"c{column}" if row == 0 else row * 1000 + column for column in range(1, 201)])


def items() -> list[Item]:
    listed = [
        ("people", people, {}), ("title-above", titled, {"header": 4, "sample": True}),
        ("several-sheets", several, {"sheet": "Data 2024", "reading": {"sheet": "Data 2024"}, "sample": True}),
        ("several-sheets-first", several, {}), ("hidden-first", hidden_first, {}), ("types", typed, {"sample": True}),
        ("numbers", numbers, {}), ("formulas-without-results", uncached, {"note": "As openpyxl writes them."}),
        ("merged", merged, {}), ("sparse", sparse, {"header": 3, "note": "Row 4 and column D are hidden."}),
        ("texts", texts, {}), ("table-and-filter", table, {}), ("two-hundred-rows", big, {}), ("wide", wide, {}),
        ("no-header", lambda book: [book.active.append(row) for row in PEOPLE[1:]],
         {"header": 0, "reading": {"headerRow": 0}}),
        ("repeated-names", lambda book: [book.active.append(row) for row in
                                         (["name", "name", None, "zip"], ["a", "b", "c", "d"])], {}),
    ]
    made = [Item(f"workbooks/{name}.xlsx", of_openpyxl(fill), source=OPENPYXL, form="workbook", kind="xlsx",
                 **how) for name, fill, how in listed]
    written = [("formulas", formulas, {}), ("epoch-1904", of_1904, {"date_1904": True}),
               ("inline-texts", memory, {"constant_memory": True}), ("chart-and-protection", picture, {})]
    made += [Item(f"workbooks/{name}.xlsx", of_writer(fill, **how), source=WRITER, form="workbook", kind="xlsx",
                  sample=name == "formulas") for name, fill, how in written]
    return made
