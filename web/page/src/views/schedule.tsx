/** One schedule: its next times, its occurrences, its form, and its deletion. */

import { ProblemError, type VersionedSchedule } from "longshore-client";
import { useState } from "preact/hooks";
import { announce } from "../accessibility";
import { api, guarded } from "../api";
import { Deletion } from "../components/deletion";
import { ErrorNotice } from "../components/errors";
import { NextTimes, Occurrences } from "../components/occurrences";
import { ScheduleForm } from "../components/schedule-form";
import { describeTiming, ScheduleState } from "../components/schedule-state";
import { useLoad } from "../load";
import { text } from "../text";
import { NotFound } from "./not-found";

export function ScheduleView({ scheduleId }: { scheduleId: string }) {
  const t = text.schedules;
  const load = useLoad((signal) => api.getSchedule(scheduleId, { signal }), [scheduleId]);
  const [round, setRound] = useState(0);
  const { value: schedule, error, reload } = load;
  if (error instanceof ProblemError && error.status === 404) return <NotFound />;
  if (!schedule)
    return error ? <ErrorNotice error={error} retry={reload} /> : <p class="quiet">{text.loading}</p>;
  const refresh = () => {
    reload();
    setRound((round) => round + 1);
  };
  return (
    <>
      <p class="small">
        <a href="/schedules">{t.back}</a>
      </p>
      <div class="heading">
        <h1>{schedule.name}</h1>
        <ScheduleState schedule={schedule} />
      </div>
      <p class="quiet">{describeTiming(schedule)}</p>
      <ErrorNotice error={error} retry={reload} />
      <NextTimes schedule={schedule} />
      <Trigger schedule={schedule} refresh={refresh} />
      <Occurrences scheduleId={scheduleId} round={round} />
      <ScheduleForm
        // Other fields after a change by this or another user; an occurrence does not touch the input.
        key={schedule.etag}
        schedule={schedule}
        save={async (request) => {
          await guarded(() => api.putSchedule(scheduleId, request, { ifMatch: schedule.etag ?? undefined }));
          announce(t.saved);
          reload();
        }}
      />
      <Deletion
        texts={t}
        list="/schedules"
        call={() => api.deleteSchedule(scheduleId, { ifMatch: schedule.etag ?? undefined })}
      />
    </>
  );
}

function Trigger({ schedule, refresh }: { schedule: VersionedSchedule; refresh: () => void }) {
  const t = text.schedules;
  const [error, setError] = useState<unknown>(null);
  const [result, setResult] = useState("");
  const run = async () => {
    setError(null);
    setResult("");
    try {
      await guarded(() => api.triggerSchedule(schedule.scheduleId));
      setResult(t.triggered);
      refresh();
    } catch (error) {
      setError(error);
    }
  };
  return (
    <>
      <ErrorNotice error={error} />
      <div class="actions">
        <button type="button" onClick={() => void run()}>
          {t.trigger}
        </button>
        {schedule.lastJobId && <a href={`/jobs/${schedule.lastJobId}`}>{t.lastJob}</a>}
      </div>
      <p role="status">{result}</p>
    </>
  );
}
