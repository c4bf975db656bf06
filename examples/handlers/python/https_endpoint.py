"""An HTTPS endpoint of Longshore: the WSGI application `application`, or `python3 https_endpoint.py` for a test.

`LONGSHORE_SECRETS` has the signing secret, and during a rotation two of them, separated by a space.
"""
import json
import os
import ssl
from wsgiref.simple_server import make_server

from contacts import handle
from longshore_signature import is_signed

MAX_BYTES = 16 << 20  # A batch has at most 4 MiB of items; a single item can be larger.


def application(environ, start_response):
    headers = {name: environ.get("HTTP_" + name.upper().replace("-", "_"))
               for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}
    length = int(environ.get("CONTENT_LENGTH") or 0)
    body = environ["wsgi.input"].read(length) if length <= MAX_BYTES else b""
    if length > MAX_BYTES:
        status, answer = "413 Content Too Large", {"error": "too large"}
    elif not is_signed(headers, body, os.environ["LONGSHORE_SECRETS"]):
        status, answer = "401 Unauthorized", {"error": "no valid signature"}
    else:
        status, answer = "200 OK", handle(json.loads(body))
    content = json.dumps(answer, ensure_ascii=False).encode()
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(content)))])
    return [content]


if __name__ == "__main__":
    server = make_server("", 8443, application)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(os.environ["TLS_CERTIFICATE"], os.environ["TLS_KEY"])
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    server.serve_forever()
