"""Replies of the test server. Their documents are the examples of `docs/openapi.json`."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

API = json.loads((Path(__file__).parents[3] / "docs" / "openapi.json").read_text())


@dataclass
class Reply:
    """A response of the server."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    #: Bytes of the announced length that do not arrive.
    missing_bytes: int = 0

    def content(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return b"" if self.body is None else json.dumps(self.body).encode()


def example(call: str, status: int, summary: str | None = None) -> Any:
    """Returns the example of a response, such as that of `GET /api/jobs/{jobId}`."""
    method, path = call.split(" ")
    media = API["paths"][path][method.lower()]["responses"][str(status)]["content"]["application/json"]
    if summary is None:
        return copy.deepcopy(media["example"])
    return copy.deepcopy(next(one["value"] for one in media["examples"].values() if one["summary"] == summary))


def problem(status: int, kind: str, retry_after: int | None = None, **members: Any) -> Reply:
    """Returns the example of a problem."""
    document = copy.deepcopy(API["components"]["examples"][kind]["value"]) | {"status": status, **members}
    headers = {"content-type": "application/problem+json"}
    return Reply(status, document, headers | ({} if retry_after is None else {"retry-after": str(retry_after)}))


def refusal(status: int, code: str) -> Reply:
    """Returns a refusal in S3's form."""
    body = f'<?xml version="1.0"?><Error><Code>{code}</Code></Error>'.encode()
    return Reply(status, body, {"content-type": "application/xml"})


ENDED = example("GET /api/jobs/{jobId}", 200)
JOB_ID = ENDED["jobId"]
JOB_CALL = f"GET /api/jobs/{JOB_ID}"


def job_at(percent: int, **members: Any) -> dict[str, Any]:
    """Returns a running job of a hundred items, `percent` of them done."""
    counts = {"succeeded": percent, "failed": 0, "skipped": 0, "pending": 100 - percent}
    return example("POST /api/jobs", 202) | {
        "status": "running", "stage": "processing", "itemCount": 100, "itemProgress": percent, "percent": percent,
        "counts": counts, "updatedAt": f"2026-07-01T09:{percent // 60:02}:{percent % 60:02}.5Z", **members}


def completed(**members: Any) -> dict[str, Any]:
    """Returns a completed job of a hundred items."""
    return job_at(100, status="completed", stage="done") | members


def state(job: dict[str, Any], retry_after: int = 1) -> Reply:
    """Returns an answer to `get_job`: with an `ETag`, and with `Retry-After` unless the job has ended."""
    headers = {"etag": etag_of(job)}
    if job["status"] in ("waiting", "running"):
        headers["retry-after"] = str(retry_after)
    return Reply(200, job, headers)


def unchanged(job: dict[str, Any], retry_after: int = 1) -> Reply:
    """Returns the answer to a `get_job` with the current `ETag`."""
    return Reply(304, None, {"etag": etag_of(job), "retry-after": str(retry_after)})


def etag_of(job: dict[str, Any]) -> str:
    return f'"{job["attempts"]}-{job["status"]}-{job["percent"]}"'
