// The published signatures, verified by the reference package `standardwebhooks` and by the code of the guide.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

const DOCS = new URL("../../../../docs/", import.meta.url);
const VECTORS = JSON.parse(readFileSync(new URL("contract/signatures.json", DOCS), "utf8"));
const MESSAGES = {
  header_missing: "Missing required headers",
  no_signature_matches: "No matching signature found",
  timestamp_too_old: "Message timestamp too old",
  timestamp_too_new: "Message timestamp too new",
};

/** Returns the function of the guide. */
async function isSignedOfTheGuide() {
  const guide = readFileSync(new URL("guides/job-types.md", DOCS), "utf8");
  const [[, code]] = guide.matchAll(/```js\n(.*?)```/gs);
  const linked = code.replace('"standardwebhooks"', JSON.stringify(import.meta.resolve("standardwebhooks")));
  return (await import(`data:text/javascript,${encodeURIComponent(linked)}`)).isSigned;
}

/** Sets the clock of a test, in seconds since 1970. */
function setClock(t, now) {
  t.mock.timers.reset();
  t.mock.timers.enable({ apis: ["Date"], now: now * 1000 });
}

test("the reference package has the result of each published signature", (t) => {
  assert(VECTORS.filter(({ result }) => result === "accepted").length >= 7);
  assert.deepEqual(new Set(VECTORS.map(({ result }) => result)), new Set(["accepted", ...Object.keys(MESSAGES)]));
  for (const { name, secret, now, headers, body, result } of VECTORS) {
    setClock(t, now);
    for (const received of [body, Buffer.from(body)]) {
      const verify = () => new Webhook(secret).verify(received, headers);
      if (result === "accepted") {
        assert.deepEqual(verify(), JSON.parse(body), name);
      } else {
        assert.throws(verify, (error) => {
          assert(error instanceof WebhookVerificationError, `${name}: ${error}`);
          assert.equal(error.message, MESSAGES[result], name);
          return true;
        });
      }
    }
  }
});

test("the code of the guide accepts what is signed, and nothing else", async (t) => {
  const isSigned = await isSignedOfTheGuide();
  for (const { name, secret, now, headers, body, result } of VECTORS) {
    setClock(t, now);
    assert.equal(isSigned(headers, Buffer.from(body), secret), result === "accepted", name);
  }
});

test("the code of the guide accepts either secret of a rotation", async (t) => {
  const isSigned = await isSignedOfTheGuide();
  const [{ secret, now, headers, body }] = VECTORS;
  const other = VECTORS.find((vector) => vector.name === "another secret").secret;
  setClock(t, now);
  for (const secrets of [`${secret} ${other}`, `${other} ${secret}`]) {
    assert(isSigned(headers, Buffer.from(body), secrets));
  }
  assert(!isSigned(headers, Buffer.from(body), other));
});

test("the code of the guide refuses malformed headers and bodies, and a malformed secret is an exception", async (t) => {
  const isSigned = await isSignedOfTheGuide();
  const [{ secret, now, headers, body }] = VECTORS;
  setClock(t, now);
  const malformed = {
    "webhook-id": [undefined, "", "ä"],
    "webhook-timestamp": [undefined, "", "soon", "1e400", "²"],
    "webhook-signature": [undefined, "", "v1", "v1,", "v1,%", "v1,ä", "v1,a,b", " "],
  };
  for (const [name, values] of Object.entries(malformed)) {
    for (const value of values) {
      assert.equal(isSigned({ ...headers, [name]: value }, Buffer.from(body), secret), false, `${name}: ${value}`);
    }
  }
  assert.equal(isSigned({}, Buffer.from(body), secret), false);
  assert.equal(isSigned(headers, Buffer.from([0xff]), secret), false);
  assert.throws(() => isSigned(headers, Buffer.from(body), "whsec_%"));
  assert.throws(() => isSigned(headers, Buffer.from(body), ""));
});
