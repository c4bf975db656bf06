/** An error, told to the person: what, and the way out. */

import { ProblemError } from "longshore-client";
import { text } from "../text";

export function Fault({ error, retry }: { error: unknown; retry?: () => void }) {
  if (!error) return null;
  const [title, wayOut] = told(error);
  return (
    <div class="notice bad" role="alert">
      <div>
        <strong>{title}</strong>
        <p>{wayOut}</p>
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

/** What it is, and the way out: in the page's words, or in the API's for a kind that is not known. */
function told(error: unknown): [string, string] {
  if (error instanceof ProblemError) {
    const said = [error.detail, ...error.errors.map(({ detail }) => detail)].join(" ");
    if (error.status === 401) return text.signedOut;
    return text.refusals[error.kind] ?? [error.title, said];
  }
  if (error instanceof Error && error.name === "NetworkError") return [text.failed, text.unreachable];
  return [text.failed, error instanceof Error ? error.message : String(error)];
}
