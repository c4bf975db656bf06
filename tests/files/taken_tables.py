"""Files of public packages: where each is from, and how it is read."""

from typing import Any

Row = tuple[str, dict[str, Any]]

# Folder here: package, version, licence, folder of the files in the package.
PACKAGES = {
    "csv-spectrum": ("csv-spectrum (npm)", "2.0.0", "BSD-2-Clause", "csvs"),
    "papaparse": ("papaparse (npm)", "5.7.1", "MIT", "tests"),
    "csvkit": ("csvkit (PyPI)", "2.2.0", "MIT", "examples"),
    "agate": ("agate (PyPI)", "1.14.2", "MIT", "examples"),
    "agate-excel": ("agate-excel (PyPI)", "0.4.2", "MIT", "examples"),
    "pandas": ("pandas (PyPI)", "0.19.2", "BSD-3-Clause", "pandas"),
    "csv": ("csv (crates.io)", "1.4.0", "MIT OR Unlicense", "examples/data"),
    "xlsx2csv": ("xlsx2csv (PyPI)", "0.8.6", "MIT", "test"),
    "convert-excel-to-json": ("convert-excel-to-json (npm)", "1.7.0", "MIT", "tests"),
    "xlsx-stream-reader": ("xlsx-stream-reader (npm)", "1.1.1", "MIT", ""),
    "xlsx-populate": ("xlsx-populate (npm)", "1.21.0", "MIT", "examples"),
    "python-calamine": ("python-calamine (PyPI)", "0.9.1", "MIT", "tests/data"),
    "frictionless": ("frictionless (PyPI)", "5.21.0", "MIT", "data"),
    "tablib": ("tablib (PyPI)", "3.10.0", "MIT", "tests/files"),
    "pyexcel": ("pyexcel (PyPI)", "0.7.6", "BSD-3-Clause", ""),
    "pyexcel-xlsx": ("pyexcel-xlsx (PyPI)", "0.6.1", "BSD-3-Clause", "tests/fixtures"),
    "petl": ("petl (PyPI)", "1.7.30", "MIT", "petl/test/resources"),
    "cpython": ("CPython", "3.13.0", "PSF-2.0", "Lib/test/cjkencodings"),
}

SEMICOLON = {"delimiter": ";"}
TAB = {"delimiter": "\t"}
PIPE = {"delimiter": "|"}
SINGLE = {"delimiter": None}
NO_HEADER = {"header": 0, "reading": {"headerRow": 0}}
BINARY = {"error": "file_binary"}
OLD = {"error": "workbook_old_format", "form": "xls"}
PASSWORD = {"error": "workbook_password", "form": "workbook"}
ODS = {"error": "workbook_other_format", "form": "ods"}
XLSB = {"error": "workbook_other_format", "form": "xlsb"}
COMMENT = {"comment": "#", "reading": {"comment": "#"}}


def given(encoding: str, **how: Any) -> dict[str, Any]:
    return {"encoding": encoding, "reading": {"encoding": encoding.lower()} | how.pop("reading", {}), **how}


def prose(encoding: str) -> dict[str, Any]:
    """Lines of a text as a table of one column without a header."""
    reading = {"encoding": encoding.lower(), "headerRow": 0, "delimiter": "\t", "quote": ""}
    return {"encoding": encoding, "reading": reading, "header": 0, "delimiter": "\t", "quote": ""}


def sheet(name: str, **how: Any) -> dict[str, Any]:
    return {"sheet": name, "reading": {"sheet": name}, **how}


TEXTS: dict[str, list[Row]] = {
    "csv-spectrum": [(f"{name}.csv", {}) for name in (
        "comma_in_quotes", "empty", "empty_crlf", "escaped_quotes", "json", "location_coordinates", "newlines",
        "newlines_crlf", "quotes_and_newlines", "simple", "simple_crlf", "utf8")],
    "papaparse": [("long-sample.csv", NO_HEADER), ("sample-header.csv", {}), ("utf-8-bom-sample.csv", {})],
    "csvkit": [
        ("bad.csv", {}), ("bad_skip_lines.csv", {}), ("blanks.csv", {}), ("mac_newlines.csv", {}),
        ("null_byte.csv", BINARY), ("optional_quote_characters.csv", {}), ("test_empty_columns.csv", {}),
        ("test_extra_header.csv", {}), ("test_geo.csv", {}), ("test_header_newline.csv", {}),
        ("test_latin1.csv", given("windows-1252")), ("test_locale.csv", {}), ("test_precision.csv", SINGLE),
        ("test_skip_lines.csv", {}), ("test_utf16_big.csv", {"encoding": "UTF-16BE", "form": "utf16"}),
        ("test_utf16_little.csv", {"encoding": "UTF-16LE", "form": "utf16"}), ("test_utf8_bom.csv", {}),
        ("realdata/Datagov_FY10_EDU_recp_by_State.csv", {"header": 2}),
        ("realdata/FY09_EDU_Recipients_by_State.csv", {}), ("realdata/acs2012_5yr_population.csv", {}),
        ("sniff_limit.csv", SEMICOLON), ("testfixed_converted.csv", {}), ("empty.csv", {"error": "file_empty"}),
        ("dummy.csv.gz", {"form": "gzip"}), ("dummy.csv.bz2", BINARY), ("dummy.xls", OLD)],
    "agate": [("test.csv", {}), ("test_cr.csv", {}), ("test_crlf.csv", {}), ("test_csv_sniff.csv", PIPE),
              ("test_no_header.csv", NO_HEADER), ("test_quote_nonnumeric.csv", {})],
    "agate-excel": [("test_zeros.xls", OLD)],
    "pandas": [
        ("io/tests/parser/data/salaries.csv", TAB), ("io/tests/parser/data/sauron.SHIFT_JIS.csv",
                                                     {"encoding": "Shift_JIS"}),
        ("io/tests/parser/data/test1.csv", {}), ("io/tests/parser/data/test2.csv", {}),
        ("io/tests/parser/data/unicode_series.csv", given("windows-1252", header=0, reading={"headerRow": 0})),
        ("io/tests/parser/data/utf16_ex.txt", {"encoding": "UTF-16LE", "form": "utf16", "delimiter": "\t"}),
        ("io/tests/parser/data/tips.csv", {}), ("io/tests/data/stata3.csv", {}), ("io/tests/data/stata5.csv", {}),
        ("tools/tests/data/trades.csv", {}), ("tools/tests/data/quotes.csv", {}),
        ("io/tests/parser/data/salaries.csv.gz", {"form": "gzip", "delimiter": "\t"}),
        ("io/tests/parser/data/salaries.csv.zip", {"form": "zip", "delimiter": "\t"}),
        ("io/tests/data/test2.xls", OLD)],
    "csv": [("smallpop.csv", {}), ("smallpop-no-headers.csv", NO_HEADER), ("uspop.csv", {}),
            ("uspop-latin1.csv", given("windows-1252")), ("uspop-null.csv", {})],
    "xlsx-populate": [("encryption/in.xlsx", PASSWORD), ("encryption/out.xlsx", PASSWORD)],
    "python-calamine": [
        ("any_sheets.ods", ODS), ("any_sheets.xls", OLD), ("any_sheets.xlsb", XLSB), ("base.ods", ODS),
        ("base.xlsb", XLSB), ("empty_file.xlsx", {"error": "file_empty", "form": "workbook"}), ("password.ods", ODS),
        ("password.xls", OLD), ("password.xlsb", PASSWORD), ("password.xlsx", PASSWORD)],
    "frictionless": [
        ("accent.csv", SEMICOLON), ("blank-cells.csv", {}), ("blank-headers.csv", {}),
        ("blank-rows-multiple.csv", {}), ("bom.csv", {}), ("countries-truefalsevalues.csv", {}),
        ("countries.csv", COMMENT), ("data.csv", {}), ("defective-rows.csv", {}), ("delimiter.csv", SEMICOLON),
        ("dialect.csv", PIPE), ("doublequote.csv", {}), ("duplicate-headers.csv", {}), ("escaping.csv", {}),
        ("floats.csv", SINGLE), ("issue-1100.csv", SEMICOLON), ("issue-1109.csv", {}), ("issue-1138.csv", SEMICOLON),
        ("issue-1232.csv", SEMICOLON), ("issue-1478/table.csv", PIPE | NO_HEADER), ("issue-825.csv", {}),
        ("issue-991.csv", {}), ("latin1.csv", given("windows-1252")), ("leading-zeros.csv", SINGLE),
        ("matrix-with-comment.csv", COMMENT), ("numeric-labels.csv", {}), ("skip-rows-before-headers.csv", COMMENT),
        ("structure-errors.csv", {}), ("table-infer-iso-8859-7.csv", given("ISO-8859-7")),
        ("table-infer-missing-values.csv", {}), ("timezone.csv", {}), ("vix.csv", SEMICOLON),
        ("without-headers.csv", NO_HEADER), ("number/number-test.csv", {}), ("geopoint/data/geopoint-object.csv", {}),
        ("transform-pivot.csv", {}), ("table.jsonl", {"kind": "jsonl"}), ("table.tsv", TAB),
        ("table.csv.gz", {"form": "gzip"}), ("table.csv.zip", {"form": "zip"}), ("table.csv.bz2", BINARY),
        ("compression/implicit-zip.csv", {"form": "zip"}), ("compression/implicit-gz.csv", {"form": "gzip"}),
        ("doublequote.csv.zip", {"form": "zip"}), ("without-rows.csv.zip", {"form": "zip"}),
        ("table-multiple-files.zip", {"form": "zip", "error": "archive_not_one_file"}), ("table.ods", ODS),
        ("table.xls", OLD)],
    "tablib": [("errors.xls", OLD), ("book.ods", ODS)],
    "pyexcel": [("docs/source/coffee.csv", {}), ("tests/fixtures/issue_241/1.csv", {}),
                ("tests/fixtures/non-uniform-rows.csv", NO_HEADER)],
    "cpython": [("shift_jis.txt", prose("Shift_JIS")), ("euc_jp.txt", prose("EUC-JP")),
                ("gb18030.txt", prose("gb18030")), ("big5.txt", prose("Big5")), ("euc_kr.txt", prose("EUC-KR"))],
}

# The first row with text is the header if nothing else is said.
SHEETS: dict[str, list[Row]] = {
    "csvkit": [("test.xlsx", {}), ("sheets.xlsx", sheet("data")), ("test_skip_lines.xlsx", {}), ("dummy.xlsx", {})],
    "agate-excel": [("test.xlsx", {}), ("test_sheets.xlsx", sheet("data")), ("test_skip_lines.xlsx", {}),
                    ("test_ambiguous_date.xlsx", {}), ("test_numeric_column_name.xlsx", {})],
    "pandas": [(f"io/tests/data/{name}", how) for name, how in [
        ("test_types.xlsx", {}), ("test_converters.xlsx", {}), ("testdateoverflow.xlsx", {}), ("times_1900.xlsx", {}),
        ("times_1904.xlsx", {}), ("testskiprows.xlsx", {}), ("test_multisheet.xlsx", sheet("Beta")),
        ("testmultiindex.xlsx", sheet("both", header=2) | {"reading": {"sheet": "both", "headerRow": 2}}),
        ("test4.xlsx", {}), ("test3.xlsx", {}), ("test1.xlsm", {}), ("blank_with_header.xlsx", {}),
        ("blank.xlsx", {"error": "file_empty"})]],
    "xlsx2csv": [(name, {}) for name in (
        "empty_row.xlsx", "float.xlsx", "hyperlinks_continous.xlsm", "last-column-empty.xlsx", "no_cell_ids.xlsx",
        "sheets_order.xlsx", "skip_empty_lines.xlsx", "xlsx2csv-test-file.xlsx", "variousdelim.xlsx")]
    + [(name, NO_HEADER) for name in ("datetime.xlsx", "escape.xlsx", "float2.xlsx", "junk-small.xlsx",
                                      "namespace.xlsx", "percentage.xlsx", "timeformat.xlsx", "utf8.xlsx",
                                      "formatted_inline_string.xlsx")] + [("twolettercolumns.xlsx", {})],
    "convert-excel-to-json": [("test-data.xlsx", sheet("sheet2")), ("test-data-2.xlsx", {})],
    "xlsx-stream-reader": [(name, {}) for name in (
        "example/F1_with_Save.xlsx", "example/F1_without_Save.xlsx", "example/example1.xlsx", "example/example2a.xlsx",
        "example/example5.xlsx", "test/import.xlsx", "test/richtext.xlsx", "test/predefined_formats.xlsx",
        "test/uppercase_sheet_name.xlsx", "test/file_with_2_sheets.xlsx", "test/nonumfmt.xlsx")],
    "xlsx-populate": [("basic/out.xlsx", {}), ("ranges/template.xlsx", {})],
    "python-calamine": [("any_sheets.xlsx", NO_HEADER), ("base.xlsx", sheet("Sheet3")), ("issue139.xlsx", {}),
                        ("table-multiple.xlsx", {})],
    "frictionless": [(f"{name}.xlsx", {}) for name in (
        "adjust-floating-point-error", "cast-int-to-string-issue-1251", "issue-312", "issue-313", "issue-870",
        "merged-cells", "multiline-headers", "number-format-multicode", "preserve-formatting",
        "preserve-formatting-percentage", "table-infer-boolean", "table")]
    + [("sheet2.xlsx", sheet("Sheet2")), ("skip-rows.xlsx", {"header": 2})],
    "tablib": [("bad_dimensions.xlsx", {}), ("founders.xlsx", {}), ("ragged.xlsx", {}), ("xlsx_cell_values.xlsx", {})],
    "pyexcel-xlsx": [
        ("complex-merged-cells-sheet.xlsx", NO_HEADER), ("date_field.xlsx", {}), ("hidden.xlsx", NO_HEADER),
        ("hidden_sheets.xlsx", {}), ("merged-cell-sheet.xlsx", NO_HEADER), ("test8.xlsx", NO_HEADER)],
    "petl": [("test.xlsx", {})],
}

# Written once by LibreOffice 7.4.7 from workbooks of this corpus: its output differs from run to run.
OFFICE: list[Row] = [(f"{name}.xlsx", {}) for name in (
    "epoch-1904", "formulas", "merged", "numbers", "people", "types", "sparse", "types-from-ods")] + [
    ("several-sheets.xlsx", sheet("Data 2024")), ("title-above.xlsx", {"header": 4}), ("people.xlsm", {}),
    ("people.ods", ODS), ("types.ods", ODS), ("people.xls", OLD), ("types.xls", OLD),
    ("types-semicolon-1252.csv", {"encoding": "windows-1252", "delimiter": ";"}), ("texts-all-quoted.csv", SEMICOLON),
    ("formulas.csv", {}), ("people-utf-16.csv", {"encoding": "UTF-16LE", "form": "utf16", "delimiter": "\t"}),
    ("people.html", {"error": "file_not_a_table"}), ("people.fods", {"error": "file_not_a_table"})]
