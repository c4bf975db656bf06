/** Rows and tables as the server finds them in a file. */

import type { Inspection } from "longshore-client";
import { type Table, tableOf } from "../../src/file/table";

type Row = Inspection["rows"][number];

/** Returns a row, with its problem if there is a code. */
export function row(number: number, cells: string[], code?: string, of: string | null = null): Row {
  return {
    number,
    sheetRow: null,
    cells,
    problem: code === undefined ? null : { code, field: of, message: `${code}!` },
  };
}

/** Returns the table of a CSV file. */
export function csv(header: string[], ...rows: Row[]): Table {
  const columns = header.map((name) => ({
    name,
    type: "text" as const,
    notation: null,
    question: null,
    needsPivotYear: false,
  }));
  return tableOf({ format: "csv", columns, rows });
}
