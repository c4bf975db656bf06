/** The undo of an import: its numbers from a preview, and the confirmation before anything is written. */

import { hasEnded, type Job, ProblemError } from "longshore-client";
import { useEffect, useRef, useState } from "preact/hooks";
import { api, guarded } from "../api";
import { datasetOf, rememberDataset } from "../local-storage";
import { go } from "../router";
import { text } from "../text";
import { ErrorNotice } from "./errors";

/** A button that opens the dialog. The dialog creates a preview, which writes nothing. */
export function UndoImport({ job }: { job: Job }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button type="button" class="plain" onClick={() => setIsOpen(true)}>
        {text.undo.button}
      </button>
      {isOpen && <UndoDialog job={job} onClose={() => setIsOpen(false)} />}
    </>
  );
}

function UndoDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const t = text.undo;
  const dialog = useRef<HTMLDialogElement>(null);
  const { preview, error: previewError } = usePreview(job.jobId);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const undo = async () => {
    setBusy(true);
    setError(null);
    try {
      const { jobId } = await guarded(() => api.undo(job.jobId));
      const dataset = datasetOf(job.jobId);
      if (dataset) rememberDataset(jobId, dataset);
      go(`/jobs/${jobId}`);
    } catch (error) {
      setError(error);
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="undo-title" onClose={onClose}>
      <h2 id="undo-title">{t.title}</h2>
      <p>{t.body}</p>
      <div role="status">
        {preview ? <Numbers preview={preview} /> : !previewError && <p>{t.counting}</p>}
      </div>
      <ErrorNotice error={previewError} />
      {isTooEarly(error) ? (
        <p class="notice warn">{t.tooEarly(error.retryAfter ?? 0)}</p>
      ) : (
        <ErrorNotice error={error} />
      )}
      <div class="actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          {t.keep}
        </button>
        <button
          type="button"
          class="danger"
          disabled={busy || !preview || preview.counts.succeeded === 0}
          onClick={() => void undo()}
        >
          {t.confirm}
        </button>
      </div>
    </dialog>
  );
}

/** The outcomes that an undo would have now. */
function Numbers({ preview }: { preview: Job }) {
  const { succeeded, skipped, failed } = preview.counts;
  const { undone, stays, unknown } = text.undo;
  return (
    <ul>
      <li>{undone(succeeded)}</li>
      {skipped > 0 && <li>{stays(skipped)}</li>}
      {failed > 0 && <li>{unknown(failed)}</li>}
    </ul>
  );
}

/** Creates a preview and watches it to its end. */
function usePreview(importId: string) {
  const [preview, setPreview] = useState<Job | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const follow = async () => {
      const { jobId } = await guarded(() => api.undo(importId, { mode: "validate", signal }));
      for await (const job of api.watch(jobId, { signal })) if (hasEnded(job)) setPreview(job);
    };
    follow().catch((error: unknown) => !signal.aborted && setError(error));
    return () => stop.abort();
  }, [importId]);
  return { preview, error };
}

function isTooEarly(error: unknown): error is ProblemError {
  return error instanceof ProblemError && error.kind === "undo-too-early";
}
