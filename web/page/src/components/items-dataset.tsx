/** The dataset whose records are the items of a run. */

import { useId } from "preact/hooks";
import { api } from "../api";
import { useLoad } from "../load";
import type { Run } from "../run/run";
import { text } from "../text";
import { itemsMessages } from "./items-messages";
import { Wrong } from "./option-fields";

export function DatasetField({ run }: { run: Run }) {
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
