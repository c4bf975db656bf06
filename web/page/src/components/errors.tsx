/** Errors: a notice with the solution, and the text for a code of the API. */

import { ProblemError } from "longshore-client";
import { sessionState } from "../session";
import { apiMessage, fieldReason, text } from "../text";

export function ErrorNotice({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  // Hidden while the page asks to sign in, because the ended session is the cause.
  const isSignedOut =
    error instanceof ProblemError && error.status === 401 && sessionState.value === "expired";
  if (!error || isSignedOut) return null;
  const [title, solution] = describe(error);
  return (
    <div class="notice bad" role="alert">
      <div>
        <strong>{title}</strong>
        <p>{solution}</p>
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

/** Returns title and solution: in the page's words, or in the API's for an unknown kind. */
function describe(error: unknown): [string, string] {
  if (error instanceof ProblemError) {
    if (error.status === 401) return text.signedOut;
    const fields = error.errors.map(fieldReason);
    if (error.kind === "invalid-request") return [text.invalid, fields.join(" ") || error.detail];
    return text.refusals[error.kind] ?? [error.title, [error.detail, ...fields].join(" ")];
  }
  if (!(error instanceof Error)) return [text.failed, String(error)];
  return text.clientErrors[error.name] ?? [text.failed, error.message];
}

interface CodeMessageProps {
  /**
   * The page's words for a known code. A colon at the end asks for the API's sentence, which has more detail.
   */
  words: string | undefined;
  /** The API's sentence. */
  message: string;
}

/** The text for a code: the page's words, the API's sentence, or both. */
export function CodeMessage({ words, message }: CodeMessageProps) {
  if (!words) return <>{apiMessage(message)}</>;
  if (!words.endsWith(":")) return <>{words}</>;
  return (
    <>
      {withoutColon(words)}
      <small class="api-message quiet" lang="en">
        {apiMessage(message)}
      </small>
    </>
  );
}

/** Returns the words without the colon. */
export function withoutColon(words: string): string {
  return words.replace(/:$/, "");
}
