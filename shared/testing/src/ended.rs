//! A job that has ended, with the records and the files that the splitter, the workers and completion leave.

#![allow(clippy::expect_used, reason = "a failed step fails the test")]

use longshore::crc64;
use longshore::fingerprint::Fingerprinter;
use longshore::ports::{JobFolder, report_key};
use longshore::result::{RESULT_NAME, Report, ReportFile, ReportFiles, ResultCounts, ResultDocument};
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Commit, GroupPlan, Manifest};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Finish, Job, SourceFile, Status, Stop};
use longshore_domain::outcome::{Counts, Rejection};
use longshore_domain::ports::{Definition, Files, JobStore, JobTransitions, Ledger};
use longshore_domain::records::Format;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::{End, Entry, OutputSlice, WorkFile, WorkFileHeader};

use crate::{MemoryFiles, MemoryStore};

/// What became of an item.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum ItemEnd {
    /// It succeeded, with this row of the results if it has an output.
    Ok(Option<String>),
    /// It failed. `true` if its text in the work file is not its record.
    Failed(bool),
    /// It was skipped.
    Skipped,
    /// It was not processed. Only items of this kind follow it in its chunk.
    Open,
}

/// An item: its text in the work file, and what became of it.
pub type EndedItem = (String, ItemEnd);

/// The items of a job with a file, by group and chunk.
#[derive(Clone, Debug, Default)]
pub struct EndedItems {
    /// The header of the file, with its line end.
    pub header: String,
    /// The items in groups.
    pub groups: Vec<Vec<Vec<EndedItem>>>,
    /// Text of the rows that were never split.
    pub rest: String,
}

const AT: Timestamp = Timestamp(1_000);

impl EndedItems {
    fn all(&self) -> impl Iterator<Item = &EndedItem> {
        self.groups.iter().flatten().flatten()
    }

    fn is_stopped(&self) -> bool {
        !self.rest.is_empty() || self.all().any(|(_, end)| *end == ItemEnd::Open)
    }

    fn source(&self) -> String {
        let rows = self.all().map(|(raw, _)| format!("{raw}\n"));
        self.header.clone() + &rows.collect::<String>() + &self.rest
    }

    fn counts(&self) -> Counts {
        let count = |is: fn(&ItemEnd) -> bool| self.all().filter(|(_, end)| is(end)).count() as u64;
        Counts {
            succeeded: count(|end| matches!(end, ItemEnd::Ok(_))),
            failed: count(|end| matches!(end, ItemEnd::Failed(_))),
            skipped: count(|end| *end == ItemEnd::Skipped),
        }
    }
}

/// Stores a job with these items, from its creation to its end. `job` is a new job without a source.
///
/// # Panics
/// If an adapter refuses a step.
pub async fn end_job(
    store: &MemoryStore,
    files: &MemoryFiles,
    job: Job,
    definition: &Definition,
    items: &EndedItems,
) -> Job {
    let key = format!("uploads/{}/{}", job.tenant, job.job_id);
    let source = items.source();
    files.put(&key, source.clone());
    let etag = files.info(&key).await.expect("a read").expect("the file exists").etag;
    let (format, name) = match items.header.is_empty() {
        true => (Format::JsonLines, "file.jsonl".to_owned()),
        false => (Format::Csv, "file.csv".to_owned()),
    };
    let file = SourceFile { key, size_bytes: source.len() as u64, etag, format, name };
    let job = Job { source: Some(file.into()), ..job };
    store.create_job(&job, definition, None).await.expect("the job is stored");
    store.begin(job.job_id, AT).await.expect("the job begins");
    if let Some(columns) = &definition.columns {
        store.put_columns(job.job_id, columns).await.expect("the columns are stored");
    }
    let (mut at, mut number, mut offset) = (items.header.len() as u64, 1, 0);
    for (group, chunks) in (0..).zip(&items.groups) {
        let mut plans = Vec::new();
        for chunk in chunks {
            let bytes: u64 = chunk.iter().map(|(raw, _)| raw.len() as u64 + 1).sum();
            let (first, items) = (number, chunk.len() as u32);
            plans.push(ChunkPlan { first, items, start: at, end: at + bytes, oversize: false, keys: None });
            (at, number) = (at + bytes, number + chunk.len() as u64);
        }
        let plan = GroupPlan::from_file(0, Manifest { group, chunks: plans }, offset..at);
        offset = at;
        let job = store.job(job.job_id).await.expect("a read").expect("the job exists");
        store.commit_group(&job, &plan, AT).await.expect("the group is stored");
        for ((chunk, plan), items) in (0..).zip(&plan.manifest.chunks).zip(chunks) {
            commit(store, files, &job, (ChunkId { group, chunk }, plan), items).await;
        }
        if chunks.iter().flatten().all(|(_, end)| *end != ItemEnd::Open) {
            store.group_done(job.job_id, group, AT).await.expect("a group that is done");
        }
    }
    finish(store, files, job, definition, items).await
}

async fn commit(
    store: &MemoryStore,
    files: &MemoryFiles,
    job: &Job,
    (id, plan): (ChunkId, &ChunkPlan),
    items: &[EndedItem],
) {
    let ended = items.iter().take_while(|(_, end)| *end != ItemEnd::Open).count();
    if ended == 0 {
        return;
    }
    let (mut counts, mut entries, mut lines, mut rows) = (Counts::default(), Vec::new(), String::new(), 0);
    for (n, (raw, end)) in (plan.first..).zip(&items[..ended]) {
        let (end, damaged) = match end {
            ItemEnd::Ok(output) => {
                counts.succeeded += 1;
                rows += u64::from(output.is_some());
                lines.extend(output.iter().map(|output| format!("{output}\n")));
                continue;
            }
            ItemEnd::Failed(damaged) => {
                (End::Failed(Rejection::new("asked_to", None, "the row asked for it")), *damaged)
            }
            ItemEnd::Skipped | ItemEnd::Open => (End::Skipped { reason: "asked to".into() }, false),
        };
        match end {
            End::Failed(_) => counts.failed += 1,
            _ => counts.skipped += 1,
        }
        entries.push(Entry { n, end, raw: raw.clone(), damaged });
    }
    let token = format!("made{}x{}n1", id.group, id.chunk);
    let folder = JobFolder::for_job(job).chunk(id);
    let outputs = (rows > 0).then(|| {
        files.put(&folder.outputs_key(&token), lines.clone());
        let mut print = Fingerprinter::default();
        print.take(lines.as_bytes());
        let print = print.finish();
        OutputSlice { rows, bytes: print.size, sha256: print.sha256, crc64: crc64::of(lines.as_bytes()) }
    });
    let has_file = outputs.is_some() || !entries.is_empty();
    if has_file {
        let file = WorkFile { header: WorkFileHeader { outputs, ..WorkFileHeader::default() }, entries };
        files.put(&folder.work_key(&token), file.to_bytes().expect("a work file"));
    }
    let finished = ended == items.len();
    let position = if finished { 0 } else { ended as u32 };
    let file = has_file.then(|| token.clone());
    let to = Cursor { round: 0, position, token, file, deferred: 0, due: None, finished, by_sweeper: false };
    let commit = Commit { chunk: id.chunk, from: None, to, counts, at: AT };
    store.commit(job.job_id, id.group, &commit).await.expect("a commit");
}

async fn finish(
    store: &MemoryStore,
    files: &MemoryFiles,
    job: Job,
    definition: &Definition,
    items: &EndedItems,
) -> Job {
    let groups = items.groups.len() as u32;
    let (status, totals) = match items.is_stopped() {
        true => (Status::Canceled, items.counts()),
        false => (Status::Completed, items.counts()),
    };
    if items.rest.is_empty() {
        store.end_split(&job, groups, &[], AT).await.expect("the end of the split");
    }
    if items.is_stopped() {
        let stop = Stop { status, error: None, at: AT };
        store.stop(job.job_id, 0, &stop).await.expect("a stop");
        for group in 0..groups {
            store.close(job.job_id, group).await.expect("a closed group");
        }
    }
    let report = Some("made/made".to_owned());
    let finish = Finish { generation: 0, status, totals, report, error: None, at: AT };
    store.finish(job.job_id, &finish).await.expect("the end of the job");
    let job = store.job(job.job_id).await.expect("a read").expect("the job exists");
    assert_eq!(job.status, status, "the job has ended");
    let Counts { succeeded, failed, skipped } = totals;
    let unprocessed = job.split.item_count.saturating_sub(totals.done());
    let counts = ResultCounts { succeeded, failed, skipped, unprocessed };
    let has_results = definition.results.is_some() && succeeded > 0;
    let results = has_results.then(|| ReportFile { key: report_key(&job, "results.jsonl"), rows: succeeded });
    let report = Report { counts, files: ReportFiles { results, ..ReportFiles::default() }, ..Report::default() };
    let document = serde_json::to_vec(&ResultDocument::new(&job, report)).expect("a document");
    files.put(&report_key(&job, RESULT_NAME), document);
    job
}
