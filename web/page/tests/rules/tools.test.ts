/** The tools of the page's build and tests: the choice of a browser, and the licences of packages. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chromium } from "../../../chromium";
import { isAllowed, notices, productionPackages } from "../../../licences.mjs";

let folder: string;
let named: string;
let installed: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "longshore-"));
  named = join(folder, "named");
  installed = join(folder, "chromium");
  for (const path of [named, installed]) writeFileSync(path, "");
});

afterAll(() => rmSync(folder, { recursive: true }));

const fails = (reason: string) => () => {
  throw new Error(reason);
};

test("$CHROMIUM comes first, then the system's browser, then the downloads in their order", () => {
  const sources = [() => "package", () => "download"];
  expect(chromium({ CHROMIUM: named, PATH: folder }, sources)).toBe(named);
  expect(chromium({ PATH: folder }, sources)).toBe(installed);
  expect(chromium({ CHROMIUM: "", PATH: folder }, sources)).toBe(installed);
  if (process.platform !== "linux") return;
  expect(chromium({ PATH: "/nowhere" }, sources)).toBe("package");
  expect(chromium({ PATH: "/nowhere" }, [fails("no package"), () => "download"])).toBe("download");
});

test("the error lists the attempts and explains how to install a browser", () => {
  expect(() => chromium({ CHROMIUM: "/nowhere" })).toThrow("/nowhere, which does not exist");
  if (process.platform !== "linux") return;
  const find = () => chromium({ PATH: "/nowhere" }, [fails("no package"), fails("no download")]);
  expect(find).toThrow(/- no package\n- no download\nInstall it/);
});

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
