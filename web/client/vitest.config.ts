import { defineConfig } from "vitest/config";

export default defineConfig({
  // What a test has stubbed or faked never reaches the next one.
  test: { restoreMocks: true, unstubGlobals: true },
});
