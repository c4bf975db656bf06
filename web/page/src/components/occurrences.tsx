/** The occurrences of a schedule, and its next times. */

import type { Occurrence, Schedule } from "longshore-client";
import { api } from "../api";
import { useList } from "../load";
import { moment, occurrenceReason, text } from "../text";
import { ErrorNotice } from "./errors";
import { CardTable, type Column, More } from "./tables";

/** The look of a result, that of a job's badge. */
const LOOKS = { started: "completed", skipped: "running", failed: "failed" };

export function NextTimes({ schedule }: { schedule: Schedule }) {
  const t = text.schedules.times;
  const zone = schedule.timeZone ?? "UTC";
  const columns: Column[] = [
    { name: t.local(zone), look: "nowrap" },
    { name: t.utc, look: "nowrap" },
    { name: t.change, look: "wrap" },
  ];
  return (
    <section class="card" aria-labelledby="times-title">
      <h2 id="times-title">{t.title}</h2>
      {schedule.nextTimes.length === 0 ? (
        <p class="quiet">{schedule.paused ? t.paused : t.none}</p>
      ) : (
        <CardTable
          caption={t.caption}
          columns={columns}
          rows={schedule.nextTimes.map(({ at, local, clockChange }) => ({
            key: at,
            cells: [clock(local), clock(at), clockChange ? t.changes[clockChange] : ""],
          }))}
        />
      )}
    </section>
  );
}

/** Returns date and time of RFC 3339 as they are written, without the zone. */
function clock(time: string): string {
  return time.slice(0, 16).replace("T", " ");
}

export function Occurrences({ scheduleId, round }: { scheduleId: string; round: number }) {
  const t = text.schedules.occurrences;
  const list = useList(
    async (cursor, signal) => {
      const page = await api.listOccurrences(scheduleId, { limit: 20, cursor, signal });
      return { items: page.occurrences, nextCursor: page.nextCursor ?? null };
    },
    [scheduleId, round],
    { id: ({ recordedAt }) => recordedAt, isLive: () => false },
  );
  const columns: Column[] = [
    { name: t.scheduled, look: "nowrap" },
    { name: t.result },
    { name: t.detail, look: "wrap" },
  ];
  const occurrences = list.items ?? [];
  return (
    <section class="card" aria-labelledby="occurrences-title">
      <h2 id="occurrences-title">{t.title}</h2>
      <ErrorNotice error={list.error} retry={list.reload} />
      {list.items?.length === 0 && <p class="quiet">{t.none}</p>}
      {occurrences.length > 0 && (
        <CardTable
          caption={t.caption}
          columns={columns}
          rows={occurrences.map((occurrence) => ({
            key: occurrence.recordedAt,
            cells: [
              moment(occurrence.scheduledAt),
              <span class={`badge ${LOOKS[occurrence.result]}`}>{t.results[occurrence.result]}</span>,
              <Detail occurrence={occurrence} />,
            ],
          }))}
        />
      )}
      <More list={list} />
    </section>
  );
}

function Detail({ occurrence }: { occurrence: Occurrence }) {
  const { jobId } = occurrence;
  if (jobId) return <a href={`/jobs/${jobId}`}>{jobId.slice(-6)}</a>;
  return <>{occurrenceReason(occurrence)}</>;
}
