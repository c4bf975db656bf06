/** The part of a schedule's form that describes its job: an export, or any other job as JSON. */

import { api } from "../api";
import { useLoad } from "../load";
import { text } from "../text";

const KINDS = ["export", "other"] as const;
const FORMATS = ["jsonl", "csv", "xlsx"] as const;

/** Form input; only the fields of the selected kind are used. */
export interface JobChoice {
  kind: (typeof KINDS)[number];
  dataset: string;
  format: string;
  json: string;
  /** The stored job, or the one of a new schedule. */
  base: Record<string, unknown>;
}

export function ScheduleJob({ job, change }: { job: JobChoice; change: (job: JobChoice) => void }) {
  const t = text.schedules.form;
  const datasets = useLoad((signal) => api.listDatasets({ limit: 1000, signal }), []);
  return (
    <>
      <fieldset>
        <legend>{t.job}</legend>
        {KINDS.map((kind) => (
          <label key={kind} class="choice">
            <input
              type="radio"
              name="job"
              checked={job.kind === kind}
              onChange={() => change({ ...job, kind })}
            />
            <span>{t.jobs[kind]}</span>
          </label>
        ))}
      </fieldset>
      {job.kind === "export" ? (
        <>
          <label>
            {t.dataset}
            <input
              required
              list="schedule-datasets"
              value={job.dataset}
              onInput={(event) => change({ ...job, dataset: event.currentTarget.value })}
            />
          </label>
          <datalist id="schedule-datasets">
            {datasets.value?.datasets.map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <label>
            {t.format}
            <select
              value={job.format}
              onChange={(event) => change({ ...job, format: event.currentTarget.value })}
            >
              {FORMATS.map((format) => (
                <option key={format} value={format}>
                  {t.formats[format]}
                </option>
              ))}
            </select>
          </label>
        </>
      ) : (
        <label>
          {t.json}
          <textarea
            required
            rows={8}
            value={job.json}
            onInput={(event) => change({ ...job, json: event.currentTarget.value })}
          />
        </label>
      )}
    </>
  );
}
