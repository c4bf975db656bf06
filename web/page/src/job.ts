/** A hook that watches a job. */

import type { VersionedJob } from "longshore-client";
import { useEffect, useState } from "preact/hooks";
import { api, isRenewed } from "./api";
import { sessionState } from "./session";

/**
 * Watches a job, except while the user is signed out. `again` restarts the watch after a retry or an error.
 */
export function useJob(jobId: string) {
  const [job, setJob] = useState<VersionedJob | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  const isOut = sessionState.value === "expired";
  useEffect(() => {
    setError(null);
    if (isOut) return;
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      for (let isFresh = false; ; ) {
        try {
          for await (const state of api.watch(jobId, { signal: stop.signal })) {
            isFresh = false;
            setJob(state);
          }
          return;
        } catch (error) {
          if (stop.signal.aborted) return;
          // If a new token is refused as well, further attempts would not help.
          if (isFresh || !(await isRenewed(error))) return setError(error);
          isFresh = true;
        }
      }
    };
    void follow();
    return () => stop.abort();
  }, [jobId, round, isOut]);
  return { job, error, again: () => setRound((round) => round + 1) };
}
