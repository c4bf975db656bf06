/** A draft whose server and uploads are mocks, which are reset before each test of the file that imports this one. */

import type { Inspection, InspectRequest } from "longshore-client";
import { afterEach, beforeEach, vi } from "vitest";

type Inspect = (fileGuid: string, request: InspectRequest) => Promise<Partial<Inspection>>;

export const inspect = vi.fn<Inspect>();
export const createJob = vi.fn();
export const uploaded = vi.fn<(file: File) => Promise<{ fileGuid: string }>>();
// Not hoisted, unlike `vi.mock`: the draft is imported below.
vi.doMock("../../src/api", () => ({
  api: {
    inspect: (fileGuid: string, request: InspectRequest) => inspect(fileGuid, request),
    createJob: (request: unknown) => createJob(request),
  },
  guarded: (call: () => unknown) => call(),
}));
vi.doMock("longshore-client/upload", () => ({
  upload: (_: unknown, file: File) => uploaded(file),
  OtherFileError: class extends Error {},
}));
vi.doMock("../../src/session", () => ({ sessionState: { value: "signed-in" } }));
vi.stubGlobal("location", { pathname: "/" });
/** Listeners to the return of the network. */
export const online: (() => void)[] = [];
vi.stubGlobal("addEventListener", (name: string, listener: () => void) => {
  if (name === "online") online.push(listener);
});
vi.stubGlobal("removeEventListener", () => {});
vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => {}, removeItem: () => {} });
const { Draft } = await import("../../src/draft");

export const READING = { encoding: "UTF-8", delimiter: ",", quote: '"', headerRow: 1 } as const;

/** Returns the answer of a server for a file with these columns, and the presets of datasets. */
export function answerOf(columns: string[], presets: Record<string, Inspection["preset"]> = {}) {
  return async (fileGuid: string, { jobType, options, reading }: InspectRequest) => ({
    format: "csv" as const,
    reading: READING,
    columns: columns.map((name) => ({
      name,
      type: "text" as const,
      notation: null,
      question: null,
      needsPivotYear: false,
    })),
    rows: [{ number: 1, sheetRow: null, cells: columns.map((_, at) => String(at)), problem: null }],
    issues: [],
    error: null,
    preset: presets[String(options?.dataset)] ?? null,
    request: jobType ? { jobType, fileGuid, reading: { ...READING, ...reading }, options } : null,
  });
}

/** The draft of the test. */
export let draft: InstanceType<typeof Draft>;

beforeEach(() => {
  vi.useFakeTimers();
  inspect.mockReset().mockImplementation(answerOf(["id", "Full name"]));
  createJob.mockReset().mockResolvedValue({ jobId: "0198" });
  uploaded.mockReset().mockImplementation(async ({ size }) => ({ fileGuid: size > 9 ? "file" : "sample" }));
  online.length = 0;
});

afterEach(() => {
  draft.close();
  vi.useRealTimers();
});

export const FILE = new File(["id,Full name\n1,Ann\n"], "Kunden 2026.csv");
export const SAMPLE = new File(["id\n1\n"], "Kunden 2026.csv");

/** Makes the draft of a file, and sends nothing. */
export function pick(file: File, sample: File | null = null): void {
  draft = new Draft(file, sample);
}

/** Makes the draft of the usual file, and sends it. */
export function begin(sample: File | null = null): void {
  pick(FILE, sample);
  draft.send();
}

/** Lets answers arrive, and changes of the user be sent. */
export const pass = () => vi.advanceTimersByTimeAsync(1_000);

/** Returns the requests for inspections so far. */
export const requests = () => inspect.mock.calls.map(([fileGuid, request]) => ({ fileGuid, ...request }));
