"""Terminates TLS for a receiver of webhooks, which listens on the port `RECEIVER_PORT`."""
import os
from urllib.error import HTTPError
from urllib.request import Request, urlopen

RECEIVER = f"http://127.0.0.1:{os.environ['RECEIVER_PORT']}/"
HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature", "content-type")


def application(environ, start_response):
    body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
    headers = {name: environ.get("HTTP_" + name.upper().replace("-", "_"), "") for name in HEADERS}
    try:
        with urlopen(Request(RECEIVER, body, headers, method="POST"), timeout=10) as response:
            status, content = response.status, response.read()
    except HTTPError as error:
        status, content = error.code, error.read()
    start_response(f"{status} Status", [("Content-Type", "application/json"), ("Content-Length", str(len(content)))])
    return [content]
