import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { text } from "./src/text.ts";

/** Puts the page's words into index.html, where its braces name them. */
function worded(): Plugin {
  const words: Record<string, string> = {
    app: text.app,
    description: text.description,
    noScript: text.noScript,
  };
  return {
    name: "worded",
    transformIndexHtml: (html) => html.replace(/\{(\w+)\}/g, (whole, name) => words[name] ?? whole),
  };
}

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
  plugins: [worded(), compressed()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
