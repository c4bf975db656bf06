/** The picked file: its kind and size, and the progress of its upload. */

import type { RefObject } from "preact";
import type { Draft } from "../draft";
import type { Sheet } from "../file/sheet";
import { bytes, text } from "../text";
import { UploadBar } from "./upload-bar";

interface Props {
  draft: Draft;
  /** Receives focus once a file is picked. */
  heading: RefObject<HTMLHeadingElement | null>;
  onRemove: () => void;
}

export function FileCard({ draft, heading, onRemove }: Props) {
  const { file, sheet, upload } = draft;
  const t = text.file;
  return (
    <section class="card file" aria-labelledby="file-title">
      <div>
        <h2 id="file-title" class="file-name" ref={heading} tabIndex={-1}>
          {file.name}
        </h2>
        <p class="quiet small">
          {bytes(file.size)} · {kind(sheet)} · {t.columns(sheet.columns.length)}
        </p>
      </div>
      <button type="button" class="plain" disabled={draft.stage.value === "creating"} onClick={onRemove}>
        {t.remove}
      </button>
      <UploadBar upload={upload} retry={() => draft.send()} />
    </section>
  );
}

function kind({ format, delimiter }: Sheet): string {
  return format === "csv" ? text.file.csvBy(delimiterName(delimiter)) : text.file.jsonLines;
}

/** Returns the name of a delimiter. */
export function delimiterName(delimiter: string): string {
  return text.file.delimiters[delimiter] ?? `"${delimiter}"`;
}
