"""Tests of cleanup.py, with a stub of boto3 and a fake API."""

import http.server
import json
import os
import pty
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE / "stub")]

import cleanup  # noqa: E402

OUTPUTS = {"BucketName": "b", "JobsTableName": "j", "RecordsTableName": "r", "UserPoolId": "p"}
DEPLOYMENT = {"api": "http://127.0.0.1:9", "token": None, "tenantClaim": "sub", "outputs": OUTPUTS}


class Script(unittest.TestCase):
    """The script as xtask runs it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.calls = Path(folder.name) / "calls"
        self.calls.touch()

    def run_script(self, named, deployment=DEPLOYMENT, **output):
        lines = "".join(json.dumps(line) + "\n" for line in [deployment, *({k: v} for k, v in named.items())])
        environment = os.environ | {"PYTHONPATH": str(HERE / "stub"), "CALLS": str(self.calls)}
        if not output:
            output = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command = [sys.executable, str(HERE.parent / "cleanup.py")]
        return subprocess.run(command, input=lines, text=True, env=environment, timeout=60, **output)

    def assert_all_removed(self, done):
        calls = self.calls.read_text().splitlines()
        wanted = ["delete_object uploads/default/u", "delete_item UPLOAD#u", "delete_item DATASETS#default"]
        self.assertEqual(calls, wanted + ["admin_delete_user smoke"])
        self.assertEqual(done.returncode, 0)

    def test_a_closed_pipe_stops_no_removal(self):
        reader, writer = os.pipe()
        os.close(reader)
        named = {"upload": "u", "dataset": "d", "user": "smoke"}
        done = self.run_script(named, stdout=writer, stderr=writer)
        os.close(writer)
        self.assert_all_removed(done)

    def test_a_closed_terminal_stops_no_removal(self):
        master, terminal = pty.openpty()
        os.close(master)
        named = {"upload": "u", "dataset": "d", "user": "smoke"}
        done = self.run_script(named, stdout=terminal, stderr=terminal)
        os.close(terminal)
        self.assert_all_removed(done)

    def test_what_is_removed_is_printed_below_a_heading(self):
        done = self.run_script({"user": "smoke", "dataset": "d"})
        self.assertEqual(done.stdout, "\nRemoving what was made:\n  removed dataset d\n  removed user smoke\n")
        self.assertEqual((done.stderr, done.returncode), ("", 0))

    def test_where_nothing_was_named_nothing_is_printed(self):
        done = self.run_script({})
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", "", 0))

    def test_a_user_that_was_never_made_is_no_failure(self):
        self.assertEqual(self.run_script({"user": "nobody"}).returncode, 0)

    def test_a_token_that_is_no_jwt_is_named_as_the_cause(self):
        for token in ("bad", "a.b.c", "e30.e30.e30", "e30.W10.e30"):
            done = self.run_script({"dataset": "d"}, DEPLOYMENT | {"token": token})
            said = "NOT removed: dataset d: the token is no JWT with the claim sub, so the tenant is unknown"
            self.assertIn(said, done.stderr, token)
            self.assertEqual(done.returncode, 1)


class Jobs(unittest.TestCase):
    """Removal of a job, against an API that answers from a list."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        calls = Path(folder.name) / "calls"
        self.requests, self.slept, self.printed = [], [], []
        test = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                status, about, document = test.answers.pop(0)
                test.requests.append(f"{self.command} {status}")
                body = json.dumps(document).encode()
                self.send_response(status)
                for name, value in about.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.deployment = DEPLOYMENT | {"api": f"http://127.0.0.1:{server.server_port}"}
        self.now = 0.0
        for patch in (
            mock.patch.object(cleanup.time, "sleep", self.sleep),
            mock.patch.object(cleanup.time, "monotonic", lambda: self.now),
            mock.patch.object(cleanup, "say", lambda line, stream=None: self.printed.append(line.strip())),
            mock.patch.dict(os.environ, {"CALLS": str(calls)}),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds

    def remove(self, answers):
        self.answers = list(answers)
        return cleanup.remove_all(self.deployment, {"job": "j", "dataset": "d"})

    def test_a_busy_api_is_asked_again_until_the_job_has_ended(self):
        left = self.remove(
            [
                (429, {"retry-after": "3"}, {}),
                (202, {}, {}),
                (429, {"retry-after": "7"}, {}),
                (503, {}, {}),
                (200, {}, {"status": "running"}),
                (200, {}, {"status": "canceled"}),
                (503, {"retry-after": "2"}, {}),
                (202, {}, {}),
            ]
        )
        wanted = ["POST 429", "POST 202", "GET 429", "GET 503", "GET 200", "GET 200", "DELETE 503", "DELETE 202"]
        self.assertEqual(self.requests, wanted)
        self.assertEqual(self.slept, [3, 7, 1, 1, 2])
        self.assertEqual((left, self.printed), ([], ["removed job j", "removed dataset d"]))

    def test_an_api_that_stays_busy_is_given_up_and_the_dataset_is_not_called_removed(self):
        left = self.remove([(202, {}, {})] + [(429, {"retry-after": "30"}, {})] * 9)
        self.assertEqual(sum(self.slept), cleanup.END_SECONDS)
        self.assertEqual(left, ["job", "dataset"])
        unknown = "NOT removed: job j: whether it has ended is unknown: the API answered 429"
        more = "NOT removed: dataset d: its records are removed, but its job is not and may write more"
        self.assertEqual(self.printed, [unknown, more])

    def test_a_job_that_never_ends_is_given_up(self):
        left = self.remove([(202, {}, {})] + [(200, {}, {"status": "running"})] * 200)
        self.assertEqual(left, ["job", "dataset"])
        self.assertEqual(self.printed[0], "NOT removed: job j: it has not ended after 120 s")

    def test_a_job_that_is_gone_is_removed(self):
        self.assertEqual(self.remove([(404, {}, {})] * 3), [])


if __name__ == "__main__":
    unittest.main()
