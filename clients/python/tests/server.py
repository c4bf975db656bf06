"""A test server with the API's contract. Uploads work (see uploads.py); a test scripts the other calls."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from longshore_client import Client

from .messages import Reply, problem
from .uploads import Uploads

#: In place of a reply, the connection is cut before or after the request is handled.
CUT, TAKEN_AND_CUT, AS_USUAL = "cut", "taken and cut", "as usual"


@dataclass
class Received:
    """A request that the server has received."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body) if self.body else None

    def meets(self, call: str) -> bool:
        """Returns true for a call such as `GET /api/jobs/1` (with any query) or `PUT /s3/*`."""
        method, path = call.split(" ")
        mine = urlsplit(self.path).path
        same = mine.startswith(path[:-1]) if path.endswith("*") else mine == path
        return method == self.method and same


@dataclass
class TestServer:
    """A server, a client of it, and the sleeps of the client, which take no time."""

    __test__ = False
    requests: list[Received] = field(default_factory=list)
    sleeps: list[float] = field(default_factory=list)
    scripts: list[tuple[str, list[Reply | str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.uploads = Uploads(self.url)
        self.client = Client(self.url, "the-token", sleep=self.sleeps.append)
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def script(self, call: str, *replies: Reply | str) -> None:
        """Adds the next replies to a call. Later calls are answered as usual."""
        self.scripts.append((call, list(replies)))

    def seen(self, call: str) -> list[Received]:
        """Returns all requests of a call so far."""
        return [request for request in self.requests if request.meets(call)]

    def reply_to(self, request: Received) -> Reply | None:
        """Returns the reply to a request, or `None` if the connection is cut."""
        self.requests.append(request)
        scripted = next((replies.pop(0) for call, replies in self.scripts if replies and request.meets(call)), AS_USUAL)
        if isinstance(scripted, Reply):
            return scripted
        reply = None if scripted == CUT else self.uploads.reply_to(request)
        return None if scripted != AS_USUAL else reply or problem(404, "not-found")


def _handler(server: TestServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = server.reply_to(Received(self.command, self.path, headers, body))
            self.close_connection = True
            if reply is None:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            content = reply.content()
            self.send_response(reply.status)
            for name, value in {"content-type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            if reply.status != 304:
                self.send_header("content-length", str(len(content) + reply.missing_bytes))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = answer

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
