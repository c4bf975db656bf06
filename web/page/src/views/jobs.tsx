/** The jobs, newest first. */

import type { Job, Status } from "longshore-client";
import { useState } from "preact/hooks";
import { announce } from "../announce";
import { api, guarded } from "../api";
import { useList } from "../load";
import { ConfirmDelete } from "../parts/confirm";
import { Fault } from "../parts/fault";
import { More } from "../parts/more";
import { StatusBadge } from "../parts/status";
import { Table } from "../parts/table";
import { jobName, moment, number, text } from "../text";

const STATUSES: Status[] = ["waiting", "running", "completed", "failed", "canceled"];

export function JobsView() {
  const [status, setStatus] = useState<Status | "">("");
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const [asked, setAsked] = useState<Job | null>(null);
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
  );
  // The list may lag behind a deletion by a moment.
  const jobs = list.items?.filter(({ jobId }) => !gone.has(jobId)) ?? [];
  const remove = (job: Job) => {
    setError(null);
    guarded(() => api.delete(job.jobId))
      .then(() => {
        setGone((gone) => new Set([...gone, job.jobId]));
        announce(text.jobs.deleted(jobName(job)));
      })
      .catch(setError);
  };
  return (
    <>
      <div class="heading">
        <h1>{text.jobs.title}</h1>
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
      <Fault error={list.error ?? error} retry={list.reload} />
      {list.items && jobs.length === 0 && !list.hasMore && (
        <p class="card quiet">{status ? text.jobs.noneOfStatus : text.jobs.none}</p>
      )}
      {jobs.length > 0 && <JobTable jobs={jobs} onDelete={setAsked} />}
      <More list={list} />
      {asked && (
        <ConfirmDelete
          onAnswer={(yes) => {
            setAsked(null);
            if (yes) remove(asked);
          }}
        />
      )}
    </>
  );
}

function JobTable({ jobs, onDelete }: { jobs: Job[]; onDelete: (job: Job) => void }) {
  const { caption, what, status, progress, failed, created, actions } = text.jobs;
  return (
    <Table
      caption={caption}
      head={
        <>
          <th scope="col">{what}</th>
          <th scope="col">{status}</th>
          <th scope="col" class="figure">
            {progress}
          </th>
          <th scope="col" class="figure">
            {failed}
          </th>
          <th scope="col">{created}</th>
          <th scope="col">
            <span class="unseen">{actions}</span>
          </th>
        </>
      }
    >
      {jobs.map((job) => (
        <tr key={job.jobId}>
          <th scope="row">
            <a href={`/jobs/${job.jobId}`}>{jobName(job)}</a>
          </th>
          <td>
            <StatusBadge status={job.status} />
          </td>
          <td class="figure">{text.job.rows(job.itemProgress, job.itemCount)}</td>
          <td class="figure">{number(job.counts.failed)}</td>
          <td class="nowrap">{moment(job.createdAt)}</td>
          <td>
            <button
              type="button"
              class="plain"
              aria-label={text.jobs.deleteOf(jobName(job))}
              onClick={() => onDelete(job)}
            >
              {text.jobs.delete}
            </button>
          </td>
        </tr>
      ))}
    </Table>
  );
}
