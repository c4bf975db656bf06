// A handler of the contract `longshore.items/1`, made from a function of one record. Copy this file beside yours.

const MIB = 1 << 20; // the maximum of an output; an answer has at most four

/** An outcome other than success. The function throws it. */
class Outcome {
  constructor(answer, ...codes) {
    const isCode = (code) => typeof code === "string" && /^[a-z][a-z0-9_]{0,99}$/.test(code);
    if (!codes.every(isCode)) throw new TypeError("a code is an identifier such as bad_email");
    this.answer = answer;
  }
}

export const reject = (code, { field, message } = {}) => new Outcome({ outcome: "reject", code, field, message }, code);
export const skip = (code) => new Outcome({ outcome: "skip", code }, code);
export const retry = ({ reason, after } = {}) => new Outcome({ outcome: "retry", reason, after });
export const busy = ({ reason, after } = {}) => new Outcome({ retryBatch: { reason, after } });
export const fatal = (code, { message } = {}) => new Outcome({ fatal: { code, message } }, code);

/** Returns a function of a message. `work(value, item)` returns an output or nothing, or throws an outcome. */
export function handler(work, { modes = ["run"] } = {}) {
  return async (message, context) => {
    const { schema, mode, job, items, batch, challenge } = message;
    if (schema === "longshore.ping/1") return { schemas: ["longshore.items/1"], challenge, modes };
    if (schema !== "longshore.items/1" || !modes.includes(mode)) throw new Error("unknown schema or mode");
    // A Lambda function can have less time.
    const end = Math.min(Date.parse(batch.deadline), Date.now() + (context?.getRemainingTimeInMillis?.() ?? Infinity));
    const results = new Map();
    let [size, slowest] = [0, 0];
    for (const { key, value, try: attempt } of items) {
      const began = Date.now();
      // Longshore sends the other items again.
      if (results.size > 0 && (began + slowest + 1000 > end || size > 2.9 * MIB)) break;
      const result = await resultOf(work, value, { key, attempt, mode, job });
      // It is about the batch. Earlier results count: then the next batch begins here.
      if (!result.outcome) return results.size > 0 ? { results: [...results.values()] } : result;
      results.set(key, { key, ...result });
      size += Buffer.byteLength(JSON.stringify(result)) + key.length;
      slowest = Math.max(slowest, Date.now() - began);
    }
    return { results: [...results.values()] };
  };
}

/** Returns the result of one item. An exception fails this item only: it is retried, and fails after the last try. */
async function resultOf(work, value, item) {
  try {
    const done = async () => ({ outcome: "ok", output: await work(value, item) });
    const result = await done().catch((error) => (error instanceof Outcome ? error.answer : Promise.reject(error)));
    const text = JSON.stringify(result);
    // JSON writes half of a surrogate pair as an escape, which the contract does not allow.
    if (/(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(text)) throw new TypeError("half of a surrogate pair");
    return Buffer.byteLength(text) <= MIB ? JSON.parse(text) : reject("output_too_large").answer;
  } catch (error) {
    const { name, stack } = error instanceof Error ? error : { name: typeof error };
    const place = stack?.startsWith(`${error}\n`) ? stack.slice(`${error}`.length).trim().split("\n")[0] : "";
    console.error(`${item.key}: ${name} ${place}`); // not its message, which can contain the record
    return retry({ reason: `the handler failed: ${name}` }).answer;
  }
}
