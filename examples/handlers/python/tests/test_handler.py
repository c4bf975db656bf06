import io
import json
import unittest
from contextlib import redirect_stderr
from unittest import mock

from longshore_handler import busy, fatal, handler, reject, retry, skip

from .contract import ANSWER_BYTES, batch, checked, meets, ping, published_examples


class HandlerTests(unittest.TestCase):
    def answer(self, function, request, context=None):
        """Returns the answer of a handler, and what it has logged."""
        with redirect_stderr(io.StringIO()) as log:
            answer = handler(function, modes=("run", "validate"))(request, context)
        return answer, log.getvalue()

    def results(self, function, *values, **options):
        request = batch(*values, **options)
        return checked(request, self.answer(function, request)[0])

    def test_each_outcome_is_one_of_the_contract(self):
        def function(value, item):
            if isinstance(value, Exception):
                raise value
            return value

        cases = [
            ({"id": 1}, {"outcome": "ok", "output": {"id": 1}}),
            ([], {"outcome": "ok", "output": []}),
            (None, {"outcome": "ok"}),
            (reject("bad"), {"outcome": "reject", "code": "bad"}),
            (reject("bad", "email", "no"), {"outcome": "reject", "code": "bad", "field": "email", "message": "no"}),
            (retry(), {"outcome": "retry"}),
            (retry("busy", after=1.5), {"outcome": "retry", "reason": "busy", "after": 1.5}),
            (skip("unchanged"), {"outcome": "skip", "code": "unchanged"}),
        ]
        request = batch(*("" for _ in cases))
        for item, (value, _) in zip(request["items"], cases):
            item["value"] = value
        results = checked(request, self.answer(function, request)[0])
        self.assertEqual(list(results.values()), [expected for _, expected in cases])

    def test_a_function_gets_the_key_the_attempt_the_mode_and_the_job(self):
        def function(value, item):
            return [item.key, item.attempt, item.mode, item.job["options"]]

        request = batch("a", mode="validate", options={"event": "launch"})
        request["items"][0]["try"] = 2
        request["later"] = request["items"][0]["later"] = "a member of a later version"
        output = self.answer(function, request)[0]["results"][0]["output"]
        self.assertEqual(output, [request["items"][0]["key"], 2, "validate", {"event": "launch"}])

    def test_an_exception_fails_its_item_only_and_no_row_is_logged(self):
        answer, log = self.answer(lambda value, item: int(value), request := batch("1", "ann@example.com", "3"))
        results = checked(request, answer)
        self.assertEqual(results[2], {"outcome": "retry", "reason": "the handler failed: ValueError"})
        self.assertEqual([results[1]["output"], results[3]["output"]], [1, 3])
        self.assertIn(request["items"][1]["key"], log)
        self.assertIn("test_handler.py", log)
        self.assertNotIn("ann@", log + json.dumps(answer))

    def test_what_cannot_be_written_as_json_fails_its_item_only(self):
        bad = [object(), float("nan"), "\ud800", {"a": b"bytes"}, reject("bad", message="\udc00")]
        for value in bad:
            with self.subTest(type(value).__name__):
                def function(number, item):
                    if number == 2 and isinstance(value, Exception):
                        raise value
                    return value if number == 2 else number

                results = self.results(function, 1, 2, 3)
                self.assertEqual([results[n]["outcome"] for n in (1, 2, 3)], ["ok", "retry", "ok"])

    def test_a_code_of_another_form_fails_its_item_only(self):
        for code in ("Bad e-mail", "", "bad_email\n", "a" * 101, None, 7):
            def function(value, item):
                raise reject(code) if value == 2 else skip("unchanged")

            results = self.results(function, 1, 2)
            self.assertEqual([results[n]["outcome"] for n in (1, 2)], ["skip", "retry"], code)

    def test_a_handler_stops_before_the_deadline_and_leaves_the_rest_unanswered(self):
        cases = [(60, 2, 29), (60, 20, 2), (10, 2, 4), (3, 2, 1), (0, 2, 1), (-100, 2, 1)]
        for seconds, duration, answered in cases:
            with self.subTest(seconds=seconds, duration=duration), mock.patch("time.time") as clock:
                clock.return_value = 1_800_000_000

                def function(value, item):
                    clock.return_value += duration

                results = self.results(function, *range(40), seconds=seconds)
                self.assertEqual(len(results), answered)
                self.assertEqual(list(results), list(range(1, answered + 1)))

    def test_a_lambda_function_with_less_time_stops_before_its_own_end(self):
        with mock.patch("time.time") as clock:
            clock.return_value = 1_800_000_000

            def function(value, item):
                clock.return_value += 1

            context = mock.Mock(**{"get_remaining_time_in_millis.return_value": 5_000})
            answer, _ = self.answer(function, batch(*range(40)), context)
        self.assertEqual(len(answer["results"]), 4)

    def test_an_item_twice_in_a_batch_has_one_result(self):
        request = batch("a", "b")
        request["items"].append(request["items"][0])
        results = checked(request, self.answer(lambda value, item: value, request)[0])
        self.assertEqual(sorted(results), [1, 2])

    def test_unicode_is_unchanged(self):
        for text in ("ä", "\u0000\u2028", "日本語", "👩‍👩‍👧", "\uffff", "e\u0301"):
            self.assertEqual(self.results(lambda value, item: {value: value}, text)[1]["output"], {text: text})

    def test_an_answer_with_large_outputs_is_below_the_limit(self):
        for text, least in (("x", 1), ("ü", 1), ("日", 1), ("👩", 1), ("\u0001", 1)):
            for count in (1 << 10, 1 << 16, (1 << 20) - 100):
                output = text * (count // len(json.dumps(text, ensure_ascii=False).encode()))
                results = self.results(lambda value, item: output, *range(100))
                self.assertGreaterEqual(len(results), least)
                self.assertEqual({result["outcome"] for result in results.values()}, {"ok"})

    def test_an_output_above_the_limit_fails_its_item_only(self):
        results = self.results(lambda value, item: value * "x", 10, 2 << 20, 2 * ANSWER_BYTES, 11)
        self.assertEqual([result.get("code") for result in results.values()],
                         [None, "output_too_large", "output_too_large", None])

    def test_an_outcome_of_the_batch_is_the_answer_if_nothing_was_done_before(self):
        cases = [
            (busy("quota", after=20), {"retryBatch": {"reason": "quota", "after": 20}}),
            (busy(), {"retryBatch": {"reason": None, "after": None}}),
            (fatal("expired", "the licence expired"), {"fatal": {"code": "expired", "message": "the licence expired"}}),
        ]
        for outcome, expected in cases:
            for value, answered in ((1, None), (3, [1, 2])):
                def function(number, item):
                    if number >= value:
                        raise outcome

                request = batch(1, 2, 3)
                answer, _ = self.answer(function, request)
                results = checked(request, answer)
                self.assertEqual(list(results) if results else answer, answered or expected)

    def test_a_ping_is_answered_with_its_challenge(self):
        for modes in (("run",), ("run", "validate")):
            answer = handler(print, modes)(ping())
            self.assertTrue(meets("ping-answer", answer))
            self.assertEqual((answer["challenge"], answer["modes"]), (ping()["challenge"], list(modes)))

    def test_an_unknown_schema_or_mode_is_an_exception_without_any_effect(self):
        for change in ({"schema": "longshore.items/2"}, {"mode": "validate"}, {"mode": "other"}):
            with self.assertRaises(ValueError):
                handler(self.fail)({**batch("a"), **change})

    def test_the_validators_agree_with_the_published_examples(self):
        examples = list(published_examples())
        self.assertGreater(len(examples), 10)
        for name, kind, document in examples:
            self.assertEqual(meets(name, document), kind != "bad", document)
