"""Errors: refusals by the API, and failures to reach it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeGuard

from .documents import FieldError


class LongshoreError(Exception):
    """Base of all errors of this package."""


class NetworkError(LongshoreError):
    """No answer, an unreadable one, or none in time. `__cause__` has the reason."""


class ProblemError(LongshoreError):
    """A refusal by the API or its gateway."""

    def __init__(self, status: int, problem: dict[str, Any], retry_after: int | None) -> None:
        title = problem.get("title") or f"HTTP {status}"
        super().__init__(problem.get("detail") or title)
        #: The last part of the problem's type, for comparison. `gateway` if the response is no problem document.
        self.kind: str = str(problem.get("type") or "gateway").rsplit("/", 1)[-1]
        self.status = status
        #: The same for every problem of the kind.
        self.title: str = title
        #: A description of this occurrence and its solution, for people.
        self.detail: str = problem.get("detail") or title
        #: The invalid fields, each with a JSON pointer into the body.
        self.errors: list[FieldError] = problem.get("errors") or []
        #: Identifies the request in the deployment's logs.
        self.request_id: str | None = problem.get("requestId")
        #: Seconds until a retry is useful, if the response says so.
        self.retry_after = retry_after


class UploadError(LongshoreError):
    """S3 refused the file or a part of it, in every attempt."""

    def __init__(self, status: int, code: str | None) -> None:
        super().__init__(f"S3 answered {status} {code or ''}".rstrip())
        self.status = status
        #: S3's code of the reason, such as `BadDigest`.
        self.code = code


class OtherFileError(LongshoreError):
    """The file to resume with is not the upload's file. Nothing was sent."""


def problem_from(status: int, headers: Mapping[str, str], body: bytes) -> ProblemError:
    """Creates an error from an unexpected response. A body that is no problem document counts as the gateway's."""
    return ProblemError(status, _parse_problem(headers, body), retry_after_seconds(headers))


def is_kind(error: object, kind: str) -> TypeGuard[ProblemError]:
    """Returns true if an error is a problem of this kind."""
    return isinstance(error, ProblemError) and error.kind == kind


def is_transient(error: Exception) -> bool:
    """Returns true if a retry may succeed: no answer, rate limiting, or a server error.

    False for an exhausted daily upload quota, which resets only after hours.
    """
    if isinstance(error, NetworkError):
        return True
    if not isinstance(error, ProblemError) or error.kind == "upload-quota-exceeded":
        return False
    return error.status == 429 or error.status >= 500


def retry_after_seconds(headers: Mapping[str, str]) -> int | None:
    """Parses `Retry-After` in seconds. Longshore never sends the form with a date."""
    value = headers.get("retry-after", "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None


def _parse_problem(headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except ValueError:
        return {}
    if not isinstance(document, dict):
        return {}
    if headers.get("content-type", "").startswith("application/problem+json"):
        return document
    return {"title": document["message"]} if isinstance(document.get("message"), str) else {}
