/** The options of an import: dataset, key, mode, schema. */

import { useState } from "preact/hooks";
import { api } from "../api";
import type { Draft, Mode } from "../draft";
import { readSchema, type Schema } from "../file/schema";
import { useLoad } from "../load";
import { text } from "../text";

const MODES: Mode[] = ["upsert", "insert", "update", "delete", "validate"];

export function ImportForm({ draft }: { draft: Draft }) {
  const chosen = draft.chosen.value;
  const keyColumn = draft.keyColumn.value;
  const t = text.options;
  const datasets = useLoad((signal) => api.listDatasets({ limit: 1000, signal }), []);
  return (
    <section class="card" aria-labelledby="options-title">
      <h2 id="options-title">{t.title}</h2>
      <div class="fields">
        <label>
          <span>{t.dataset}</span>
          <input
            value={chosen.dataset}
            required
            pattern="[A-Za-z0-9_\-]{1,64}"
            title={t.datasetBad}
            list="datasets"
            autocomplete="off"
            spellcheck={false}
            aria-describedby="dataset-hint"
            onInput={(event) => draft.choose({ dataset: event.currentTarget.value })}
          />
          <datalist id="datasets">
            {datasets.value?.datasets.map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <small id="dataset-hint">{t.datasetHint}</small>
        </label>
        <label>
          <span>{t.key}</span>
          <select
            value={keyColumn}
            required
            aria-describedby="key-hint"
            onChange={(event) => draft.choose({ key: event.currentTarget.value })}
          >
            {keyColumn === "" && <option value="">{t.keyNone}</option>}
            {draft.sheet.columns.map((column, at) => (
              <option key={column} value={column}>
                {draft.names.value[at]}
              </option>
            ))}
          </select>
          <small id="key-hint">{t.keyHint}</small>
        </label>
        <SchemaField schema={chosen.schema} onChange={(schema) => draft.choose({ schema })} />
      </div>
      <fieldset>
        <legend>{t.mode}</legend>
        {MODES.map((mode) => (
          <label class="choice" key={mode}>
            <input
              type="radio"
              name="mode"
              value={mode}
              checked={chosen.mode === mode}
              onChange={() => draft.choose({ mode })}
            />
            <span>
              {t.modes[mode][0]}
              <small>{t.modes[mode][1]}</small>
            </span>
          </label>
        ))}
      </fieldset>
    </section>
  );
}

function SchemaField({
  schema,
  onChange,
}: {
  schema: Schema | null;
  onChange: (schema: Schema | null) => void;
}) {
  const t = text.options;
  const [bad, setBad] = useState<string | null>(null);
  const take = async (file: File) => {
    const read = readSchema(file.name, await file.text().catch(() => ""));
    setBad(read ? null : t.schemaBad(file.name));
    if (read) onChange(read);
  };
  return (
    <div class="field">
      <span id="schema-label">{t.schema}</span>
      {schema ? (
        <span class="chosen">
          {t.schemaChosen(schema.name, schema.fields.length)}
          <button type="button" class="plain" onClick={() => onChange(null)}>
            {t.schemaRemove}
          </button>
        </span>
      ) : (
        <label class="button">
          {t.schemaChoose}
          <input
            type="file"
            class="visually-hidden"
            accept=".json,application/json,application/schema+json"
            aria-describedby="schema-hint"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              if (file) void take(file);
              event.currentTarget.value = "";
            }}
          />
        </label>
      )}
      <small id="schema-hint">{t.schemaHint}</small>
      {bad && (
        <small class="wrong" role="alert">
          {bad}
        </small>
      )}
    </div>
  );
}
