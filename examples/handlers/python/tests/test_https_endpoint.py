import io
import json
import os
import time
import unittest
from unittest import mock
from wsgiref.validate import validator

import https_endpoint
from longshore_signature import is_signed, signature

from .contract import batch, checked, meets, ping

OLD = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NEW = "whsec_" + "CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJ"
# The vector of the specification's reference libraries.
VECTOR = {"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
          "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}
VECTOR_BODY = b'{"test": 2432232314}'


def headers_of(body, *secrets, at=None, message_id="m-1"):
    """Returns the headers of a call that is signed with each of these secrets."""
    seconds = str(int(time.time()) if at is None else at)
    values = [f"v1,{signature(secret, f'{message_id}.{seconds}.'.encode() + body)}" for secret in secrets]
    return {"webhook-id": message_id, "webhook-timestamp": seconds, "webhook-signature": " ".join(values)}


def call(body, headers, secrets=OLD):
    """Returns status, headers and body of a response of the application."""
    received = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
    environ = {"REQUEST_METHOD": "POST", "SCRIPT_NAME": "", "PATH_INFO": "/", "SERVER_NAME": "localhost",
               "SERVER_PORT": "443", "SERVER_PROTOCOL": "HTTP/1.1", "QUERY_STRING": "",
               "CONTENT_LENGTH": str(len(body)),
               "wsgi.version": (1, 0), "wsgi.url_scheme": "https", "wsgi.input": io.BytesIO(body),
               "wsgi.errors": io.StringIO(), "wsgi.multithread": False, "wsgi.multiprocess": False,
               "wsgi.run_once": False, **received}
    response = {}
    with mock.patch.dict(os.environ, LONGSHORE_SECRETS=secrets):
        chunks = validator(https_endpoint.application)(
            environ, lambda status, headers, _=None: response.update(status=status, headers=dict(headers)))
        content = b"".join(chunks)
        chunks.close()
    return response["status"][:3], response["headers"], content


class SignatureTests(unittest.TestCase):
    def accepts(self, headers, body=VECTOR_BODY, secrets=OLD, now=1_614_265_330):
        with mock.patch("time.time", return_value=now):
            return is_signed(headers, body, secrets)

    def test_the_reference_libraries_signature_is_accepted(self):
        self.assertTrue(self.accepts(VECTOR))

    def test_anything_else_is_refused(self):
        cases = {
            "another body": {"body": VECTOR_BODY + b" "},
            "another secret": {"secrets": NEW},
            "no secret": {"secrets": ""},
            "another id": {"headers": VECTOR | {"webhook-id": "msg_other"}},
            "a full stop in the id": {"headers": headers_of(b"", OLD, at=1_614_265_330, message_id="a.b"), "body": b""},
            "another time": {"headers": VECTOR | {"webhook-timestamp": "1614265331"}},
            "another version": {"headers": VECTOR | {"webhook-signature": "v2" + VECTOR["webhook-signature"][2:]}},
            "a shorter signature": {"headers": VECTOR | {"webhook-signature": VECTOR["webhook-signature"][:-2]}},
            "a character that is not ASCII": {"headers": VECTOR | {"webhook-signature": "v1,ä"}},
            "a digit that is not ASCII": {"headers": VECTOR | {"webhook-timestamp": "²"}},
        }
        for name in VECTOR:
            cases[f"no {name}"] = {"headers": {one: value for one, value in VECTOR.items() if one != name}}
        for name, case in cases.items():
            self.assertFalse(self.accepts(**{"headers": VECTOR, **case}), name)

    def test_the_clocks_can_differ_by_five_minutes(self):
        for difference, accepted in ((-301, False), (-300, True), (0, True), (300, True), (301, False)):
            self.assertEqual(self.accepts(VECTOR, now=1_614_265_330 + difference), accepted, difference)

    def test_during_a_rotation_either_secret_is_accepted(self):
        for signed in ((OLD,), (NEW,), (NEW, OLD)):
            for known in (OLD, NEW, f"{NEW} {OLD}"):
                headers = headers_of(b"{}", *signed, at=1_614_265_330)
                accepted = self.accepts(headers, b"{}", known)
                self.assertEqual(accepted, bool(set(signed) & set(known.split())), (signed, known))

    def test_a_secret_of_another_form_is_an_exception(self):
        for secret in ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_short", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLQ=="):
            with self.assertRaises(ValueError):
                signature(secret, b"")


class EndpointTests(unittest.TestCase):
    def test_a_signed_batch_is_answered(self):
        request = batch({"email": "cem@example.com", "country": "Türkiye"}, {"email": "bob"})
        body = json.dumps(request).encode()
        status, headers, content = call(body, headers_of(body, NEW, OLD))
        self.assertEqual((status, headers["Content-Type"]), ("200", "application/json"))
        results = checked(request, json.loads(content))
        self.assertEqual(results[1]["output"], {"email": "cem@example.com", "country": "TR"})
        self.assertEqual(results[2]["code"], "bad_email")

    def test_a_signed_ping_is_answered(self):
        body = json.dumps(ping()).encode()
        status, _, content = call(body, headers_of(body, OLD))
        self.assertTrue(status == "200" and meets("ping-answer", json.loads(content)))

    def test_a_call_without_a_valid_signature_is_refused(self):
        body = json.dumps(ping()).encode()
        for headers in ({}, headers_of(body, NEW), headers_of(body + b" ", OLD), headers_of(body, OLD, at=0)):
            self.assertEqual(call(body, headers)[0], "401")

    def test_a_huge_body_is_refused_before_it_is_read(self):
        with mock.patch.object(https_endpoint, "MAX_BYTES", 10):
            body = json.dumps(ping()).encode()
            self.assertEqual(call(body, headers_of(body, OLD))[0], "413")

    def test_every_answer_is_json_in_utf_8(self):
        for headers in ({}, headers_of(b"", OLD)):
            _, response, content = call(b"x", headers)
            self.assertEqual(int(response["Content-Length"]), len(content))
            json.loads(content)
