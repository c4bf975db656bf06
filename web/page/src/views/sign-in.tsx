/** The sign-in view, before a session and after it. The address stays, so that the user returns to it. */

import { SIGN_IN_HASH, signIn, signInError } from "../session";
import { text } from "../text";

export function SignInView({ expired }: { expired: boolean }) {
  const { title, body, expiredTitle, expiredBody, errors } = text.session;
  const error = signInError.value;
  return (
    <section class="card narrow center">
      <h1>{expired ? expiredTitle : title}</h1>
      <p class="quiet">{expired ? expiredBody : body}</p>
      {error && (
        <p class="notice bad" role="alert">
          {errors[error]}
        </p>
      )}
      <button type="button" class="main" onClick={() => void signIn()}>
        {error ? text.tryAgain : text.session.signIn}
      </button>
    </section>
  );
}

/**
 * A notice above a view whose session has ended. The user signs in in another tab, because a redirect would
 * lose the view.
 */
export function SessionEnded() {
  const { expiredTitle, expiredHere, signInTab } = text.session;
  return (
    <div class="notice warn" role="alert">
      <div>
        <strong>{expiredTitle}</strong>
        <p>{expiredHere}</p>
      </div>
      <a class="button" href={`/${SIGN_IN_HASH}`} target="_blank" rel="noopener">
        {signInTab}
      </a>
    </div>
  );
}
