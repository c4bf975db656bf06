/** The outcome of a retry of a group of failures: the jobs that started, and the reasons of the others. */

import type { JobRetry } from "longshore-client";
import { ErrorNotice } from "../../../components/errors";
import type { GroupRetry } from "../../../operations/groups";
import { text } from "../../../text";

export function RetryResult({ result, isBusy }: { result: GroupRetry | null; isBusy: boolean }) {
  const t = text.operations.failures;
  const refused = result?.jobs.filter(({ outcome }) => outcome === "refused") ?? [];
  const started = (result?.jobs.length ?? 0) - refused.length;
  return (
    <>
      <ErrorNotice error={result?.error} />
      <div role="status">
        {isBusy && <p>{t.retrying}</p>}
        {result && result.jobs.length + (result.error ? 0 : 1) > 0 && (
          <p class={`notice ${refused.length > 0 || result.error ? "warn" : "good"}`}>
            {t.result(started, result.jobs.length)} {result.error ? t.partly : null}
          </p>
        )}
      </div>
      {refused.length > 0 && (
        <details>
          <summary>{t.refused}</summary>
          <ul class="small">
            {refused.map((retry) => (
              <li key={retry.jobId}>
                <code>{retry.jobId}</code>: {reasonOf(retry)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** Returns the reason of a refusal: the API's sentence, which says who can retry the job, or the problem's title. */
function reasonOf({ problem, detail }: JobRetry): string {
  return detail ?? (problem && text.refusals[problem]?.[0]) ?? text.operations.unknown;
}
