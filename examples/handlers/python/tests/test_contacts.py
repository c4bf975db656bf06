import io
import json
import unittest
from contextlib import redirect_stderr
from functools import partial
from pathlib import Path

import contacts
import lambda_function
from longshore_handler import handler

from .contract import batch, checked, meets, ping

CASES = json.loads((Path(__file__).parents[2] / "cases.json").read_text())


class ContactsTests(unittest.TestCase):
    def test_the_lambda_function_has_the_result_of_each_case(self):
        for mode in ("run", "validate"):
            request = batch(*(case["value"] for case in CASES), mode=mode)
            with redirect_stderr(io.StringIO()):
                results = checked(request, lambda_function.lambda_handler(request, None))
            for case, result in zip(CASES, results.values(), strict=True):
                self.assertEqual(result, case["result"], case["name"])

    def test_the_lambda_function_answers_a_ping(self):
        self.assertTrue(meets("ping-answer", lambda_function.lambda_handler(ping(), None)))

    def test_a_busy_directory_is_a_retry(self):
        def find(name):
            raise TimeoutError

        request = batch({"email": "ann@example.com", "country": "France"})
        results = checked(request, handler(partial(contacts.check_contact, find=find))(request))
        self.assertEqual(results[1], {"outcome": "retry", "reason": "the directory of countries is busy", "after": 30})
