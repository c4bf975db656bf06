/** The way out of failed rows: take them home, correct them, drop them back. Only those run again. */

import type { Job } from "longshore-client";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api, guarded } from "../api";
import { text } from "../text";
import { Upload } from "../upload";
import { DropZone } from "./drop-zone";
import { Fault } from "./fault";

interface Props {
  job: Job;
  download: () => Promise<void>;
  onReopened: () => void;
}

export function Mend({ job, download, onReopened }: Props) {
  const t = text.failures;
  const upload = useMemo(() => new Upload([".csv", ".txt"]), []);
  useEffect(() => () => upload.close(), []);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const retry = async (file: File) => {
    const refusal = upload.refusal(file);
    setError(refusal && new Error(refusal));
    if (refusal) return;
    setBusy(true);
    try {
      upload.begin(file);
      const fileGuid = await upload.finished();
      await guarded(() => api.retry(job.jobId, { fileGuid }));
      onReopened();
    } catch (error) {
      setError(error);
    }
    setBusy(false);
  };
  return (
    <section class="card" aria-labelledby="mend-title">
      <h2 id="mend-title">{t.mend}</h2>
      <div class="mend">
        <ol>
          {t.mendSteps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
        <div class="mend-files">
          <button type="button" class="main" onClick={() => void download().catch(setError)}>
            {t.download(job.counts.failed)}
          </button>
          {busy ? (
            <p role="status">{t.retrying}</p>
          ) : (
            <DropZone
              title={t.drop}
              choose={t.choose}
              accept=".csv,.txt"
              small
              onFile={(file) => void retry(file)}
            />
          )}
        </div>
      </div>
      <Fault error={error} />
    </section>
  );
}
