/** The file that was picked: what it is, and how far its upload is. */

import type { Sheet } from "../file/sheet";
import { bytes, text } from "../text";
import type { Upload } from "../upload";

interface Props {
  file: File;
  sheet: Sheet;
  upload: Upload;
  onRemove: () => void;
}

export function FileCard({ file, sheet, upload, onRemove }: Props) {
  const percent = upload.percent.value;
  const t = text.file;
  return (
    <section class="card file">
      <div>
        <strong class="file-name">{file.name}</strong>
        <p class="quiet small">
          {bytes(file.size)} · {kind(sheet)} · {t.columns(sheet.columns.length)}
        </p>
      </div>
      <button type="button" class="plain" onClick={onRemove}>
        {t.remove}
      </button>
      {upload.file.value && (
        <div class="upload">
          <progress max={100} value={percent} aria-label={t.uploadProgress} />
          <p class="small quiet" role="status">
            {upload.error.value
              ? t.uploadFailed(upload.error.value)
              : upload.fileGuid.value
                ? t.uploaded
                : t.uploading(percent)}
          </p>
        </div>
      )}
    </section>
  );
}

function kind({ format, delimiter }: Sheet): string {
  return format === "csv" ? text.file.csvBy(delimiterName(delimiter)) : text.file.jsonLines;
}

/** A delimiter as a word. */
export function delimiterName(delimiter: string): string {
  return text.file.delimiters[delimiter] ?? `"${delimiter}"`;
}
