import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

/** Puts a compressed copy beside each file: the gateway compresses nothing, so the function answers with the copy. */
function compressed(): Plugin {
  let folder = "";
  return {
    name: "compressed",
    apply: "build",
    configResolved: ({ root, build }) => {
      folder = join(root, build.outDir);
    },
    closeBundle: () => {
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
      for (const name of files.filter((name) => /\.(html|js|css|svg)$/.test(name))) {
        const path = join(folder, name);
        writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
      }
    },
  };
}

/**
 * Everything that index.html names lies in `assets/`, under a name with its hash, so that it may be cached for ever.
 * Nothing is inlined: the page's Content-Security-Policy allows neither inline scripts nor styles.
 */
export default defineConfig({
  plugins: [compressed()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
