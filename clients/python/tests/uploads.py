"""Uploads and S3 in the test server: signed lengths and checksums, expiring URLs, files that are accepted once."""

from __future__ import annotations

import base64
import hashlib
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .messages import Reply, example, problem, refusal

if TYPE_CHECKING:
    from .server import Received


@dataclass
class Stored:
    """An upload of the server."""

    guid: str
    key: str
    request: dict[str, Any]
    parts: dict[int, bytes] = field(default_factory=dict)
    content: bytes | None = None
    #: Status requests left until another call has completed the upload.
    completing: int = 0


class Uploads:
    """All uploads of the server. A file above `whole_bytes` is sent in parts."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.all: dict[str, Stored] = {}
        #: Valid URLs: upload, part or 0, length, and checksum. A test expires them with `clear`.
        self.signed: dict[str, tuple[Stored, int, int, str | None]] = {}
        self.whole_bytes, self.part_size = 1_000, 400

    def reply_to(self, request: Received) -> Reply | None:
        if request.method == "PUT":
            return self._put(request)
        steps = request.path.split("/")[2:]
        if steps[0] != "uploads":
            return None
        if len(steps) == 1:
            return self._create(request)
        stored = self.all.get(steps[1])
        if stored is None:
            return problem(404, "not-found")
        if request.method == "GET":
            return Reply(200, self._status(stored))
        return self._complete(stored) if steps[2] == "complete" else self._presign(stored, request.json())

    def _create(self, request: Received) -> Reply:
        key = request.headers["idempotency-key"]
        before = next((stored for stored in self.all.values() if stored.key == key), None)
        stored = before or Stored(str(uuid.uuid4()), key, request.json())
        self.all[stored.guid] = stored
        return Reply(201, self._presigned(stored, None))

    def _presign(self, stored: Stored, body: Any) -> Reply:
        if stored.completing:
            return problem(409, "upload-incomplete", retry_after=2)
        if stored.content is not None:
            return problem(409, "already-uploaded")
        return Reply(200, self._presigned(stored, body))

    def _complete(self, stored: Stored) -> Reply:
        if stored.completing:
            return problem(409, "upload-incomplete", retry_after=2)
        missing = [n for n in self._numbers(stored) if len(stored.parts.get(n, b"")) != self._length(stored, n)]
        if stored.content is None and missing:
            return problem(409, "upload-incomplete")
        self._join(stored)
        return Reply(200, self._status(stored))

    def _join(self, stored: Stored) -> None:
        stored.content = b"".join(stored.parts[number] for number in self._numbers(stored))

    def _status(self, stored: Stored) -> dict[str, Any]:
        if stored.completing:
            stored.completing -= 1
            if not stored.completing:
                self._join(stored)
        summary = "Parts are missing" if stored.content is None else "The file is complete"
        status = example("GET /api/uploads/{fileGuid}", 200, summary)
        status |= {name: stored.request[name] for name in ("fileName", "contentType", "size")}
        status["fileGuid"] = stored.guid
        if stored.content is not None:
            return status
        if not self._numbers(stored):
            return {name: value for name, value in status.items() if name not in ("partSize", "receivedParts")}
        parts = [] if stored.completing else [
            {"partNumber": number, "size": len(part), "sha256": sha256(part)} for number, part in stored.parts.items()]
        return status | {"partSize": self.part_size, "receivedParts": parts}

    def _presigned(self, stored: Stored, body: Any) -> dict[str, Any]:
        if not self._numbers(stored):
            document = example("POST /api/uploads", 201, "One PUT")
            url = self._sign(stored, 0, stored.request["size"], None)
            headers = document["headers"] | {"content-type": stored.request["contentType"]}
            return document | {"fileGuid": stored.guid, "url": url, "headers": headers}
        document = {"fileGuid": stored.guid, "partSize": self.part_size}
        if body is None:
            parts = [{"partNumber": number, "size": self._length(stored, number)} for number in self._numbers(stored)]
            return document | {"parts": parts}
        example_part = example("POST /api/uploads/{fileGuid}/url", 200, "A part")["parts"][0]
        return document | {"parts": [
            example_part | one | {
                "size": (length := self._length(stored, one["partNumber"])),
                "url": self._sign(stored, one["partNumber"], length, one["sha256"]),
                "headers": {"x-amz-checksum-sha256": one["sha256"]},
            } for one in body["parts"]]}

    def _sign(self, stored: Stored, number: int, length: int, checksum: str | None) -> str:
        signature = str(uuid.uuid4())
        self.signed[signature] = (stored, number, length, checksum)
        return f"{self.origin}/s3/{signature}"

    def _put(self, request: Received) -> Reply:
        stored, number, length, checksum = self.signed.get(request.path.removeprefix("/s3/"), (None, 0, 0, None))
        if stored is None or "authorization" in request.headers or len(request.body) != length:
            return refusal(403, "AccessDenied")
        if checksum and not checksum == request.headers.get("x-amz-checksum-sha256") == sha256(request.body):
            return refusal(400, "BadDigest")
        if number and (stored.content is not None or stored.completing):
            return refusal(404, "NoSuchUpload")
        if number:
            stored.parts[number] = request.body
        elif request.headers.get("if-none-match") != "*":
            return refusal(403, "SignatureDoesNotMatch")
        elif request.headers["content-type"] != stored.request["contentType"]:
            return refusal(403, "SignatureDoesNotMatch")
        elif stored.content is not None:
            return refusal(412, "PreconditionFailed")
        else:
            stored.content = request.body
        return Reply(200)

    def _numbers(self, stored: Stored) -> range:
        size = stored.request["size"]
        return range(1, -(-size // self.part_size) + 1) if size > self.whole_bytes else range(0)

    def _length(self, stored: Stored, number: int) -> int:
        return min(self.part_size, stored.request["size"] - (number - 1) * self.part_size)


def sha256(content: bytes) -> str:
    return base64.b64encode(hashlib.sha256(content).digest()).decode()
