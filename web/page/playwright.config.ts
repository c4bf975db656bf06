import { defineConfig } from "@playwright/test";
import { ARGUMENTS, chromium } from "../chromium";

/**
 * Runs against the local stack, which `cargo xtask test` starts. One worker, because the stack is one machine. A second
 * worker runs the story of an undo, which waits for minutes until the import's workers have ended.
 */
export default defineConfig({
  testDir: "tests/browser",
  workers: 2,
  projects: [
    { name: "undo", testMatch: "undo.spec.ts", workers: 1 },
    { name: "page", testIgnore: "undo.spec.ts", workers: 1 },
  ],
  timeout: 300_000,
  // A test that passes only on a second run shows a bug in the page or in the test.
  retries: 0,
  expect: { timeout: 60_000 },
  reporter: [["list"], ["./tests/notes.ts"]],
  forbidOnly: true,
  use: {
    actionTimeout: 60_000,
    navigationTimeout: 60_000,
    launchOptions: {
      executablePath: chromium(),
      args: ARGUMENTS,
    },
  },
});
