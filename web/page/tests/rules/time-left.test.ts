import { expect, test } from "vitest";
import { timeLeft } from "../../src/parts/time-left";

const UNKNOWN = Number.POSITIVE_INFINITY;

test.each([
  ["the first answer is shown", UNKNOWN, 90, 90, true],
  ["less is shown at once", 90, 60, 60, true],
  ["a little more leaves what is shown", 60, 100, 60, true],
  ["much more than a few seconds is not known", 4, 3600, 4, false],
  ["nothing left and a long rest is not known", 0, 3600, 0, false],
  ["nothing left and a short rest is a few seconds", 0, 10, 0, true],
  ["the rest is never below nothing", 3, -2, 0, true],
])("%s", (_, shown, rest, seconds, isKnown) => {
  expect(timeLeft(shown, rest)).toEqual({ seconds, isKnown });
});

test("what is shown never rises, whatever is said", () => {
  let shown = UNKNOWN;
  for (const rest of [4, 3600, 1800, 30, 10, 3, 500]) {
    const next = timeLeft(shown, rest);
    expect(next.seconds).toBeLessThanOrEqual(shown);
    shown = next.seconds;
  }
});
