"""Removes what `cargo xtask smoke` made, when it ends: by itself, by an error, by Ctrl-C, by a kill.

Reads one JSON object a line from stdin until it ends, and then removes all that was named, in the order in which it
depends on each other. It runs in a process group of its own, which Ctrl-C does not reach. Nothing is removed that was
not named; what cannot be removed is said, and the exit code is 1.

    {"api": URL, "token": TOKEN, "tenantClaim": NAME, "outputs": {...}}    the deployment; the last such line holds
    {"user": NAME}         a user of the pool
    {"upload": ID}         an upload; with a job, the job's removal takes it along
    {"job": ID}            a job, with its files
    {"dataset": NAME}      all records of a dataset
"""

import base64
import json
import sys
import time
import urllib.error
import urllib.request

import boto3

SHARDS = 64
# A job that is told to stop ends within seconds.
END_SECONDS = 120


def tenant(deployment):
    """Of the token, as the API finds it; `default` where nobody signs in."""
    token = deployment.get("token")
    if not token:
        return "default"
    payload = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims[deployment["tenantClaim"]]


def call(deployment, method, path):
    """The status of an answer of the API, and its document."""
    request = urllib.request.Request(deployment["api"] + path, method=method, data=b"" if method == "POST" else None)
    if deployment.get("token"):
        request.add_header("authorization", f'Bearer {deployment["token"]}')
    try:
        # No proxy: it may be a port of this machine.
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        return error.code, {}


def delete_job(deployment, job):
    """Stops the job, waits for its end, since until then it writes records, and deletes it."""
    path = f"/api/jobs/{job}"
    call(deployment, "POST", f"{path}/cancel")
    deadline = time.monotonic() + END_SECONDS
    while call(deployment, "GET", path)[1].get("status") in ("waiting", "running"):
        if time.monotonic() > deadline:
            raise TimeoutError(f"it has not ended after {END_SECONDS} s")
        time.sleep(1)
    status, _ = call(deployment, "DELETE", path)
    if status not in (202, 204, 404):
        raise RuntimeError(f"the API answered {status}")


def delete_upload(deployment, upload):
    outputs = deployment["outputs"]
    key = f"uploads/{tenant(deployment)}/{upload}"
    boto3.client("s3").delete_object(Bucket=outputs["BucketName"], Key=key)
    record = {"PK": f"UPLOAD#{upload}", "SK": "UPLOAD"}
    boto3.resource("dynamodb").Table(outputs["JobsTableName"]).delete_item(Key=record)


def delete_dataset(deployment, dataset):
    table = boto3.resource("dynamodb").Table(deployment["outputs"]["RecordsTableName"])
    owner = tenant(deployment)
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
    boto3.client("cognito-idp").admin_delete_user(UserPoolId=pool, Username=user)


# A job first: while it runs it writes records. The user last: its token removes the job.
REMOVALS = [("job", delete_job), ("upload", delete_upload), ("dataset", delete_dataset), ("user", delete_user)]


def main():
    lines = [json.loads(line) for line in sys.stdin if line.strip()]
    said = {name: value for line in lines for name, value in line.items()}
    kinds = [kind for kind, _ in REMOVALS]
    named = {kind: said[kind] for kind in kinds if kind in said}
    deployment = {name: value for name, value in said.items() if name not in kinds}
    if "job" in named:
        named.pop("upload", None)
    failed = 0
    for kind, remove in REMOVALS:
        if kind not in named:
            continue
        try:
            remove(deployment, named[kind])
            print(f"  removed {kind} {named[kind]}", flush=True)
        except Exception as error:  # one that fails must not keep the others
            failed += 1
            print(f"  NOT removed: {kind} {named[kind]}: {error}", file=sys.stderr, flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
