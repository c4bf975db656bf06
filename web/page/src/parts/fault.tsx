/** An error, told to the person: what, and the way out. */

import { ProblemError } from "longshore-client";
import { text } from "../text";

export function Fault({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  if (!error) return null;
  const { title, detail } = told(error);
  return (
    <div class="notice bad" role="alert">
      <div>
        <strong>{title}</strong>
        <p>{detail}</p>
        {error instanceof ProblemError && error.requestId && (
          <p class="quiet small">{text.request(error.requestId)}</p>
        )}
      </div>
      {retry && (
        <button type="button" onClick={retry}>
          {text.tryAgain}
        </button>
      )}
    </div>
  );
}

/** In the page's own words where it has some; else in the server's, which names fields and figures. */
function told(error: unknown): { title: string; detail: string } {
  const [title, detail] = text.faults[kindOf(error)] ?? [];
  return { title: title ?? titleOf(error), detail: detail ?? detailOf(error) };
}

/** The API's kind of problem, or the error's name. */
function kindOf(error: unknown): string {
  if (!(error instanceof ProblemError)) return error instanceof Error ? error.name : "";
  if (error.status === 401) return "signed-out";
  return error.kind === "gateway" && error.status >= 500 ? "internal" : error.kind;
}

function titleOf(error: unknown): string {
  return error instanceof ProblemError ? error.title : text.failed;
}

function detailOf(error: unknown): string {
  if (error instanceof ProblemError) return [error.detail, ...error.errors.map((e) => e.detail)].join(" ");
  return error instanceof Error ? error.message : String(error);
}
