/** The webhooks of one tenant, with their health. */

import type { OperatorWebhook } from "longshore-client";
import { api } from "../../api";
import { FilterGroup, TextFilter, useFilters } from "../../components/filters";
import { Listing } from "../../components/listing";
import { CardTable } from "../../components/tables";
import { useWatchedList } from "../../load";
import { moment, text } from "../../text";

/** The look of a status, that of a job's badge. */
const LOOKS = { active: "completed", pending: "running", disabled: "failed" };

export function WebhooksPart() {
  const t = text.operations;
  const { tenant } = useFilters();
  return (
    <>
      <h2>{t.webhooks.title}</h2>
      <FilterGroup>
        <TextFilter name="tenant" label={t.tenant} any="" maxLength={128} />
      </FilterGroup>
      {tenant ? <WebhooksOf key={tenant} tenant={tenant} /> : <p class="card quiet">{t.webhooks.choose}</p>}
    </>
  );
}

function WebhooksOf({ tenant }: { tenant: string }) {
  const t = text.operations.webhooks;
  const list = useWatchedList(
    async (_, signal) => {
      const { webhooks } = await api.listOperatorWebhooks(tenant, { signal });
      return { items: webhooks, nextCursor: null };
    },
    [tenant],
    ({ webhookId }) => webhookId,
  );
  return (
    <Listing list={list} none={t.none}>
      <WebhookTable tenant={tenant} webhooks={list.items ?? []} />
    </Listing>
  );
}

function WebhookTable({ tenant, webhooks }: { tenant: string; webhooks: readonly OperatorWebhook[] }) {
  const t = text.operations.webhooks;
  return (
    <CardTable
      caption={t.caption(tenant)}
      columns={[
        { name: t.webhook },
        { name: text.operations.status },
        { name: t.health, look: "wrap" },
        { name: t.created, look: "nowrap" },
      ]}
      rows={webhooks.map((webhook) => ({
        key: webhook.webhookId,
        cells: [
          <>
            {webhook.host}
            <small class="quiet line">
              <code>{webhook.webhookId}</code>
            </small>
          </>,
          <span class={`badge ${LOOKS[webhook.status]}`}>{text.webhooks.statuses[webhook.status]}</span>,
          <Health webhook={webhook} />,
          moment(webhook.createdAt),
        ],
      }))}
    />
  );
}

/** Why a webhook is disabled, since when it fails, and until when it is paused. */
function Health({ webhook }: { webhook: OperatorWebhook }) {
  const t = text.operations.webhooks;
  const { disabledReason, disabledAt, failures, failingSince, pausedUntil } = webhook;
  const lines = [
    disabledReason && text.webhooks.disabled[disabledReason],
    disabledAt && text.operations.since(moment(disabledAt)),
    failures > 0 && failingSince && t.failures(failures, moment(failingSince)),
    pausedUntil && t.paused(moment(pausedUntil)),
  ].filter(Boolean);
  return <>{lines.length > 0 ? lines.join(" ") : t.healthy}</>;
}
