"""Progress of an upload: the sum over all parts."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

#: Receives the bytes sent and the bytes of the file. The first never decreases.
OnProgress = Callable[[int, int], None]


class ProgressMeter:
    """Reports the sum whenever it reaches a new maximum. A part that starts again does not reduce it."""

    def __init__(self, total_bytes: int, on_progress: OnProgress | None) -> None:
        self._total_bytes = total_bytes
        self._on_progress = on_progress
        self._sent: dict[int, int] = {}
        self._highest = 0
        self._lock = Lock()

    def record(self, part_number: int, count: int) -> None:
        """Records the bytes sent of one part."""
        with self._lock:
            self._sent[part_number] = count
            total = min(self._total_bytes, sum(self._sent.values()))
            if total > self._highest:
                self._highest = total
                if self._on_progress:
                    self._on_progress(total, self._total_bytes)
