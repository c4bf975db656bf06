/** Items that the user pastes as text: their format, their first error, and the file that they become. */

/** JSON Lines: a value for each line. CSV: a header, and a row for each item. */
export type PastedFormat = "json-lines" | "csv";

/** A reason why a text has no items. */
export type PastedProblem = { kind: "empty" | "no-rows" } | { kind: "not-json"; line: number };

/** Guesses the format of a text: JSON Lines if its first line is a JSON value. */
export function guessFormat(text: string): PastedFormat {
  const first = text.split("\n").find((line) => line.trim() !== "");
  return first !== undefined && isJson(first) ? "json-lines" : "csv";
}

/** Returns the first problem of a text, or null. The server reports all others row by row. */
export function pastedProblem(text: string, format: PastedFormat): PastedProblem | null {
  const lines = text.split("\n");
  const filled = lines.filter((line) => line.trim() !== "").length;
  if (filled === 0) return { kind: "empty" };
  if (format === "csv") return filled > 1 ? null : { kind: "no-rows" };
  const at = lines.findIndex((line) => line.trim() !== "" && !isJson(line));
  return at < 0 ? null : { kind: "not-json", line: at + 1 };
}

/**
 * Returns the text as a file. Items go the way of a file, not into the request, so that their bytes stay as they were
 * pasted: JSON.parse would round numbers with many digits.
 */
export function pastedFile(text: string, format: PastedFormat): File {
  return new File([text], format === "csv" ? "pasted.csv" : "pasted.jsonl", { type: "text/plain" });
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
