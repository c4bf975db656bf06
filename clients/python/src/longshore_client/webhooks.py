"""Webhooks: one method for each call of the API."""

from __future__ import annotations

from typing import cast
from urllib.parse import quote

from .documents import CreatedWebhook, Deliveries, Delivery, Webhook, WebhookRequest, Webhooks, WebhookSecret
from .http import Call, Response, Transport


class VersionedWebhook(Webhook):
    """A webhook with the `ETag` of its response, for `if_match`; `None` if the response had none."""

    etag: str | None


class WebhookCalls:
    """The calls of webhooks, as methods of the client."""

    transport: Transport

    def create_webhook(self, request: WebhookRequest) -> CreatedWebhook:
        """Creates a webhook, and returns it with its secret.

        Never repeated after a lost reply: `list_webhooks` shows if it was created, and `rotate_webhook_secret` returns
        another secret.
        """
        return cast(CreatedWebhook, self.transport.call("POST", "/api/webhooks", body=request).json())

    def list_webhooks(self) -> Webhooks:
        """Lists the webhooks of the tenant."""
        return cast(Webhooks, self.transport.call("GET", "/api/webhooks", repeatable=True).json())

    def get_webhook(self, webhook_id: str) -> VersionedWebhook:
        """Returns a webhook with its `etag`."""
        return _versioned(self.transport.call("GET", _webhook(webhook_id), repeatable=True))

    def put_webhook(self, webhook_id: str, request: WebhookRequest, *, if_match: str | None = None) -> VersionedWebhook:
        """Replaces all fields of a webhook. Without `if_match`, a lost reply is retried."""
        # The first of two conditional requests may have changed the version that the second one names.
        repeatable = if_match is None
        path = _webhook(webhook_id)
        return _versioned(self.transport.call("PUT", path, if_match, repeatable=repeatable, body=request))

    def delete_webhook(self, webhook_id: str, *, if_match: str | None = None) -> None:
        """Deletes a webhook. Never repeated after a lost reply."""
        self.transport.call("DELETE", _webhook(webhook_id), if_match)

    def test_webhook(self, webhook_id: str, *, if_match: str | None = None) -> VersionedWebhook:
        """Calls the endpoint with a check. `check.result` of the webhook has the result within some seconds."""
        path = f"{_webhook(webhook_id)}/test"
        return _versioned(self.transport.call("POST", path, if_match, repeatable=if_match is None))

    def rotate_webhook_secret(self, webhook_id: str, *, if_match: str | None = None) -> WebhookSecret:
        """Replaces the secret. The previous one is used, too, for 24 hours, in which calls return the same new one.

        Without `if_match`, a lost reply is retried.
        """
        repeatable = if_match is None
        path = f"{_webhook(webhook_id)}/secret"
        return cast(WebhookSecret, self.transport.call("POST", path, if_match, repeatable=repeatable).json())

    def list_deliveries(self, webhook_id: str, *, limit: int | None = None, cursor: str | None = None) -> Deliveries:
        """Lists a page of a webhook's deliveries, newest first."""
        query = {"limit": limit, "cursor": cursor}
        return cast(Deliveries, self.transport.send(Call("GET", _deliveries(webhook_id), True, query=query)).json())

    def replay_delivery(self, webhook_id: str, delivery_id: str) -> Delivery:
        """Sends a delivery again."""
        path = f"{_deliveries(webhook_id)}/{quote(delivery_id, safe='')}/replay"
        return cast(Delivery, self.transport.call("POST", path, repeatable=True).json())

    def replay_deliveries(self, webhook_id: str, since: str) -> None:
        """Sends all deliveries since a time (RFC 3339) again that were not accepted."""
        self.transport.call("POST", f"{_webhook(webhook_id)}/replay", repeatable=True, body={"since": since})


def _webhook(webhook_id: str) -> str:
    return f"/api/webhooks/{quote(webhook_id, safe='')}"


def _deliveries(webhook_id: str) -> str:
    return f"{_webhook(webhook_id)}/deliveries"


def _versioned(response: Response) -> VersionedWebhook:
    return cast(VersionedWebhook, {**response.json(), "etag": response.headers.get("etag")})
