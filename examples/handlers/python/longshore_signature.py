"""The signature of a call, as Standard Webhooks 1.0 defines it: `v1`, HMAC-SHA256. Copy this file beside yours."""
import base64, binascii, hashlib, hmac, time

TOLERANCE = 300  # seconds between the clocks of sender and receiver

def is_signed(headers, body, secrets):
    """Returns true if one of the secrets has signed the body. They are separated by a space: two during a rotation.

    `headers.get(name)` returns a header or None. `body` is the bytes as they arrived.
    """
    message_id, timestamp = headers.get("webhook-id") or "", headers.get("webhook-timestamp") or ""
    if not (timestamp.isascii() and timestamp.isdigit() and abs(time.time() - int(timestamp)) <= TOLERANCE):
        return False
    if not message_id or "." in message_id:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = [signature(secret, signed) for secret in secrets.split()]
    given = [value[3:] for value in (headers.get("webhook-signature") or "").split() if value.startswith("v1,")]
    return any([hmac.compare_digest(one.encode(), other.encode()) for one in given for other in expected])

def signature(secret, signed):
    """Returns the signature of a text in base64. A secret is `whsec_` and 24 to 64 bytes in base64."""
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        key = b""
    if not secret.startswith("whsec_") or not 24 <= len(key) <= 64:
        raise ValueError("a secret is written as whsec_ and base64")
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
