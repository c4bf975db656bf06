"""Tests of stack.py, with a stub of boto3."""

import sys
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE / "stub")]

import stack  # noqa: E402
from botocore.exceptions import ClientError  # noqa: E402


class CloudFormation:
    def __init__(self, code, message):
        self.error = ClientError({"Error": {"Code": code, "Message": message}}, "DescribeStacks")
        self.exceptions = mock.Mock(ClientError=ClientError)

    def describe_stacks(self, StackName):
        raise self.error


class Stacks(unittest.TestCase):
    def ask(self, code, message):
        with mock.patch.object(stack, "client", lambda _: CloudFormation(code, message)):
            return stack.describe("s")["status"], stack.parameters("s")

    def test_a_stack_that_does_not_exist_has_neither_status_nor_parameters(self):
        self.assertEqual(self.ask("ValidationError", "Stack with id s does not exist"), (None, None))

    def test_any_other_refusal_is_an_error(self):
        refusals = [
            ("ExpiredToken", "The security token included in the request is expired"),
            ("AccessDenied", "User u is not authorized: the role r does not exist"),
            ("ValidationError", "1 validation error detected: Value '' at 'stackName'"),
            ("Throttling", "Rate exceeded"),
        ]
        for code, message in refusals:
            with self.assertRaisesRegex(ClientError, code, msg=code):
                self.ask(code, message)


if __name__ == "__main__":
    unittest.main()
