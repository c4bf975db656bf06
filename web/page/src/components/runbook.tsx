/** The section of the runbook about a reason for which a job waits, for operators. */

import type { WaitingReason } from "longshore-client";
import { runbookUrl } from "../session";
import { text } from "../text";
import { runbookSection } from "../waiting";

/** A link, or the place in the repository if the deployment does not have the URL of the runbook. */
export function RunbookLink({ reason }: { reason: WaitingReason }) {
  const address = runbookSection(runbookUrl.value, reason);
  if (runbookUrl.value === null) return <code>{address}</code>;
  return (
    <a href={address} target="_blank" rel="noopener" aria-label={text.waiting.runbookOf(reason)}>
      {text.waiting.runbook}
    </a>
  );
}
