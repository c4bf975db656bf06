"""Delays between calls."""

from __future__ import annotations

import random

FIRST_BACK_OFF_SECONDS = 0.5
LONGEST_BACK_OFF_SECONDS = 30.0
LONGEST_RETRY_AFTER_SECONDS = 300


def back_off(failures: int) -> float:
    """Returns the delay after consecutive failures: from half a second to 30, with jitter in its upper half."""
    full = min(LONGEST_BACK_OFF_SECONDS, FIRST_BACK_OFF_SECONDS * 2.0 ** min(failures, 10))
    return full / 2 + full / 2 * random.random()


def retry_after_delay(seconds: int) -> float:
    """Returns the delay for a `Retry-After`, at least a second and at most five minutes.

    It is extended by up to a fifth, so that many clients do not call at the same moment.
    """
    return min(LONGEST_RETRY_AFTER_SECONDS, max(1, seconds)) * (1 + random.random() / 5)
