import { defineConfig } from "@playwright/test";
import { ARGUMENTS, chromium } from "../chromium";

/** Against the running local stack; `cargo xtask test` brings it up. One at a time: the stack is one machine. */
export default defineConfig({
  testDir: "tests/browser",
  workers: 1,
  timeout: 300_000,
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
