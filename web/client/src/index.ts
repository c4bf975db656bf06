// The typed client of Longshore's API. `longshore-client/upload` uploads files.

export { createClient } from "./client.js";
export * from "./documents.js";
export type { Access, Call, CallOptions, Send, Token } from "./http.js";
export type {
  ChangeOptions,
  Client,
  CreateOptions,
  Exported,
  ExportRequest,
  Finished,
  ListJobsOptions,
  PageOptions,
  RunRequest,
  ScheduleMethods,
  WebhookMethods,
} from "./methods.js";
export type {
  ActionOptions,
  DeadLettersOptions,
  FailureGroupsOptions,
  OperatorJobsOptions,
  OperatorMethods,
} from "./operations.js";
export { NetworkError, PROBLEM_KINDS, ProblemError, type ProblemKind } from "./problem.js";
