/** The client's example for Node, against the local stack. */

import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "@playwright/test";
import { people, stack } from "./support";

const EXAMPLE = fileURLToPath(new URL("../../../client/examples/node.mjs", import.meta.url));

test("a Node script imports a file with the client", async () => {
  const { apiUrl, users } = stack();
  const file = join(mkdtempSync(join(tmpdir(), "longshore-")), "people.csv");
  writeFileSync(file, people(500));
  const env = { ...process.env, LONGSHORE_API_URL: apiUrl, LONGSHORE_TOKEN: users[0]?.token ?? "" };
  const { stdout } = await promisify(execFile)(process.execPath, [EXAMPLE, file], { env });
  expect(stdout).toContain("completed");
  expect(stdout).toMatch(/\b500\b/);
});
