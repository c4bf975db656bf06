/** One job: its progress while it runs, and its result afterwards. The address is its only input. */

import { hasEnded, ProblemError } from "longshore-client";
import { useEffect } from "preact/hooks";
import { announce } from "../accessibility";
import { Cost } from "../components/cost";
import { ErrorNotice } from "../components/errors";
import { JobActions } from "../components/job-actions";
import { Progress } from "../components/progress";
import { Result } from "../components/result";
import { StatusBadge } from "../components/status";
import { Waiting } from "../components/waiting";
import { useJob } from "../job";
import { jobAnnouncement, jobName, jobSource, moment, text } from "../text";
import { NotFound } from "./not-found";

export function JobView({ jobId }: { jobId: string }) {
  const { job, error, again } = useJob(jobId);
  useEffect(() => {
    if (job) announce(jobAnnouncement(job));
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
        {job.waitingFor && !hasEnded(job) && <Waiting waitingFor={job.waitingFor} />}
        <JobActions key={job.attempts} job={job} onReopened={again} />
        <Cost job={job} />
      </section>
      {hasEnded(job) && <Result key={job.attempts} job={job} onReopened={again} />}
    </>
  );
}
