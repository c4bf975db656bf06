/** One webhook: its check, its form, its secret, its deliveries, and its deletion. */

import { ProblemError, type VersionedWebhook } from "longshore-client";
import { useState } from "preact/hooks";
import { announce } from "../accessibility";
import { api, guarded } from "../api";
import { Confirm } from "../components/confirm";
import { Deletion } from "../components/deletion";
import { Deliveries } from "../components/deliveries";
import { ErrorNotice } from "../components/errors";
import { WebhookForm } from "../components/webhook-form";
import { WebhookSecret } from "../components/webhook-secret";
import { WebhookStatus } from "../components/webhook-status";
import { useLoad } from "../load";
import { usePolling } from "../polling";
import { moment, text } from "../text";
import { NotFound } from "./not-found";

/** Interval between reads while a check is under way, in milliseconds. */
const REFRESH_MS = 3000;

export function WebhookView({ webhookId }: { webhookId: string }) {
  const t = text.webhooks;
  const load = useLoad((signal) => api.getWebhook(webhookId, { signal }), [webhookId]);
  const { value: webhook, error, reload } = load;
  const isChecked = Boolean(webhook?.check) && !webhook?.check?.result;
  usePolling(async () => reload(), isChecked ? REFRESH_MS : null, [webhookId]);
  if (error instanceof ProblemError && error.status === 404) return <NotFound />;
  if (!webhook)
    return error ? <ErrorNotice error={error} retry={reload} /> : <p class="quiet">{text.loading}</p>;
  const isDisabled = webhook.status === "disabled";
  return (
    <>
      <p class="small">
        <a href="/webhooks">{t.back}</a>
      </p>
      <div class="heading">
        <h1>{webhook.description || webhook.url}</h1>
        <WebhookStatus webhook={webhook} />
      </div>
      <ErrorNotice error={error} retry={reload} />
      {webhook.disabledReason && <p class="notice bad">{t.disabled[webhook.disabledReason]}</p>}
      {webhook.status === "pending" && <p class="notice warn">{t.pending}</p>}
      {webhook.failingSince && <p class="notice warn">{t.failing(moment(webhook.failingSince))}</p>}
      {isFuture(webhook.pausedUntil) && (
        <p class="notice warn">{t.paused(moment(webhook.pausedUntil ?? ""))}</p>
      )}
      <Check webhook={webhook} reload={reload} />
      <Deliveries webhookId={webhookId} isActive={webhook.status === "active"} />
      <WebhookForm
        // Other fields after a change by this or another user; a check or a delivery does not touch the input.
        key={JSON.stringify([webhook.url, webhook.description, webhook.eventTypes, webhook.jobs, isDisabled])}
        webhook={webhook}
        save={async (request) => {
          await guarded(() => api.putWebhook(webhookId, request, { ifMatch: webhook.etag ?? undefined }));
          announce(t.saved);
          reload();
        }}
      />
      <Secret webhook={webhook} reload={reload} />
      <Deletion texts={t} list="/webhooks" call={() => api.deleteWebhook(webhookId)} />
    </>
  );
}

function isFuture(time: string | null | undefined): boolean {
  return time != null && Date.parse(time) > Date.now();
}

function Check({ webhook, reload }: { webhook: VersionedWebhook; reload: () => void }) {
  const t = text.webhooks.check;
  const { check, status, webhookId } = webhook;
  const [error, setError] = useState<unknown>(null);
  const run = async () => {
    setError(null);
    try {
      await guarded(() => api.testWebhook(webhookId));
      reload();
    } catch (error) {
      setError(error);
    }
  };
  const state = check?.result
    ? t.results[check.result]
    : check
      ? t.asked(moment(check.requestedAt))
      : t.never;
  return (
    <section class="card" aria-labelledby="check-title">
      <h2 id="check-title">{t.title}</h2>
      <p role="status">{state}</p>
      <ErrorNotice error={error} />
      {status !== "disabled" && (
        <div class="actions">
          <button type="button" onClick={() => void run()}>
            {t.run}
          </button>
        </div>
      )}
    </section>
  );
}

function Secret({ webhook, reload }: { webhook: VersionedWebhook; reload: () => void }) {
  const t = text.webhooks.secret;
  const [isConfirming, setIsConfirming] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const rotate = async () => {
    setError(null);
    try {
      setSecret((await guarded(() => api.rotateWebhookSecret(webhook.webhookId))).secret);
      // The version that a change names is another one.
      reload();
    } catch (error) {
      setError(error);
    }
  };
  return (
    <>
      <ErrorNotice error={error} />
      {!secret && isFuture(webhook.previousSecretUntil) && (
        <p class="quiet">{t.previous(moment(webhook.previousSecretUntil ?? ""))}</p>
      )}
      {secret ? (
        <WebhookSecret secret={secret} />
      ) : (
        <div class="actions">
          <button type="button" onClick={() => setIsConfirming(true)}>
            {t.rotate}
          </button>
        </div>
      )}
      {isConfirming && (
        <Confirm
          title={t.rotateTitle}
          no={t.keep}
          yes={t.rotate}
          onAnswer={(yes) => {
            setIsConfirming(false);
            if (yes) void rotate();
          }}
        >
          {t.rotateBody}
        </Confirm>
      )}
    </>
  );
}
