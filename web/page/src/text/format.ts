/** Numbers, sizes, durations and moments as text, and the time left that is displayed. */

/** Seconds by which the displayed time can always be below the estimate. */
const SLACK_S = 15;

/** Formats a count with its noun. */
export const plural = (count: number, one: string, many: string) =>
  `${number(count)} ${count === 1 ? one : many}`;

/** Names that are listed. A file can have thousands of columns. */
const LISTED = 20;

/** Lists the first names. */
export function listed(names: readonly string[]): string {
  const others = names.length - LISTED;
  const first = names.slice(0, LISTED).join(", ");
  return others > 0 ? `${first} and ${number(others)} more` : first;
}

/** Formats a whole number with separators. */
export function number(value: number): string {
  return value.toLocaleString("en");
}

/** The number of a row in its job, and its row in the sheet of a workbook. */
export interface RowNumbers {
  readonly number: number;
  /** Null if the file is no workbook. */
  readonly sheetRow: number | null;
}

/** Formats the numbers of a row. */
export function rowNumbers({ number: row, sheetRow }: RowNumbers): string {
  return sheetRow === null ? number(row) : `${number(row)} (row ${number(sheetRow)} in sheet)`;
}

/** Formats a number of bytes. */
export function bytes(value: number): string {
  if (value < 1000) return plural(value, "byte", "bytes");
  const units = ["kB", "MB", "GB", "TB"];
  const power = Math.min(Math.floor(Math.log10(value) / 3), units.length);
  const scaled = value / 1000 ** power;
  return `${scaled.toFixed(scaled < 10 ? 1 : 0)} ${units[power - 1]}`;
}

/** Formats an amount of US dollars: in cents, or with two digits if it is less than a cent. */
export function dollars(amount: number): string {
  if (amount === 0 || amount >= 0.01) return `$${amount.toFixed(2)}`;
  if (amount < 0.000_001) return "less than $0.000001";
  return `$${amount.toFixed(Math.min(1 - Math.floor(Math.log10(amount)), 6))}`;
}

/** Formats a duration. */
export function duration(seconds: number): string {
  if (seconds < 1) return "less than a second";
  if (seconds < 120) return plural(Math.round(seconds), "second", "seconds");
  if (seconds < 90 * 60) return plural(Math.round(seconds / 60), "minute", "minutes");
  return plural(Math.round(seconds / 3600), "hour", "hours");
}

/** Formats a moment. Shows the year only if it is not the current one. */
export function moment(iso: string, now = new Date()): string {
  const when = new Date(iso);
  return when.toLocaleString("en", {
    month: "short",
    day: "numeric",
    ...(when.getFullYear() !== now.getFullYear() && { year: "numeric" }),
    hour: "numeric",
    minute: "2-digit",
  });
}

/** Formats the time of day of a moment, in milliseconds, with its seconds. */
export function timeOfDay(at: number): string {
  return new Date(at).toLocaleTimeString("en");
}

/** Formats a date of ISO 8601, which may have a time, as a day. */
export function dayOf(iso: string, hasYear: boolean): string {
  const day = new Date(`${iso.slice(0, 10)}T00:00:00Z`);
  if (Number.isNaN(day.getTime())) return iso;
  const year = hasYear ? ({ year: "numeric" } as const) : {};
  return day.toLocaleDateString("en-GB", { day: "numeric", month: "long", ...year, timeZone: "UTC" });
}

/** The displayed seconds, and whether to display them. */
export interface TimeLeft {
  seconds: number;
  isKnown: boolean;
}

/**
 * Returns the next displayed time left after `shown`. Never increases: it stays the same while the estimate is
 * higher, and is unknown (hidden) while the estimate is more than twice as high.
 */
export function timeLeft(shown: number, estimate: number): TimeLeft {
  const seconds = Math.min(shown, Math.max(0, estimate));
  return { seconds, isKnown: estimate - seconds <= Math.max(SLACK_S, seconds) };
}
