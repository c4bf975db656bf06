import { openAsBlob } from "node:fs";
import { createClient } from "longshore-client";
import { upload } from "longshore-client/upload";

const { LONGSHORE_API_URL: baseUrl, LONGSHORE_TOKEN: token } = process.env;
const client = createClient({ baseUrl, token: () => token });

const { fileGuid } = await upload(client, await openAsBlob("people.csv"), { fileName: "people.csv" });
const options = { dataset: "people", key: "email" };
const { jobId } = await client.createJob({ jobType: "import", fileGuid, options });
for await (const job of client.watch(jobId)) console.log(job.message);

const { counts, files } = await client.output(jobId);
console.log(`${counts.succeeded} succeeded, ${counts.failed} failed`);
if (files.failed) console.log(await (await client.download(files.failed)).text());
