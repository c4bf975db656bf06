"""Requests and results of `run` and `export`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

from .documents import JobError, OutputFile, Priority, ResultsRequest
from .watching import VersionedJob


class RequestOptions(TypedDict, total=False):
    """The request of a job, without its type and its source."""

    options: dict[str, Any]
    priority: Priority
    metadata: dict[str, str]
    results: ResultsRequest
    timeoutSeconds: int


class Link(TypedDict):
    """A presigned URL: a file of the output, or the receipt."""

    url: str


@dataclass(frozen=True)
class Finished:
    """An ended job and the outputs of its items."""

    job: VersionedJob
    #: One row for each item that succeeded; none if the job type has no output.
    results: list[Any]
    #: Warnings about the job and its results, such as `results_incomplete`.
    issues: list[JobError]


@dataclass(frozen=True)
class Exported:
    """An ended export."""

    job: VersionedJob
    #: The file, for `download` or `save`; `None` if no record was exported. Its link expires after 15 minutes.
    file: OutputFile | None
    #: Warnings about the job and its file, such as `columns_left_out`.
    issues: list[JobError]
