"""The published signatures, verified by the reference package, the code of the guide and the module of this folder."""

import json
import re
import unittest
from datetime import datetime
from unittest import mock

import longshore_signature
from standardwebhooks import Webhook, WebhookVerificationError

from .contract import FOLDER

VECTORS = json.loads((FOLDER / "signatures.json").read_text(encoding="utf-8"))
MESSAGES = {
    "header_missing": "Missing required headers",
    "no_signature_matches": "No matching signature found",
    "timestamp_too_old": "Message timestamp too old",
    "timestamp_too_new": "Message timestamp too new",
}


def clock(now):
    """Sets the clock that the package reads, in seconds since 1970."""
    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(now, tz)

    return mock.patch("standardwebhooks.webhooks.datetime", Clock)


def is_signed_of_the_guide():
    """Returns the function of the guide."""
    guide = (FOLDER.parent / "guides" / "job-types.md").read_text(encoding="utf-8")
    [code] = [code for code in re.findall(r"```python\n(.*?)```", guide, re.S) if "standardwebhooks" in code]
    names = {}
    exec(code, names)
    return names["is_signed"]


class ReferencePackageTests(unittest.TestCase):
    def test_it_has_the_result_of_each_published_signature(self):
        self.assertGreaterEqual(sum(vector["result"] == "accepted" for vector in VECTORS), 7)
        self.assertEqual({vector["result"] for vector in VECTORS}, {"accepted", *MESSAGES})
        for vector in VECTORS:
            for body in (vector["body"], vector["body"].encode()):
                with self.subTest(vector["name"], type=type(body)), clock(vector["now"]):
                    self.verify(Webhook(vector["secret"]), vector, body)

    def verify(self, webhook, vector, body):
        if vector["result"] == "accepted":
            self.assertEqual(webhook.verify(body, vector["headers"]), json.loads(vector["body"]))
            return
        with self.assertRaises(WebhookVerificationError) as raised:
            webhook.verify(body, vector["headers"])
        self.assertEqual(str(raised.exception), MESSAGES[vector["result"]])


class IsSigned:
    """Tests of a function `is_signed`."""

    def accepts(self, vector, **changes):
        given = {"headers": vector["headers"], "body": vector["body"].encode(), "secrets": vector["secret"], **changes}
        with clock(vector["now"]), mock.patch("time.time", return_value=vector["now"]):
            return self.is_signed(**given)

    def test_what_is_signed_is_accepted_and_nothing_else(self):
        for vector in VECTORS:
            self.assertEqual(self.accepts(vector), vector["result"] == "accepted", vector["name"])

    def test_either_secret_of_a_rotation_is_accepted(self):
        signed = VECTORS[0]
        [other] = [vector["secret"] for vector in VECTORS if vector["name"] == "another secret"]
        for secrets in (f"{signed['secret']} {other}", f"{other} {signed['secret']}"):
            self.assertTrue(self.accepts(signed, secrets=secrets))
        self.assertFalse(self.accepts(signed, secrets=other))

    def test_malformed_headers_and_bodies_are_refused(self):
        malformed = {
            "webhook-id": (None, "", "ä"),
            "webhook-timestamp": (None, "", "soon", "1e400", "²"),
            "webhook-signature": (None, "", "v1", "v1,", "v1,%", "v1,ä", "v1,a,b", " "),
        }
        signed = VECTORS[0]
        for name, values in malformed.items():
            for value in values:
                self.assertIs(self.accepts(signed, headers=signed["headers"] | {name: value}), False, (name, value))
        self.assertIs(self.accepts(signed, headers={}), False)
        self.assertIs(self.accepts(signed, body=b"\xff"), False)

    def test_a_malformed_secret_is_an_exception(self):
        with self.assertRaises(ValueError):
            self.accepts(VECTORS[0], secrets="whsec_a")


class GuideTests(IsSigned, unittest.TestCase):
    is_signed = staticmethod(is_signed_of_the_guide())


class ModuleTests(IsSigned, unittest.TestCase):
    is_signed = staticmethod(longshore_signature.is_signed)
