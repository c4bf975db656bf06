/** The form of a new pause, which asks for the reason before it pauses. */

import { useState } from "preact/hooks";
import { moment, text } from "../../../text";
import { ReasonDialog } from "./reason-dialog";

/** A pause that an operator wants to make. */
export interface PauseDraft {
  kind: "type" | "tenant";
  name: string;
  /** RFC 3339. */
  until: string;
  reason: string;
}

const HOUR_MS = 3_600_000;

/** The longest pause that the API permits, less a minute for clocks that differ. */
const MAX_MS = 168 * HOUR_MS - 60_000;

export function PauseForm({ onPause }: { onPause: (draft: PauseDraft) => void }) {
  const t = text.operations.pauses;
  const [kind, setKind] = useState<PauseDraft["kind"]>("type");
  const [name, setName] = useState("");
  const [hours, setHours] = useState("1");
  const [until, setUntil] = useState<string | null>(null);
  const scope = (kind === "type" ? t.ofType : t.ofTenant)(name.trim());
  return (
    <>
      <form
        class="card"
        aria-labelledby="pause-form-title"
        onSubmit={(event) => {
          event.preventDefault();
          setUntil(new Date(Date.now() + Math.min(Number(hours) * HOUR_MS, MAX_MS)).toISOString());
        }}
      >
        <h2 id="pause-form-title">{t.form.title}</h2>
        <div class="fields">
          <label>
            <span>{t.form.kind}</span>
            <select
              value={kind}
              onChange={(event) => setKind(event.currentTarget.value as PauseDraft["kind"])}
            >
              <Options of={t.form.kinds} />
            </select>
          </label>
          <label>
            <span>{t.form.name[kind]}</span>
            <input
              required
              pattern=".*\S.*"
              maxLength={kind === "type" ? 100 : 128}
              autocomplete="off"
              spellcheck={false}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
          <label>
            <span>{t.form.duration}</span>
            <select value={hours} onChange={(event) => setHours(event.currentTarget.value)}>
              <Options of={t.form.durations} />
            </select>
          </label>
        </div>
        <div class="actions">
          <button type="submit">{t.form.submit}</button>
        </div>
      </form>
      {until && (
        <ReasonDialog
          title={t.confirmTitle(scope)}
          yes={t.confirm}
          isDanger
          onAnswer={(reason) => {
            setUntil(null);
            if (reason !== null) onPause({ kind, name: name.trim(), until, reason });
          }}
        >
          {t.confirmBody(moment(until))}
        </ReasonDialog>
      )}
    </>
  );
}

function Options({ of }: { of: Record<string, string> }) {
  return (
    <>
      {Object.entries(of).map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </>
  );
}
