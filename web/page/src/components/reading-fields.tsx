/** The fields that say how a file is read. What they leave open is found in the file. */

import { type Inspection, ProblemError } from "longshore-client";
import { useId } from "preact/hooks";
import type { Draft } from "../draft";
import { ENCODINGS } from "../file/encodings";
import { type GivenReading, isWorkbook } from "../file/inspection";
import { text } from "../text";
import { HeaderField } from "./header-field";
import { Wrong } from "./option-fields";
import { delimiterName } from "./reading-line";

interface Props {
  draft: Draft;
  answer: Inspection;
}

const DELIMITERS = [",", ";", "\t", "|"] as const;
const QUOTES = ['"', "'", ""] as const;

export function ReadingFields({ draft, answer }: Props) {
  const t = text.reading;
  const { reading, prepared } = answer;
  const { plan } = draft;
  const given = plan.reading.value;
  const wrong = (member: string) => messagesOf(draft.inspector.error.value, member);
  return (
    <div class="fields">
      {prepared && prepared.sheets.length > 0 && (
        <Choice
          title={t.sheet}
          given={given.sheet == null ? undefined : String(given.sheet)}
          found={prepared.sheet}
          values={prepared.sheets.map(({ name, hidden }) => [name, hidden ? t.hidden(name) : name])}
          messages={wrong("sheet")}
          onChange={(sheet) => plan.read({ sheet })}
        />
      )}
      {!isWorkbook(answer) && (
        <>
          <Choice
            title={t.delimiter}
            given={given.delimiter}
            found={reading && delimiterName(reading.delimiter)}
            values={DELIMITERS.map((delimiter) => [delimiter, delimiterName(delimiter)])}
            messages={wrong("delimiter")}
            onChange={(delimiter) => plan.read({ delimiter: delimiter as GivenReading["delimiter"] })}
          />
          {prepared?.form !== "utf16" && (
            <Choice
              title={t.encoding}
              given={given.encoding}
              found={reading && reading.encoding}
              values={ENCODINGS}
              messages={wrong("encoding")}
              onChange={(encoding) => plan.read({ encoding })}
            />
          )}
          <Choice
            title={t.quote}
            given={given.quote}
            found={reading && (t.quoteNames[reading.quote] ?? reading.quote)}
            values={QUOTES.map((quote) => [quote, t.quoteNames[quote] ?? quote])}
            messages={wrong("quote")}
            onChange={(quote) => plan.read({ quote: quote as GivenReading["quote"] })}
          />
        </>
      )}
      <HeaderField
        given={given.headerRow ?? undefined}
        found={reading && reading.headerRow}
        sheetRow={answer.prepared?.headerSheetRow ?? null}
        messages={wrong("headerRow")}
        onChange={(headerRow) => plan.read({ headerRow })}
      />
      {!isWorkbook(answer) && (
        <CommentField
          given={given.comment ?? ""}
          messages={wrong("comment")}
          onChange={(comment) => plan.read({ comment })}
        />
      )}
    </div>
  );
}

/** Returns the server's errors about a member of the reading. */
function messagesOf(error: unknown, member: string): string[] {
  const errors = error instanceof ProblemError ? error.errors : [];
  return errors.filter(({ pointer }) => pointer === `/reading/${member}`).map(({ detail }) => detail);
}

interface ChoiceProps {
  title: string;
  /** The chosen value; undefined while it is found in the file. */
  given: string | null | undefined;
  /** What is found, as text. */
  found: string | null;
  /** The values with their names. */
  values: readonly (readonly [value: string, name: string])[];
  messages: readonly string[];
  onChange: (value: string | undefined) => void;
}

/** A choice between values, of which the first is to find it. */
function Choice({ title, given, found, values, messages, onChange }: ChoiceProps) {
  const t = text.reading;
  const id = useId();
  // A value can be empty, so options are named by their position.
  const at = values.findIndex(([value]) => value === given);
  return (
    <div class="field">
      <label for={id} class="field-title">
        {title}
      </label>
      <select
        id={id}
        value={String(at)}
        aria-invalid={messages.length > 0 ? "true" : undefined}
        aria-describedby={messages.length > 0 ? `${id}-wrong` : undefined}
        onChange={(event) => onChange(values[Number(event.currentTarget.value)]?.[0])}
      >
        <option value="-1">{at < 0 && found ? t.found(found) : t.find}</option>
        {values.map(([value, name], at) => (
          <option key={value} value={String(at)}>
            {name}
          </option>
        ))}
      </select>
      <Wrong id={`${id}-wrong`} messages={messages} />
    </div>
  );
}

interface CommentProps {
  given: string;
  messages: readonly string[];
  onChange: (comment: string | undefined) => void;
}

function CommentField({ given, messages, onChange }: CommentProps) {
  const t = text.reading;
  const id = useId();
  return (
    <div class="field">
      <label for={id} class="field-title">
        {t.comment}
      </label>
      <input
        id={id}
        value={given}
        maxLength={1}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={messages.length > 0 ? "true" : undefined}
        aria-describedby={messages.length > 0 ? `${id}-hint ${id}-wrong` : `${id}-hint`}
        onInput={(event) => onChange(event.currentTarget.value || undefined)}
      />
      <small id={`${id}-hint`}>{t.commentHint}</small>
      <Wrong id={`${id}-wrong`} messages={messages} />
    </div>
  );
}
