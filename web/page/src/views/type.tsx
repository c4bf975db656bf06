/** One registered job type: the form that runs it, and what operators see. */

import { ProblemError } from "longshore-client";
import { api } from "../api";
import { ErrorNotice } from "../components/errors";
import { RunForm } from "../components/run-form";
import { TypeDetails } from "../components/type-details";
import { TypeStatus } from "../components/type-status";
import { isForOperators } from "../job-types";
import { useLoad } from "../load";
import { usePolling } from "../polling";
import { text } from "../text";
import { NotFound } from "./not-found";

/** Interval between reads while a registration waits for its handler, in milliseconds. */
const REFRESH_MS = 3000;

export function TypeView({ name }: { name: string }) {
  const t = text.types;
  const { value: type, error, reload } = useLoad((signal) => api.getJobType(name, { signal }), [name]);
  const isPending = type?.candidate?.status === "pending";
  usePolling(async () => reload(), isPending ? REFRESH_MS : null, [name]);
  if (error instanceof ProblemError && error.status === 404) return <NotFound />;
  if (!type)
    return error ? <ErrorNotice error={error} retry={reload} /> : <p class="quiet">{text.loading}</p>;
  const { status } = type;
  return (
    <>
      <p class="small">
        <a href="/types">{t.back}</a>
      </p>
      <div class="heading">
        <h1>{type.name}</h1>
        {isForOperators(type) && <TypeStatus type={type} />}
      </div>
      {type.description && <p class="quiet described">{type.description}</p>}
      <ErrorNotice error={error} retry={reload} />
      {status === "active" ? (
        // Another form for another registration, with other fields.
        <RunForm key={JSON.stringify([type.input, type.optionsSchema])} type={type} />
      ) : (
        <p class={`notice ${status === "refused" ? "bad" : "warn"}`}>{t.notActive[status]}</p>
      )}
      {isForOperators(type) && <TypeDetails type={type} />}
    </>
  );
}
