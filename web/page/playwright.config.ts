import { defineConfig } from "@playwright/test";
import { ARGUMENTS, chromium } from "../chromium";

/** Against the running local stack; `cargo xtask test` brings it up. One at a time: the stack is one machine. */
export default defineConfig({
  testDir: "tests/browser",
  workers: 1,
  timeout: 300_000,
  // A story that passes only when it is run again shows a fault of the page, or of the story.
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
