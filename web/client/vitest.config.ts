import { defineConfig } from "vitest/config";

export default defineConfig({
  // Stubs and mocks of one test never affect the next.
  test: { restoreMocks: true, unstubGlobals: true },
});
