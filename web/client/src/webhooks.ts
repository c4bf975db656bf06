// Webhooks: one method for each call of the API.

import { conditional, type Getter, json, versioned } from "./answers.js";
import type { CreatedWebhook, Delivery, VersionedWebhook, WebhookSecret } from "./documents.js";
import type { Send } from "./http.js";
import type { ChangeOptions, WebhookMethods } from "./methods.js";

/** Creates the methods of webhooks. */
export function webhookMethods(send: Send, get: Getter): WebhookMethods {
  const post = (path: string, options: ChangeOptions, repeatable: boolean, body?: object) =>
    send({ method: "POST", path, ...conditional(options), repeatable, body });
  return {
    // A repetition would create another webhook.
    createWebhook: (request, { signal } = {}) =>
      json<CreatedWebhook>(post("/api/webhooks", { signal }, false, request)),
    listWebhooks: (options) => get("/api/webhooks", options),
    getWebhook: (webhookId, { signal } = {}) =>
      versioned<VersionedWebhook>(
        send({ method: "GET", path: webhookPath(webhookId), signal, repeatable: true }),
      ),
    putWebhook: (webhookId, request, options = {}) =>
      versioned<VersionedWebhook>(
        send({
          method: "PUT",
          path: webhookPath(webhookId),
          ...conditional(options),
          body: request,
          // The first of two conditional requests may have changed the version that the second one names.
          repeatable: !options.ifMatch,
        }),
      ),
    deleteWebhook: async (webhookId, options = {}) => {
      const path = webhookPath(webhookId);
      await send({ method: "DELETE", path, ...conditional(options), repeatable: false });
    },
    testWebhook: (webhookId, options = {}) =>
      versioned<VersionedWebhook>(post(`${webhookPath(webhookId)}/test`, options, !options.ifMatch)),
    rotateWebhookSecret: (webhookId, options = {}) =>
      json<WebhookSecret>(post(`${webhookPath(webhookId)}/secret`, options, !options.ifMatch)),
    listDeliveries: (webhookId, options) => get(`${webhookPath(webhookId)}/deliveries`, options),
    replayDelivery: (webhookId, deliveryId, { signal } = {}) => {
      const path = `${webhookPath(webhookId)}/deliveries/${encodeURIComponent(deliveryId)}/replay`;
      return json<Delivery>(post(path, { signal }, true));
    },
    replayDeliveries: async (webhookId, since, { signal } = {}) => {
      await post(`${webhookPath(webhookId)}/replay`, { signal }, true, { since });
    },
  };
}

function webhookPath(webhookId: string): string {
  return `/api/webhooks/${encodeURIComponent(webhookId)}`;
}
