/** The API of the deployment that this page came from, called with the person's token. */

import { createClient, ProblemError } from "longshore-client";
import { renewRefusedToken, token } from "./session";

/** The client. Calls that a person waits for go through `guarded`. */
export const api = createClient({ baseUrl: "", token });

/** Makes a call; if its token is refused, renews the session and makes it once more. */
export async function guarded<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(await isRenewed(error))) throw error;
    return call();
  }
}

/** Whether a call failed by a token that has been renewed since. What fails once more then, fails. */
export async function isRenewed(error: unknown): Promise<boolean> {
  return error instanceof ProblemError && error.status === 401 && renewRefusedToken();
}
