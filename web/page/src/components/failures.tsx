/** The failed rows: a summary by reason, then each row. */

import type { Failure, Job } from "longshore-client";
import { useEffect, useState } from "preact/hooks";
import { api } from "../api";
import { cellText, haveSheetRows } from "../file/table";
import { useList } from "../load";
import { failureReason, number, text } from "../text";
import { CodeMessage, ErrorNotice, withoutColon } from "./errors";
import { CardTable, type Column } from "./tables";

/** The API's maximum per call. */
const PAGE = 1000;
/** Failures to read without a request by the user, for the summary. */
const READ = 5000;
/** Rows to show at a time. */
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
      <ErrorNotice error={list.error} retry={list.reload} />
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
  const byCount = [...reasons].sort(([, a], [, b]) => b.count - a.count);
  return (
    <CardTable
      caption={t.byReason}
      columns={[{ name: t.reason }, { name: t.count, look: "figure" }, { name: t.example, look: "quiet" }]}
      rows={byCount.map(([key, { first, count }]) => ({
        key,
        cells: [
          withoutColon(failureReason(first) ?? first.message),
          number(count),
          t.exampleOf(first, valueOf(first)),
        ],
      }))}
    />
  );
}

function Rows({ failures }: { failures: Failure[] }) {
  const t = text.failures;
  const hasSheet = haveSheetRows(failures);
  const sheetRow: Column = { name: t.sheetRow, look: "figure" };
  return (
    <CardTable
      caption={t.rows}
      columns={[
        { name: t.row, look: "figure" },
        ...(hasSheet ? [sheetRow] : []),
        { name: t.column },
        { name: t.value, look: "clip" },
        { name: t.reason },
      ]}
      rows={failures.map((failure) => ({
        key: failure.number,
        cells: [
          number(failure.number),
          ...(hasSheet ? [failure.sheetRow === null ? t.none : number(failure.sheetRow)] : []),
          failure.field ?? t.none,
          valueOf(failure) || t.none,
          <CodeMessage words={failureReason(failure)} message={failure.message} />,
        ],
      }))}
    />
  );
}

/** Returns the value of the failed column, or the whole row. */
function valueOf({ field, row }: Failure): string {
  if (field === null) return cellText(row);
  return typeof row === "object" && row !== null
    ? cellText((row as Record<string, unknown>)[field])
    : cellText(row);
}
