/** The messages about the items of a run. */

import type { Run } from "../run/run";
import { text } from "../text";

/** Returns the problem of the items, once a start was tried, or else the server's errors. */
export function itemsMessages(run: Run): string[] {
  const problem = run.itemsProblem();
  if (problem !== null && run.isTried.value) {
    const kind = typeof problem === "string" ? problem : problem.kind;
    const line = typeof problem !== "string" && problem.kind === "not-json" ? problem.line : 0;
    return [text.run.itemsProblems[kind]?.(line) ?? kind];
  }
  return run.placed.value.items.map(({ code, detail }) => text.badFields[code] ?? detail);
}
