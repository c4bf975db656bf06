/** The options of a run: a form from their schema, or one text of JSON for a schema that the form cannot show. */

import { useId } from "preact/hooks";
import type { Run } from "../run/run";
import { text } from "../text";
import { OptionFields, Wrong } from "./option-fields";

/** Parts of the schema without a field that are listed. */
const LISTED_PARTS = 5;

export function OptionsCard({ run }: { run: Run }) {
  const { form } = run;
  const t = text.run;
  return (
    <section class="card" aria-labelledby="options-title">
      <h2 id="options-title">{t.options}</h2>
      {form.kind === "json" && <JsonOptions run={run} notDrawn={form.notDrawn} />}
      {form.kind === "fields" && form.description && <p class="quiet described">{form.description}</p>}
      {form.kind === "fields" && form.fields.length > 0 && <OptionFields run={run} fields={form.fields} />}
      {form.kind === "fields" && form.fields.length === 0 && <p class="quiet">{t.noOptions}</p>}
      {form.kind === "fields" && <Wrong id="options-wrong" messages={refusals(run)} />}
    </section>
  );
}

function JsonOptions({ run, notDrawn }: { run: Run; notDrawn: readonly string[] }) {
  const t = text.run;
  const id = useId();
  const hasSchema = notDrawn.length > 0;
  const messages = run.isTried.value && run.isJsonBad.value ? [t.jsonBad] : refusals(run);
  const rows = hasSchema ? 8 : 3;
  return (
    <div class="fields one">
      <div class="field">
        <label for={id} class="field-title">
          {t.json}
        </label>
        <textarea
          id={id}
          class="code"
          rows={rows}
          spellcheck={false}
          autocomplete="off"
          value={run.json.value}
          placeholder="{}"
          aria-describedby={messages.length > 0 ? `${id}-hint ${id}-wrong` : `${id}-hint`}
          aria-invalid={messages.length > 0 ? "true" : undefined}
          onInput={(event) => {
            run.json.value = event.currentTarget.value;
          }}
        />
        <small id={`${id}-hint`}>{hasSchema ? t.jsonHint : t.jsonAny}</small>
        <Wrong id={`${id}-wrong`} messages={messages} />
      </div>
      {hasSchema && <SchemaText title={t.schema} schema={run.type.optionsSchema} />}
      {hasSchema && (
        <p class="quiet small">
          {t.subset} {t.notDrawn(notDrawn.slice(0, LISTED_PARTS), notDrawn.length - LISTED_PARTS)}
        </p>
      )}
    </div>
  );
}

/** Returns the server's errors about options that have no field of their own. */
function refusals(run: Run): string[] {
  return run.placed.value.options.map(({ pointer, detail }) => {
    const part = pointer.slice("/options".length);
    return part && !detail.includes(part.slice(1)) ? `${part}: ${detail}` : detail;
  });
}

/** A schema as text, folded. */
export function SchemaText({ title, schema }: { title: string; schema: unknown }) {
  return (
    <details>
      <summary>{title}</summary>
      <pre class="code">{JSON.stringify(schema, null, 2)}</pre>
    </details>
  );
}
