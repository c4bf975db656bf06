import { expect, test } from "vitest";
import { timeLeft } from "../../src/components/time-left";

const UNKNOWN = Number.POSITIVE_INFINITY;

test.each([
  ["the first estimate is shown", UNKNOWN, 90, 90, true],
  ["a lower estimate is shown at once", 90, 60, 60, true],
  ["a slightly higher estimate changes nothing", 60, 100, 60, true],
  ["a much higher estimate is unknown", 4, 3600, 4, false],
  ["zero with a long estimate is unknown", 0, 3600, 0, false],
  ["zero with a short estimate is a few seconds", 0, 10, 0, true],
  ["a negative estimate is zero", 3, -2, 0, true],
])("%s", (_, shown, rest, seconds, isKnown) => {
  expect(timeLeft(shown, rest)).toEqual({ seconds, isKnown });
});

test("the displayed time never increases", () => {
  let shown = UNKNOWN;
  for (const rest of [4, 3600, 1800, 30, 10, 3, 500]) {
    const next = timeLeft(shown, rest);
    expect(next.seconds).toBeLessThanOrEqual(shown);
    shown = next.seconds;
  }
});
