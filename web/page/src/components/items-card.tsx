/** The items of a run: a file, a text, or a dataset. */

import { useId } from "preact/hooks";
import { api } from "../api";
import { FILE_TYPES } from "../draft";
import { useLoad } from "../load";
import type { PastedFormat } from "../run/pasted";
import type { ItemsFrom, Run } from "../run/run";
import { bytes, text } from "../text";
import { DropZone } from "./drop-zone";
import { delimiterName, UploadBar } from "./file-card";
import { Wrong } from "./option-fields";
import { SchemaText } from "./options-card";

const FROMS: ItemsFrom[] = ["file", "text"];
const FORMATS: PastedFormat[] = ["json-lines", "csv"];

export function ItemsCard({ run }: { run: Run }) {
  const t = text.run;
  const { input, itemSchema } = run.type;
  return (
    <section class="card" aria-labelledby="items-title">
      <h2 id="items-title">{t.items}</h2>
      {input === "dataset" ? <DatasetField run={run} /> : <FileOrText run={run} />}
      {itemSchema && <SchemaText title={t.itemSchema} schema={itemSchema} />}
    </section>
  );
}

function FileOrText({ run }: { run: Run }) {
  const t = text.run;
  return (
    <>
      <fieldset class="from">
        <legend>{t.from}</legend>
        {FROMS.map((from) => (
          <label class="choice" key={from}>
            <input
              type="radio"
              name="from"
              checked={run.from.value === from}
              onChange={() => {
                run.from.value = from;
              }}
            />
            <span>
              {t.froms[from][0]}
              <small>{t.froms[from][1]}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {run.from.value === "file" ? <FileField run={run} /> : <TextField run={run} />}
    </>
  );
}

function FileField({ run }: { run: Run }) {
  const t = text.run;
  const sheet = run.sheet.value;
  const file = run.file.value;
  const messages = run.refusal.value ? [run.refusal.value] : itemsMessages(run);
  return (
    <div class="stack">
      <div role="status">
        {run.isDelimiterBad() && (
          <p class="notice bad">{text.problems.delimiter(delimiterName(sheet?.delimiter ?? ""))}</p>
        )}
      </div>
      {sheet && file ? (
        <div class="file">
          <p>
            <strong>{file.name}</strong> <span class="quiet small">{bytes(file.size)}</span>
          </p>
          <button type="button" class="plain" onClick={() => run.removeFile()}>
            {t.removeFile}
          </button>
          {run.upload.file.value === file && (
            <UploadBar upload={run.upload} retry={() => run.upload.begin(file)} />
          )}
        </div>
      ) : (
        <DropZone
          title={t.drop}
          choose={t.chooseFile}
          accept={FILE_TYPES.join(",")}
          small
          wrong={messages.length > 0 ? "items-wrong" : undefined}
          onFile={(file) => void run.pick(file)}
        />
      )}
      <div role="alert">
        <Wrong id="items-wrong" messages={messages} />
      </div>
    </div>
  );
}

function TextField({ run }: { run: Run }) {
  const t = text.run;
  const id = useId();
  const messages = itemsMessages(run);
  return (
    <div class="fields one">
      <div class="field">
        <label for={id} class="field-title">
          {t.text}
        </label>
        <textarea
          id={id}
          class="code"
          rows={8}
          spellcheck={false}
          autocomplete="off"
          value={run.pasted.value}
          aria-describedby={messages.length > 0 ? `${id}-hint ${id}-wrong` : `${id}-hint`}
          aria-invalid={messages.length > 0 ? "true" : undefined}
          onInput={(event) => {
            run.pasted.value = event.currentTarget.value;
          }}
        />
        <small id={`${id}-hint`}>{t.textHint}</small>
        <Wrong id={`${id}-wrong`} messages={messages} />
      </div>
      <label class="inline">
        {t.format}
        <select
          value={run.format.value}
          onChange={(event) => {
            const chosen = FORMATS.find((format) => format === event.currentTarget.value);
            run.chosenFormat.value = chosen ?? null;
          }}
        >
          {FORMATS.map((format) => (
            <option key={format} value={format}>
              {t.formats[format]}
            </option>
          ))}
        </select>
      </label>
      {run.upload.file.value !== run.file.value && <UploadBar upload={run.upload} />}
    </div>
  );
}

function DatasetField({ run }: { run: Run }) {
  const t = text.run;
  const id = useId();
  const datasets = useLoad((signal) => api.listDatasets({ limit: 1000, signal }), []);
  const messages = itemsMessages(run);
  return (
    <div class="fields">
      <div class="field">
        <label for={id} class="field-title">
          {t.dataset}
        </label>
        <input
          id={id}
          value={run.dataset.value}
          list={`${id}-list`}
          autocomplete="off"
          spellcheck={false}
          aria-required="true"
          aria-describedby={messages.length > 0 ? `${id}-hint ${id}-wrong` : `${id}-hint`}
          aria-invalid={messages.length > 0 ? "true" : undefined}
          onInput={(event) => {
            run.dataset.value = event.currentTarget.value;
          }}
        />
        <datalist id={`${id}-list`}>
          {datasets.value?.datasets.map(({ name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <small id={`${id}-hint`}>{t.datasetHint}</small>
        <Wrong id={`${id}-wrong`} messages={messages} />
      </div>
    </div>
  );
}

/** Returns the problem of the items, once a start was tried, or else the server's errors. */
function itemsMessages(run: Run): string[] {
  const problem = run.itemsProblem();
  if (problem !== null && run.isTried.value) {
    const kind = typeof problem === "string" ? problem : problem.kind;
    const line = typeof problem !== "string" && problem.kind === "not-json" ? problem.line : 0;
    return [text.run.itemsProblems[kind]?.(line) ?? kind];
  }
  return run.placed.value.items.map(({ code, detail }) => text.badFields[code] ?? detail);
}
