/** The file of a run's items. */

import { FILE_TYPES } from "../draft";
import type { Run } from "../run/run";
import { bytes, text } from "../text";
import { DropZone } from "./drop-zone";
import { UploadBar } from "./file-card";
import { itemsMessages } from "./items-messages";
import { Wrong } from "./option-fields";

export function FileField({ run }: { run: Run }) {
  const t = text.run;
  const file = run.file.value;
  const messages = run.refusal.value ? [run.refusal.value] : itemsMessages(run);
  return (
    <div class="stack">
      {file ? (
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
