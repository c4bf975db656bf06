"""Uploads in parts. S3 verifies each part's SHA-256; parts that S3 already has are not sent again."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import IO

from .delays import back_off, retry_after_delay
from .documents import ReceivedPart
from .errors import ProblemError, is_kind
from .putting import Sleep, put, with_retry
from .upload_calls import UploadCalls

#: Rounds in which the API may report missing parts before the upload fails: half a minute.
MAX_ROUNDS = 6
#: Rounds in which another call may be completing the upload: some five minutes.
MAX_ROUNDS_WHILE_COMPLETING = 15


@dataclass
class PartsUpload:
    """One upload in parts."""

    calls: UploadCalls
    content: IO[bytes]
    size: int
    part_size: int
    on_part_sent: Callable[[int, int], None]
    sleep: Sleep
    parts_at_once: int
    _hashes: dict[int, str] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def put_all(self, received: Sequence[ReceivedPart]) -> None:
        """Sends all missing parts, then completes the upload."""
        attempt = 1
        while True:
            try:
                self._put_missing(received)
                with_retry(self.sleep, self.calls.complete)
                return
            except ProblemError as error:
                # The API sends `Retry-After` only while another call is completing the upload.
                rounds = MAX_ROUNDS_WHILE_COMPLETING if error.retry_after else MAX_ROUNDS
                if not is_kind(error, "upload-incomplete") or attempt >= rounds:
                    raise
                least = retry_after_delay(error.retry_after) if error.retry_after else 0.0
            self.sleep(max(back_off(attempt), least))
            attempt += 1
            status = with_retry(self.sleep, self.calls.status)
            if status["state"] == "received":
                return
            received = status.get("receivedParts", [])

    def _put_missing(self, received: Sequence[ReceivedPart]) -> None:
        known = {part["partNumber"]: part for part in received}
        numbers = range(1, -(-self.size // self.part_size) + 1)
        failed = Event()

        def put_part(number: int) -> None:
            try:
                if not failed.is_set():
                    self._put_part(number, known.get(number))
            except BaseException:
                failed.set()
                raise

        with ThreadPoolExecutor(max_workers=max(1, self.parts_at_once)) as pool:
            for sent in [pool.submit(put_part, number) for number in numbers]:
                try:
                    sent.result()
                except BaseException:
                    failed.set()  # Also if this thread is interrupted.
                    raise

    def _put_part(self, number: int, known: ReceivedPart | None) -> None:
        part = self._read(number)
        sha256 = self._hashes.setdefault(number, _sha256(part))
        if known and known["size"] == len(part) and known.get("sha256") == sha256:
            self.on_part_sent(number, len(part))
        else:
            with_retry(self.sleep, lambda: self._presign_and_put(number, part, sha256))

    def _presign_and_put(self, number: int, part: bytes, sha256: str) -> None:
        def on_sent(count: int) -> None:
            self.on_part_sent(number, count)

        try:
            put(self.calls.presign_part(number, sha256), io.BytesIO(part), len(part), on_sent)
        except ProblemError as error:
            # Another process, or a call with a lost reply, has completed the upload. The final completion confirms it.
            if not is_kind(error, "already-uploaded"):
                raise
            on_sent(len(part))

    def _read(self, number: int) -> bytes:
        with self._lock:
            self.content.seek((number - 1) * self.part_size)
            return self.content.read(self.part_size)


def _sha256(part: bytes) -> str:
    return base64.b64encode(hashlib.sha256(part).digest()).decode()
