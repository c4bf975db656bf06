// Licences of the npm packages that the page ships: an allow list, and the notices that the licences require.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ALLOWED = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "Zlib"];

/** Returns true if an SPDX expression can be satisfied by allowed licences alone. Parentheses are not supported. */
export function isAllowed(expression) {
  const alternatives = expression.replace(/^\((.*)\)$/, "$1").split(" OR ");
  return alternatives.some((all) => all.split(" AND ").every((licence) => ALLOWED.includes(licence)));
}

/** Reads the production dependencies of the lock file, with their licence texts. */
export function productionPackages() {
  const lock = JSON.parse(readFileSync(new URL("package-lock.json", import.meta.url), "utf8"));
  const paths = Object.entries(lock.packages)
    .filter(([path, entry]) => path.includes("node_modules/") && !entry.link && !entry.dev)
    .map(([path]) => path);
  return paths.map((path) => {
    const folder = new URL(`${path}/`, import.meta.url);
    const { name, version, license, author } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));
    const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
    const text = files.map((file) => readFileSync(new URL(file, folder), "utf8").trim()).join("\n\n");
    const licence = String(license ?? "none");
    return { name, version, licence, text: text || (licence === "MIT" ? mit(author) : "") };
  });
}

/** Returns the MIT licence with the author of `package.json`, for a package without a licence file. */
function mit(author) {
  const own = readFileSync(new URL("client/LICENSE-MIT", import.meta.url), "utf8");
  return `MIT License\n\nCopyright (c) ${author?.name ?? author}\n\n${own.slice(own.indexOf("Permission")).trim()}`;
}

/** Returns an HTML document with the licences of all shipped packages. Throws if a text is missing. */
export function notices(title) {
  const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
  const sections = productionPackages().map(({ name, version, licence, text }) => {
    if (!text) throw new Error(`${name} has no licence text`);
    return `<h2>${escape(name)} ${escape(version)}</h2>\n<p>${escape(licence)}</p>\n<pre>${escape(text)}</pre>`;
  });
  const metas = '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">';
  const head = `<!doctype html>\n<html lang="en">\n${metas}\n<title>${title}</title>\n<h1>${title}</h1>`;
  return `${head}\n${sections.join("\n")}\n</html>\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const refused = productionPackages().filter(({ licence }) => !isAllowed(licence));
  for (const { name, version, licence } of refused) console.error(`Not allowed: ${name} ${version}, ${licence}`);
  process.exitCode = refused.length > 0 ? 1 : 0;
}
