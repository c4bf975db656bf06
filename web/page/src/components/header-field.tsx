/** The field for the header row: found in the file, none, or a number. */

import { useId, useState } from "preact/hooks";
import { text } from "../text";
import { Wrong } from "./option-fields";

/** The highest number that the server accepts. */
const MAX_ROW = 1000;

interface Props {
  /** The chosen row, 0 for none; undefined while it is found in the file. */
  given: number | undefined;
  /** The row that is found, if the file can be read. */
  found: number | null;
  /** The same as a row of the sheet; null if the file is no workbook. */
  sheetRow: number | null;
  messages: readonly string[];
  onChange: (row: number | undefined) => void;
}

export function HeaderField({ given, found, sheetRow, messages, onChange }: Props) {
  const t = text.reading;
  const id = useId();
  const choice = given === undefined ? "find" : given === 0 ? "none" : "number";
  const choose = (choice: string) =>
    onChange(choice === "find" ? undefined : choice === "none" ? 0 : Math.max(1, found ?? 1));
  const foundText =
    found === null ? t.find : t.found(found === 0 ? t.headerNone : t.headerAt(sheetRow ?? found));
  return (
    <div class="field">
      <label for={id} class="field-title">
        {t.headerRow}
      </label>
      <select id={id} value={choice} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="find">{choice === "find" ? foundText : t.find}</option>
        <option value="none">{t.headerNone}</option>
        <option value="number">{t.headerNumber}</option>
      </select>
      {choice === "number" && (
        <RowNumber row={given ?? 1} hint={hintOf(found, sheetRow)} messages={messages} onChange={onChange} />
      )}
    </div>
  );
}

/** Returns what the number counts, with the row of the sheet if it is another one. */
function hintOf(found: number | null, sheetRow: number | null): string {
  const t = text.reading;
  if (found === null || sheetRow === null || found === sheetRow) return t.headerHint;
  return `${t.headerHint} ${t.headerSheetHint(sheetRow, found)}`;
}

interface RowNumberProps {
  row: number;
  hint: string;
  messages: readonly string[];
  onChange: (row: number) => void;
}

/** A number. While it is no valid one, the last valid one remains in effect. */
function RowNumber({ row, hint, messages, onChange }: RowNumberProps) {
  const t = text.reading;
  const id = useId();
  const [entry, setEntry] = useState(String(row));
  return (
    <>
      <input
        type="number"
        min={1}
        max={MAX_ROW}
        value={entry}
        aria-label={t.headerNumberLabel}
        aria-invalid={messages.length > 0 ? "true" : undefined}
        aria-describedby={messages.length > 0 ? `${id}-hint ${id}-wrong` : `${id}-hint`}
        onInput={(event) => {
          setEntry(event.currentTarget.value);
          const number = Number(event.currentTarget.value);
          if (Number.isInteger(number) && number >= 1 && number <= MAX_ROW) onChange(number);
        }}
      />
      <small id={`${id}-hint`}>{hint}</small>
      <Wrong id={`${id}-wrong`} messages={messages} />
    </>
  );
}
