/** The pasted text of a run's items, and its format. */

import { useId } from "preact/hooks";
import type { PastedFormat } from "../run/pasted";
import type { Run } from "../run/run";
import { text } from "../text";
import { UploadBar } from "./file-card";
import { itemsMessages } from "./items-messages";
import { Wrong } from "./option-fields";

const FORMATS: PastedFormat[] = ["json-lines", "csv"];

export function TextField({ run }: { run: Run }) {
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
