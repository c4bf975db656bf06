/** The progress of an upload. Each tenth and the end are announced to screen readers. */

import { useEffect } from "preact/hooks";
import { announce } from "../announce";
import { text } from "../text";
import type { Upload } from "../upload";
import { ErrorNotice } from "./error-notice";

interface Props {
  upload: Upload;
  /** Starts the upload again. */
  retry?: () => void;
}

export function UploadBar({ upload, retry }: Props) {
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
