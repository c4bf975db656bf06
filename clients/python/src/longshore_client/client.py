"""The client: one method for each call of the API."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from .documents import (
    Audit,
    Datasets,
    Events,
    Failure,
    Failures,
    Inspection,
    InspectRequest,
    Job,
    JobRequest,
    Jobs,
    Output,
    Records,
    Results,
    Status,
)
from .errors import ProblemError, is_kind
from .http import Call, Response, Token, Transport, download
from .requests import Exported, Finished, Link, RequestOptions
from .watching import VersionedJob, versioned, watch
from .schedules import ScheduleCalls
from .webhooks import WebhookCalls

#: Rows of a page of `all_results` and `all_failures`: the maximum of the API.
PAGE = 1000


class Client(WebhookCalls, ScheduleCalls):
    """The API as methods. Each raises `ProblemError` or `NetworkError`.

    `token` is the caller's token, or a function that returns it. The function is called before each attempt, so that a
    session can refresh its token there.
    """

    def __init__(self, base_url: str, token: Token = None, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self.transport = Transport(base_url, token, sleep)

    def send(self, call: Call) -> Response:
        """Makes any other call of the API, with the same token, errors and retries."""
        return self.transport.send(call)

    def create_job(self, request: JobRequest, *, idempotency_key: str | None = None) -> Job:
        """Creates a job. Retries with the same idempotency key if no answer arrives."""
        return cast(Job, self.send(creation_call("/api/jobs", request, idempotency_key)).json())

    def inspect(self, file_guid: str, request: InspectRequest | None = None) -> Inspection:
        """Tells how an uploaded file is read, and what a job of the request's type would say about it."""
        path = f"/api/uploads/{quote(file_guid, safe='')}/inspect"
        return cast(Inspection, self.send(Call("POST", path, True, body=request or {})).json())

    def get_job(self, job_id: str) -> VersionedJob:
        """Returns a job with its `etag`."""
        return versioned(self.send(Call("GET", _job(job_id), True)))

    def list_jobs(
        self,
        *,
        status: Status | None = None,
        job_type: str | None = None,
        metadata: Mapping[str, str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Jobs:
        """Lists a page of jobs, newest first."""
        query = {"status": status, "jobType": job_type, "metadata": metadata, "limit": limit, "cursor": cursor}
        return cast(Jobs, self._get("/api/jobs", query))

    def watch(self, job_id: str) -> Iterator[VersionedJob]:
        """Yields the job at once and after each change. The last one has a final status.

        Continues through network failures. Raises 401, 403 and 404.
        """
        return watch(self.transport, _job(job_id))

    def cancel(self, job_id: str, *, if_match: str | None = None) -> Job:
        """Cancels a job and returns it. Also succeeds if the job is already canceled."""
        try:
            return self._change(job_id, "cancel", if_match)
        except ProblemError as error:
            if not is_kind(error, "job-ended"):
                raise
            # An earlier attempt of this call may have canceled it and lost its reply.
            job = cast(Job, self._get(_job(job_id)))
            if job["status"] != "canceled":
                raise
            return job

    def retry(
        self,
        job_id: str,
        *,
        file_guid: str | None = None,
        code: str | None = None,
        field: str | None = None,
        if_match: str | None = None,
    ) -> Job:
        """Retries failed items: all, those in the corrected failures file `file_guid`, or those with a code.

        Never repeated after a lost reply: `attempts` of the job shows if the retry was accepted.
        """
        selection = {"fileGuid": file_guid, "code": code, "field": field}
        body = {name: value for name, value in selection.items() if value is not None}
        return self._change(job_id, "retry", if_match, body=body or None, repeatable=False)

    def start(self, job_id: str, *, if_match: str | None = None) -> Job:
        """Starts an import from a completed job of `mode: validate`. Returns the new job."""
        return self._change(job_id, "start", if_match)

    def undo(self, job_id: str, *, mode: str | None = None, if_match: str | None = None) -> Job:
        """Undoes an import, or with `mode="validate"` only previews the outcomes. Returns the undo.

        Fails with `undo-too-early` for some minutes after the end of the import; `retry_after` has the seconds.
        """
        # A repeated preview would be another job.
        return self._change(job_id, "undo", if_match, body=mode and {"mode": mode}, repeatable=mode != "validate")

    def delete(self, job_id: str, *, if_match: str | None = None) -> None:
        """Deletes a job, its file and its reports. Keeps the records that it imported."""
        self.send(Call("DELETE", _job(job_id), False, headers={"if-match": if_match}))

    def output(self, job_id: str) -> Output:
        """Returns the result of an ended job."""
        return cast(Output, self._get(f"{_job(job_id)}/output"))

    def results(self, job_id: str, *, limit: int | None = None, cursor: str | None = None) -> Results:
        """Lists a page of the outputs of the items that succeeded, in the order of the items."""
        return cast(Results, self._get(f"{_job(job_id)}/results", {"limit": limit, "cursor": cursor}))

    def all_results(self, job_id: str) -> Iterator[Any]:
        """Yields the outputs of all items that succeeded, page by page."""
        page = self.results(job_id, limit=PAGE)
        yield from page["results"]
        while page["nextCursor"] is not None:
            page = self.results(job_id, limit=PAGE, cursor=page["nextCursor"])
            yield from page["results"]

    def failures(self, job_id: str, *, limit: int | None = None, cursor: str | None = None) -> Failures:
        """Lists a page of failed items."""
        return cast(Failures, self._get(f"{_job(job_id)}/failures", {"limit": limit, "cursor": cursor}))

    def all_failures(self, job_id: str) -> Iterator[Failure]:
        """Yields all failed items, page by page."""
        page = self.failures(job_id, limit=PAGE)
        yield from page["failures"]
        while page["nextCursor"] is not None:
            page = self.failures(job_id, limit=PAGE, cursor=page["nextCursor"])
            yield from page["failures"]

    def failures_csv(self, job_id: str) -> bytes:
        """Returns all failed items as a CSV file, for correction and `retry`."""
        failed = self.output(job_id)["files"]["failed"]
        if failed:
            return self.download(failed)
        # Without a file, the API answers with an empty list, or with the problem that there is no report.
        return self._failures_file(job_id, "csv")

    def failures_workbook(self, job_id: str) -> bytes:
        """Returns all failed items as a workbook (`.xlsx`), for correction and `retry`, if they fit in 4 MiB."""
        return self._failures_file(job_id, "xlsx")

    def _failures_file(self, job_id: str, file_format: str) -> bytes:
        return self.send(Call("GET", f"{_job(job_id)}/failures", True, query={"format": file_format})).body

    def run(
        self,
        job_type: str,
        items: Sequence[Any],
        request: RequestOptions | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Finished:
        """Creates a job over up to 10,000 items, waits for its end and returns their outputs.

        Returns for every final status: `counts` of the job shows how many items failed, `failures` why.
        """
        job = self._create_and_wait({"jobType": job_type, "items": list(items)}, request, idempotency_key)
        results = list(self.all_results(job["jobId"]))
        return Finished(job, results, self.output(job["jobId"])["issues"])

    def export(
        self,
        dataset: str,
        request: RequestOptions | None = None,
        *,
        updated_since: str | None = None,
        idempotency_key: str | None = None,
    ) -> Exported:
        """Creates a job that exports the records of a dataset, waits for its end and returns the file.

        Returns for every final status: a canceled export has the records that it had reached. `updated_since` is
        `source.nextSince` of the previous job.
        """
        source = {"dataset": dataset} | ({} if updated_since is None else {"updatedSince": updated_since})
        job = self._create_and_wait({"jobType": "export", "source": source}, request, idempotency_key)
        output = self.output(job["jobId"])
        return Exported(job, output["files"]["results"], output["issues"])

    def download(self, file: Link) -> bytes:
        """Downloads a file of the output, or the receipt, into memory."""
        return b"".join(download(file["url"]))

    def save(self, file: Link, path: str | PathLike[str]) -> None:
        """Downloads a file of the output to a path. A file there is replaced once the download is complete."""
        target = Path(path)
        partial = target.with_name(f"{target.name}.{uuid.uuid4()}.part")
        try:
            with partial.open("xb") as content:
                content.writelines(download(file["url"]))
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)

    def audit(self, job_id: str) -> Audit:
        """Recounts a job from everything that is stored for it."""
        return cast(Audit, self._get(f"{_job(job_id)}/audit"))

    def list_events(self, *, limit: int | None = None, cursor: str | None = None) -> Events:
        """Lists a page of what has happened to jobs, oldest first.

        To miss no event, pass `nextCursor` of each page to the next call, also after an empty page.
        """
        return cast(Events, self._get("/api/events", {"limit": limit, "cursor": cursor}))

    def list_datasets(self, *, limit: int | None = None, cursor: str | None = None) -> Datasets:
        """Lists a page of the datasets that imports have written."""
        return cast(Datasets, self._get("/api/datasets", {"limit": limit, "cursor": cursor}))

    def delete_dataset(self, dataset: str, *, idempotency_key: str | None = None) -> Job:
        """Creates a job that deletes the records of a dataset."""
        headers = {"idempotency-key": idempotency_key or str(uuid.uuid4())}
        return cast(Job, self.send(Call("DELETE", _dataset(dataset), True, headers=headers)).json())

    def list_records(self, dataset: str, *, limit: int | None = None, cursor: str | None = None) -> Records:
        """Lists a page of a dataset's records."""
        return cast(Records, self._get(f"{_dataset(dataset)}/records", {"limit": limit, "cursor": cursor}))

    def delete_record(self, dataset: str, key: str) -> None:
        """Deletes a record, if it exists. A job over the dataset that has not ended can write it again."""
        self.send(Call("DELETE", f"{_dataset(dataset)}/records", True, query={"key": key}))

    def _get(self, path: str, query: Mapping[str, object] | None = None) -> Any:
        return self.send(Call("GET", path, True, query=query or {})).json()

    def _change(
        self, job_id: str, action: str, if_match: str | None, *, body: object = None, repeatable: bool = True
    ) -> Job:
        headers = {"if-match": if_match}
        path = f"{_job(job_id)}/{action}"
        return cast(Job, self.send(Call("POST", path, repeatable, headers=headers, body=body)).json())

    def _create_and_wait(
        self, source: dict[str, Any], request: RequestOptions | None, idempotency_key: str | None
    ) -> VersionedJob:
        created = self.create_job(cast(JobRequest, {**(request or {}), **source}), idempotency_key=idempotency_key)
        *_, last = self.watch(created["jobId"])
        return last


def creation_call(path: str, body: object, idempotency_key: str | None) -> Call:
    """Returns a POST with an idempotency key, which has one effect however often it is sent."""
    return Call("POST", path, True, headers={"idempotency-key": idempotency_key or str(uuid.uuid4())}, body=body)


def _job(job_id: str) -> str:
    return f"/api/jobs/{quote(job_id, safe='')}"


def _dataset(dataset: str) -> str:
    return f"/api/datasets/{quote(dataset, safe='')}"
