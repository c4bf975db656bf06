/** A job type as operators see it: its handler, its limits, its candidate, and its deletion. */

import type { JobType, VersionedJobType } from "longshore-client";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { announce } from "../accessibility";
import { api, guarded } from "../api";
import { handlerOf, refreshJobTypes } from "../job-types";
import { go } from "../router";
import { bytes, moment, number, text } from "../text";
import { Confirm } from "./confirm";
import { ErrorNotice } from "./errors";

export function TypeDetails({ type }: { type: VersionedJobType }) {
  const t = text.operator;
  const [isConfirming, setIsConfirming] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const remove = async () => {
    setError(null);
    try {
      await guarded(() => api.deleteJobType(type.name, { ifMatch: type.etag }));
      announce(t.deleted(type.name));
      void refreshJobTypes();
      go("/types");
    } catch (error) {
      setError(error);
    }
  };
  return (
    <section class="card" aria-labelledby="operator-title">
      <h2 id="operator-title">{t.title}</h2>
      <Candidate type={type} />
      <dl class="details">
        {facts(type).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet small">
        {t.hint} <code>PUT /api/job-types/{type.name}</code>. {t.check}{" "}
        <code>longshore types check {handlerOf(type)}</code>.
      </p>
      <ErrorNotice error={error} />
      <div class="actions">
        <button type="button" class="plain" onClick={() => setIsConfirming(true)}>
          {t.delete}
        </button>
      </div>
      {isConfirming && (
        <Confirm
          title={t.confirmTitle(type.name)}
          no={t.keep}
          yes={t.confirm}
          onAnswer={(yes) => {
            setIsConfirming(false);
            if (yes) void remove();
          }}
        >
          {t.confirmBody}
        </Confirm>
      )}
    </section>
  );
}

/** Returns the members of the registration, by name. */
function facts(type: JobType): [string, ComponentChildren][] {
  const t = text.operator;
  const { batch, concurrency, itemsPerSecond, tries, maxOutageSeconds, modes, updatedAt } = type;
  const all: [string, ComponentChildren][] = [
    [t.target, <code>{handlerOf(type)}</code>],
    [t.batch, t.batchOf(batch.items, bytes(batch.bytes), batch.timeoutSeconds)],
    [t.concurrency, number(concurrency)],
    [t.rate, itemsPerSecond == null ? text.types.noRate : text.types.perSecond(itemsPerSecond)],
    [t.tries, number(tries)],
    [t.outage, t.outageOf(maxOutageSeconds)],
    [t.modes, modes.join(", ")],
    [t.updated, moment(updatedAt)],
  ];
  return all.filter(([, value]) => value);
}

function Candidate({ type }: { type: JobType }) {
  const t = text.operator;
  const { candidate } = type;
  if (!candidate) return null;
  const { status, reason, at } = candidate;
  return (
    <div class={`notice ${status === "refused" ? "bad" : "warn"}`}>
      <div>
        <strong>
          {t.candidate[status] ?? status} {type.status === "active" && t.kept}
        </strong>
        {reason && <p class="reason">{reason}</p>}
        <p class="small">{t.at(moment(at))}</p>
      </div>
    </div>
  );
}
