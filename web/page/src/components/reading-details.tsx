/** How the file is read: one line, and the fields that change it. */

import { useEffect, useState } from "preact/hooks";
import type { Draft } from "../draft";
import { text } from "../text";
import { ReadingFields } from "./reading-fields";
import { readingLine } from "./reading-line";

/** Errors that another reading can solve: the fields are shown at once. */
const READING_ERRORS = [
  "ambiguous_delimiter",
  "unsupported_delimiter",
  "wrong_encoding",
  "header_missing",
  "header_too_long",
  "unterminated_quote",
  "sheet_not_found",
];

export function ReadingDetails({ draft }: { draft: Draft }) {
  const found = draft.inspector.found.value;
  const code = found?.answer.error?.code ?? "";
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    if (READING_ERRORS.includes(code)) setIsOpen(true);
  }, [code]);
  if (!found) return null;
  const isFixed = found.answer.format === "jsonl";
  return (
    <div class="wide reading">
      <p>{readingLine(found.answer, draft.plan.table.value.columns.length).join(" · ")}</p>
      {!isFixed && (
        <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
          <summary>{text.reading.change}</summary>
          <fieldset class="choices" disabled={draft.stage.value !== "none"}>
            <ReadingFields draft={draft} answer={found.answer} />
          </fieldset>
        </details>
      )}
    </div>
  );
}
