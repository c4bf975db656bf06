/** The fields of a job type's options. Titles and descriptions are data: they are shown as text only. */

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { OptionField } from "../run/fields";
import type { Run } from "../run/run";
import type { Entry } from "../run/values";
import { text } from "../text";

export function OptionFields({ run, fields }: { run: Run; fields: readonly OptionField[] }) {
  return (
    <div class="fields">
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          entry={run.entries.value.get(field.name) ?? ""}
          messages={messagesOf(run, field.name)}
          onChange={(entry) => run.set(field.name, entry)}
        />
      ))}
    </div>
  );
}

/** Returns the page's problem of a field, once a start was tried, or else the server's errors. */
function messagesOf(run: Run, name: string): string[] {
  const problem = run.problems.value.get(name);
  if (problem && run.isTried.value)
    return [text.run.problems[problem.kind]?.("limit" in problem ? problem.limit : 0) ?? problem.kind];
  return (run.placed.value.fields.get(name) ?? []).map(({ code, detail }) => text.badFields[code] ?? detail);
}

interface FieldProps {
  field: OptionField;
  entry: Entry;
  messages: readonly string[];
  onChange: (entry: Entry) => void;
}

function Field({ field, entry, messages, onChange }: FieldProps) {
  const id = useId();
  const hints = [field.description, hintOf(field)].filter((hint) => hint !== null);
  const describedBy = [hints.length > 0 && `${id}-hint`, messages.length > 0 && `${id}-wrong`].filter(
    Boolean,
  );
  const attributes = {
    id,
    "aria-describedby": describedBy.join(" ") || undefined,
    "aria-invalid": messages.length > 0 ? ("true" as const) : undefined,
    "aria-required": field.isRequired && field.input.kind !== "yes-no" ? ("true" as const) : undefined,
  };
  return (
    <div class="field">
      {field.input.kind === "yes-no" ? (
        <span class="choice">
          <input
            {...attributes}
            type="checkbox"
            checked={entry === true}
            onChange={(event) => onChange(event.currentTarget.checked)}
          />
          <label for={id}>{field.title}</label>
        </span>
      ) : (
        <>
          <label for={id} class="field-title">
            {field.title}
            {!field.isRequired && <small> ({text.run.optional})</small>}
          </label>
          <Control field={field} entry={String(entry)} attributes={attributes} onChange={onChange} />
        </>
      )}
      <Hints id={`${id}-hint`} hints={hints} />
      <Wrong id={`${id}-wrong`} messages={messages} />
    </div>
  );
}

/** Returns the rule of a field as a sentence. */
function hintOf({ input }: OptionField): string | null {
  const t = text.run;
  if (input.kind === "number") return t.range(input.minimum, input.maximum, input.isInteger);
  if (input.kind !== "text") return null;
  const parts = [t.length(input.minLength, input.maxLength), input.hasPattern ? t.pattern : null];
  return parts.filter(Boolean).join(" ") || null;
}

interface ControlProps {
  field: OptionField;
  entry: string;
  attributes: { id: string };
  onChange: (entry: string) => void;
}

function Control({ field: { input, isRequired }, entry, attributes, onChange }: ControlProps) {
  const t = text.run;
  if (input.kind === "choice") {
    return (
      <select {...attributes} value={entry} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{isRequired ? t.choose : t.notSet}</option>
        {input.values.map((value, at) => (
          <option key={at} value={String(at)}>
            {value === true ? t.yes : value === false ? t.no : String(value)}
          </option>
        ))}
      </select>
    );
  }
  if (input.kind === "text" && input.isLong) {
    return (
      <textarea
        {...attributes}
        rows={4}
        value={entry}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  const isNumber = input.kind === "number";
  return (
    <input
      {...attributes}
      type="text"
      inputMode={isNumber ? (input.isInteger ? "numeric" : "decimal") : undefined}
      autocomplete="off"
      spellcheck={isNumber ? false : undefined}
      value={entry}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function Hints({ id, hints }: { id: string; hints: readonly string[] }) {
  if (hints.length === 0) return null;
  return (
    <small id={id} class="hint">
      {hints.map((hint, at): ComponentChildren => (at === 0 ? hint : ` ${hint}`))}
    </small>
  );
}

/** The messages of a field that is wrong. */
export function Wrong({ id, messages }: { id: string; messages: readonly string[] }) {
  if (messages.length === 0) return null;
  return (
    <small id={id} class="wrong">
      {messages.join(" ")}
    </small>
  );
}
