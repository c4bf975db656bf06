/** The list of jobs, newest first. */

import { hasEnded, type Job, type Status } from "longshore-client";
import { useRef, useState } from "preact/hooks";
import { announce } from "../accessibility";
import { api, guarded } from "../api";
import { ErrorNotice } from "../components/errors";
import { ConfirmDelete } from "../components/job-actions";
import { isCheck, StatusBadge, undoState } from "../components/status";
import { CardTable, More } from "../components/tables";
import { type LiveItems, useList } from "../load";
import { jobName, moment, number, text } from "../text";

const STATUSES: Status[] = ["waiting", "running", "completed", "failed", "canceled"];

const UNFINISHED: LiveItems<Job> = { id: ({ jobId }) => jobId, isLive: (job) => !hasEnded(job) };

export function JobsView() {
  const [status, setStatus] = useState<Status | "">("");
  const [deleted, setDeleted] = useState<ReadonlySet<string>>(new Set());
  const [toDelete, setToDelete] = useState<Job | null>(null);
  const [error, setError] = useState<unknown>(null);
  const list = useList(
    async (cursor, signal) => {
      const { jobs, nextCursor } = await api.listJobs({
        limit: 20,
        ...(status && { status }),
        cursor,
        signal,
      });
      return { items: jobs, nextCursor };
    },
    [status],
    UNFINISHED,
  );
  const heading = useRef<HTMLHeadingElement>(null);
  // The list may show a deleted job for a moment.
  const jobs = list.items?.filter(({ jobId }) => !deleted.has(jobId)) ?? [];
  const remove = (job: Job) => {
    setError(null);
    guarded(() => api.delete(job.jobId))
      .then(() => {
        setDeleted((deleted) => new Set([...deleted, job.jobId]));
        announce(text.jobs.deleted(jobName(job)));
        // The focused button has disappeared with its row.
        heading.current?.focus();
      })
      .catch(setError);
  };
  return (
    <>
      <div class="heading">
        <h1 ref={heading} tabIndex={-1}>
          {text.jobs.title}
        </h1>
        <label class="inline">
          {text.jobs.filter}
          <select value={status} onChange={(event) => setStatus(event.currentTarget.value as Status | "")}>
            <option value="">{text.jobs.all}</option>
            {STATUSES.map((status) => (
              <option key={status} value={status}>
                {text.status[status]}
              </option>
            ))}
          </select>
        </label>
      </div>
      <ErrorNotice error={list.error} retry={list.reload} />
      <ErrorNotice error={error} />
      {list.items && jobs.length === 0 && !list.hasMore && (
        <p class="card quiet">{status ? text.jobs.noneOfStatus : text.jobs.none}</p>
      )}
      {jobs.length > 0 && <JobTable jobs={jobs} onDelete={setToDelete} />}
      <More list={list} />
      {toDelete && (
        <ConfirmDelete
          job={toDelete}
          onAnswer={(yes) => {
            setToDelete(null);
            if (yes) remove(toDelete);
          }}
        />
      )}
    </>
  );
}

function JobTable({ jobs, onDelete }: { jobs: Job[]; onDelete: (job: Job) => void }) {
  const { caption, what, status, progress, failed, created, actions } = text.jobs;
  return (
    <CardTable
      caption={caption}
      columns={[
        { name: what },
        { name: status },
        { name: progress, look: "figure" },
        { name: failed, look: "figure" },
        { name: created, look: "nowrap" },
        { name: actions, isUnnamed: true },
      ]}
      rows={jobs.map((job) => ({
        key: job.jobId,
        cells: [
          <>
            <a href={`/jobs/${job.jobId}`}>{jobName(job)}</a>
            {isCheck(job) && <span class="badge">{text.jobs.check}</span>}
            {job.undoneBy && <span class="badge">{text.jobs.undone[undoState(job, jobs)]}</span>}
          </>,
          <StatusBadge status={job.status} />,
          text.job.rows(job.itemProgress, job.itemCount),
          number(job.counts.failed),
          moment(job.createdAt),
          <button
            type="button"
            class="plain"
            aria-label={text.jobs.deleteOf(jobName(job))}
            onClick={() => onDelete(job)}
          >
            {text.jobs.delete}
          </button>,
        ],
      }))}
    />
  );
}
