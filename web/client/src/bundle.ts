// Everything in one file, for pages without a build step.

export * from "./index.js";
export * from "./upload/index.js";
