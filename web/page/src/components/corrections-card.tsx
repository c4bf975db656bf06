/** The correction of failed rows: download, correct, upload. Only those rows are retried. */

import type { Job } from "longshore-client";
import { useEffect, useRef, useState } from "preact/hooks";
import { useFocusOnChange } from "../accessibility";
import { CORRECTION_TYPES, type CorrectionUpload, correctionsOf } from "../corrections";
import type { FailedFormat } from "../report-files";
import { text } from "../text";
import { DropZone } from "./drop-zone";
import { ErrorNotice } from "./errors";
import { UploadBar } from "./file-card";

interface Props {
  job: Job;
  /** Downloads the failed rows, and returns the format. */
  download: (format: FailedFormat) => Promise<FailedFormat>;
  onReopened: () => void;
}

export function CorrectionsCard({ job, download, onReopened }: Props) {
  const t = text.failures;
  const corrections = correctionsOf(job);
  const [error, setError] = useState<unknown>(null);
  const [isTooLarge, setIsTooLarge] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const zone = useRef<HTMLInputElement>(null);
  const isIdle = corrections.stage.value === "none";
  useFocusOnChange(isIdle, () => (isIdle ? zone : heading).current);
  useEffect(() => {
    corrections.onReopened = onReopened;
    return () => {
      corrections.onReopened = null;
    };
  });
  return (
    <section class="card" aria-labelledby="corrections-title">
      <h2 id="corrections-title" ref={heading} tabIndex={-1}>
        {t.correct}
      </h2>
      <div class="corrections">
        <ol>
          {t.correctSteps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
        <div class="corrections-files">
          <div class="actions">
            <button
              type="button"
              class="main"
              onClick={() => {
                download("xlsx")
                  .then((format) => setIsTooLarge(format === "csv"))
                  .catch(setError);
              }}
            >
              {t.download(job.counts.failed)}
            </button>
            <button type="button" onClick={() => void download("csv").catch(setError)}>
              {t.downloadCsv}
            </button>
          </div>
          {isTooLarge && <p role="status">{t.tooLargeForExcel}</p>}
          {isIdle ? (
            <DropZone
              title={t.drop}
              choose={t.choose}
              accept={CORRECTION_TYPES.join(",")}
              small
              input={zone}
              onFile={(file) => void corrections.run(file)}
            />
          ) : (
            <InProgress corrections={corrections} />
          )}
        </div>
      </div>
      <ErrorNotice error={error} />
      <ErrorNotice error={corrections.error.value} retry={retryOf(corrections)} />
    </section>
  );
}

function InProgress({ corrections }: { corrections: CorrectionUpload }) {
  if (corrections.stage.value === "retrying") return <p role="status">{text.failures.retrying}</p>;
  return (
    <>
      <UploadBar upload={corrections.upload} />
      <p>
        <button type="button" onClick={() => corrections.cancel()}>
          {text.corrections.cancel}
        </button>
      </p>
    </>
  );
}

/** Returns a retry with the chosen file, so that the user need not drop it again. */
function retryOf(corrections: CorrectionUpload): (() => void) | undefined {
  const file = corrections.upload.file.value;
  return file && corrections.stage.value === "none" ? () => void corrections.run(file) : undefined;
}
