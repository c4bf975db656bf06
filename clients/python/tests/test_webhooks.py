from __future__ import annotations

import unittest

from longshore_client import Client, NetworkError

from .messages import Reply
from .server import CUT, TestServer

WEBHOOK = "/api/webhooks/w%2F1"
REQUEST = {"url": "https://example.com/hooks"}
DOCUMENT = {"webhookId": "w/1", "status": "active"}
STORED = Reply(200, DOCUMENT, {"etag": '"7"'})


class WebhookTests(unittest.TestCase):
    def setUp(self):
        self.server = TestServer()
        self.addCleanup(self.server.stop)
        self.client = Client(self.server.url, "token", sleep=self.server.sleeps.append)

    def test_a_webhook_has_its_etag_and_a_lost_reply_is_repeated(self):
        for call, send in [
            (f"GET {WEBHOOK}", lambda: self.client.get_webhook("w/1")),
            (f"PUT {WEBHOOK}", lambda: self.client.put_webhook("w/1", REQUEST)),
            (f"POST {WEBHOOK}/test", lambda: self.client.test_webhook("w/1")),
        ]:
            self.server.script(call, CUT, STORED)
            self.assertEqual(send(), {**DOCUMENT, "etag": '"7"'})

    def test_a_call_that_a_repetition_would_change_is_sent_once(self):
        for call, send in [
            ("POST /api/webhooks", lambda: self.client.create_webhook(REQUEST)),
            (f"PUT {WEBHOOK}", lambda: self.client.put_webhook("w/1", REQUEST, if_match='"6"')),
            (f"DELETE {WEBHOOK}", lambda: self.client.delete_webhook("w/1", if_match='"6"')),
            (f"POST {WEBHOOK}/test", lambda: self.client.test_webhook("w/1", if_match='"6"')),
            (f"POST {WEBHOOK}/secret", lambda: self.client.rotate_webhook_secret("w/1", if_match='"6"')),
        ]:
            self.server.script(call, CUT, STORED)
            with self.assertRaises(NetworkError):
                send()
            [request] = self.server.seen(call)
            self.assertEqual(request.headers.get("if-match"), None if call.endswith("webhooks") else '"6"')

    def test_every_other_call_has_its_path_and_body(self):
        for call, send, body in [
            ("GET /api/webhooks", self.client.list_webhooks, None),
            (f"GET {WEBHOOK}/deliveries", lambda: self.client.list_deliveries("w/1", limit=5, cursor="c"), None),
            (f"POST {WEBHOOK}/deliveries/d%2F1/replay", lambda: self.client.replay_delivery("w/1", "d/1"), None),
            (f"POST {WEBHOOK}/replay", lambda: self.client.replay_deliveries("w/1", "2026-07-01T08:00:00Z"),
             {"since": "2026-07-01T08:00:00Z"}),
        ]:
            self.server.script(call, CUT, Reply(200, {}))
            send()
            last = self.server.requests[-1]
            self.assertEqual(last.path.split("?")[0], call.split(" ")[1])
            self.assertEqual(last.json() if body else None, body)
