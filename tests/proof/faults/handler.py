"""A handler that records what it processes, as a Lambda function and as an HTTPS endpoint.

An item names its outcome in `action`. `busy` and `unanswered` are what they say the first time only. The job's option
`effects` is a folder: its file `log` gets a line for each call, with the batch and the numbers of the processed items.

The endpoint is `python3 handler.py PORT FAULTS`. A file in the folder FAULTS is one fault, and is removed when it
occurs: `items-1-reset` is that of a batch, `ping-1-reset` that of a ping, and `image-1-reset` that of a download of the
image that every address has.
"""
import json
import os
import struct
import sys
import time
import zlib

import https_endpoint

SLOW_SECONDS = 8  # more than the time-out of the registration


def lambda_handler(event, context):
    return answer(event)


def answer(message):
    """Returns the answer to a batch or a ping."""
    if message["schema"] == "longshore.ping/1":
        return {"schemas": ["longshore.items/1"], "challenge": message["challenge"], "modes": ["run"]}
    folder, batch, items = message["job"]["options"]["effects"], message["batch"]["id"], message["items"]
    if any([is_first(folder, item) for item in items if item["value"]["action"] == "busy"]):
        record(folder, batch, [])
        return {"retryBatch": {"after": 1, "reason": "busy"}}
    is_left_out = [item["value"]["action"] == "unanswered" and is_first(folder, item) for item in items]
    answered = [item for item, left_out in zip(items, is_left_out) if not left_out] or items
    record(folder, batch, answered)
    return {"results": [{"key": item["key"], **result(item)} for item in answered]}


def result(item):
    action = item["value"]["action"]
    if action == "reject":
        return {"outcome": "reject", "code": "bad_row", "field": "action"}
    if action == "skip":
        return {"outcome": "skip", "code": "unchanged"}
    if action == "retry" and item["try"] == 1:
        return {"outcome": "retry", "after": 1, "reason": "later"}
    return {"outcome": "ok", "output": {"id": item["value"]["id"]}}


def is_first(folder, item):
    try:
        os.close(os.open(os.path.join(folder, item["key"]), os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False


def record(folder, batch, items):
    line = json.dumps({"batch": batch, "numbers": [item["number"] for item in items]}) + "\n"
    log = os.open(os.path.join(folder, "log"), os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    os.write(log, line.encode())
    os.close(log)


class Endpoint(https_endpoint.Endpoint):
    """The endpoint. It answers signed requests only."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if not is_signed(self.headers, body, os.environ["LONGSHORE_SECRETS"]):
            return self.send(401, {"error": "no valid signature"})
        message = json.loads(body)
        if any(item["value"]["action"] == "gone" for item in message.get("items", ())):
            return self.send(410, {"error": "gone"})
        fault = take_fault("ping" if message["schema"] == "longshore.ping/1" else "items")
        if fault == "reset":
            return self.reset()
        if fault and fault.isdigit():
            return self.send(int(fault), {"error": "a fault"}, [("Retry-After", "1"), ("Location", "/elsewhere")])
        content = answer(message)
        if fault == "lost":
            return self.reset()
        if fault == "slow":
            time.sleep(SLOW_SECONDS)
        if fault == "text":
            content = "done"
        if fault == "large":
            content = {**content, "padding": "x" * 6_000_000}
        self.send(200, content, paused=fault == "drip", cut=fault == "cut")

    def do_GET(self):
        fault = take_fault("image")
        if fault in ("reset", "lost"):
            return self.reset()
        if fault and fault.isdigit():
            return self.send(int(fault), b"", [("Retry-After", "1")])
        self.send(200, png(64, 48), cut=fault == "cut")

    def send(self, status, content, headers=(), paused=False, cut=False):
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in [("Content-Length", str(len(content))), *headers]:
            self.send_header(name, value)
        self.end_headers()
        half = len(content) // 2
        self.wfile.write(content[:half])
        for _ in range(2 * SLOW_SECONDS if paused else 0):
            time.sleep(0.5)
            self.wfile.write(content[half:half + 1])
            half += 1
        if cut:
            self.reset()
        else:
            self.wfile.write(content[half:])


def take_fault(message):
    """Returns the next fault of this kind of message, or None. Concurrent requests get different ones."""
    calls[message] = calls.get(message, 0) + 1
    if message == "items" and calls[message] % 3 != 1:
        return None  # Not all batches in a row fail.
    for name in sorted(os.listdir(sys.argv[2])):
        kind, _, fault = name.split("-")
        if kind == message:
            try:
                os.unlink(os.path.join(sys.argv[2], name))
                return fault
            except FileNotFoundError:
                pass
    return None


def png(width, height):
    """Returns a grey image."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x80" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


if __name__ == "__main__":
    from longshore_signature import is_signed

    calls = {}
    https_endpoint.serve(int(sys.argv[1]), Endpoint)
