/** One job: its progress while it runs, and its result afterwards. The address is its only input. */

import { hasEnded, ProblemError, type VersionedJob } from "longshore-client";
import { useEffect, useState } from "preact/hooks";
import { announce } from "../accessibility";
import { api, isRenewed } from "../api";
import { ErrorNotice } from "../components/errors";
import { JobActions } from "../components/job-actions";
import { Progress } from "../components/progress";
import { Result } from "../components/result";
import { StatusBadge } from "../components/status";
import { sessionState } from "../session";
import { jobMessage, jobName, jobSource, moment, text } from "../text";
import { NotFound } from "./not-found";

export function JobView({ jobId }: { jobId: string }) {
  const { job, error, again } = useJob(jobId);
  useEffect(() => {
    if (job) announce(announcementFor(job));
  }, [job?.message, job?.status]);
  if (error instanceof ProblemError && error.status === 404) return <NotFound />;
  if (!job) {
    return error ? <ErrorNotice error={error} retry={again} /> : <p class="quiet">{text.loading}</p>;
  }
  const source = jobSource(job);
  return (
    <>
      <div class="heading">
        <div>
          <h1>{jobName(job)}</h1>
          <p class="quiet small">
            {text.job.created(moment(job.createdAt))}
            {source && ` · ${source}`}
            {job.attempts > 1 && ` · ${text.job.attempt(job.attempts)}`}
          </p>
        </div>
        <StatusBadge status={job.status} />
      </div>
      <ErrorNotice error={error} retry={again} />
      <section class="card">
        <Progress key={job.attempts} job={job} />
        <JobActions key={job.attempts} job={job} onReopened={again} />
      </section>
      {hasEnded(job) && <Result key={job.attempts} job={job} onReopened={again} />}
    </>
  );
}

/**
 * Watches a job, except while the user is signed out. `again` restarts the watch after a retry or an error.
 */
function useJob(jobId: string) {
  const [job, setJob] = useState<VersionedJob | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  const isOut = sessionState.value === "expired";
  useEffect(() => {
    setError(null);
    if (isOut) return;
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      for (let isFresh = false; ; ) {
        try {
          for await (const state of api.watch(jobId, { signal: stop.signal })) {
            isFresh = false;
            setJob(state);
          }
          return;
        } catch (error) {
          if (stop.signal.aborted) return;
          // If a new token is refused as well, further attempts would not help.
          if (isFresh || !(await isRenewed(error))) return setError(error);
          isFresh = true;
        }
      }
    };
    void follow();
    return () => stop.abort();
  }, [jobId, round, isOut]);
  return { job, error, again: () => setRound((round) => round + 1) };
}

/** Returns the sentence for screen readers: each tenth of the progress, and the end. */
function announcementFor(job: VersionedJob): string {
  if (job.status !== "running") return jobMessage(job);
  return text.job.announced(Math.floor(job.percent / 10) * 10);
}
