/** The operators' view: a part for each question about all tenants. */

import type { FunctionComponent } from "preact";
import { OPERATIONS_PARTS, type OperationsPart } from "../router";
import { role } from "../session";
import { text } from "../text";
import { DeadLettersPart } from "./operations/dead-letters";
import { FailuresPart } from "./operations/failures";
import { HandlersPart } from "./operations/handlers";
import { JobsPart } from "./operations/jobs";
import { LogPart } from "./operations/log";
import { PausesPart } from "./operations/pauses";
import { QueuesPart } from "./operations/queues";
import { WebhooksPart } from "./operations/webhooks";

const PARTS: Record<OperationsPart, FunctionComponent> = {
  jobs: JobsPart,
  failures: FailuresPart,
  queues: QueuesPart,
  handlers: HandlersPart,
  pauses: PausesPart,
  "dead-letters": DeadLettersPart,
  webhooks: WebhooksPart,
  log: LogPart,
};

export function OperationsView({ part }: { part: OperationsPart }) {
  const t = text.operations;
  if (!role.value) return <NotOperator />;
  const Part = PARTS[part];
  return (
    <>
      <h1>{t.title}</h1>
      <p class="quiet lead">{t.lead}</p>
      <nav class="parts" aria-label={t.label}>
        {OPERATIONS_PARTS.map((each) => (
          <a key={each} href={`/operations/${each}`} aria-current={each === part ? "page" : undefined}>
            {t.parts[each]}
          </a>
        ))}
      </nav>
      {role.value === "read-only" && <p class="notice">{t.readOnly}</p>}
      <Part key={part} />
    </>
  );
}

function NotOperator() {
  const t = text.operations.notOperator;
  return (
    <div class="card">
      <h1>{t.title}</h1>
      <p class="quiet">{t.body}</p>
      <p>
        <a href="/jobs">{t.home}</a>
      </p>
    </div>
  );
}
