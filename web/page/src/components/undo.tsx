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
  const { begin, isBegun, secondsLeft, error } = useUndo(job.jobId);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="undo-title" onClose={onClose}>
      <h2 id="undo-title">{t.title}</h2>
      <p>{t.body}</p>
      <div role="status">
        {preview ? (
          <Numbers wrote={job.counts.succeeded} preview={preview} />
        ) : (
          !previewError && <p>{t.counting}</p>
        )}
      </div>
      <ErrorNotice error={previewError} />
      {secondsLeft !== null && <Waiting seconds={secondsLeft} />}
      <ErrorNotice error={error} />
      <div class="actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          {t.keep}
        </button>
        <button
          type="button"
          class="danger"
          disabled={isBegun || !preview || preview.counts.succeeded === 0}
          onClick={begin}
        >
          {t.confirm}
        </button>
      </div>
    </dialog>
  );
}

/** The time until the undo begins. Only the sentence is announced, not each second. */
function Waiting({ seconds }: { seconds: number }) {
  const { tooEarly, begins } = text.undo;
  return (
    <div class="notice warn">
      <p role="alert">{tooEarly}</p>
      <p role="timer">{begins(seconds)}</p>
    </div>
  );
}

/** The rows that the import wrote, and the outcomes that an undo would have now. */
function Numbers({ wrote: count, preview }: { wrote: number; preview: Job }) {
  const { succeeded, skipped, failed } = preview.counts;
  const { wrote, undone, stays, unknown } = text.undo;
  return (
    <ul>
      <li>{wrote(count)}</li>
      <li>{undone(succeeded)}</li>
      {skipped > 0 && <li>{stays(skipped)}</li>}
      {failed > 0 && <li>{unknown(failed)}</li>}
    </ul>
  );
}

/** Creates the undo and shows it. While it is too early, waits and then tries again, until the dialog is closed. */
function useUndo(importId: string) {
  const [isBegun, setIsBegun] = useState(false);
  const [beginsAt, setBeginsAt] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const begin = async () => {
    setIsBegun(true);
    setError(null);
    setBeginsAt(null);
    try {
      const { jobId } = await guarded(() => api.undo(importId));
      const dataset = datasetOf(importId);
      if (dataset) rememberDataset(jobId, dataset);
      go(`/jobs/${jobId}`);
    } catch (error) {
      if (isTooEarly(error)) return setBeginsAt(Date.now() + 1000 * Math.max(1, error.retryAfter ?? 0));
      setError(error);
      setIsBegun(false);
    }
  };
  const secondsLeft = useCountdown(beginsAt, () => void begin());
  return { begin: () => void begin(), isBegun, secondsLeft, error };
}

/** Returns the seconds until a time, or null without one. Calls `onEnd` once the time has come. */
function useCountdown(time: number | null, onEnd: () => void): number | null {
  const [, setNow] = useState(0);
  useEffect(() => {
    if (time === null) return;
    const timer = setInterval(() => (Date.now() < time ? setNow(Date.now()) : end()), 1000);
    const end = () => {
      clearInterval(timer);
      onEnd();
    };
    return () => clearInterval(timer);
  }, [time]);
  return time === null ? null : Math.max(0, Math.ceil((time - Date.now()) / 1000));
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
