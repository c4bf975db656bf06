import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chromium } from "../../../chromium";

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
