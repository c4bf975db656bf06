// The package's promises: its size, no dependencies, types that match the API's document.

import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import openapiTS, { astToString } from "openapi-typescript";
import { expect, test } from "vitest";
import { PROBLEM_KINDS } from "../src/index.js";

const here = (path: string) => new URL(path, import.meta.url);
const DOCUMENT = here("../../../docs/openapi.json");

/** Returns the size of a module with all its imports, minified and compressed. */
async function gzipped(module: string): Promise<number> {
  const entryPoints = [here(module).pathname];
  const { outputFiles } = await build({
    entryPoints,
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
  });
  return gzipSync(outputFiles[0]?.contents ?? "").length;
}

test("the client is under 8 kB, and the uploader adds under 4 kB", async () => {
  const client = await gzipped("../src/index.ts");
  const withUploader = await gzipped("../src/longshore-client.ts");
  console.info(`gzipped: ${client} bytes, with the uploader ${withUploader}`);
  expect(client).toBeGreaterThan(1_000);
  expect(client).toBeLessThan(8_000);
  expect(withUploader - client).toBeLessThan(4_000);
});

test("has no run-time dependencies", async () => {
  const { dependencies, peerDependencies, sideEffects } = JSON.parse(
    await readFile(here("../package.json"), "utf8"),
  );
  expect([dependencies, peerDependencies, sideEffects]).toEqual([undefined, undefined, false]);
});

test("the types match the API's document; `npm run generate` updates them", async () => {
  const made = astToString(await openapiTS(DOCUMENT, { emptyObjectsUnknown: true }));
  expect(await readFile(here("../src/openapi.ts"), "utf8")).toContain(made);
});

test("every problem of the API has its kind", async () => {
  const { components } = JSON.parse(await readFile(DOCUMENT, "utf8"));
  expect(PROBLEM_KINDS).toEqual(expect.arrayContaining(Object.keys(components.examples)));
});
