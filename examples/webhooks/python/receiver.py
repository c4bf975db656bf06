"""A receiver of Longshore's webhooks: verifies each call, and stores each event once, as a file named by its id.

`WEBHOOK_SECRETS` has the secret, and during a rotation two of them, separated by a space; `INBOX` is a folder.
It listens on `PORT` of 127.0.0.1, behind a proxy that terminates TLS.
"""
import json
import os
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from standardwebhooks import Webhook, WebhookVerificationError

WEBHOOKS = [Webhook(secret) for secret in os.environ["WEBHOOK_SECRETS"].split()]
INBOX = Path(os.environ["INBOX"])
MAX_BYTES = 64 << 10
EVENT_ID = re.compile(r"[A-Za-z0-9_-]{1,256}")


def verified(body, headers):
    """Returns the message of a call, or `None` if no secret has signed it within the last five minutes."""
    for webhook in WEBHOOKS:
        try:
            return webhook.verify(body, headers)
        except (WebhookVerificationError, ValueError):  # ValueError: a malformed signature
            continue
    return None


def store(event_id, body):
    """Stores an event. Another delivery of it writes the same file again."""
    partial = INBOX / f".{event_id}.{os.getpid()}-{id(body)}"
    partial.write_bytes(body)
    partial.replace(INBOX / f"{event_id}.json")


class Receiver(BaseHTTPRequestHandler):
    timeout = 15

    def do_POST(self):
        headers = {name.lower(): value for name, value in self.headers.items()}
        length = headers.get("content-length", "")
        body = self.rfile.read(int(length)) if length.isdecimal() and int(length) <= MAX_BYTES else b""
        message = verified(body, headers)
        if message is None:
            self.answer(401)
        elif message["type"] == "webhook.check":
            self.answer(200, {"challenge": message["data"]["challenge"]})
        elif EVENT_ID.fullmatch(headers["webhook-id"]):
            store(headers["webhook-id"], body)
            self.answer(200)
        else:
            self.answer(400)

    def answer(self, status, document=None):
        content = json.dumps(document or {}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
