/** The picked file: its size, how it is read, and the progress of its upload. */

import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { announce } from "../accessibility";
import type { Draft } from "../draft";
import { bytes, text } from "../text";
import type { Upload } from "../upload";
import { ErrorNotice } from "./errors";
import { ReadingDetails } from "./reading-details";

interface FileCardProps {
  draft: Draft;
  /** Receives focus once a file is picked. */
  heading: RefObject<HTMLHeadingElement | null>;
  onRemove: () => void;
}

export function FileCard({ draft, heading, onRemove }: FileCardProps) {
  const { file, upload } = draft;
  const waitsFor = draft.waitsFor.value;
  return (
    <section class="card file" aria-labelledby="file-title">
      <div>
        <h2 id="file-title" class="file-name" ref={heading} tabIndex={-1}>
          {file.name}
        </h2>
        <p class="quiet small">{bytes(file.size)}</p>
      </div>
      <button type="button" class="plain" disabled={draft.stage.value === "creating"} onClick={onRemove}>
        {text.file.remove}
      </button>
      <UploadBar upload={upload} retry={() => draft.send()} />
      <ReadingDetails draft={draft} />
      {waitsFor && <p class="wide quiet">{text.inspection.waits[waitsFor]}</p>}
    </section>
  );
}

interface UploadBarProps {
  upload: Upload;
  /** Starts the upload again. */
  retry?: () => void;
}

/** The progress of an upload. Each tenth and the end are announced to screen readers. */
export function UploadBar({ upload, retry }: UploadBarProps) {
  const t = text.file;
  const percent = upload.percent.value;
  const isUploaded = upload.fileGuid.value !== null;
  const failed = upload.error.value;
  const announcement = isUploaded ? t.uploaded : t.uploading(Math.floor(percent / 10) * 10);
  useEffect(() => {
    if (upload.file.value && !failed) announce(announcement);
  }, [announcement, failed]);
  if (!upload.file.value) return null;
  if (failed) return <ErrorNotice error={failed} retry={retry} />;
  return (
    <div class="upload">
      <progress max={100} value={percent} aria-label={t.uploadProgress} />
      <p class="small quiet">{isUploaded ? t.uploaded : t.uploading(percent)}</p>
    </div>
  );
}
