/** Jobs that only check their file. */

import type { Job } from "longshore-client";

/**
 * Returns true for a check that can be started, or was started, as an import. A check that did not complete
 * is not recognizable.
 */
export function isCheck({ links, startedAs }: Pick<Job, "links" | "startedAs">): boolean {
  return Boolean(links.start ?? startedAs);
}
