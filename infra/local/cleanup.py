"""Removes the test data of `cargo xtask smoke` when it ends: normally, by an error, Ctrl-C, a hangup, or a kill.

Reads one JSON object per line from stdin until it ends, and then removes everything that was named, in the order of the
dependencies. It runs in its own process group, which Ctrl-C and a hangup do not reach. It removes nothing else. It
reports everything that cannot be removed, with exit code 1. A closed terminal or pipe does not stop it.

    {"api": URL, "token": TOKEN, "tenantClaim": NAME, "outputs": {...}}    the deployment; the last such line wins
    {"user": NAME}         a user of the pool
    {"upload": ID}         an upload; if there is a job, removing the job removes it too
    {"job": ID}            a job, with its files
    {"dataset": NAME}      all records of a dataset
"""

import base64
import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request

import boto3

SHARDS = 64
# Timeout for the end of a canceled job, which normally takes seconds.
END_SECONDS = 120
# Rate limited or busy: retry later.
BUSY = (429, 503)


def tenant(deployment):
    """Returns the tenant as the API derives it from the token; `default` without sign-in."""
    token = deployment.get("token")
    if not token:
        return "default"
    try:
        payload = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return claims[deployment["tenantClaim"]]
    except (IndexError, KeyError, TypeError, ValueError) as error:
        claim = deployment["tenantClaim"]
        raise ValueError(f"the token is no JWT with the claim {claim}, so the tenant is unknown") from error


def call(deployment, method, path, deadline):
    """Calls the API and returns status and document. Retries until the deadline while the API is busy."""
    request = urllib.request.Request(deployment["api"] + path, method=method, data=b"" if method == "POST" else None)
    if deployment.get("token"):
        request.add_header("authorization", f'Bearer {deployment["token"]}')
    # No proxy, because the API may be a local port.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while True:
        try:
            with opener.open(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            wait = retry_after(error)
            if error.code not in BUSY or time.monotonic() + wait > deadline:
                return error.code, {}
        time.sleep(wait)


def retry_after(answer):
    """Returns the seconds of `Retry-After`; one if it is absent or a date."""
    seconds = answer.headers.get("retry-after") or ""
    return max(int(seconds), 1) if seconds.isdecimal() else 1


def wait_for_end(deployment, path, deadline):
    """Waits until the job has ended or does not exist; until then it writes records. Fails if its state is unknown."""
    while True:
        status, job = call(deployment, "GET", path, deadline)
        if status == 404:
            return
        if status != 200:
            raise RuntimeError(f"whether it has ended is unknown: the API answered {status}")
        if job.get("status") not in ("waiting", "running"):
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"it has not ended after {END_SECONDS} s")
        time.sleep(1)


def delete_job(deployment, job):
    """Cancels the job, waits until it has ended, and deletes it."""
    path = f"/api/jobs/{job}"
    deadline = time.monotonic() + END_SECONDS
    call(deployment, "POST", f"{path}/cancel", deadline)
    wait_for_end(deployment, path, deadline)
    status, _ = call(deployment, "DELETE", path, time.monotonic() + END_SECONDS)
    if status not in (202, 204, 404):
        raise RuntimeError(f"the API answered {status}")


def delete_upload(deployment, upload):
    outputs = deployment["outputs"]
    key = f"uploads/{tenant(deployment)}/{upload}"
    boto3.client("s3").delete_object(Bucket=outputs["BucketName"], Key=key)
    record = {"PK": f"UPLOAD#{upload}", "SK": "UPLOAD"}
    boto3.resource("dynamodb").Table(outputs["JobsTableName"]).delete_item(Key=record)


def delete_dataset(deployment, dataset):
    owner = tenant(deployment)
    table = boto3.resource("dynamodb").Table(deployment["outputs"]["RecordsTableName"])
    with table.batch_writer() as batch:
        for shard in range(SHARDS):
            query = {
                "KeyConditionExpression": "PK = :pk",
                "ExpressionAttributeValues": {":pk": f"DATASET#{owner}#{dataset}#{shard:02x}"},
                "ProjectionExpression": "PK, SK",
            }
            while True:
                page = table.query(**query)
                for item in page["Items"]:
                    batch.delete_item(Key=item)
                if "LastEvaluatedKey" not in page:
                    break
                query["ExclusiveStartKey"] = page["LastEvaluatedKey"]
        batch.delete_item(Key={"PK": f"DATASETS#{owner}", "SK": dataset})


def delete_user(deployment, user):
    pool = deployment["outputs"]["UserPoolId"]
    cognito = boto3.client("cognito-idp")
    try:
        cognito.admin_delete_user(UserPoolId=pool, Username=user)
    except cognito.exceptions.UserNotFoundException:
        pass  # Named before it was created.


# The job first, because it writes records while it runs. The user last, because its token is needed to remove the job.
REMOVALS = [("job", delete_job), ("upload", delete_upload), ("dataset", delete_dataset), ("user", delete_user)]


def remove_all(deployment, named):
    """Removes everything named. Returns the kinds that could not be removed."""
    left = []
    for kind, remove in REMOVALS:
        if kind not in named:
            continue
        problem = None
        try:
            remove(deployment, named[kind])
        except Exception as error:  # a failure must not prevent the other removals
            problem = error
        if kind == "dataset" and problem is None and "job" in left:
            problem = "its records are removed, but its job is not and may write more"
        if problem is None:
            say(f"  removed {kind} {named[kind]}")
        else:
            left.append(kind)
            say(f"  NOT removed: {kind} {named[kind]}: {problem}", sys.stderr)
    return left


def say(line, stream=None):
    """Prints a line, unless the output is closed."""
    stream = stream or sys.stdout
    try:
        print(line, file=stream, flush=True)
    except OSError:
        # The line is still buffered. Otherwise Python would fail to flush it on exit, and end with exit code 120.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def main():
    # Ignored, so that a closed terminal, or one that stops background processes that write, does not end the removal.
    for name in (signal.SIGHUP, signal.SIGTTOU):
        signal.signal(name, signal.SIG_IGN)
    lines = [json.loads(line) for line in sys.stdin if line.strip()]
    said = {name: value for line in lines for name, value in line.items()}
    kinds = [kind for kind, _ in REMOVALS]
    named = {kind: said[kind] for kind in kinds if kind in said}
    deployment = {name: value for name, value in said.items() if name not in kinds}
    if "job" in named:
        named.pop("upload", None)
    if named:
        # Printed here and not in xtask, because after Ctrl-C only this process is left.
        say("\nRemoving what was made:")
    sys.exit(1 if remove_all(deployment, named) else 0)


if __name__ == "__main__":
    main()
