/** The form of a webhook: its URL, its description, and the events that it gets. */

import type { Webhook, WebhookRequest } from "longshore-client";
import { useState } from "preact/hooks";
import { text } from "../text";
import { ErrorNotice } from "./errors";

type EventType = Webhook["eventTypes"][number];

const TYPES: readonly EventType[] = [
  "job.started",
  "job.waiting",
  "job.completed",
  "job.failed",
  "job.canceled",
  "endpoint.disabled",
];

interface WebhookFormProps {
  /** The webhook that is changed; none for a new one. */
  webhook?: Webhook;
  /** Saves the fields. Its error is shown. */
  save: (request: WebhookRequest) => Promise<void>;
}

export function WebhookForm({ webhook, save }: WebhookFormProps) {
  const t = text.webhooks;
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [description, setDescription] = useState(webhook?.description ?? "");
  const [types, setTypes] = useState<readonly EventType[]>(webhook?.eventTypes ?? []);
  const [isNamed, setIsNamed] = useState(webhook?.jobs === "named");
  const [enabled, setEnabled] = useState(webhook?.status !== "disabled");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const submit = async () => {
    setBusy(true);
    setError(null);
    try {
      await save({
        url,
        description,
        eventTypes: [...types],
        jobs: isNamed ? "named" : "all",
        enabled,
      });
    } catch (error) {
      setError(error);
    }
    setBusy(false);
  };
  const title = webhook ? t.form.change : t.form.create;
  return (
    <form
      class="card"
      aria-labelledby="webhook-form-title"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <h2 id="webhook-form-title">{title}</h2>
      <label>
        {t.url}
        <input
          type="url"
          required
          pattern="https://.*"
          maxLength={2048}
          placeholder="https://example.com/hooks/longshore"
          value={url}
          onInput={(event) => setUrl(event.currentTarget.value)}
        />
        <small class="quiet">{t.form.urlHint}</small>
      </label>
      <label>
        {t.description}
        <input
          maxLength={500}
          value={description}
          onInput={(event) => setDescription(event.currentTarget.value)}
        />
        <small class="quiet">{t.form.descriptionHint}</small>
      </label>
      <fieldset>
        <legend>{t.form.events}</legend>
        <p class="quiet small">{t.form.eventsHint}</p>
        {TYPES.map((type) => (
          <label key={type} class="choice">
            <input
              type="checkbox"
              checked={types.includes(type)}
              onChange={(event) => {
                const { checked } = event.currentTarget;
                setTypes((types) => TYPES.filter((each) => (each === type ? checked : types.includes(each))));
              }}
            />
            <span>
              {t.types[type]}
              <small>{type}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <label class="choice">
        <input
          type="checkbox"
          checked={isNamed}
          onChange={(event) => setIsNamed(event.currentTarget.checked)}
        />
        <span>
          {t.form.named}
          <small>{t.form.namedHint}</small>
        </span>
      </label>
      <label class="choice">
        <input
          type="checkbox"
          checked={enabled}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
        <span>
          {t.form.enabled}
          <small>{t.form.enabledHint}</small>
        </span>
      </label>
      <ErrorNotice error={error} />
      <div class="actions">
        <button type="submit" class="main" disabled={busy}>
          {webhook ? t.form.save : t.form.submit}
        </button>
      </div>
    </form>
  );
}
