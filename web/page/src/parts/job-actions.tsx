/** The actions that a job's state allows. */

import { hasEnded, type Job, NetworkError } from "longshore-client";
import { useState } from "preact/hooks";
import { api, guarded } from "../api";
import { isCheck } from "../check";
import { datasetOf, rememberDataset } from "../memory";
import { go } from "../router";
import { text } from "../text";
import { ConfirmDelete } from "./confirm";
import { ErrorNotice } from "./error-notice";

export function JobActions({ job, onReopened }: { job: Job; onReopened: () => void }) {
  const t = text.job;
  const [busy, setBusy] = useState(false);
  const [isAsking, setIsAsking] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const doIt = async (change: () => Promise<unknown>, then: (done: unknown) => void = () => {}) => {
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
    doIt(
      () => api.start(job.jobId),
      (started) => {
        const { jobId } = started as Job;
        const dataset = datasetOf(job.jobId);
        if (dataset) rememberDataset(jobId, dataset);
        go(`/jobs/${jobId}`);
      },
    );
  // A retry with a lost reply is not repeated, since it may have been accepted: the job shows it.
  const retry = () =>
    doIt(
      () =>
        api.retry(job.jobId).catch((error: unknown) => {
          if (error instanceof NetworkError) onReopened();
          throw error;
        }),
      onReopened,
    );
  const stopping = job.stage === "stopping";
  // A second check of the same rows would find the same.
  const left = job.counts.failed + job.counts.pending > 0 && !isCheck(job);
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
            onClick={() => void doIt(() => api.cancel(job.jobId))}
          >
            {stopping ? t.canceling : t.cancel}
          </button>
        )}
        {hasEnded(job) && left && (
          <button type="button" disabled={busy} onClick={() => void retry()}>
            {t.retry}
          </button>
        )}
        {hasEnded(job) && (
          <button type="button" class="plain" disabled={busy} onClick={() => setIsAsking(true)}>
            {t.delete}
          </button>
        )}
      </div>
      {isAsking && (
        <ConfirmDelete
          onAnswer={(yes) => {
            setIsAsking(false);
            if (yes)
              void doIt(
                () => api.delete(job.jobId),
                () => go("/jobs"),
              );
          }}
        />
      )}
    </>
  );
}
