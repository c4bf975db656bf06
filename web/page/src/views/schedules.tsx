/** The list of schedules, and the form of a new one. */

import type { Schedule } from "longshore-client";
import { useState } from "preact/hooks";
import { announce } from "../accessibility";
import { api, guarded } from "../api";
import { ErrorNotice } from "../components/errors";
import { ScheduleForm } from "../components/schedule-form";
import { describeTiming, ScheduleState } from "../components/schedule-state";
import { CardTable, type Column } from "../components/tables";
import { useLoad } from "../load";
import { moment, text } from "../text";

export function SchedulesView() {
  const t = text.schedules;
  const { value, error, reload } = useLoad((signal) => api.listSchedules({ signal }), []);
  const [created, setCreated] = useState(0);
  const schedules = value?.schedules ?? [];
  return (
    <>
      <h1>{t.title}</h1>
      <p class="quiet lead">{t.lead}</p>
      <ErrorNotice error={error} retry={reload} />
      {!value && !error && <p class="quiet">{text.loading}</p>}
      {value && schedules.length === 0 && <p class="card quiet">{t.none}</p>}
      {schedules.length > 0 && <ScheduleTable schedules={schedules} />}
      <ScheduleForm
        // An empty form after each schedule.
        key={created}
        save={async (request) => {
          await guarded(() => api.createSchedule(request));
          announce(t.saved);
          setCreated((created) => created + 1);
          reload();
        }}
      />
    </>
  );
}

function ScheduleTable({ schedules }: { schedules: readonly Schedule[] }) {
  const t = text.schedules;
  const columns: Column[] = [
    { name: t.name, look: "wrap" },
    { name: t.timing, look: "wrap" },
    { name: t.state },
    { name: t.next, look: "nowrap" },
  ];
  return (
    <CardTable
      caption={t.caption}
      columns={columns}
      rows={schedules.map((schedule) => {
        const [next] = schedule.nextTimes;
        return {
          key: schedule.scheduleId,
          cells: [
            <a href={`/schedules/${schedule.scheduleId}`}>{schedule.name}</a>,
            describeTiming(schedule),
            <ScheduleState schedule={schedule} />,
            next ? moment(next.at) : t.noNext,
          ],
        };
      })}
    />
  );
}
