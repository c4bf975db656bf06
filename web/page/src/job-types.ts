/** The registered job types: whether there are any, for the navigation, and the state of one. */

import { effect, signal } from "@preact/signals";
import type { JobType } from "longshore-client";
import { api } from "./api";
import { sessionState } from "./session";

/** True if the user can see a job type. */
export const hasJobTypes = signal(false);

/** Reads again whether there are job types. Keeps the last answer if that fails. */
export async function refreshJobTypes(): Promise<void> {
  try {
    // A page can be empty although the next one is not: types that a user cannot see are left out of it.
    const { jobTypes, nextCursor } = await api.listJobTypes({ limit: 1 });
    hasJobTypes.value = jobTypes.length > 0 || nextCursor !== null;
  } catch {
    // The entry of the navigation is a convenience only.
  }
}

effect(() => {
  const state = sessionState.value;
  if (state === "signed-in" || state === "open") void refreshJobTypes();
  if (state === "signed-out") hasJobTypes.value = false;
});

/** Returns true if the document is one for operators: others have no handler. */
export function isForOperators({ target }: JobType): boolean {
  return target !== undefined && target !== null;
}

/** Returns the function or the URL of the handler. */
export function handlerOf({ target }: JobType): string | null {
  return target?.function ?? target?.url ?? null;
}
