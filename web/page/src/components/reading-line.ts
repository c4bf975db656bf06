/** How a file is read, as one line. */

import type { Inspection } from "longshore-client";
import { isWorkbook } from "../file/inspection";
import { preparedText, text } from "../text";

/** Returns the parts of the line; none if the file cannot be read. */
export function readingLine(answer: Inspection, columns: number): string[] {
  const t = text.reading;
  const isRead = answer.reading !== null || answer.rows.length > 0;
  const prepared = preparedText(answer.prepared);
  return [
    ...(prepared ? [prepared] : []),
    ...(isRead ? [...format(answer), ...(columns > 0 ? [t.columns(columns)] : [])] : []),
  ];
}

function format(answer: Inspection): string[] {
  const t = text.reading;
  const { reading, prepared } = answer;
  if (!reading) return [t.jsonLines];
  const header = t.header(prepared?.headerSheetRow ?? reading.headerRow);
  if (isWorkbook(answer)) return [header];
  const encoding = prepared?.form === "utf16" ? t.utf16 : reading.encoding;
  const comments = reading.comment ? [t.comments(reading.comment)] : [];
  return [t.csv(delimiterName(reading.delimiter)), encoding, t.quotes(reading.quote), ...comments, header];
}

/** Returns the name of a delimiter. */
export function delimiterName(delimiter: string): string {
  return text.reading.delimiters[delimiter] ?? `"${delimiter}"`;
}
