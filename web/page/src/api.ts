/** The API of the page's own deployment, called with the user's token. */

import { createClient, ProblemError } from "longshore-client";
import { renewRefusedToken, token } from "./session";

/** The client. Calls that a user waits for go through `guarded`. */
export const api = createClient({ baseUrl: "", token });

/** Makes a call. If its token is refused, renews the session and calls once more. */
export async function guarded<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(await isRenewed(error))) throw error;
    return call();
  }
}

/**
 * Returns true if a call failed because of its token and the token has been renewed since. A second failure
 * is final.
 */
export async function isRenewed(error: unknown): Promise<boolean> {
  return error instanceof ProblemError && error.status === 401 && renewRefusedToken();
}
