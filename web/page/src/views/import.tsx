/** Drop a file, see what is in it while it is sent, say where it goes, start. */

import { useSignal } from "@preact/signals";
import type { ImportOptions } from "longshore-client";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api, guarded } from "../api";
import type { Unreadable } from "../file/head";
import { applyMapping, guessMapping, type Mapping, renamed } from "../file/mapping";
import { findProblems } from "../file/problems";
import { readSheet, type Sheet } from "../file/sheet";
import { rememberDataset, rememberSchema } from "../memory";
import { DropZone } from "../parts/drop-zone";
import { Fault } from "../parts/fault";
import { FileCard } from "../parts/file-card";
import { type Chosen, dataset, ImportForm } from "../parts/import-form";
import { MappingTable } from "../parts/mapping-table";
import { Preview } from "../parts/preview";
import { Problems } from "../parts/problems";
import { go } from "../router";
import { text } from "../text";
import { Upload } from "../upload";

/** What may be dropped. */
export const FILE_TYPES = [".csv", ".txt", ".jsonl", ".ndjson"];

/** A file that was picked, and what was found in it. */
interface Picked {
  file: File;
  sheet: Sheet | Unreadable;
}

export function ImportView() {
  const upload = useMemo(() => new Upload(FILE_TYPES), []);
  useEffect(() => () => upload.close(), []);
  const [picked, setPicked] = useState<Picked | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);

  const pick = async (file: File) => {
    upload.remove();
    setPicked(null);
    const refused = upload.refusal(file);
    // Read all the same: that a workbook is one is worth more than that its name is wrong.
    const sheet = await readSheet(file);
    const reason = typeof sheet === "string" ? text.unreadable[sheet] : refused;
    setRefusal(reason);
    if (reason !== null || typeof sheet === "string") return;
    setPicked({ file, sheet });
    if (findProblems(sheet, { key: "", schema: null, mapping: {} }).length === 0) upload.begin(file);
  };
  const remove = () => {
    upload.remove();
    setPicked(null);
  };

  return (
    <>
      <h1>{text.file.title}</h1>
      {!picked && <p class="quiet lead">{text.file.lead}</p>}
      {!picked && (
        <DropZone
          title={text.file.drop}
          choose={text.file.choose}
          accept={FILE_TYPES.join(",")}
          onFile={(file) => void pick(file)}
        />
      )}
      {refusal && (
        <p class="notice bad" role="alert">
          {refusal}
        </p>
      )}
      {picked && typeof picked.sheet === "object" && (
        <Plan key={picked.file} file={picked.file} sheet={picked.sheet} upload={upload} onRemove={remove} />
      )}
    </>
  );
}

interface PlanProps {
  file: File;
  sheet: Sheet;
  upload: Upload;
  onRemove: () => void;
}

/** The choices about one file, and its start. */
function Plan({ file, sheet, upload, onRemove }: PlanProps) {
  const [chosen, setChosen] = useState<Chosen>(() => dataset(file.name, sheet.columns));
  const [changes, setChanges] = useState<Mapping | null>(null);
  const [error, setError] = useState<unknown>(null);
  const starting = useSignal(false);

  const { schema } = chosen;
  const guess = useMemo(
    () => (schema && sheet.format === "csv" ? guessMapping(schema.fields, sheet.columns) : {}),
    [schema, sheet],
  );
  const mapping = changes ?? guess;
  const names = renamed(sheet.columns, mapping);
  const key = names.includes(chosen.key)
    ? chosen.key
    : (names.find((name) => name === guessKey(names)) ?? "");
  const problems = findProblems(sheet, { key, schema, mapping });

  useLeavingWarning(upload);

  const start = async () => {
    starting.value = true;
    setError(null);
    try {
      const sent = applyMapping(file, sheet, mapping);
      const begun = upload.file.value === file && sent === file && !upload.error.value;
      if (!begun) upload.begin(sent);
      const fileGuid = await upload.finished();
      const options = {
        dataset: chosen.dataset,
        key,
        mode: chosen.mode,
        ...(schema && { schema: schema.document }),
      } satisfies ImportOptions;
      const job = await guarded(() => api.createJob({ jobType: "import", fileGuid, options }));
      rememberDataset(job.jobId, chosen.dataset);
      if (schema)
        rememberSchema(chosen.dataset, { name: schema.name, text: JSON.stringify(schema.document) });
      go(`/jobs/${job.jobId}`);
    } catch (error) {
      setError(error);
    } finally {
      starting.value = false;
    }
  };

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <FileCard file={file} sheet={sheet} upload={upload} onRemove={onRemove} />
      <Problems problems={problems} />
      <Preview sheet={sheet} names={names} />
      <ImportForm
        chosen={chosen}
        columns={names}
        keyColumn={key}
        onChange={(change) => {
          if (change.schema !== undefined) setChanges(null);
          setChosen((chosen) => ({ ...chosen, ...change }));
        }}
      />
      {schema && sheet.format === "csv" && (
        <MappingTable schema={schema} sheet={sheet} mapping={mapping} onChange={setChanges} />
      )}
      <Fault error={error} />
      <div class="actions start">
        <button type="submit" class="main" disabled={problems.length > 0 || key === "" || starting.value}>
          {starting.value
            ? upload.fileGuid.value
              ? text.start.creating
              : text.start.waiting
            : chosen.mode === "validate"
              ? text.start.validate
              : text.start.import}
        </button>
      </div>
    </form>
  );
}

/** The browser asks before it leaves while the file is on its way. */
function useLeavingWarning(upload: Upload): void {
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (upload.file.value && !upload.fileGuid.value && !upload.error.value) event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [upload]);
}

/** A column that is called as keys are; else the first one. */
function guessKey(columns: string[]): string {
  const usual = ["id", "key", "email", "sku", "code", "uuid", "number"];
  const found = usual.map((name) => columns.find((column) => column.toLowerCase() === name)).find(Boolean);
  return found ?? columns[0] ?? "";
}
