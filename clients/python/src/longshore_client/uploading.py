"""Uploads of files, in one PUT or in parts, as the API decides. Starts or resumes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, cast

from .client import Client, creation_call
from .documents import ReceivedPart, Upload, UploadInParts
from .errors import LongshoreError, OtherFileError, UploadError, is_kind
from .parts import PartsUpload
from .progress import OnProgress, ProgressMeter
from .putting import put, with_retry
from .upload_calls import UploadCalls

JSON_LINES = (".jsonl", ".ndjson")


@dataclass(frozen=True)
class ResumeState:
    """The state of an unfinished upload. Store it to resume the upload in another process."""

    file_guid: str
    file_name: str
    size: int
    #: Modification time of the file in nanoseconds; `None` for a file object.
    last_modified: int | None


@dataclass(frozen=True)
class UploadOptions:
    """Options of `upload`."""

    #: By default the name of the file.
    file_name: str | None = None
    #: By default CSV, or JSON Lines by the name of the file.
    content_type: str | None = None
    #: SHA-256 of the whole file, in hexadecimal or base64, which S3 verifies. Refused for files sent in parts.
    sha256: str | None = None
    #: The state of an earlier upload of the same file.
    resume: ResumeState | None = None
    #: Called once the upload has an id, before any byte is sent.
    on_begun: Callable[[ResumeState], None] | None = None
    on_progress: OnProgress | None = None
    #: Concurrent parts.
    parts_at_once: int = 3
    #: The key of the request that creates the upload. By default each call has a new one.
    idempotency_key: str | None = None


def upload(client: Client, file: str | os.PathLike[str] | IO[bytes], options: UploadOptions | None = None) -> str:
    """Uploads a file, or a binary file object that can be read at any position. Returns its id for `create_job`.

    After an error the upload is kept for a day and can be resumed. Raises `ProblemError`, `NetworkError`,
    `UploadError`, `OtherFileError`, or `OSError` if the file cannot be read.
    """
    options = options or UploadOptions()
    if not isinstance(file, (str, os.PathLike)):
        return _upload(client, file, _identity(file, options.file_name, None), options)
    path = Path(file)
    with path.open("rb") as content:
        last_modified = os.fstat(content.fileno()).st_mtime_ns
        return _upload(client, content, _identity(content, options.file_name or path.name, last_modified), options)


def _identity(content: IO[bytes], file_name: str | None, last_modified: int | None) -> ResumeState:
    """Returns what identifies a file: name, size and date."""
    if not file_name:
        raise ValueError("a file object has no name: set the option `file_name`")
    return ResumeState("", file_name, content.seek(0, os.SEEK_END), last_modified)


def _upload(client: Client, content: IO[bytes], file: ResumeState, options: UploadOptions) -> str:
    transport = client.transport
    meter = ProgressMeter(file.size, options.on_progress)
    if options.resume:
        _check_same_file(file, options.resume)
        calls = UploadCalls(transport, options.resume.file_guid)
        _Sending(calls, content, file.size, meter, options).resume()
        return calls.file_guid
    created = _create(client, file, options)
    calls = UploadCalls(transport, created["fileGuid"])
    if options.on_begun:
        options.on_begun(replace(file, file_guid=calls.file_guid))
    sending = _Sending(calls, content, file.size, meter, options)
    if "parts" in created:
        sending.put_parts(cast(UploadInParts, created)["partSize"], [])
    else:
        sending.put_whole(created)
    return calls.file_guid


def _create(client: Client, file: ResumeState, options: UploadOptions) -> Upload | UploadInParts:
    kind = "application/x-ndjson" if file.file_name.lower().endswith(JSON_LINES) else "text/csv"
    request = {"fileName": file.file_name, "contentType": options.content_type or kind, "size": file.size}
    if options.sha256 is not None:
        request["sha256"] = options.sha256
    answer = client.transport.send(creation_call("/api/uploads", request, options.idempotency_key))
    return cast("Upload | UploadInParts", answer.json())


def _check_same_file(file: ResumeState, state: ResumeState) -> None:
    """Refuses another file, so that no upload mixes parts of two."""
    if replace(file, file_guid=state.file_guid) != state:
        raise OtherFileError(f"This is not the {state.file_name} that the upload began with")


@dataclass(frozen=True)
class _Sending:
    """The transfer of one file."""

    calls: UploadCalls
    content: IO[bytes]
    size: int
    meter: ProgressMeter
    options: UploadOptions

    def resume(self) -> None:
        """Sends what S3 does not have yet."""
        status = with_retry(self.calls.transport.sleep, self.calls.status)
        if status["size"] != self.size:
            raise OtherFileError(f"The upload has {status['size']} bytes, but the file has {self.size}")
        if status["state"] == "received":
            self.meter.record(1, self.size)
        elif "partSize" in status:
            self.put_parts(status["partSize"], status.get("receivedParts", []))
        else:
            # Includes an abandoned upload: the request for its URL fails with that problem.
            self.put_whole(None)

    def put_parts(self, part_size: int, received: Sequence[ReceivedPart]) -> None:
        """Sends the parts that S3 does not have."""
        sleep, at_once = self.calls.transport.sleep, self.options.parts_at_once
        PartsUpload(self.calls, self.content, self.size, part_size, self.meter.record, sleep, at_once).put_all(received)

    def put_whole(self, first: Upload | None) -> None:
        """Sends the file in one PUT: with the first URL, if given, and with a new URL after a failure."""
        urls = [first] if first else []

        def step() -> None:
            try:
                presigned = urls.pop() if urls else self.calls.presign_file()
                self.content.seek(0)
                put(presigned, self.content, self.size, lambda count: self.meter.record(1, count))
            except LongshoreError as error:
                if not self._was_put_before(error):
                    raise
                self.meter.record(1, self.size)

        with_retry(self.calls.transport.sleep, step)

    def _was_put_before(self, error: LongshoreError) -> bool:
        """Returns true if an earlier PUT succeeded and lost its reply: S3 accepts a file once."""
        if is_kind(error, "already-uploaded"):
            return True
        refused = isinstance(error, UploadError) and error.status == 412
        return refused and self.calls.status()["state"] == "received"
