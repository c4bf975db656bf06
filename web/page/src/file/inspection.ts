/** Types of the answer of an inspection, and of how a file is read. */

import type { Inspection, InspectRequest } from "longshore-client";

/** A sheet of a workbook. */
export interface SheetName {
  name: string;
  hidden: boolean;
}

/** A file that is converted to text before it is read. */
export interface Prepared {
  form: "gzip" | "zstd" | "zip" | "workbook" | "utf16";
  /** The file in an archive. */
  file: string | null;
  /** The sheet of a workbook that is read. */
  sheet: string | null;
  sheets: SheetName[];
}

/** The answer of an inspection. `prepared` is absent or null if the file is read as it is. */
export type Inspected = Inspection & { readonly prepared?: Prepared | null };

/** What the user says about how the file is read. All that is absent is found in the file. */
export type GivenReading = NonNullable<InspectRequest["reading"]> & {
  /** The name or the number of a sheet. */
  sheet?: string | number | null;
};

/** The forms that have sheets instead of delimiters. */
export function isWorkbook({ prepared }: Inspected): boolean {
  return prepared?.form === "workbook";
}

/** Returns a reading without the members that are undefined, so that equal readings have equal texts. */
export function withGiven(reading: GivenReading, change: GivenReading): GivenReading {
  const members = Object.entries({ ...reading, ...change }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members.sort(([first], [second]) => first.localeCompare(second)));
}
