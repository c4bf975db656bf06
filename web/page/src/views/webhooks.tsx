/** The list of webhooks, and the form of a new one. */

import type { CreatedWebhook, Webhook } from "longshore-client";
import { useState } from "preact/hooks";
import { api, guarded } from "../api";
import { ErrorNotice } from "../components/errors";
import { CardTable, type Column } from "../components/tables";
import { WebhookForm } from "../components/webhook-form";
import { WebhookSecret } from "../components/webhook-secret";
import { WebhookStatus } from "../components/webhook-status";
import { useLoad } from "../load";
import { moment, text } from "../text";

export function WebhooksView() {
  const t = text.webhooks;
  const { value, error, reload } = useLoad((signal) => api.listWebhooks({ signal }), []);
  const [created, setCreated] = useState<CreatedWebhook | null>(null);
  const webhooks = value?.webhooks ?? [];
  return (
    <>
      <h1>{t.title}</h1>
      <p class="quiet lead">{t.lead}</p>
      <ErrorNotice error={error} retry={reload} />
      {!value && !error && <p class="quiet">{text.loading}</p>}
      {value && webhooks.length === 0 && <p class="card quiet">{t.none}</p>}
      {webhooks.length > 0 && <WebhookTable webhooks={webhooks} />}
      {created && <WebhookSecret secret={created.secret} />}
      <WebhookForm
        // An empty form after each webhook.
        key={created?.webhookId}
        save={async (request) => {
          setCreated(await guarded(() => api.createWebhook(request)));
          reload();
        }}
      />
    </>
  );
}

function WebhookTable({ webhooks }: { webhooks: readonly Webhook[] }) {
  const t = text.webhooks;
  const columns: Column[] = [
    { name: t.url, look: "wrap" },
    { name: t.description, look: "wrap" },
    { name: t.status },
    { name: t.events, look: "wrap" },
    { name: t.created, look: "nowrap" },
  ];
  return (
    <CardTable
      caption={t.caption}
      columns={columns}
      rows={webhooks.map((webhook) => ({
        key: webhook.webhookId,
        cells: [
          <a href={`/webhooks/${webhook.webhookId}`}>{webhook.url}</a>,
          webhook.description || t.noDescription,
          <WebhookStatus webhook={webhook} />,
          webhook.eventTypes.join(", ") || t.allEvents,
          moment(webhook.createdAt),
        ],
      }))}
    />
  );
}
