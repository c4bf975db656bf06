/** How a file is read: what the user says about it, and the file's form. */

import type { Inspection, InspectRequest } from "longshore-client";

/** What the user says about how the file is read. All that is absent is found in the file. */
export type GivenReading = NonNullable<InspectRequest["reading"]>;

/** Returns true for a file that has sheets instead of delimiters. */
export function isWorkbook({ prepared }: Pick<Inspection, "prepared">): boolean {
  return prepared?.form === "workbook";
}

/** Returns the sheets of a workbook that are not read. */
export function otherSheets({ prepared }: Pick<Inspection, "prepared">): { name: string; hidden: boolean }[] {
  return prepared?.sheets.filter(({ name }) => name !== prepared.sheet) ?? [];
}

/** Returns a reading without the members that are undefined, so that equal readings have equal texts. */
export function withGiven(reading: GivenReading, change: GivenReading): GivenReading {
  const members = Object.entries({ ...reading, ...change }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members.sort(([first], [second]) => first.localeCompare(second)));
}
