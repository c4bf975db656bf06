// Everything in one file, `dist/longshore-client.js`, for pages without a build step.

export * from "./index.js";
export * from "./upload/index.js";
