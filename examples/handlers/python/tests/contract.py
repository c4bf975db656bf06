"""Messages of the contract, and a check of answers against its published schemas."""

import json
import re
import time
from pathlib import Path

from .schema import is_valid

try:
    import jsonschema
except ImportError:
    jsonschema = None

FOLDER = Path(__file__).parents[4] / "docs" / "contract"
SCHEMAS = {path.stem: json.loads(path.read_text()) for path in FOLDER.glob("*-*.json")}
ANSWER_BYTES = 4 << 20
JOB = "01980000-0000-7000-8000-000000000001"


def meets(name, document):
    """Returns whether a document is valid. Fails if two validators disagree."""
    valid = is_valid(SCHEMAS[name], document)
    if jsonschema:
        reference = jsonschema.Draft202012Validator(SCHEMAS[name])
        assert reference.is_valid(document) == valid, f"two validators disagree about {document!r}"
    return valid


def published_examples():
    """Yields the examples of the contract's document: name of the schema, "bad" or "", and the JSON."""
    for name, kind, text in re.findall(r"```json ([\w-]+) ?(\w*)\n(.*?)```", (FOLDER / "README.md").read_text(), re.S):
        yield name, kind, json.loads(text)


def items(*values):
    """Returns items with these values, numbered from 1."""
    return [{"key": f"{JOB}-{number}", "number": number, "try": 1, "value": value}
            for number, value in enumerate(values, 1)]


def batch(*values, seconds=60, mode="run", options=None):
    """Returns a batch of items, with its deadline some seconds from now."""
    deadline = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))
    request = {"schema": "longshore.items/1", "mode": mode,
               "job": {"id": JOB, "type": "contacts", "tenant": "acme", "generation": 1, "options": options or {}},
               "batch": {"id": f"{JOB}-1-12-3-k3v9q1", "deadline": deadline}, "items": items(*values)}
    assert meets("items-request", request)
    return request


def ping():
    """Returns a ping."""
    return {"schema": "longshore.ping/1", "challenge": "3q2-7wEjRWc", "stack": "longshore-prod"}


def checked(request, answer):
    """Returns the results of an answer by number of the item. Fails unless the answer meets the contract."""
    text = json.dumps(answer, allow_nan=False)
    assert len(text) <= ANSWER_BYTES, "the answer is too large, even without escapes"
    assert meets("items-answer", json.loads(text)), text[:1000]
    results = answer.get("results", [])
    keys = [result["key"] for result in results]
    assert len(set(keys)) == len(keys), "a key has two results"
    numbers = {item["key"]: item["number"] for item in request["items"]}
    return {numbers[result["key"]]: present(result) for result in results}


def present(result):
    """Returns the members of a result that are not null, without its key."""
    return {name: value for name, value in result.items() if name != "key" and value is not None}
