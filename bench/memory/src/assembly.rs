//! Assembly of a gigabyte of outputs, each format in a process of its own, whose peak memory is measured.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use bench::markdown;
use complete_job::{CompleteEnd, Completer};
use longshore::ports::Ports;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Commit, GroupPlan, Manifest};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Job, SourceFile, Status};
use longshore_domain::message::CompleteMessage;
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{Definition, FileInfo, JobStore, JobTransitions, Ledger};
use longshore_domain::records::Format;
use longshore_domain::results::{ResultColumn, ResultFormat, ResultsForm};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryQueues, MemoryStore};
use serde_json::json;

use crate::job::{PART_BYTES, deadline, runtime};
use crate::outputs::{OUTPUTS, Outputs};

/// Number of groups of 16 chunks, each with an object of outputs.
const GROUPS: u32 = 8;
const CHUNKS: u32 = 16;

/// Argument of the process that assembles one format.
pub(crate) const ARGUMENT: &str = "assembly";

/// Names of the formats.
const FORMATS: [&str; 2] = ["JSON Lines", "CSV"];

/// Assembles each format in a new process of this program. Returns the table.
pub(crate) fn measure() -> Result<String> {
    let mut rows = Vec::new();
    for format in FORMATS {
        eprintln!("assembly of 1 GB as {format}");
        let mut command = Command::new(std::env::current_exe()?);
        let output = command.args([ARGUMENT, format]).stderr(Stdio::inherit()).output()?;
        ensure!(output.status.success(), "the assembly of {format} failed");
        rows.push(String::from_utf8(output.stdout)?.trim().split('\t').map(str::to_owned).collect());
    }
    let mut text = String::new();
    let headings = ["format", "outputs", "GB read", "seconds", "invocations", "peak memory, MiB"];
    markdown::table(&mut text, "Assembly of results", &headings, rows);
    Ok(text)
}

/// Assembles the outputs, and prints the cells of the table.
pub(crate) fn run(format: &str) -> Result<()> {
    let files = Outputs::new()?;
    let object_bytes = files.object_bytes();
    let ports = Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files };
    let runtime = runtime()?;
    let id = runtime.block_on(store_job(&ports, form(format)?))?;
    let (began, mut invocations) = (Instant::now(), 0);
    loop {
        invocations += 1;
        let completer = Completer {
            ports: &ports,
            stop_grace_ms: 0,
            deadline: deadline(),
            part_bytes: PART_BYTES,
            clock: Timestamp::now,
        };
        let message = CompleteMessage { job_id: id, generation: 0, resend: 0, step: 0, tenant: None, failures: 0 };
        let end = runtime.block_on(completer.complete(&message)).map_err(|error| anyhow!("{error}"))?;
        match end {
            CompleteEnd::Finished(_) => break,
            end => ensure!(end == CompleteEnd::HandedOver, "completion ended with {end:?}"),
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let ended = runtime.block_on(ports.store.job(id))?.context("the job is gone")?;
    ensure!(ended.status == Status::Completed, "the job ended as {:?}: {:?}", ended.status, ended.error);
    let (objects, peak) = (u64::from(GROUPS * CHUNKS), peak_mib()?);
    let gigabytes = objects as f64 * object_bytes as f64 / 1e9;
    println!("{format}\t{}\t{gigabytes:.2}\t{seconds:.2}\t{invocations}\t{peak:.1}", objects * OUTPUTS);
    Ok(())
}

fn form(format: &str) -> Result<ResultsForm> {
    let column = |name: &str| ResultColumn { name: name.into(), heading: name.into() };
    let columns = ["id", "name", "email", "city", "amount"].map(column).to_vec();
    Ok(match format {
        "JSON Lines" => ResultsForm::default(),
        "CSV" => ResultsForm { format: ResultFormat::Csv, columns, ..ResultsForm::default() },
        other => return Err(anyhow!("no format {other}")),
    })
}

/// Stores a job whose items have all succeeded, and whose report has not begun.
async fn store_job(ports: &Ports<MemoryStore, MemoryQueues, Outputs>, form: ResultsForm) -> Result<JobId> {
    let (store, now, size) = (&ports.store, Timestamp::now(), u64::from(GROUPS * CHUNKS));
    let info = FileInfo { size_bytes: size, etag: "\"e\"".into() };
    let source = SourceFile::new("uploads/default/bench", info, Format::Csv, "rows.csv");
    let waiting = Job::waiting(JobId::generate(), TenantId::from_static("default"), "outputs", now);
    let job = Job { source: Some(source.into()), ..waiting };
    let definition = Definition { results: Some(form), ..Definition::new(json!({})) };
    store.create_job(&job, &definition, None).await?;
    store.begin(job.job_id, 0, now).await?;
    for group in 0..GROUPS {
        let chunks: Vec<_> = (group * CHUNKS..(group + 1) * CHUNKS).map(plan).collect();
        let bytes = u64::from(group * CHUNKS)..u64::from((group + 1) * CHUNKS);
        let begun = store.job(job.job_id).await?.context("the job is gone")?;
        let group_plan = GroupPlan::from_file(0, Manifest { group, chunks }, bytes);
        let _ = store.commit_group(&begun, &group_plan, now).await?;
        for chunk in 0..CHUNKS {
            let _ = store.commit(job.job_id, group, &commit(ChunkId::new(group, chunk), now)).await?;
        }
        let _ = store.group_done(job.job_id, group, now).await?;
    }
    let split = store.job(job.job_id).await?.context("the job is gone")?;
    let _ = store.end_split(&split, GROUPS, &[], now).await?;
    Ok(job.job_id)
}

/// Returns the plan of a chunk: one byte of the source, which completion does not read.
fn plan(chunk: u32) -> ChunkPlan {
    let (start, items) = (u64::from(chunk), OUTPUTS as u32);
    ChunkPlan { first: start * OUTPUTS + 1, items, start, end: start + 1, oversize: false, keys: None }
}

/// Returns the commit of all items of a chunk.
fn commit(id: ChunkId, at: Timestamp) -> Commit {
    let (token, file) = (format!("attempt{}", id.chunk), Some("1".to_owned()));
    let to = Cursor { round: 0, position: 0, token, file, deferred: 0, due: None, finished: true, by_sweeper: false };
    let counts = Counts { succeeded: OUTPUTS, ..Counts::default() };
    Commit { chunk: id.chunk, from: None, to, counts, usage: Default::default(), at }
}

/// Returns the peak memory of this process.
fn peak_mib() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("there is no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
}
