/** Which jobs have only checked their file. */

import type { Job } from "longshore-client";

/** Whether it is a check that can be or was started as an import. Of one that did not complete nothing tells. */
export function isCheck({ links, startedAs }: Pick<Job, "links" | "startedAs">): boolean {
  return Boolean(links.start ?? startedAs);
}
