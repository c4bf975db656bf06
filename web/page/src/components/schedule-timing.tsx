/** The part of a schedule's form that says when it runs. */

import { text } from "../text";
import { timeZones } from "../time-zones";

const KINDS = ["cron", "every", "at"] as const;

/** Form input; only the fields of the selected kind are used. */
export interface Timing {
  kind: (typeof KINDS)[number];
  pattern: string;
  zone: string;
  minutes: number;
  /** A time in RFC 3339. */
  at: string;
}

export function ScheduleTiming({ timing, change }: { timing: Timing; change: (timing: Timing) => void }) {
  const t = text.schedules.form;
  return (
    <>
      <fieldset>
        <legend>{t.timing}</legend>
        {KINDS.map((kind) => (
          <label key={kind} class="choice">
            <input
              type="radio"
              name="timing"
              checked={timing.kind === kind}
              onChange={() => change({ ...timing, kind })}
            />
            <span>{t.kinds[kind]}</span>
          </label>
        ))}
      </fieldset>
      {timing.kind === "cron" && (
        <>
          <label>
            {t.pattern}
            <input
              required
              maxLength={200}
              value={timing.pattern}
              onInput={(event) => change({ ...timing, pattern: event.currentTarget.value })}
            />
            <small class="quiet">{t.patternHint}</small>
          </label>
          <label>
            {t.zone}
            <input
              required
              list="time-zones"
              value={timing.zone}
              onInput={(event) => change({ ...timing, zone: event.currentTarget.value })}
            />
          </label>
          <datalist id="time-zones">
            {timeZones().map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </>
      )}
      {timing.kind === "every" && (
        <label>
          {t.minutes}
          <input
            type="number"
            required
            min={5}
            max={527_040}
            value={timing.minutes}
            onInput={(event) => change({ ...timing, minutes: event.currentTarget.valueAsNumber })}
          />
        </label>
      )}
      {timing.kind === "at" && (
        <label>
          {t.at}
          <input
            type="datetime-local"
            required
            value={timing.at ? localTime(new Date(timing.at)) : ""}
            onInput={(event) => {
              const { value } = event.currentTarget;
              change({ ...timing, at: value ? new Date(value).toISOString() : "" });
            }}
          />
        </label>
      )}
    </>
  );
}

/** Returns a time as an input of the user's zone has it. */
function localTime(time: Date): string {
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
