"""The API's calls for one upload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote

from .documents import Upload, UploadInParts, UploadPart, UploadStatus
from .errors import NetworkError
from .http import Call, Transport


@dataclass(frozen=True)
class UploadCalls:
    """The calls for the upload with this id."""

    transport: Transport
    file_guid: str

    def status(self) -> UploadStatus:
        """Returns the state of the upload."""
        return cast(UploadStatus, self._send("GET", "", None))

    def presign_file(self) -> Upload:
        """Returns a new URL for a file that is sent in one PUT."""
        return cast(Upload, self._send("POST", "/url", None))

    def presign_part(self, number: int, sha256: str) -> UploadPart:
        """Returns a URL for one part. S3 accepts only bytes with this SHA-256."""
        body = {"parts": [{"partNumber": number, "sha256": sha256}]}
        answer = cast(UploadInParts, self._send("POST", "/url", body))
        for part in answer["parts"]:
            if part["partNumber"] == number and "url" in part:
                return part
        raise NetworkError(f"The API returned no URL for part {number}")

    def complete(self) -> UploadStatus:
        """Assembles the file from its parts. Fails with `upload-incomplete` if some are missing."""
        return cast(UploadStatus, self._send("POST", "/complete", None))

    def _send(self, method: str, action: str, body: object) -> Any:
        path = f"/api/uploads/{quote(self.file_guid, safe='')}{action}"
        return self.transport.send(Call(method, path, True, body=body)).json()
