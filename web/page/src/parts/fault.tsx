/** An error, told to the person: what, and the way out. */

import { ProblemError } from "longshore-client";
import { text } from "../text";

export function Fault({ error, retry }: { error: unknown; retry?: () => void }) {
  if (!error) return null;
  return (
    <div class="notice bad" role="alert">
      <div>
        <strong>{title(error)}</strong>
        <p>{detail(error)}</p>
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

function title(error: unknown): string {
  return error instanceof ProblemError ? error.title : text.failed;
}

function detail(error: unknown): string {
  if (error instanceof ProblemError) return [error.detail, ...error.errors.map((e) => e.detail)].join(" ");
  if (error instanceof Error && error.name === "NetworkError") return text.unreachable;
  return error instanceof Error ? error.message : String(error);
}
