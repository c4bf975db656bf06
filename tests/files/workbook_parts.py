"""Workbooks made of hand-written parts: what other programs write, and what is damaged."""

import io
import zipfile

from core import PYTHON, Item, refused
from spreadsheets import of_openpyxl, people, repacked

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

ROWS = """<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>
<row r="2"><c r="A2"><v>1</v></c><c r="B2" t="s"><v>2</v></c></row>
<row r="3"><c r="A3"><v>2</v></c><c r="B3" t="s"><v>3</v></c></row>"""
STRINGS = ["<t>id</t>", "<t>name</t>", "<t>Ann</t>", "<t>Bob</t>"]
HEADER = """<row r="1"><c r="A1" t="inlineStr"><is><t>kind</t></is></c>
<c r="B1" t="inlineStr"><is><t>value</t></is></c></row>"""
STYLES = f"""<styleSheet xmlns="{MAIN}"><numFmts count="3"><numFmt numFmtId="164" formatCode="[h]:mm:ss"/>
<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="166" formatCode="0.00\\ &quot;days&quot;"/>
</numFmts>
<fonts count="1"><font><sz val="11"/></font></fonts><fills count="1"><fill><patternFill/></fill></fills>
<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>
<cellXfs count="6"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/><xf numFmtId="164"/>
<xf numFmtId="165"/><xf numFmtId="22"/><xf numFmtId="166"/></cellXfs></styleSheet>"""


def part(kind: str, target: str, number: int, office: str = OFFICE) -> str:
    return f'<Relationship Id="rId{number}" Type="{office}/{kind}" Target="{target}"/>'


def sheet_xml(rows: str, before: str = "", after: str = "") -> str:
    return f'<worksheet xmlns="{MAIN}" xmlns:r="{OFFICE}">{before}<sheetData>{rows}</sheetData>{after}</worksheet>'


def strings_xml(strings: list[str], counts: str = "") -> str:
    return f'<sst xmlns="{MAIN}"{counts}>' + "".join(f"<si>{string}</si>" for string in strings) + "</sst>"


def parts(rows: str, strings: list[str] | None = None, **how: str) -> dict[str, str]:
    """Returns the parts of a workbook with one sheet. `how` replaces single ones."""
    workbook = f"""<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">{how.get("properties", "")}<sheets>
<sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>"""
    types = f'<Types xmlns="{PACKAGE}/content-types">' + "".join(
        f'<Override PartName="/xl/{name}.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        f'spreadsheetml.{kind}+xml"/>' for name, kind in {"workbook": "sheet.main", "worksheets/sheet1": "worksheet",
                                                          "sharedStrings": "sharedStrings", "styles": "styles"}.items())
    found = {
        "[Content_Types].xml": types + '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
                                       'relationships+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
                       + part("officeDocument", "xl/workbook.xml", 1) + "</Relationships>",
        "xl/workbook.xml": workbook,
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
                                      + part("worksheet", "worksheets/sheet1.xml", 1)
                                      + part("sharedStrings", "sharedStrings.xml", 2)
                                      + part("styles", "styles.xml", 3) + "</Relationships>",
        "xl/sharedStrings.xml": strings_xml(STRINGS if strings is None else strings, how.get("counts", "")),
        "xl/styles.xml": STYLES,
        "xl/worksheets/sheet1.xml": sheet_xml(rows, how.get("before", ""), how.get("after", "")),
    }
    return found


def packed(parts_: dict[str, str], stored: bool = False) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED) as archive:
        for name, xml in parts_.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            data = xml if xml.startswith("<?xml") else HEAD + xml
            archive.writestr(info, data.encode(), zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED)
    return out.getvalue()


def numbered(cells: list[tuple[str, str, int, str]]) -> str:
    """Returns rows of a name and a value: name, value, style, type."""
    rows = [HEADER]
    for row, (name, value, style, kind) in enumerate(cells, 2):
        type_ = f' t="{kind}"' if kind else ""
        rows.append(f'<row r="{row}"><c r="A{row}" t="inlineStr"><is><t>{name}</t></is></c>'
                    f'<c r="B{row}" s="{style}"{type_}><v>{value}</v></c></row>')
    return "\n".join(rows)


SERIALS = numbered([("one", "1", 1, ""), ("day 59", "59", 1, ""), ("false leap day", "60", 1, ""),
                    ("day 61", "61", 1, ""),
                    ("noon", "0.5", 1, ""), ("midnight", "0", 1, ""), ("negative", "-1", 1, ""),
                    ("leap day", "45351.770833333336", 4, ""), ("almost a day", "45351.999999999", 3, ""),
                    ("last", "2958465", 3, ""), ("duration", "1.5", 2, ""), ("negative duration", "-0.5", 2, ""),
                    ("days", "12", 5, ""), ("iso", "2024-02-29", 3, "d"), ("number as text", "42", 0, "str")])
OLD = numbered([("zero", "0", 3, ""), ("one", "1", 3, ""), ("leap day", "43889", 3, ""), ("noon", "43889.5", 4, ""),
                ("half", "0.5", 3, "")])
FAULTS = numbered([(name, f"#{name}", 0, "e") for name in
                   ("DIV/0!", "N/A", "NAME?", "NULL!", "NUM!", "REF!", "VALUE!", "SPILL!", "GETTING_DATA")]
                  + [("yes", "1", 0, "b"), ("no", "0", 0, "b"), ("exponent", "1.5E+3", 0, ""),
                     ("minus zero", "-0", 0, "")])
RICH = ["<r><rPr><b/></rPr><t>na</t></r><r><t xml:space=\"preserve\">me </t></r>", "<t>漢字</t><rPh sb=\"0\" eb=\"2\">"
        "<t>かんじ</t></rPh><phoneticPr fontId=\"0\"/>", "<t xml:space=\"preserve\"> both </t>", "<t/>",
        "<t>&lt;b&gt; &amp;amp; &#8364;</t>",
        "<t><![CDATA[<x> & y]]></t>", "<t>line\r\nbreak</t>"]
RICH_ROWS = "".join(f'<row r="{row}"><c r="A{row}"><v>{row}</v></c><c r="B{row}" t="s"><v>{row - 1}</v></c></row>'
                    for row in range(1, 8))
NO_PLACES = """<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>
<row><c><v>1</v></c><c t="s"><v>2</v></c></row><row/><row><c><v>2</v></c><c/><c><v>7</v></c></row>"""
EMPTIES = """<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" s="1"/></row>
<row r="2" s="1" customFormat="1"><c r="A2" s="1"/><c r="B2" s="1"/></row>
<row r="3"><c r="A3"><v>1</v></c><c r="B3" t="inlineStr"><is><t></t></is></c></row>
<row r="4"><c r="A4"><v></v></c><c r="B4" t="str"><f>""</f><v></v></c></row>
<row r="1048576"><c r="B1048576" t="s"><v>3</v></c></row>"""


def strict(name: str, xml: bytes) -> bytes:
    """Returns a part in the namespaces of Strict Open XML."""
    return (xml.replace(MAIN.encode(), b"http://purl.oclc.org/ooxml/spreadsheetml/main")
            .replace(OFFICE.encode(), b"http://purl.oclc.org/ooxml/officeDocument/relationships"))


def prefixed(xml: str) -> str:
    """Returns a sheet whose elements have a prefix."""
    for tag in ("worksheet", "sheetData", "row", "c", "v"):
        for left, right in (("<", " "), ("<", ">"), ("</", ">")):
            xml = xml.replace(f"{left}{tag}{right}", f"{left}x:{tag}{right}")
    return xml.replace(f'xmlns="{MAIN}"', f'xmlns:x="{MAIN}"')


def good() -> list[Item]:
    plain = parts(ROWS)
    transitional = of_openpyxl(people)
    moved = {name.replace("xl/", "Book/"): xml.replace('Target="xl/', 'Target="/Book/').replace("/xl/", "/Book/")
             for name, xml in plain.items()}
    made = [
        ("plain-stored", packed(plain, stored=True), {}),
        ("serial-numbers", packed(parts(SERIALS)), {"disagreements": [
            {"row": 4, "column": 2, "ours": "#VALUE!", "isError": True, "theirs": "1900-02-28",
             "because": "Excel shows 29 February 1900, which did not exist; openpyxl gives the day before"},
            {"row": 8, "column": 2, "ours": "#VALUE!", "isError": True, "theirs": "1899-12-29",
             "because": "Excel shows no date before 1900; openpyxl gives one"}]}),
        ("serial-numbers-1904", packed(parts(OLD, properties='<workbookPr date1904="1"/>')), {}),
        ("error-cells", packed(parts(FAULTS)), {}),
        ("rich-and-phonetic", packed(parts(RICH_ROWS, RICH)), {"header": 1}),
        ("no-cell-references", packed(parts(NO_PLACES)), {}),
        ("no-dimension", packed(plain), {}),
        ("lying-dimension", packed(parts(ROWS, before='<dimension ref="A1:XFD1048576"/>')), {}),
        ("small-dimension", packed(parts(ROWS, before='<dimension ref="A1"/>')), {}),
        ("lying-string-count", packed(parts(ROWS, counts=' count="4294967295" uniqueCount="4294967295"')), {}),
        ("empty-and-last-row", packed(parts(EMPTIES)),
         {"note": "Formatted cells are empty; a formula gives an empty text; the last row of a sheet is used."}),
        ("values-under-merged", packed(parts(ROWS, after='<mergeCells><mergeCell ref="B2:B3"/></mergeCells>')),
         {"disagreements": [{"row": 3, "column": 2, "ours": "Bob", "theirs": "",
                             "because": "the file has a value below a merged cell; openpyxl drops it"}]}),
        ("other-folders", packed(moved), {}),
    ]
    listed = [Item(f"workbooks/parts/{name}.xlsx", data, form="workbook", kind="xlsx", **how)
              for name, data, how in made]
    sheet = plain["xl/worksheets/sheet1.xml"]
    twins = [
        ("strict", repacked(transitional, strict), transitional,
         "Strict Open XML; the expected rows are those of its twin."),
        ("prefixed", packed(plain | {"xl/worksheets/sheet1.xml": prefixed(sheet)}), packed(plain),
         "Elements with a prefix."),
        ("upper-case-names", packed({name.upper() if name == "xl/sharedStrings.xml" else name: xml
                                     for name, xml in plain.items()}), packed(plain),
         "The name of a part in another case."),
    ]
    listed += [Item(f"workbooks/parts/{name}.xlsx", data, form="workbook", kind="xlsx", inner=inner, note=note,
                    source=PYTHON) for name, data, inner, note in twins]
    return listed


def without(name: str) -> bytes:
    return packed({part_: xml for part_, xml in parts(ROWS).items() if part_ != name})


def bad() -> list[Item]:
    plain = packed(parts(ROWS))
    damaged = "workbook_damaged"
    hidden = parts(ROWS)
    hidden["xl/workbook.xml"] = hidden["xl/workbook.xml"].replace("<sheet name", '<sheet state="hidden" name')
    no_string = parts(ROWS, STRINGS[:2])
    back = parts(ROWS.replace('r="3"', 'r="1"'))
    cut = parts(ROWS)
    cut["xl/worksheets/sheet1.xml"] = cut["xl/worksheets/sheet1.xml"][:-60]
    empty = parts("")
    word = f'<Relationships xmlns="{PACKAGE}/relationships">' + part("officeDocument", "word/document.xml", 1)
    document = {"[Content_Types].xml": parts("")["[Content_Types].xml"], "_rels/.rels": word + "</Relationships>",
                "word/document.xml": "<document><body><p>no table</p></body></document>"}
    listed = [
        ("truncated", plain[:-200], damaged, "The directory of the archive is missing."),
        ("truncated-start", plain[:100], damaged, "Only the first bytes."),
        ("sheet-missing", without("xl/worksheets/sheet1.xml"), damaged, "The part of the sheet is missing."),
        ("workbook-missing", without("xl/workbook.xml"), "workbook_invalid", "The part of the workbook is missing."),
        ("string-missing", packed(no_string), damaged, "A cell refers to a text that does not exist."),
        ("rows-back", packed(back), damaged, "The number of a row is that of an earlier one."),
        ("sheet-cut", packed(cut), damaged, "The XML of the sheet ends early."),
        ("all-hidden", packed(hidden), "sheet_not_found", "No sheet is visible."),
        ("word-document", packed(document), "workbook_other_format", "The archive is an Office document, but no workbook."),
        ("empty-sheet", packed(empty), "file_empty", "The sheet has no cells."),
    ]
    made = [refused(f"workbooks/refused/{name}.xlsx", data, error, note, form="workbook")
            for name, data, error, note in listed]
    made.append(refused("workbooks/refused/sheet-not-found.xlsx", plain, "sheet_not_found", "The sheet does not exist.",
                        form="workbook", reading={"sheet": "Tabelle7"}, sample=True))
    return made


def items() -> list[Item]:
    return good() + bad()
