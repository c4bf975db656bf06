/** The options of an import: dataset, key, mode, schema. */

import { useState } from "preact/hooks";
import { api } from "../api";
import { readSchema, type Schema } from "../file/schema";
import { useLoad } from "../load";
import { DATASET_PATTERN, type ImportPlan, type Mode } from "../plan";
import { text } from "../text";

const MODES: Mode[] = ["upsert", "insert", "update", "delete", "validate"];

export function ImportForm({ plan }: { plan: ImportPlan }) {
  const chosen = plan.chosen.value;
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
            pattern={DATASET_PATTERN}
            title={t.datasetBad}
            list="datasets"
            autocomplete="off"
            spellcheck={false}
            aria-describedby="dataset-hint"
            onInput={(event) => plan.choose({ dataset: event.currentTarget.value })}
          />
          <datalist id="datasets">
            {datasets.value?.datasets.map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <small id="dataset-hint">{t.datasetHint}</small>
        </label>
        <KeyField plan={plan} />
        <SchemaField schema={chosen.schema} onChange={(schema) => plan.choose({ schema })} />
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
              onChange={() => plan.choose({ mode })}
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

function KeyField({ plan }: { plan: ImportPlan }) {
  const t = text.options;
  const keyColumn = plan.keyColumn.value;
  const properties = plan.properties.value;
  const { columns } = plan.table.value;
  return (
    <label>
      <span>{t.key}</span>
      <select
        value={keyColumn}
        required
        disabled={columns.length === 0}
        aria-describedby="key-hint"
        onChange={(event) => plan.choose({ key: event.currentTarget.value })}
      >
        {keyColumn === "" && <option value="">{columns.length === 0 ? t.keyUnknown : t.keyNone}</option>}
        {columns.map(
          (column, at) =>
            properties[at] !== null && (
              <option key={column} value={column}>
                {properties[at]}
              </option>
            ),
        )}
      </select>
      <small id="key-hint">{t.keyHint}</small>
    </label>
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
