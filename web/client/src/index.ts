// The typed client of Longshore's API. `longshore-client/upload` uploads files.

export {
  type ChangeOptions,
  type Client,
  type CreateOptions,
  createClient,
  type Exported,
  type ExportRequest,
  type Finished,
  type ListJobsOptions,
  type PageOptions,
  type RunRequest,
} from "./client.js";
export * from "./documents.js";
export type { Access, Call, CallOptions, Send, Token } from "./http.js";
export { NetworkError, PROBLEM_KINDS, ProblemError, type ProblemKind } from "./problem.js";
