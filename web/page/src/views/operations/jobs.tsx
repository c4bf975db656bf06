/** The jobs of all tenants, by state, type, tenant and age. */

import type { OperatorJob } from "longshore-client";
import { api } from "../../api";
import { ChoiceFilter, FilterGroup, TextFilter, useFilters } from "../../components/filters";
import { Listing } from "../../components/listing";
import { RunbookLink } from "../../components/runbook";
import { StatusBadge } from "../../components/status";
import { CardTable } from "../../components/tables";
import { useWatchedList } from "../../load";
import { failuresOf, jobsOptions, linkTo, queryOf, STATUSES } from "../../operations/filters";
import { moment, number, text } from "../../text";
import { waitingWords } from "../../waiting";

export function JobsPart() {
  const t = text.operations;
  const filters = useFilters();
  const list = useWatchedList(
    async (cursor, signal) => {
      const options = jobsOptions(filters, Date.now());
      const { jobs, nextCursor } = await api.listOperatorJobs({ ...options, limit: 20, cursor, signal });
      return { items: jobs, nextCursor };
    },
    [queryOf(filters).toString()],
    ({ jobId }) => jobId,
    10_000,
  );
  const statuses = STATUSES.map((status) => [status, text.status[status]]);
  return (
    <>
      <h2>{t.jobs.title}</h2>
      <FilterGroup>
        <ChoiceFilter
          name="status"
          label={t.status}
          choices={{ "": t.filters.any, ...Object.fromEntries(statuses) }}
        />
        <TextFilter name="type" label={t.type} any={t.filters.anyType} />
        <TextFilter name="tenant" label={t.tenant} any={t.filters.anyTenant} maxLength={128} />
        <ChoiceFilter name="age" label={t.filters.accepted} choices={t.filters.ages} />
        <ChoiceFilter name="order" label={t.filters.order} choices={t.filters.orders} />
      </FilterGroup>
      <Listing list={list} none={t.jobs.none}>
        <JobTable jobs={list.items ?? []} />
      </Listing>
    </>
  );
}

function JobTable({ jobs }: { jobs: readonly OperatorJob[] }) {
  const t = text.operations;
  return (
    <CardTable
      caption={t.jobs.caption}
      columns={[
        { name: t.jobs.job },
        { name: t.tenant, look: "wrap" },
        { name: t.status },
        { name: t.jobs.items, look: "figure" },
        { name: t.jobs.failed, look: "figure" },
        { name: t.jobs.created, look: "nowrap" },
      ]}
      rows={jobs.map((job) => ({
        key: job.jobId,
        cells: [
          <>
            {job.jobType}
            <small class="quiet line id">
              <code>{job.jobId}</code>
            </small>
          </>,
          <a href={linkTo("jobs", { tenant: job.tenant })}>{job.tenant}</a>,
          <State job={job} />,
          (job.itemCountFinal ? number : t.jobs.counting)(job.itemCount),
          <Failed job={job} />,
          <>
            {moment(job.createdAt)}
            {job.finishedAt === null && (
              <small class="quiet line">{t.jobs.deadline(moment(job.deadlineAt))}</small>
            )}
          </>,
        ],
      }))}
    />
  );
}

/** The status of a job, and the reason for it. */
function State({ job: { status, waitingFor, errorCode, attempts } }: { job: OperatorJob }) {
  const t = text.operations;
  return (
    <>
      <StatusBadge status={status} />
      {waitingFor && (
        <small class="quiet line">
          {waitingWords(waitingFor.reason)[0]}. {t.since(moment(waitingFor.since))}.{" "}
          <RunbookLink reason={waitingFor.reason} />
        </small>
      )}
      {errorCode && (
        <small class="quiet line">
          <code>{errorCode}</code>
        </small>
      )}
      {attempts > 1 && <small class="quiet line">{t.jobs.attempts(attempts)}</small>}
    </>
  );
}

/** The number of failed items, with a link to their codes. */
function Failed({ job }: { job: OperatorJob }) {
  const failed = job.counts?.failed;
  if (failed === undefined) return <>{text.operations.unknown}</>;
  if (failed === 0) return <>{number(0)}</>;
  const label = text.operations.jobs.failuresOf(job.jobId.slice(-6), failed);
  return (
    <a href={linkTo("failures", failuresOf(job))} aria-label={label}>
      {number(failed)}
    </a>
  );
}
