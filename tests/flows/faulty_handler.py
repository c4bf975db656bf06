"""A handler whose answer to an item is the fault that the item names."""
import os
import time


def answer(item):
    return {"key": item["key"], "outcome": "ok", "output": {"number": item["number"]}}


def lambda_handler(event, context):
    if event["schema"] == "longshore.ping/1":
        return {"schemas": ["longshore.items/1"], "challenge": event["challenge"], "modes": ["run"]}
    faults = [item["value"]["fault"] for item in event["items"]]
    if "exception" in faults:
        raise ValueError("ann@example.com is no row for a log")
    if "exit" in faults:
        os._exit(1)
    if "slow" in faults:
        time.sleep(30)
    if "text" in faults:
        return "done"
    results = [answer(item) for item in event["items"]]
    if "doubled" in faults:
        results.append(results[0])
    if "unknown" in faults:
        results.append({"key": "no-key-of-this-batch", "outcome": "ok"})
    if "huge" in faults:
        results[0]["output"]["text"] = "x" * 6_000_000
    if "empty" in faults:
        return {}
    return {"results": results}
