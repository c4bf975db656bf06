/** The form of a schedule: its name, when it runs, and its job. */

import type { Schedule, ScheduleRequest } from "longshore-client";
import { useState } from "preact/hooks";
import { text } from "../text";
import { ownTimeZone } from "../time-zones";
import { ErrorNotice } from "./errors";
import { type JobChoice, ScheduleJob } from "./schedule-job";
import { ScheduleTiming, type Timing } from "./schedule-timing";

interface ScheduleFormProps {
  /** The schedule that is changed; none for a new one. */
  schedule?: Schedule;
  /** Saves the fields. Its error is shown. */
  save: (request: ScheduleRequest) => Promise<void>;
}

export function ScheduleForm({ schedule, save }: ScheduleFormProps) {
  const t = text.schedules;
  const [name, setName] = useState(schedule?.name ?? "");
  const [timing, setTiming] = useState<Timing>(() => timingOf(schedule));
  const [job, setJob] = useState<JobChoice>(() => jobOf(schedule));
  const [overlap, setOverlap] = useState(schedule?.overlap ?? "skip");
  const [paused, setPaused] = useState(schedule?.paused ?? false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const submit = async () => {
    setBusy(true);
    setError(null);
    try {
      await save({ name, ...timingRequest(timing), job: jobRequest(job), overlap, paused });
    } catch (error) {
      setError(error);
    }
    setBusy(false);
  };
  return (
    <form
      class="card"
      aria-labelledby="schedule-form-title"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <h2 id="schedule-form-title">{schedule ? t.form.change : t.form.create}</h2>
      <label>
        {t.name}
        <input
          required
          maxLength={100}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <ScheduleTiming timing={timing} change={setTiming} />
      <ScheduleJob job={job} change={setJob} />
      <label class="choice">
        <input
          type="checkbox"
          checked={overlap === "allow"}
          onChange={(event) => setOverlap(event.currentTarget.checked ? "allow" : "skip")}
        />
        <span>{t.form.overlap}</span>
      </label>
      <label class="choice">
        <input
          type="checkbox"
          checked={paused}
          onChange={(event) => setPaused(event.currentTarget.checked)}
        />
        <span>{t.form.paused}</span>
      </label>
      <ErrorNotice error={error} />
      <div class="actions">
        <button type="submit" class="main" disabled={busy}>
          {schedule ? t.form.save : t.form.submit}
        </button>
      </div>
    </form>
  );
}

/** Returns the timing of a schedule; that of every day for a new one. */
function timingOf(schedule: Schedule | undefined): Timing {
  const zone = schedule?.timeZone ?? ownTimeZone();
  const { cron, everyMinutes, at } = schedule ?? {};
  const kind = everyMinutes ? "every" : at ? "at" : "cron";
  return { kind, pattern: cron ?? "0 6 * * *", zone, minutes: everyMinutes ?? 60, at: at ?? "" };
}

function timingRequest({ kind, pattern, zone, minutes, at }: Timing): Partial<ScheduleRequest> {
  if (kind === "cron") return { cron: pattern, timeZone: zone };
  return kind === "every" ? { everyMinutes: minutes } : { at };
}

function jobOf(schedule: Schedule | undefined): JobChoice {
  const job = (schedule?.job ?? { jobType: "export" }) as Record<string, unknown>;
  const dataset = (job.source as { dataset?: string } | undefined)?.dataset ?? "";
  const results = job.results as { format?: string } | undefined;
  return {
    kind: job.jobType === "export" ? "export" : "other",
    dataset,
    format: results?.format ?? "jsonl",
    json: JSON.stringify(job, null, 2),
    base: job,
  };
}

/** Returns the job of a request. The members of an export that the form does not show stay, if they fit. */
function jobRequest({ kind, dataset, format, json, base }: JobChoice): Record<string, unknown> {
  if (kind === "other") return parsed(json);
  if (base.jobType !== "export") return { jobType: "export", source: { dataset }, results: { format } };
  const source = { ...(base.source as object | undefined), dataset };
  const stored = base.results as { format?: string; columns?: unknown } | undefined;
  const isSame = (stored?.format ?? "jsonl") === format;
  const results = isSame
    ? { ...stored, format }
    : { format, ...(stored?.columns ? { columns: stored.columns } : {}) };
  return { ...base, source, results };
}

function parsed(json: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    value = null;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new Error(text.schedules.form.badJson);
  }
  return value as Record<string, unknown>;
}
