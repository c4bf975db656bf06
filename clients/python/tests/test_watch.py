from __future__ import annotations

import unittest

from longshore_client import ProblemError, has_ended

from .messages import JOB_CALL, JOB_ID, Reply, completed, etag_of, job_at, problem, state, unchanged
from .server import CUT, TestServer


class WatchTests(unittest.TestCase):
    def setUp(self):
        self.server = TestServer()
        self.addCleanup(self.server.stop)

    def watch(self, *replies):
        """Returns percent and status of each job that a watch yields."""
        self.server.script(JOB_CALL, *replies)
        return [(job["percent"], job["status"]) for job in self.server.client.watch(JOB_ID)]

    def test_every_change_is_yielded_and_the_last_job_has_a_final_status(self):
        for status in ("completed", "failed", "canceled"):
            ended = state(completed(status=status))
            seen = self.watch(state(job_at(1)), state(job_at(50)), unchanged(job_at(50)), ended)
            self.assertEqual(seen, [(1, "running"), (50, "running"), (100, status)])

    def test_each_poll_sends_the_etag_of_the_previous_job(self):
        self.watch(state(job_at(1)), unchanged(job_at(1)), state(completed()))
        sent = [request.headers.get("if-none-match") for request in self.server.seen(JOB_CALL)]
        self.assertEqual(sent, [None, etag_of(job_at(1)), etag_of(job_at(1))])

    def test_a_watched_job_has_its_etag(self):
        self.server.script(JOB_CALL, state(completed()), Reply(200, completed()))
        self.assertEqual([job["etag"] for job in self.server.client.watch(JOB_ID)], [etag_of(completed())])
        self.assertIsNone(self.server.client.get_job(JOB_ID)["etag"])

    def test_polls_are_as_far_apart_as_retry_after_says_and_up_to_a_fifth_more(self):
        self.watch(state(job_at(1), 7), unchanged(job_at(1), 30), state(job_at(2), 0), state(job_at(3), 10_000),
                   Reply(200, job_at(4)), state(completed()))
        for delay, least in zip(self.server.sleeps, (7, 30, 1, 300, 1), strict=True):
            self.assertTrue(least <= delay <= least * 1.2, (delay, least))

    def test_an_older_or_decreasing_state_is_never_yielded(self):
        older = job_at(20, updatedAt="2026-07-01T09:00:00Z")
        seen = self.watch(state(job_at(20)), state(job_at(10)), state(older), state(job_at(30)), state(completed()))
        self.assertEqual([percent for percent, _ in seen], [20, 30, 100])

    def test_times_are_compared_whatever_the_length_of_their_fraction_is(self):
        times = ["00:01Z", "00:01.05Z", "00:01.5Z", "00:01.49Z", "00:02Z"]
        jobs = [job_at(20, updatedAt=f"2026-07-01T09:{at}", message=at) for at in times]
        self.server.script(JOB_CALL, *map(state, jobs), state(completed()))
        seen = [job["message"] for job in self.server.client.watch(JOB_ID)]
        self.assertEqual(seen[:-1], ["00:01Z", "00:01.05Z", "00:01.5Z", "00:02Z"])

    def test_a_final_status_is_yielded_even_if_it_seems_older(self):
        ended = job_at(10, status="canceled")
        self.assertEqual(self.watch(state(job_at(20)), state(ended)), [(20, "running"), (10, "canceled")])

    def test_the_same_state_with_another_etag_is_yielded_once(self):
        again = Reply(200, job_at(20), {"etag": '"other"'})
        self.assertEqual(len(self.watch(state(job_at(20)), again, state(completed()))), 2)

    def test_lower_progress_is_yielded_after_a_retry_of_the_job(self):
        jobs = job_at(90), job_at(5, attempts=2), job_at(95), completed(attempts=2)
        seen = self.watch(*map(state, jobs))
        self.assertEqual([percent for percent, _ in seen], [90, 5, 100])

    def test_failures_are_retried_until_they_pass_with_growing_delays(self):
        unreadable = Reply(502, b"<html>"), Reply(200, b"<html>")
        failures = [CUT, problem(500, "internal"), *unreadable, problem(503, "busy")] * 3
        self.assertEqual(len(self.watch(state(job_at(1)), *failures, state(completed()))), 2)
        for count, delay in enumerate(self.server.sleeps[1:]):
            full = min(30, 0.5 * 2**count)
            self.assertTrue(full / 2 <= delay <= full, (count, delay))

    def test_the_delay_starts_again_after_an_answer(self):
        self.watch(CUT, CUT, CUT, state(job_at(1)), CUT, state(completed()))
        self.assertLessEqual(self.server.sleeps[-1], 0.5)

    def test_the_retry_after_of_an_error_is_the_delay(self):
        self.watch(problem(429, "rate-limited", retry_after=17), state(completed()))
        self.assertTrue(17 <= self.server.sleeps[0] <= 17 * 1.2)

    def test_permanent_refusals_are_raised(self):
        for status, kind in ((401, "no-tenant"), (403, "no-tenant"), (404, "not-found")):
            with self.assertRaises(ProblemError) as raised:
                self.watch(state(job_at(1)), problem(status, kind))
            self.assertEqual(raised.exception.kind, kind)

    def test_only_three_statuses_are_final(self):
        statuses = ("waiting", "running", "completed", "failed", "canceled")
        self.assertEqual([has_ended(job_at(1, status=status)) for status in statuses], [False, False, True, True, True])
