/** The status of a schedule as a coloured badge, and its timing as text. */

import type { Schedule } from "longshore-client";
import { moment, text } from "../text";

/** The look of a status, that of a job's badge. */
const LOOKS = { active: "completed", paused: "running", over: "canceled" };

export function ScheduleState({ schedule }: { schedule: Schedule }) {
  const state = schedule.paused ? "paused" : schedule.nextTimes.length > 0 ? "active" : "over";
  return <span class={`badge ${LOOKS[state]}`}>{text.schedules.states[state]}</span>;
}

/** Describes when a schedule runs. */
export function describeTiming({ cron, timeZone, everyMinutes, at }: Schedule): string {
  const t = text.schedules;
  if (cron) return t.cron(cron, timeZone ?? "UTC");
  if (everyMinutes) return t.everyMinutes(everyMinutes);
  return at ? moment(at) : "";
}
