"""Watching a job: polls at the API's interval and yields changes. Progress never goes backwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from .delays import back_off, retry_after_delay
from .documents import Job
from .errors import LongshoreError, ProblemError, is_transient, retry_after_seconds
from .http import Call, Response, Transport

#: The interval without a `Retry-After`.
DEFAULT_INTERVAL_SECONDS = 1


class VersionedJob(Job):
    """A job with the `ETag` of its response, for `if_match`; `None` if the response had none."""

    etag: str | None


def has_ended(job: Job | VersionedJob) -> bool:
    """Returns true if a job has a final status.

    Only a retry or an operator's replay reopens it, with `attempts` increased by one.
    """
    return job["status"] in ("completed", "failed", "canceled")


def watch(transport: Transport, path: str) -> Iterator[VersionedJob]:
    """Yields the job at a path until it has a final status. Raises permanent refusals: 401, 403, 404."""
    latest: VersionedJob | None = None
    failures = 0
    while True:
        try:
            etag = latest["etag"] if latest else None
            response = transport.send(Call("GET", path, False, headers={"if-none-match": etag}))
            job = None if response.status == 304 else versioned(response)
            delay = retry_after_delay(retry_after_seconds(response.headers) or DEFAULT_INTERVAL_SECONDS)
            failures = 0
        except LongshoreError as error:
            if not is_transient(error):
                raise
            job, delay, failures = None, _delay_after(error, failures), failures + 1
        if job and (latest is None or _is_newer(job, latest)):
            latest = job
            yield job
            if has_ended(job):
                return
        transport.sleep(delay)


def versioned(response: Response) -> VersionedJob:
    """Returns the job of a response with its `ETag`."""
    return cast(VersionedJob, {**response.json(), "etag": response.headers.get("etag")})


def _delay_after(error: LongshoreError, failures: int) -> float:
    if isinstance(error, ProblemError) and error.retry_after:
        return retry_after_delay(error.retry_after)
    return back_off(failures)


def _is_newer(job: VersionedJob, latest: VersionedJob) -> bool:
    """Returns true if a job has changed and has not gone backwards. A stale copy is not newer."""
    if job["attempts"] != latest["attempts"]:
        return job["attempts"] > latest["attempts"]
    if has_ended(job):
        # Even if it seems older: the clock of the machine that ended the job may be slow.
        return True
    if job["itemProgress"] < latest["itemProgress"] or job["percent"] < latest["percent"]:
        return False
    if _instant(job["updatedAt"]) < _instant(latest["updatedAt"]):
        return False
    return _without_etag(job) != _without_etag(latest)


def _instant(time: str) -> tuple[str, str]:
    """Returns a time of the API in a form that can be compared. Times are in UTC; fractions have any length."""
    seconds, _, fraction = time.removesuffix("Z").partition(".")
    return seconds, fraction


def _without_etag(job: VersionedJob) -> dict[str, Any]:
    return {name: value for name, value in job.items() if name != "etag"}
