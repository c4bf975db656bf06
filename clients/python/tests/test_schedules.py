from __future__ import annotations

import unittest

from longshore_client import Client, NetworkError

from .messages import Reply
from .server import CUT, TestServer

SCHEDULE = "/api/schedules/s%2F1"
REQUEST = {"name": "nightly", "cron": "30 2 * * *", "job": {"jobType": "export"}}
DOCUMENT = {"scheduleId": "s/1", "name": "nightly"}
STORED = Reply(200, DOCUMENT, {"etag": '"7"'})


class ScheduleTests(unittest.TestCase):
    def setUp(self):
        self.server = TestServer()
        self.addCleanup(self.server.stop)
        self.client = Client(self.server.url, "token", sleep=self.server.sleeps.append)

    def test_a_schedule_has_its_etag_and_a_lost_reply_is_repeated(self):
        for call, send in [
            (f"GET {SCHEDULE}", lambda: self.client.get_schedule("s/1")),
            (f"PUT {SCHEDULE}", lambda: self.client.put_schedule("s/1", REQUEST)),
        ]:
            self.server.script(call, CUT, STORED)
            self.assertEqual(send(), {**DOCUMENT, "etag": '"7"'})

    def test_a_call_that_a_repetition_would_change_is_sent_once(self):
        for call, send in [
            ("POST /api/schedules", lambda: self.client.create_schedule(REQUEST)),
            (f"POST {SCHEDULE}/trigger", lambda: self.client.trigger_schedule("s/1")),
            (f"PUT {SCHEDULE}", lambda: self.client.put_schedule("s/1", REQUEST, if_match='"6"')),
            (f"DELETE {SCHEDULE}", lambda: self.client.delete_schedule("s/1", if_match='"6"')),
        ]:
            self.server.script(call, CUT, STORED)
            with self.assertRaises(NetworkError):
                send()
            self.assertEqual(len(self.server.seen(call)), 1)

    def test_every_list_has_its_path(self):
        for call, send in [
            ("GET /api/schedules", self.client.list_schedules),
            (f"GET {SCHEDULE}/occurrences", lambda: self.client.list_occurrences("s/1", limit=5, cursor="c")),
        ]:
            self.server.script(call, Reply(200, {"list": []}))
            self.assertEqual(send(), {"list": []})
