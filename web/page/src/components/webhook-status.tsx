/** The status of a webhook as a coloured badge. */

import type { Webhook } from "longshore-client";
import { text } from "../text";

/** The look of a status, that of a job's badge. */
const LOOKS = { active: "completed", pending: "running", disabled: "failed" };

export function WebhookStatus({ webhook: { status } }: { webhook: Webhook }) {
  return <span class={`badge ${LOOKS[status]}`}>{text.webhooks.statuses[status]}</span>;
}
