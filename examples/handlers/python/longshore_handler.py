"""A handler of the contract `longshore.items/1`, made from a function of one record. Copy this file beside yours."""
import calendar, json, re, sys, time, traceback
from types import SimpleNamespace

MIB = 1 << 20  # the maximum of an output; an answer has at most four, and escapes can triple the length of both

class Outcome(Exception):
    """An outcome other than success. The function raises it."""
    def __init__(self, answer, *codes):
        if not all(re.fullmatch("[a-z][a-z0-9_]{0,99}", code) for code in codes):
            raise ValueError("a code is an identifier such as bad_email")
        self.answer = answer

def reject(code, field=None, message=None):
    return Outcome({"outcome": "reject", "code": code, "field": field, "message": message}, code)
def skip(code): return Outcome({"outcome": "skip", "code": code}, code)
def retry(reason=None, after=None): return Outcome({"outcome": "retry", "reason": reason, "after": after})
def busy(reason=None, after=None): return Outcome({"retryBatch": {"reason": reason, "after": after}})
def fatal(code, message=None): return Outcome({"fatal": {"code": code, "message": message}}, code)

def handler(function, modes=("run",)):
    """Returns a function of a message. `function(value, item)` returns an output or None, or raises an outcome."""
    def handle(message, context=None):
        if message["schema"] == "longshore.ping/1":
            return {"schemas": ["longshore.items/1"], "challenge": message["challenge"], "modes": list(modes)}
        if message["schema"] != "longshore.items/1" or message["mode"] not in modes:
            raise ValueError("unknown schema or mode")
        end = calendar.timegm(time.strptime(message["batch"]["deadline"][:19], "%Y-%m-%dT%H:%M:%S"))
        if context:  # A Lambda function can have less time.
            end = min(end, time.time() + context.get_remaining_time_in_millis() / 1000)
        results, size, slowest = {}, 0, 0
        for item in message["items"]:
            began = time.time()
            if results and (began + slowest + 1 > end or size > 0.9 * MIB):
                break  # Longshore sends the other items again.
            result = result_of(function, item, message)
            if "outcome" not in result:  # About the batch. Results count first: then the next batch begins here.
                return {"results": list(results.values())} if results else result
            results[item["key"]] = {"key": item["key"], **result}
            size += len(json.dumps(result))
            slowest = max(slowest, time.time() - began)
        return {"results": list(results.values())}
    return handle

def result_of(function, item, message):
    """Returns the result of one item. An exception is a retry of this item only."""
    try:
        try:
            about = SimpleNamespace(key=item["key"], attempt=item["try"], mode=message["mode"], job=message["job"])
            result = {"outcome": "ok", "output": function(item["value"], about)}
        except Outcome as outcome:
            result = outcome.answer
        size = len(json.dumps(result, ensure_ascii=False, allow_nan=False).encode())
        return result if size <= MIB else reject("output_too_large").answer
    except Exception as error:  # Its message can contain the record, and is not logged.
        place = traceback.extract_tb(error.__traceback__)[-1]
        print(f"{item['key']}: {type(error).__name__} in {place.filename}, line {place.lineno}", file=sys.stderr)
        return retry(f"the handler failed: {type(error).__name__}").answer
