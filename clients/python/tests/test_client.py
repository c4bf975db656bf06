from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path

from longshore_client import Call, Client, NetworkError, ProblemError

from .messages import JOB_CALL, JOB_ID, Reply, completed, example, job_at, problem, state
from .server import CUT, TestServer

CREATE = "POST /api/jobs"
IMPORT = {"jobType": "import", "fileGuid": "g-1", "options": {"dataset": "people", "key": "email"}}
OUTPUT = example("GET /api/jobs/{jobId}/output", 200)
TOO_MANY = Reply(429, {"message": "Too Many Requests"})


class ClientTests(unittest.TestCase):
    def setUp(self):
        self.server = TestServer()
        self.addCleanup(self.server.stop)
        self.client = self.server.client

    def test_create_job_sends_a_new_idempotency_key_or_the_given_one(self):
        self.server.script(CREATE, *[Reply(202, job_at(0))] * 3)
        self.client.create_job(IMPORT)
        self.client.create_job(IMPORT)
        self.client.create_job(IMPORT, idempotency_key="mine")
        first, second, third = self.server.seen(CREATE)
        self.assertEqual(first.json(), IMPORT)
        self.assertEqual(first.headers["authorization"], "Bearer the-token")
        self.assertNotEqual(first.headers["idempotency-key"], second.headers["idempotency-key"])
        self.assertEqual(third.headers["idempotency-key"], "mine")

    def test_create_job_retries_a_lost_reply_with_the_same_key(self):
        self.server.script(CREATE, CUT, Reply(503, b"<html>"), TOO_MANY, Reply(202, job_at(0)))
        self.assertEqual(self.client.create_job(IMPORT)["jobId"], JOB_ID)
        self.assertEqual(len({request.headers["idempotency-key"] for request in self.server.seen(CREATE)}), 1)
        for delay, full in zip(self.server.sleeps, (0.5, 1, 2), strict=True):
            self.assertTrue(full / 2 <= delay <= full)

    def test_a_reply_that_ends_early_is_a_network_failure(self):
        self.server.script(JOB_CALL, Reply(200, job_at(1), missing_bytes=1), state(job_at(2)))
        self.assertEqual(self.client.get_job(JOB_ID)["percent"], 2)

    def test_a_lasting_network_failure_is_a_network_error_after_four_attempts(self):
        self.server.script(JOB_CALL, *[CUT] * 9)
        with self.assertRaises(NetworkError):
            self.client.get_job(JOB_ID)
        self.assertEqual(len(self.server.seen(JOB_CALL)), 4)

    def test_retry_delete_and_a_preview_are_never_repeated(self):
        calls = {
            f"POST /api/jobs/{JOB_ID}/retry": lambda: self.client.retry(JOB_ID),
            f"DELETE /api/jobs/{JOB_ID}": lambda: self.client.delete(JOB_ID),
            f"POST /api/jobs/{JOB_ID}/undo": lambda: self.client.undo(JOB_ID, mode="validate"),
        }
        for call, make in calls.items():
            self.server.script(call, CUT)
            self.assertRaises(NetworkError, make)
            self.assertEqual(len(self.server.seen(call)), 1, call)

    def test_a_problem_is_an_error_with_all_its_fields_and_is_not_retried(self):
        self.server.script(CREATE, problem(422, "invalid-request", retry_after=7))
        with self.assertRaises(ProblemError) as raised:
            self.client.create_job(IMPORT)
        error = raised.exception
        self.assertEqual((error.kind, error.status, error.retry_after), ("invalid-request", 422, 7))
        self.assertEqual(error.errors[0]["pointer"], "/limit")
        self.assertEqual((error.title, str(error)), ("Invalid fields", error.detail))
        self.assertTrue(error.request_id)
        self.assertEqual(len(self.server.requests), 1)

    def test_a_response_that_is_no_problem_document_has_the_kind_gateway(self):
        for reply, title in [
            (Reply(401, {"message": "Unauthorized"}), "Unauthorized"),
            (Reply(403, b"<html>"), "HTTP 403"),
            (Reply(404, b"[]"), "HTTP 404"),
            (Reply(400, b"7", {"content-type": "application/problem+json"}), "HTTP 400"),
            (Reply(303, None, {"location": "/api/elsewhere"}), "HTTP 303"),
        ]:
            self.server.script(JOB_CALL, reply)
            with self.assertRaises(ProblemError) as raised:
                self.client.get_job(JOB_ID)
            error = raised.exception
            self.assertEqual((error.kind, error.title, error.status), ("gateway", title, reply.status))
        self.assertEqual(self.server.seen("GET /api/elsewhere"), [])

    def test_a_success_that_is_no_json_is_a_network_error(self):
        self.server.script(JOB_CALL, Reply(200, b"<html>"))
        self.assertRaises(NetworkError, self.client.get_job, JOB_ID)

    def test_an_address_that_is_none_is_refused(self):
        for address in ("", "example.com", "file:///etc/passwd", "https://"):
            self.assertRaises(ValueError, Client, address)

    def test_the_token_is_requested_for_each_attempt_and_may_be_missing(self):
        tokens = iter(["one", "two", None])
        client = Client(self.server.url + "/", lambda: next(tokens), sleep=self.server.sleeps.append)
        self.server.script(JOB_CALL, CUT, CUT, state(job_at(1)))
        client.get_job(JOB_ID)
        sent = [request.headers.get("authorization") for request in self.server.seen(JOB_CALL)]
        self.assertEqual(sent, ["Bearer one", "Bearer two", None])

    def test_cancel_returns_the_canceled_job_if_its_first_reply_was_lost(self):
        call = f"POST /api/jobs/{JOB_ID}/cancel"
        self.server.script(call, CUT, problem(409, "job-ended"), problem(409, "job-ended"))
        self.server.script(JOB_CALL, state(completed(status="canceled")), state(completed()))
        self.assertEqual(self.client.cancel(JOB_ID)["status"], "canceled")
        with self.assertRaises(ProblemError) as raised:
            self.client.cancel(JOB_ID)
        self.assertEqual(raised.exception.kind, "job-ended")

    def test_each_change_sends_its_body_and_if_match(self):
        cases = [
            (lambda: self.client.cancel(JOB_ID, if_match='"1"'), "cancel", None),
            (lambda: self.client.start(JOB_ID, if_match='"1"'), "start", None),
            (lambda: self.client.retry(JOB_ID, if_match='"1"'), "retry", None),
            (lambda: self.client.retry(JOB_ID, file_guid="g", if_match='"1"'), "retry", {"fileGuid": "g"}),
            (lambda: self.client.retry(JOB_ID, code="bad_email", field="email", if_match='"1"'), "retry",
             {"code": "bad_email", "field": "email"}),
            (lambda: self.client.undo(JOB_ID, if_match='"1"'), "undo", None),
            (lambda: self.client.undo(JOB_ID, mode="validate", if_match='"1"'), "undo", {"mode": "validate"}),
        ]
        for make, action, body in cases:
            self.server.script(f"POST /api/jobs/{JOB_ID}/{action}", Reply(202, job_at(0)))
            make()
            last = self.server.requests[-1]
            self.assertEqual((last.json(), last.headers["if-match"]), (body, '"1"'))

    def test_every_other_call_has_its_path_and_query(self):
        metadata = {"team": "crm", "run": "a&b"}
        cases = [
            (lambda: self.client.list_jobs(), "/api/jobs"),
            (lambda: self.client.list_jobs(status="failed", job_type="import", metadata=metadata, limit=5, cursor="c"),
             "/api/jobs?status=failed&jobType=import&metadata%5Bteam%5D=crm&metadata%5Brun%5D=a%26b&limit=5&cursor=c"),
            (lambda: self.client.output("a/b"), "/api/jobs/a%2Fb/output"),
            (lambda: self.client.results("1", limit=5, cursor="c"), "/api/jobs/1/results?limit=5&cursor=c"),
            (lambda: self.client.failures("1"), "/api/jobs/1/failures"),
            (lambda: self.client.audit("1"), "/api/jobs/1/audit"),
            (lambda: self.client.list_events(cursor="c"), "/api/events?cursor=c"),
            (lambda: self.client.list_datasets(limit=2), "/api/datasets?limit=2"),
            (lambda: self.client.list_records("people", cursor="c"), "/api/datasets/people/records?cursor=c"),
            (lambda: self.client.send(Call("GET", "/api/limits", True)), "/api/limits"),
        ]
        for make, path in cases:
            self.server.script("GET /api/*", Reply(200, {}))
            make()
            self.assertEqual(self.server.requests[-1].path, path)

    def test_deletions_repeat_a_lost_reply(self):
        self.server.script("DELETE /api/datasets/people/records", CUT, Reply(204))
        self.client.delete_record("people", "ä&b")
        self.assertEqual(self.server.requests[-1].path, "/api/datasets/people/records?key=%C3%A4%26b")
        self.server.script("DELETE /api/datasets/people", CUT, Reply(202, job_at(0)))
        self.client.delete_dataset("people")
        self.assertEqual(len({request.headers["idempotency-key"] for request in self.server.requests[-2:]}), 1)

    def test_run_creates_a_job_over_items_and_reads_all_pages_of_results(self):
        rows = [{"number": number, "output": number * 2} for number in (1, 2, 3)]
        self.server.script(CREATE, Reply(202, job_at(0)))
        self.server.script(JOB_CALL, state(job_at(50)), state(completed()))
        self.server.script(f"GET /api/jobs/{JOB_ID}/results",
                           Reply(200, {"results": rows[:2], "complete": False, "nextCursor": "c"}),
                           Reply(200, {"results": rows[2:], "complete": True, "nextCursor": None}))
        self.server.script(f"GET /api/jobs/{JOB_ID}/output", Reply(200, OUTPUT))
        finished = self.client.run("double", [1, 2, 3], {"options": {"fast": True}})
        self.assertEqual((finished.results, finished.issues), (rows, []))
        self.assertEqual(finished.job["status"], "completed")
        self.assertEqual(self.server.seen(CREATE)[0].json(),
                         {"jobType": "double", "items": [1, 2, 3], "options": {"fast": True}})
        paths = [request.path for request in self.server.seen(f"GET /api/jobs/{JOB_ID}/results")]
        self.assertEqual([path.split("?")[1] for path in paths], ["limit=1000", "limit=1000&cursor=c"])

    def test_export_creates_a_job_over_a_dataset_and_returns_its_file(self):
        file = OUTPUT["files"]["failed"] | {"name": "results.csv"}
        self.server.script(CREATE, Reply(202, job_at(0)))
        self.server.script(JOB_CALL, state(completed()))
        self.server.script(f"GET /api/jobs/{JOB_ID}/output", Reply(200, OUTPUT | {"files": {"results": file}}))
        exported = self.client.export("people", {"results": {"format": "csv"}}, updated_since="2026-07-01T09:00:00Z")
        self.assertEqual(exported.file, file)
        source = {"dataset": "people", "updatedSince": "2026-07-01T09:00:00Z"}
        self.assertEqual(self.server.seen(CREATE)[0].json(),
                         {"jobType": "export", "source": source, "results": {"format": "csv"}})

    def test_all_failures_reads_all_pages(self):
        page = example("GET /api/jobs/{jobId}/failures", 200)
        self.server.script(f"GET /api/jobs/{JOB_ID}/failures", Reply(200, page | {"nextCursor": "c"}), Reply(200, page))
        codes = [failure["code"] for failure in self.client.all_failures(JOB_ID)]
        self.assertEqual(codes, ["schema_pattern", "schema_pattern"])

    def test_files_are_downloaded_without_the_token(self):
        link = {"url": f"{self.server.url}/s3/file"}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "failed.csv"
            path.write_text("before")
            self.server.script("GET /s3/file", Reply(200, b"row,code\r\n"), Reply(200, b"row,", missing_bytes=5),
                               Reply(403, b"<Code>AccessDenied</Code>"), Reply(200, b"row,code\r\n"))
            self.assertEqual(self.client.download(link), b"row,code\r\n")
            for error in (NetworkError, ProblemError):
                self.assertRaises(error, self.client.save, link, path)
                self.assertEqual([one.read_text() for one in Path(folder).iterdir()], ["before"])
            self.client.save(link, path)
            self.assertEqual([one.read_bytes() for one in Path(folder).iterdir()], [b"row,code\r\n"])
        self.assertFalse(any("authorization" in request.headers for request in self.server.seen("GET /s3/file")))

    def test_failures_workbook_is_the_answer_of_the_api(self):
        self.server.script(f"GET /api/jobs/{JOB_ID}/failures", Reply(200, b"PK", {"content-type": "application/zip"}))
        self.assertEqual(self.client.failures_workbook(JOB_ID), b"PK")

    def test_failures_csv_is_the_file_or_the_answer_of_the_api_without_one(self):
        file = {"url": f"{self.server.url}/s3/file"}
        output = json.loads(json.dumps(OUTPUT))
        for failed, expected in ((file, b"file"), (None, b"api")):
            output["files"]["failed"] = failed
            self.server.script(f"GET /api/jobs/{JOB_ID}/output", Reply(200, output))
            self.server.script("GET /s3/file", Reply(200, b"file"))
            self.server.script(f"GET /api/jobs/{JOB_ID}/failures", Reply(200, b"api", {"content-type": "text/csv"}))
            self.assertEqual(self.client.failures_csv(JOB_ID), expected)
