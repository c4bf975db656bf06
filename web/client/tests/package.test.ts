// The package's promises: its size, no dependencies, types that match the API's document. Then the packed package
// in another project: unpacking, imports, type checks, examples.

import { execFile } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import openapiTS, { astToString } from "openapi-typescript";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { PROBLEM_KINDS } from "../src/index.js";
import { completed, JOB_CALL, JOB_ID, jobAt, problem, state } from "./messages.js";
import { TestServer } from "./server.js";

const urlOf = (path: string) => new URL(path, import.meta.url);
const DOCUMENT = urlOf("../../../docs/openapi.json");
const run = promisify(execFile);
const HERE = fileURLToPath(new URL("..", import.meta.url));
const WEB = fileURLToPath(new URL("../..", import.meta.url));
const BINARIES = [join(HERE, "node_modules/.bin"), join(WEB, "node_modules/.bin")];
const PATH = [...BINARIES, process.env.PATH].join(delimiter);
const CSV = `email,name\n${"ann@example.com,Ann\n".repeat(80)}`;

// These tests start processes.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

/** The other project. */
let project: string;
/** The package in it. */
let unpacked: string;
let server: TestServer;

/** Packs a copy: the build empties `dist`, which other tests may be reading. */
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "longshore-tarball-"));
  const copy = join(project, "copy");
  const isSource = (path: string) => !/\/(node_modules|dist)$/.test(path);
  await cp(HERE, copy, { recursive: true, filter: isSource });
  // A file of an earlier build, which the next build must delete.
  await mkdir(join(copy, "dist"));
  await writeFile(join(copy, "dist/left-over.js"), "");
  await symlink(join(WEB, "node_modules"), join(project, "node_modules"));
  await symlink(join(HERE, "node_modules"), join(copy, "node_modules"));
  // Without the settings of the npm that runs these tests, such as the workspace.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  await run("npm", ["pack", "--pack-destination", project], { cwd: copy, env: { ...env, PATH } });
  await rm(join(project, "node_modules"));

  const [tarball = ""] = (await readdir(project)).filter((name) => name.endsWith(".tgz"));
  unpacked = join(project, "node_modules/longshore-client");
  await mkdir(unpacked, { recursive: true });
  await run("tar", ["-xzf", join(project, tarball), "--strip-components=1", "-C", unpacked]);
  await writeFile(join(project, "package.json"), JSON.stringify({ type: "module" }));
});

afterAll(() => rm(project, { recursive: true }));

beforeEach(async () => {
  server = await TestServer.start();
  await writeFile(join(project, "people.csv"), CSV);
});

afterEach(() => server.stop());

/** Runs an example of the unpacked package in the other project. */
function example(name: string, ...args: string[]) {
  const env = { ...process.env, LONGSHORE_API_URL: server.url, LONGSHORE_TOKEN: "the-token" };
  return execFile(process.execPath, [join(unpacked, "examples", name), ...args], { cwd: project, env });
}

/** Returns the output and exit status of a process after its end. */
async function ended(child: ReturnType<typeof execFile>) {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text) => (output += text));
  const [code] = await once(child, "close");
  return { code, output };
}

/** Scripts a job that ends with one failed row. */
function scriptJob(): void {
  server.script("POST /api/jobs", { status: 202, body: jobAt(0) });
  server.script(JOB_CALL, state(completed({ counts: { succeeded: 79, failed: 1, skipped: 0, pending: 0 } })));
  const files = { failed: { url: `${server.url}/s3/failed.csv` } };
  const output = { counts: { succeeded: 79, failed: 1 }, files };
  server.script(`GET /api/jobs/${JOB_ID}/output`, { status: 200, body: output });
  server.script("GET /s3/failed.csv", { status: 200, body: "row,code\n7,bad\n" });
}

const created = () => JSON.parse(String(server.seen("POST /api/jobs").at(-1)?.body));

/** Returns the size of a module with all its imports, minified and compressed. */
async function gzipped(module: string): Promise<number> {
  const entryPoints = [urlOf(module).pathname];
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
    await readFile(urlOf("../package.json"), "utf8"),
  );
  expect([dependencies, peerDependencies, sideEffects]).toEqual([undefined, undefined, false]);
});

test("the types match the API's document; `npm run generate` updates them", async () => {
  const made = astToString(
    await openapiTS(DOCUMENT, { emptyObjectsUnknown: true, defaultNonNullable: false }),
  );
  expect(await readFile(urlOf("../src/openapi.ts"), "utf8")).toContain(made);
});

test("every problem of the API has its kind", async () => {
  const { components } = JSON.parse(await readFile(DOCUMENT, "utf8"));
  expect(PROBLEM_KINDS).toEqual(expect.arrayContaining(Object.keys(components.examples)));
});

test("every entry point can be imported, including the bundle", async () => {
  const script = `
    const names = [];
    for (const path of ["", "/upload", "/bundle"]) names.push(Object.keys(await import("longshore-client" + path)));
    const { default: { version } } = await import("longshore-client/package.json", { with: { type: "json" } });
    console.log(JSON.stringify({ names, version }));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd: project });
  const { names, version } = JSON.parse(stdout);
  expect(names[0]).toContain("createClient");
  expect(names[1]).toEqual(["OtherFileError", "UploadError", "upload"]);
  expect(names[2].toSorted()).toEqual([...names[0], ...names[1]].toSorted());
  expect(version).toMatch(/^\d/);
});

test.each(["node16", "bundler"])(
  "a project that resolves modules as %s has all types",
  async (resolution) => {
    const use = `
    import { createClient, type Job, type Upload } from "longshore-client";
    import { type ResumeState, upload, UploadError } from "longshore-client/upload";
    import * as bundle from "longshore-client/bundle";
    const client = createClient({ baseUrl: "https://example.com", token: async () => null });
    const begun: ResumeState[] = [];
    const { fileGuid } = await upload(client, new Blob(["a"]), { onBegun: (state) => begun.push(state) });
    const job: Job = await client.createJob({ jobType: "import", fileGuid });
    export const url: Upload["url"] = await bundle.upload(bundle.createClient({ baseUrl: "" }), new Blob());
    // @ts-expect-error: this status does not exist.
    export const isOdd = job.status === "odd" || new UploadError(404, null).code === 4;`;
    const right = use.replace('Upload["url"]', '{ fileGuid: Upload["fileGuid"] }');
    await writeFile(join(project, "use.ts"), right);
    const module = resolution === "node16" ? "node16" : "esnext";
    const modules = ["--module", module, "--moduleResolution", resolution];
    const options = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2023,dom,dom.iterable"];
    const tsc = () =>
      run("tsc", [...modules, ...options, "use.ts"], { cwd: project, env: { ...process.env, PATH } });
    await tsc();
    await writeFile(join(project, "use.ts"), use);
    await expect(tsc()).rejects.toMatchObject({ stdout: expect.stringContaining("TS2322") });
  },
);

test("contains what its README links to, and no files of earlier builds", async () => {
  const readme = await readFile(join(unpacked, "README.md"), "utf8");
  const links = [...readme.matchAll(/\]\(([^)#]+)/g)].map(([, link]) => link ?? "");
  expect(links).toContain("examples/node.mjs");
  for (const link of links) await readFile(join(unpacked, link));
  expect(await readdir(join(unpacked, "dist"))).not.toContain("left-over.js");
});

test("the README shows the short examples unchanged", async () => {
  const readme = await readFile(join(unpacked, "README.md"), "utf8");
  for (const name of ["short.mjs", "short.html"])
    expect(readme).toContain(await readFile(join(unpacked, "examples", name), "utf8"));
});

test("the README's script imports a file and prints the failed rows", async () => {
  scriptJob();
  const { code, output } = await ended(example("short.mjs"));
  expect(output).toBe("Job complete\n79 succeeded, 1 failed\nrow,code\n7,bad\n\n");
  expect(code).toBe(0);
  expect(server.uploads.contentOf(created().fileGuid)).toBe(CSV);
});

test("the script resumes an interrupted upload, and keeps its state until the job is created", async () => {
  server.script("PUT /s3/*", "as-usual", "silent", "silent", "silent");
  const first = example("node.mjs", "people.csv");
  const firstEnd = ended(first);
  await expect.poll(() => server.seen("PUT /s3/*").length, { timeout: 10_000 }).toBeGreaterThanOrEqual(4);
  first.kill("SIGINT");
  expect(await firstEnd).toMatchObject({ code: 1, output: expect.stringContaining("Interrupted") });
  server.script("POST /api/jobs", problem(422, "invalid-request"));
  expect(await ended(example("node.mjs", "people.csv"))).toMatchObject({ code: 1 });
  const puts = server.seen("PUT /s3/*").length;

  scriptJob();
  const { code, output } = await ended(example("node.mjs", "people.csv"));
  expect(output).toContain("completed: 79 succeeded, 1 failed, 0 skipped");
  expect(code).toBe(0);
  expect(await readFile(join(project, "people-failed.csv"), "utf8")).toBe("row,code\n7,bad\n");
  expect(server.seen("PUT /s3/*")).toHaveLength(puts);
  expect(server.uploads.all.size).toBe(1);
  expect(server.uploads.contentOf(created().fileGuid)).toBe(CSV);
  expect(await readdir(project)).not.toContain("people.csv.upload.json");
});

test("the script starts a new upload for a changed file, and for a forgotten upload", async () => {
  const refused = problem(422, "invalid-request");
  server.script("POST /api/jobs", refused, refused, refused);
  await ended(example("node.mjs", "people.csv"));
  await writeFile(join(project, "people.csv"), CSV.replaceAll("Ann", "Bob"));
  await ended(example("node.mjs", "people.csv"));
  expect(server.uploads.contentOf(created().fileGuid)).toContain("Bob");

  server.uploads.all.clear();
  expect((await ended(example("node.mjs", "people.csv"))).output).toContain("not-found");
  await ended(example("node.mjs", "people.csv"));
  expect(server.uploads.contentOf(created().fileGuid)).toContain("Bob");
});
