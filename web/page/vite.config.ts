import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { notices } from "../licences.mjs";
import { text } from "./src/text.ts";

const thirdPartyNotices = notices(text.notices);
const noticesHash = createHash("sha256").update(thirdPartyNotices).digest("base64url").slice(0, 8);
const noticesPath = `assets/third-party-notices-${noticesHash}.html`;

/** Replaces the names in braces in index.html with the page's texts. */
function pageTexts(): Plugin {
  const words: Record<string, string> = {
    app: text.app,
    description: text.description,
    noScript: text.noScript,
    notices: text.notices,
    noticesPath: `/${noticesPath}`,
  };
  return {
    name: "page-texts",
    transformIndexHtml: (html) => html.replace(/\{(\w+)\}/g, (whole, name) => words[name] ?? whole),
  };
}

/** Writes the licences of the packages in the page. Their path has a hash, like those of all files in `assets/`. */
function licences(): Plugin {
  return {
    name: "licences",
    apply: "build",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: noticesPath, source: thirdPartyNotices });
    },
  };
}

/** Writes a compressed copy of each file. The gateway does not compress, so the function serves the copy. */
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
 * Files referenced by index.html have a hash in their names and are in `assets/`, so that they may be cached
 * forever. Nothing is inlined: the Content-Security-Policy allows no inline scripts or styles.
 */
export default defineConfig({
  plugins: [pageTexts(), licences(), compressed()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
