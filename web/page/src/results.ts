/** The rows of a job's results as a table. */

/** A row: the number of its item, if the results have numbers, and the members of its output. */
export interface ResultRow {
  item: number | null;
  /** An output that is no object is one member without a name. */
  members: Record<string, unknown>;
}

/** Most columns that are shown; the file has all. */
const MAX_COLUMNS = 30;

/** Returns a row of the results: `{number, output}`, or the output alone. */
export function resultRow(row: unknown): ResultRow {
  if (isObject(row) && typeof row.number === "number" && "output" in row && Object.keys(row).length === 2) {
    return { item: row.number, members: membersOf(row.output) };
  }
  return { item: null, members: membersOf(row) };
}

/** Returns the names of the columns, in the order in which the rows have them. */
export function resultColumns(rows: readonly ResultRow[]): string[] {
  return [...new Set(rows.flatMap(({ members }) => Object.keys(members)))].slice(0, MAX_COLUMNS);
}

function membersOf(output: unknown): Record<string, unknown> {
  return isObject(output) ? output : { "": output };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
