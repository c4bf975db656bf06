"""A receiver of webhooks. Its working folder, which RECEIVER_FOLDER names, has its orders and its records.

| file | meaning |
| --- | --- |
| `secrets` | the secrets that it accepts |
| `status` | the status of each answer to an event; 204 without it |
| `events` | a line for each event that it has accepted: `webhook-id` and body |
"""
import json
import os
import sys

FOLDER = os.environ["RECEIVER_FOLDER"]
sys.path.insert(0, os.environ["SIGNATURE_FOLDER"])
from longshore_signature import is_signed  # noqa: E402


def read(name, default=""):
    try:
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return default


def application(environ, start_response):
    body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    headers = {name: environ.get("HTTP_" + name.upper().replace("-", "_"), "") for name in names}
    if not is_signed(headers, body, read("secrets")):
        start_response("401 Unauthorized", [("Content-Length", "0")])
        return [b""]
    message = json.loads(body)
    if message["type"] == "webhook.check":
        answer = json.dumps({"challenge": message["data"]["challenge"]}).encode()
        start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(answer)))])
        return [answer]
    status = read("status", "204 No Content")
    if status.startswith("2"):
        with open(os.path.join(FOLDER, "events"), "a", encoding="utf-8") as file:
            file.write(json.dumps({"id": headers["webhook-id"], "body": message}) + "\n")
    start_response(status, [("Content-Length", "0")])
    return [b""]
