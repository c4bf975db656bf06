"""A receiver of webhooks that fails, as an HTTPS endpoint: `python3 receiver.py PORT RECORDS FAILING_SECONDS`.

It refuses, resets or accepts without an answer 30 % of the calls for an event that is not older than FAILING_SECONDS.
Each call is a line of the file RECORDS: path, id, whether the event was accepted, its age, and body. Calls to `/dead`
get no answer until there is a file RECORDS.repaired.
"""
import json
import os
import random
import sys
import time
from datetime import datetime

import https_endpoint
from longshore_signature import is_signed

RECORDS, FAILING_SECONDS = sys.argv[2], float(sys.argv[3])
SECRETS = json.loads(os.environ["LONGSHORE_SECRETS"])
FAILURES = 0.3
HANGS_SECONDS = 20  # more than the time-out of a call


class Receiver(https_endpoint.Endpoint):
    timeout = 60

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if not is_signed(self.headers, body, SECRETS.get(self.path, "")):
            return self.send(401)
        message = json.loads(body)
        if message["type"] == "webhook.check":
            return self.send(200, json.dumps({"challenge": message["data"]["challenge"]}).encode())
        age = time.time() - datetime.fromisoformat(message["timestamp"]).timestamp()
        if self.path == "/dead" and not os.path.exists(RECORDS + ".repaired"):
            self.record(message, False, age)
            time.sleep(HANGS_SECONDS)
            return self.reset()
        fails = age < FAILING_SECONDS and random.random() < FAILURES
        failure = random.choice(["refused", "reset", "lost"]) if fails else None
        self.record(message, failure in (None, "lost"), age)
        if failure in ("reset", "lost"):
            return self.reset()
        return self.send(503 if failure else 204)

    def record(self, message, accepted, age):
        call = {"path": self.path, "id": self.headers["webhook-id"], "accepted": accepted, "age_s": age, "body": message}
        file = os.open(RECORDS, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        os.write(file, (json.dumps(call) + "\n").encode())
        os.close(file)

    def send(self, status, content=b""):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


https_endpoint.serve(int(sys.argv[1]), Receiver)
