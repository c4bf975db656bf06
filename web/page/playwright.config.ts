import { defineConfig } from "@playwright/test";
import { ARGUMENTS, chromium } from "../chromium";

/** Against the running local stack; `cargo xtask test` brings it up. One at a time: the stack is one machine. */
export default defineConfig({
  testDir: "tests/browser",
  workers: 1,
  timeout: 300_000,
  // Once more on a machine that was too busy; a story that needs it is said to be flaky, one that fails twice fails.
  retries: 1,
  expect: { timeout: 60_000 },
  reporter: "list",
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
