/** The form of an export: format, compression, columns and their headings. */

import { useState } from "preact/hooks";
import { api, guarded } from "../api";
import {
  type ColumnsProblem,
  columnsOf,
  columnsProblem,
  DELIMITERS,
  type ExportChoices,
  type ExportColumn,
  type ExportFormat,
  exportRequest,
} from "../exports";
import { rememberDataset } from "../local-storage";
import { go } from "../router";
import { text } from "../text";
import { ErrorNotice } from "./errors";

const FORMATS: ExportFormat[] = ["csv", "xlsx", "jsonl"];

export function ExportForm({ dataset, columns }: { dataset: string; columns: readonly string[] }) {
  const t = text.exports;
  const [choices, setChoices] = useState<ExportChoices>({
    format: "csv",
    gzip: false,
    delimiter: ",",
    bom: false,
    columns: columnsOf(columns),
  });
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const choose = (change: Partial<ExportChoices>) => setChoices((choices) => ({ ...choices, ...change }));
  const start = async () => {
    setBusy(true);
    setError(null);
    try {
      const { jobId } = await guarded(() => api.createJob(exportRequest(dataset, choices)));
      rememberDataset(jobId, dataset);
      go(`/jobs/${jobId}`);
    } catch (error) {
      setError(error);
      setBusy(false);
    }
  };
  const { format, gzip } = choices;
  const problem = columnsProblem(choices.columns);
  return (
    <form
      class="card"
      aria-labelledby="export-title"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <h2 id="export-title">{t.title(dataset)}</h2>
      <fieldset>
        <legend>{t.format}</legend>
        {FORMATS.map((name) => (
          <label class="choice" key={name}>
            <input
              type="radio"
              name="format"
              checked={format === name}
              onChange={() => choose({ format: name })}
            />
            <span>
              {t.formats[name][0]}
              <small>{t.formats[name][1]}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {format !== "xlsx" && (
        <fieldset>
          <legend>{t.file}</legend>
          <Check label={t.gzip} hint={t.gzipHint} checked={gzip} onChange={(gzip) => choose({ gzip })} />
          {format === "csv" && <CsvChoices choices={choices} choose={choose} />}
        </fieldset>
      )}
      <Columns columns={choices.columns} onChange={(columns) => choose({ columns })} />
      <div role="status">{problem && <p class="notice warn">{columnsProblemText(problem)}</p>}</div>
      <ErrorNotice error={error} />
      <div class="actions">
        <button type="submit" class="main" disabled={busy || problem !== null}>
          {t.start}
        </button>
      </div>
    </form>
  );
}

function columnsProblemText(problem: ColumnsProblem): string {
  const { columnsProblems } = text.exports;
  return problem.kind === "repeated"
    ? columnsProblems.repeated(problem.heading)
    : columnsProblems[problem.kind]();
}

interface CheckProps {
  label: string;
  hint: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}

function Check({ label, hint, checked, onChange }: CheckProps) {
  return (
    <label class="choice">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>
        {label}
        <small>{hint}</small>
      </span>
    </label>
  );
}

/** The choices that only CSV has. */
function CsvChoices({
  choices: { delimiter, bom },
  choose,
}: {
  choices: ExportChoices;
  choose: (change: Partial<ExportChoices>) => void;
}) {
  const t = text.exports;
  return (
    <>
      <Check label={t.bom} hint={t.bomHint} checked={bom} onChange={(bom) => choose({ bom })} />
      <label class="inline">
        {t.delimiter}
        <select
          value={delimiter}
          onChange={(event) => {
            const chosen = DELIMITERS.find((delimiter) => delimiter === event.currentTarget.value);
            if (chosen) choose({ delimiter: chosen });
          }}
        >
          {DELIMITERS.map((delimiter) => (
            <option key={delimiter} value={delimiter}>
              {t.delimiters[delimiter]}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

function Columns({
  columns,
  onChange,
}: {
  columns: readonly ExportColumn[];
  onChange: (columns: ExportColumn[]) => void;
}) {
  const t = text.exports;
  const set = (at: number, change: Partial<ExportColumn>) =>
    onChange(columns.map((column, index) => (index === at ? { ...column, ...change } : column)));
  if (columns.length === 0) return null;
  return (
    <details>
      <summary>{t.columns(columns.filter(({ included }) => included).length, columns.length)}</summary>
      <p class="quiet small">{t.columnsHint}</p>
      <ul class="columns">
        {columns.map(({ name, heading, included }, at) => (
          <li key={name}>
            <label class="choice">
              <input
                type="checkbox"
                checked={included}
                onChange={(event) => set(at, { included: event.currentTarget.checked })}
              />
              <span>{name}</span>
            </label>
            <input
              value={heading}
              required={included}
              disabled={!included}
              aria-label={t.headingOf(name)}
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => set(at, { heading: event.currentTarget.value })}
            />
          </li>
        ))}
      </ul>
    </details>
  );
}
