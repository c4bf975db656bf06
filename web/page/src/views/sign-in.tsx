/** Before anybody is signed in, and after a session has ended. The address stays, so that the person comes back to it. */

import { signIn, signInError } from "../session";
import { text } from "../text";

export function SignInView({ expired }: { expired: boolean }) {
  const { title, body, expiredTitle, expiredBody } = text.session;
  return (
    <section class="card narrow center">
      <h1>{expired ? expiredTitle : title}</h1>
      <p class="quiet">{expired ? expiredBody : body}</p>
      {signInError.value && (
        <p class="notice bad" role="alert">
          {text.session.refused}
        </p>
      )}
      <button type="button" class="main" onClick={() => void signIn()}>
        {text.session.signIn}
      </button>
    </section>
  );
}
