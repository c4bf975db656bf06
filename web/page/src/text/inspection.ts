/** Texts about what was found in a file: how it is read, its first rows, and questions about its columns. */

import { listed, number, plural } from "./format";

export const inspectionText = {
  reading: {
    delimiters: { ",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars" } as Record<string, string>,
    csv: (delimiter: string) => `CSV, columns separated by ${delimiter}`,
    jsonLines: "JSON Lines",
    workbook: (sheet?: string | null) => (sheet == null ? "Workbook" : `Workbook, sheet "${sheet}"`),
    gzip: "Compressed with gzip",
    zstd: "Compressed with Zstandard",
    zip: (file?: string | null) => (file == null ? "ZIP archive" : `${file} in a ZIP archive`),
    utf16: "UTF-16",
    quotes: (quote: string) => (quote === "" ? "No quotes" : `Quotes: ${quote}`),
    comments: (comment: string) => `Comments begin with ${comment}`,
    header: (row: number) => (row === 0 ? "No header row" : `Header in row ${number(row)}`),
    columns: (count: number) => plural(count, "column", "columns"),
    change: "Change how the file is read",
    find: "Find it in the file",
    found: (what: string) => `Found: ${what}`,
    sheet: "Sheet",
    hidden: (sheet: string) => `${sheet} (hidden)`,
    delimiter: "Separator of columns",
    encoding: "Encoding",
    quote: "Quotes around cells",
    quoteNames: { '"': 'Double quotes: "', "'": "Apostrophes: '", "": "None" } as Record<string, string>,
    headerRow: "Header row",
    headerAt: (row: number) => `Row ${number(row)}`,
    headerNone: "None",
    headerNumber: "Another row",
    headerNumberLabel: "Number of the header row",
    headerHint: "Rows without text and comments do not count.",
    headerSheetHint: (sheetRow: number, row: number) =>
      `Row ${number(sheetRow)} of the sheet is number ${number(row)}.`,
    comment: "Beginning of comment rows",
    commentHint: "One character, for example #. Such rows are not imported.",
  },

  inspection: {
    waits: {
      sample: "The beginning of the file is uploaded first. Its first rows are shown in a moment.",
      file: "The first rows are shown once the file is uploaded.",
      inspection: "Reading the first rows...",
    },
    again: "Reading the file again...",
    read: (columns: number, rows: number) =>
      `The file is read: ${plural(columns, "column", "columns")}, ${plural(rows, "first row", "first rows")}.`,
  },

  preview: {
    title: "First rows",
    caption: "The first rows of the file",
    row: "Row",
    sheetRow: "Row in sheet",
    line: "Line",
    problem: "Problem",
    becomes: (name: string) => `imported as ${name}`,
    leftOut: "left out",
    all: (rows: number) => `Show the first ${number(rows)} rows`,
    fewer: "Show fewer rows",
    none: "No row was found below the header.",
    otherSheets: (sheets: readonly string[]) =>
      `The file has ${plural(sheets.length, "more sheet", "more sheets")}: ${listed(sheets)}. ` +
      'Choose another one under "Change how the file is read".',
  },

  findings: {
    error: "The import would fail",
    check: "Check this before you start",
    rows: (failing: number, all: number) =>
      failing < all
        ? `${number(failing)} of the first ${number(all)} rows would fail`
        : all === 1
          ? "The first row would fail"
          : `Each of the first ${number(all)} rows would fail`,
    count: (rows: number) => plural(rows, "row", "rows"),
    repeatedKey: (key: string, value: string) =>
      `The key "${key}" has "${value}" more than once. Rows with the same key become one record.`,
    answerFirst: "Answer a question before you start",
    /** Errors that an answer of the user solves, by code. */
    asked: {
      ambiguous_column: "Cells of the file can be read in two ways. Say below how they are meant.",
      conflicting_column:
        "Cells of a column are written in two ways. Say below how the column is read. Rows in the other way then fail.",
      pivot_year_missing: "Years have two digits. Say below to which century they belong.",
      time_zone_missing: "Times do not name their time zone. Say below which one it is.",
    } as Record<string, string>,
    /** Words for issues that the page has a control for, by code. */
    issues: {
      encoding_guessed:
        'The encoding of the file was guessed. If characters are wrong, choose another one under "Change how the file is read".',
    } as Record<string, string>,
    /** What to do about an error, by code, if the page has a control for it. */
    solutions: {
      ambiguous_delimiter: 'Choose the separator under "Change how the file is read".',
      wrong_encoding: 'Choose the encoding under "Change how the file is read".',
      header_missing: 'Choose the header row under "Change how the file is read".',
      sheet_not_found: 'Choose the sheet under "Change how the file is read".',
      required_column_missing: 'Choose a column for each required field under "Columns".',
      duplicate_column: 'Map or leave out one of the columns under "Columns".',
      key_not_in_header: 'Choose the key under "Import options".',
    } as Record<string, string>,
  },

  questions: {
    title: "How are these cells meant?",
    cell: (cell: string, column: string) => `"${cell}" in the column "${column}" means`,
    column: (column: string) => `The column "${column}" has`,
    notations: {
      ",": "numbers with a decimal comma, such as 1.234,50",
      ".": "numbers with a decimal point, such as 1,234.50",
      dmy: "dates as day, month, year",
      mdy: "dates as month, day, year",
      ymd: "dates as year, month, day",
    },
    because: {
      ",": "The comma is the decimal separator.",
      ".": "The point is the decimal separator.",
      dmy: "Day, month, year.",
      mdy: "Month, day, year.",
      ymd: "Year, month, day.",
    },
    pivotYear: "First year of two-digit years",
    pivotYearHint: "They belong to the 100 years from this one: with 1950, 49 is 2049 and 50 is 1950.",
    pivotYearRange: (first: number, last: number) => `Enter a year from ${first} to ${last}.`,
    timeZone: "Time zone of the times",
    timeZoneHint: "It is for times that name no zone, such as 13.2.2024 18:30.",
    timeZoneNone: "Choose a time zone",
    timeZoneOwn: (zone: string) => `${zone} (this computer's zone)`,
  },
};
