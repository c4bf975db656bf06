from __future__ import annotations

import hashlib
import io
import os
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

from longshore_client import OtherFileError, ProblemError, UploadError, UploadOptions, upload

from .messages import Reply, refusal
from .server import CUT, TAKEN_AND_CUT, TestServer

CREATE = "POST /api/uploads"
SMALL = b"email\nann@example.com\n"
LARGE = bytes(range(256)) * 9  # six parts of 400 bytes


class UploadTests(unittest.TestCase):
    def setUp(self):
        self.server = TestServer()
        self.addCleanup(self.server.stop)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "people.csv"

    def upload(self, content=LARGE, **options):
        """Uploads a file with this content and returns what the server has stored."""
        if not self.path.exists() or self.path.read_bytes() != content:
            self.path.write_bytes(content)
        guid = upload(self.server.client, self.path, UploadOptions(**options))
        return self.server.uploads.all[guid]

    def test_a_file_arrives_in_one_put_or_in_parts(self):
        for content in (b"", SMALL, LARGE, LARGE + b"x", LARGE[:1201]):
            stored = self.upload(content)
            self.assertEqual(stored.content, content)
            declared = {"fileName": "people.csv", "contentType": "text/csv", "size": len(content)}
            self.assertEqual(stored.request, declared)

    def test_the_type_and_the_name_are_those_of_the_file_or_the_given_ones(self):
        for name, given, kind in (("a.jsonl", None, "application/x-ndjson"), ("a.NDJSON", None, "application/x-ndjson"),
                                  ("a.txt", None, "text/csv"), ("a.csv", "text/plain", "text/plain")):
            guid = upload(self.server.client, io.BytesIO(SMALL), UploadOptions(file_name=name, content_type=given))
            request = self.server.uploads.all[guid].request
            self.assertEqual((request["fileName"], request["contentType"]), (name, kind))
        self.assertRaises(ValueError, upload, self.server.client, io.BytesIO(SMALL))

    def test_the_checksum_and_the_key_are_sent(self):
        stored = self.upload(SMALL, sha256=hashlib.sha256(SMALL).hexdigest(), idempotency_key="mine")
        self.assertEqual((stored.key, stored.request["sha256"]), ("mine", hashlib.sha256(SMALL).hexdigest()))

    def test_a_put_is_repeated_with_a_new_url_after_a_failure(self):
        for content in (SMALL, LARGE):
            self.server.script("PUT /s3/*", CUT, refusal(500, "InternalError"), refusal(403, "AccessDenied"))
            self.assertEqual(self.upload(content).content, content)

    def test_a_put_with_a_lost_reply_is_not_an_error(self):
        for content in (SMALL, LARGE):
            self.server.script("PUT /s3/*", TAKEN_AND_CUT)
            self.assertEqual(self.upload(content).content, content)

    def test_a_put_that_s3_always_refuses_is_an_upload_error_with_its_code(self):
        self.server.script("PUT /s3/*", *[refusal(400, "BadDigest")] * 6)
        with self.assertRaises(UploadError) as raised:
            self.upload(SMALL)
        self.assertEqual((raised.exception.status, raised.exception.code), (400, "BadDigest"))

    def test_progress_never_decreases_and_ends_with_the_size(self):
        for content in (SMALL, LARGE):
            seen = []
            self.server.script("PUT /s3/*", CUT)
            self.upload(content, on_progress=lambda sent, total: seen.append((sent, total)))
            sent = [one for one, _ in seen]
            self.assertEqual(sent, sorted(set(sent)))
            self.assertEqual(seen[-1], (len(content), len(content)))

    def test_parts_that_s3_has_are_not_sent_again(self):
        state = self.interrupted()
        before = len(self.server.seen("PUT /s3/*"))
        stored = self.upload(resume=state)
        self.assertEqual(stored.content, LARGE)
        self.assertEqual(len(self.server.seen("PUT /s3/*")) - before, 6 - 2)
        self.assertEqual(len(self.server.seen(CREATE)), 1)

    def test_a_part_of_another_content_is_sent_again(self):
        state = self.interrupted()
        self.server.uploads.all[state.file_guid].parts[1] = b"x" * 400
        self.assertEqual(self.upload(resume=state).content, LARGE)

    def test_a_complete_upload_needs_no_put(self):
        for content in (SMALL, LARGE):
            states = []
            self.upload(content, on_begun=states.append)
            before = len(self.server.seen("PUT /s3/*"))
            self.upload(content, resume=states[0])
            self.assertEqual(len(self.server.seen("PUT /s3/*")), before)

    def test_another_file_is_refused_before_anything_is_sent(self):
        state = self.interrupted()
        before = len(self.server.requests)
        for other in ({"size": 1}, {"file_name": "other.csv"}, {"last_modified": 1}):
            with self.assertRaises(OtherFileError):
                self.upload(resume=replace(state, **other))
        os.utime(self.path, (1, 1))
        self.assertRaises(OtherFileError, self.upload, resume=state)
        self.assertEqual(len(self.server.requests), before)

    def test_an_upload_that_another_process_completes_is_awaited(self):
        state = self.interrupted()
        self.receive(state, completing=10)
        self.assertEqual(self.upload(resume=state).content, LARGE)
        self.assertTrue(all(delay >= 2 for delay in self.server.sleeps[-2:]))
        self.assertEqual(self.server.requests[-1].method, "GET")

    def test_a_file_that_another_process_has_sent_is_not_an_error(self):
        for content in (SMALL, LARGE):
            stored = self.upload(content, on_begun=lambda state: self.receive(state, content=content))
            self.assertEqual(stored.content, content)
            self.assertEqual(self.server.sleeps, [])

    def test_a_refusal_of_the_api_is_raised_at_once(self):
        self.server.script(CREATE, Reply(401, {"message": "Unauthorized"}))
        self.assertRaises(ProblemError, self.upload)
        self.assertEqual(len(self.server.requests), 1)

    def receive(self, state, **members):
        """Gives the server all parts of an upload."""
        stored = self.server.uploads.all[state.file_guid]
        for number in range(1, 7):
            stored.parts[number] = LARGE[(number - 1) * 400 : number * 400]
        for name, value in members.items():
            setattr(stored, name, value)

    def interrupted(self):
        """Begins an upload that ends after two parts, and returns its state."""
        states = []
        self.server.script("PUT /s3/*", "as usual", "as usual", *[refusal(400, "BadDigest")] * 6)
        with self.assertRaises(UploadError):
            self.upload(on_begun=states.append, parts_at_once=1)
        self.server.scripts.clear()
        self.assertEqual(len(self.server.uploads.all[states[0].file_guid].parts), 2)
        return states[0]
