import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isAllowed, notices, productionPackages } from "../../../licences.mjs";

test.each([
  ["MIT", true],
  ["GPL-3.0-only", false],
  ["none", false],
  ["(MIT OR GPL-3.0-only)", true],
  ["MIT AND GPL-3.0-only", false],
  ["MIT AND Apache-2.0", true],
])("%s is allowed: %s", (expression, allowed) => {
  expect(isAllowed(expression)).toBe(allowed);
});

test("the notices contain every dependency of the page", () => {
  const { dependencies } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const names = productionPackages().map(({ name }) => name);
  const shipped = Object.keys(dependencies).filter((name) => name !== "longshore-client");
  expect(names).toEqual(expect.arrayContaining(shipped));
  for (const name of names) expect(notices("Licences")).toContain(`<h2>${name} `);
});
