/** The actions that a job's status allows, and the confirmation dialog before its deletion. */

import { hasEnded, type Job, NetworkError } from "longshore-client";
import { useState } from "preact/hooks";
import { api, guarded } from "../api";
import { deletion } from "../deletion";
import { datasetOf, rememberDataset } from "../local-storage";
import { go } from "../router";
import { text } from "../text";
import { Confirm } from "./confirm";
import { ErrorNotice } from "./errors";
import { isCheck } from "./status";
import { UndoImport } from "./undo";

export function JobActions({ job, onReopened }: { job: Job; onReopened: () => void }) {
  const t = text.job;
  const [busy, setBusy] = useState(false);
  const [isConfirming, setIsConfirming] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const perform = async (change: () => Promise<unknown>, then: (result: unknown) => void = () => {}) => {
    setBusy(true);
    setError(null);
    try {
      then(await guarded(change));
    } catch (error) {
      setError(error);
    }
    setBusy(false);
  };
  const start = () =>
    perform(
      () => api.start(job.jobId),
      (started) => {
        const { jobId } = started as Job;
        const dataset = datasetOf(job.jobId);
        if (dataset) rememberDataset(jobId, dataset);
        go(`/jobs/${jobId}`);
      },
    );
  // A retry with a lost reply is not repeated: it may have been accepted. The job shows whether it was.
  const retry = () =>
    perform(
      () =>
        api.retry(job.jobId).catch((error: unknown) => {
          if (error instanceof NetworkError) onReopened();
          throw error;
        }),
      onReopened,
    );
  const stopping = job.stage === "stopping";
  // A second check of the same rows would have the same result; an undo, or an import with one, is not retried.
  const isFixed = isCheck(job) || job.undoes !== null || job.undoneBy !== null;
  const canRetry = job.counts.failed + job.counts.pending > 0 && !isFixed;
  return (
    <>
      <ErrorNotice error={error} />
      <div class="actions">
        {job.links.start && (
          <button type="button" class="main" disabled={busy} onClick={() => void start()}>
            {t.start}
          </button>
        )}
        {job.startedAs && <a href={`/jobs/${job.startedAs}`}>{t.startedAs}</a>}
        {job.startedFrom && <a href={`/jobs/${job.startedFrom}`}>{t.startedFrom}</a>}
        {!hasEnded(job) && (
          <button
            type="button"
            disabled={busy || stopping || !job.links.cancel}
            onClick={() => void perform(() => api.cancel(job.jobId))}
          >
            {stopping ? t.canceling : t.cancel}
          </button>
        )}
        {hasEnded(job) && canRetry && (
          <button type="button" disabled={busy} onClick={() => void retry()}>
            {t.retry}
          </button>
        )}
        {job.undoes && <a href={`/jobs/${job.undoes.jobId}`}>{t.undoes}</a>}
        {job.undoneBy && <a href={`/jobs/${job.undoneBy}`}>{t.undoneBy}</a>}
        {job.links.undo && <UndoImport job={job} />}
        {hasEnded(job) && (
          <button type="button" class="plain" disabled={busy} onClick={() => setIsConfirming(true)}>
            {t.delete}
          </button>
        )}
      </div>
      {isConfirming && (
        <ConfirmDelete
          job={job}
          onAnswer={(yes) => {
            setIsConfirming(false);
            if (yes)
              void perform(
                () => api.delete(job.jobId),
                () => go("/jobs"),
              );
          }}
        />
      )}
    </>
  );
}

/** A confirmation dialog before a deletion. */
export function ConfirmDelete({ job, onAnswer }: { job: Job; onAnswer: (yes: boolean) => void }) {
  const t = text.confirm;
  return (
    <Confirm title={t.deleteTitle} no={t.keep} yes={t.delete} onAnswer={onAnswer}>
      {deletion(job)}
    </Confirm>
  );
}
