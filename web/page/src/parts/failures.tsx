/** The rows that failed: a summary by reason, then row by row. */

import type { Failure, Job } from "longshore-client";
import { useEffect, useState } from "preact/hooks";
import { api } from "../api";
import { useList } from "../load";
import { number, text } from "../text";
import { Fault } from "./fault";
import { shown } from "./preview";
import { Table } from "./table";

/** What one call answers at most. */
const PAGE = 1000;
/** Failures that are read by themselves, for the summary; more of them only when asked for. */
const READ = 5000;
/** Rows that are shown at a time. */
const STEP = 25;

export function Failures({ job }: { job: Job }) {
  const t = text.failures;
  const [shownRows, setShownRows] = useState(STEP);
  const list = useList(
    async (cursor, signal) => {
      const { failures, nextCursor } = await api.failures(job.jobId, { limit: PAGE, cursor, signal });
      return { items: failures, nextCursor };
    },
    [job.jobId, job.attempts],
  );
  const read = list.items ?? [];
  useEffect(() => {
    if (list.hasMore && !list.loading && !list.error && read.length < READ) list.more();
  });
  const more = () => {
    if (shownRows + STEP > read.length && list.hasMore) list.more();
    setShownRows(shownRows + STEP);
  };
  return (
    <section class="failures" aria-labelledby="failures-title">
      <h2 id="failures-title">{t.title}</h2>
      <Fault error={list.error} retry={list.reload} />
      {!list.items && list.loading && <p class="quiet">{text.loading}</p>}
      {read.length > 0 && <Reasons failures={read} />}
      {read.length > 0 && read.length < job.counts.failed && !list.loading && (
        <p class="quiet small">{t.part(read.length, job.counts.failed)}</p>
      )}
      {read.length > 0 && <Rows failures={read.slice(0, shownRows)} />}
      {(shownRows < read.length || list.hasMore) && (
        <p class="center">
          <button type="button" disabled={list.loading} onClick={more}>
            {text.more}
          </button>
        </p>
      )}
    </section>
  );
}

function Reasons({ failures }: { failures: Failure[] }) {
  const t = text.failures;
  const reasons = new Map<string, { first: Failure; count: number }>();
  for (const failure of failures) {
    const reason = `${failure.code} ${failure.field ?? ""}`;
    const known = reasons.get(reason);
    reasons.set(reason, { first: known?.first ?? failure, count: (known?.count ?? 0) + 1 });
  }
  const byCount = [...reasons.values()].sort((a, b) => b.count - a.count);
  return (
    <Table
      caption={t.byReason}
      head={
        <>
          <th scope="col">{t.reason}</th>
          <th scope="col">{t.column}</th>
          <th scope="col" class="figure">
            {t.count}
          </th>
          <th scope="col">{t.example}</th>
        </>
      }
    >
      {byCount.map(({ first, count }) => (
        <tr key={first.code + first.field}>
          <th scope="row">{first.code.replaceAll("_", " ")}</th>
          <td>{first.field ?? t.none}</td>
          <td class="figure">{number(count)}</td>
          <td class="quiet">{first.message}</td>
        </tr>
      ))}
    </Table>
  );
}

function Rows({ failures }: { failures: Failure[] }) {
  const t = text.failures;
  return (
    <Table
      caption={t.rows}
      head={
        <>
          <th scope="col" class="figure">
            {t.row}
          </th>
          <th scope="col">{t.column}</th>
          <th scope="col">{t.value}</th>
          <th scope="col">{t.reason}</th>
        </>
      }
    >
      {failures.map((failure) => (
        <tr key={failure.number}>
          <th scope="row" class="figure">
            {number(failure.number)}
          </th>
          <td>{failure.field ?? t.none}</td>
          <td class="clip">{valueOf(failure) || t.none}</td>
          <td>{failure.message}</td>
        </tr>
      ))}
    </Table>
  );
}

/** What stood in the column that is to blame; the whole row where it is none. */
function valueOf({ field, row }: Failure): string {
  if (field === null) return shown(row);
  return typeof row === "object" && row !== null
    ? shown((row as Record<string, unknown>)[field])
    : shown(row);
}
