"""PUTs to S3 with presigned URLs, and retries of an upload's steps."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import IO, Any, TypeVar
from urllib.request import Request

from .delays import back_off
from .documents import Upload, UploadPart
from .errors import LongshoreError, UploadError, is_transient
from .http import STALL_SECONDS, exchange

#: Some 15 seconds of failures.
ATTEMPTS = 6

Result = TypeVar("Result")
Sleep = Callable[[float], None]
#: Records the bytes sent of one part.
OnSent = Callable[[int], None]


def put(presigned: Upload | UploadPart, content: IO[bytes], size: int, on_sent: OnSent) -> None:
    """Sends bytes. Raises `UploadError` if S3 refuses them, and `NetworkError` if it does not answer."""
    headers = {"content-type": "application/octet-stream", **presigned["headers"], "content-length": str(size)}
    body: Any = _Metered(content, on_sent) if size else b""
    request = Request(presigned["url"], data=body, headers=headers, method=presigned["method"])
    status, _, text = exchange(request, STALL_SECONDS)
    if not 200 <= status < 300:
        code = re.search(rb"<Code>(\w+)</Code>", text)
        raise UploadError(status, code[1].decode() if code else None)
    on_sent(size)


def with_retry(sleep: Sleep, step: Callable[[], Result]) -> Result:
    """Repeats a step until it succeeds or fails permanently.

    The step must request a new URL each time, since the last one may have expired. No refusal by S3 is permanent: an
    expired URL is a 403, corrupted bytes a 400, an ended upload a 404.
    """
    failures = 0
    while True:
        try:
            return step()
        except LongshoreError as error:
            failures += 1
            if not (isinstance(error, UploadError) or is_transient(error)) or failures >= ATTEMPTS:
                raise
        sleep(back_off(failures))


class _Metered:
    """A file that reports how much of it has been read."""

    def __init__(self, content: IO[bytes], on_sent: OnSent) -> None:
        self._content = content
        self._on_sent = on_sent
        self._bytes = 0

    def read(self, size: int = -1) -> bytes:
        block = self._content.read(size)
        self._on_sent(self._bytes)
        self._bytes += len(block)
        return block
