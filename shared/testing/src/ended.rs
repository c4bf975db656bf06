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

/// End of an item.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum ItemEnd {
    /// It succeeded, with this row of the results if it has an output.
    Ok(Option<String>),
    /// It failed.
    Failed,
    /// It failed, and its text in the work file is not its record.
    FailedDamaged,
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
            failed: count(|end| matches!(end, ItemEnd::Failed | ItemEnd::FailedDamaged)),
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
    let job = Job { source: Some(put_source(files, &job, items).await.into()), ..job };
    let ending = Ending { store, files, job };
    ending.create(definition).await;
    let (mut at, mut number) = (items.header.len() as u64, 1);
    for (group, chunks) in (0..).zip(&items.groups) {
        let plans = chunks.iter().map(|chunk| plan(chunk, &mut at, &mut number)).collect();
        ending.commit_group(Manifest { group, chunks: plans }, chunks).await;
    }
    ending.end(items).await;
    ending.put_result(definition.results.is_some()).await
}

/// Stores the file of these items.
async fn put_source(files: &MemoryFiles, job: &Job, items: &EndedItems) -> SourceFile {
    let key = format!("uploads/{}/{}", job.tenant, job.job_id);
    files.put(&key, items.source());
    let info = files.info(&key).await.expect("a read").expect("the file exists");
    let (format, name) = match items.header.is_empty() {
        true => (Format::JsonLines, "file.jsonl"),
        false => (Format::Csv, "file.csv"),
    };
    SourceFile::new(key, info, format, name)
}

/// Plans the next chunk, and moves the position after it.
fn plan(chunk: &[EndedItem], at: &mut u64, number: &mut u64) -> ChunkPlan {
    let bytes: u64 = chunk.iter().map(|(raw, _)| raw.len() as u64 + 1).sum();
    let plan = ChunkPlan::from_range(*number, chunk.len() as u32, *at..*at + bytes);
    (*at, *number) = (plan.end, *number + u64::from(plan.items));
    plan
}

/// A job on the way to its end.
struct Ending<'a> {
    store: &'a MemoryStore,
    files: &'a MemoryFiles,
    job: Job,
}

impl Ending<'_> {
    async fn stored(&self) -> Job {
        self.store.job(self.job.job_id).await.expect("a read").expect("the job exists")
    }

    async fn create(&self, definition: &Definition) {
        let (store, id) = (self.store, self.job.job_id);
        store.create_job(&self.job, definition, None).await.expect("the job is stored");
        store.begin(id, 0, AT).await.expect("the job begins");
        if let Some(columns) = &definition.columns {
            store.put_columns(id, columns, None, None).await.expect("the columns are stored");
        }
    }

    async fn commit_group(&self, manifest: Manifest, chunks: &[Vec<EndedItem>]) {
        let (job, group) = (self.stored().await, manifest.group);
        let end = manifest.chunks.last().map_or(job.split.offset, |plan| plan.end);
        let plan = GroupPlan::from_file(0, manifest, job.split.offset..end);
        self.store.commit_group(&job, &plan, AT).await.expect("the group is stored");
        for ((chunk, plan), items) in (0..).zip(&plan.manifest.chunks).zip(chunks) {
            self.commit_chunk(ChunkId { group, chunk }, plan.first, items).await;
        }
        if chunks.iter().flatten().all(|(_, end)| *end != ItemEnd::Open) {
            self.store.group_done(job.job_id, group, AT).await.expect("a group that is done");
        }
    }

    async fn commit_chunk(&self, id: ChunkId, first: u64, items: &[EndedItem]) {
        let ended = items.iter().take_while(|(_, end)| *end != ItemEnd::Open).count();
        if ended == 0 {
            return;
        }
        let entries: Vec<_> = (first..).zip(&items[..ended]).filter_map(|(n, item)| entry(n, item)).collect();
        let failed = entries.iter().filter(|entry| matches!(entry.end, End::Failed(_))).count();
        let (succeeded, skipped) = (ended - entries.len(), entries.len() - failed);
        let counts = Counts { succeeded: succeeded as u64, failed: failed as u64, skipped: skipped as u64 };
        let token = format!("made{}x{}n1", id.group, id.chunk);
        let folder = JobFolder::for_job(&self.job).chunk(id);
        let outputs = self.put_outputs(&folder.outputs_key(&token), &items[..ended]);
        let has_file = outputs.is_some() || !entries.is_empty();
        if has_file {
            let file = WorkFile { header: WorkFileHeader { outputs, ..WorkFileHeader::default() }, entries };
            self.files.put(&folder.work_key(&token), file.to_bytes().expect("a work file"));
        }
        let finished = ended == items.len();
        let position = if finished { 0 } else { ended as u32 };
        let file = has_file.then(|| token.clone());
        let to = Cursor { round: 0, position, token, file, deferred: 0, due: None, finished, by_sweeper: false };
        let commit = Commit { chunk: id.chunk, from: None, to, counts, usage: Default::default(), at: AT };
        self.store.commit(self.job.job_id, id.group, &commit).await.expect("a commit");
    }

    /// Stores the outputs of a chunk, if there are any.
    fn put_outputs(&self, key: &str, items: &[EndedItem]) -> Option<OutputSlice> {
        let outputs =
            items.iter().filter_map(|(_, end)| if let ItemEnd::Ok(output) = end { output.as_ref() } else { None });
        let lines: Vec<_> = outputs.map(|output| format!("{output}\n")).collect();
        let (rows, lines) = (lines.len() as u64, lines.concat());
        if rows == 0 {
            return None;
        }
        self.files.put(key, lines.clone());
        let mut print = Fingerprinter::default();
        print.take(lines.as_bytes());
        let print = print.finish();
        Some(OutputSlice { rows, bytes: print.size, sha256: print.sha256, crc64: crc64::of(lines.as_bytes()) })
    }

    /// Ends the split and the job, or stops them.
    async fn end(&self, items: &EndedItems) {
        let (store, id, groups) = (self.store, self.job.job_id, items.groups.len() as u32);
        let status = if items.is_stopped() { Status::Canceled } else { Status::Completed };
        if items.rest.is_empty() {
            store.end_split(&self.job, groups, &[], AT).await.expect("the end of the split");
        }
        if items.is_stopped() {
            let stop = Stop { status, error: None, at: AT };
            store.stop(id, 0, &stop).await.expect("a stop");
            for group in 0..groups {
                store.close(id, group).await.expect("a closed group");
            }
        }
        let report = Some("made/made".to_owned());
        let finish = Finish { report, ..Finish::new(status, items.counts(), AT) };
        store.finish(id, &finish).await.expect("the end of the job");
        assert_eq!(self.stored().await.status, status, "the job has ended");
    }

    /// Stores the result document, and returns the job.
    async fn put_result(&self, has_results: bool) -> Job {
        let job = self.stored().await;
        let totals = job.completion.totals.expect("the counts of an ended job");
        let Counts { succeeded, failed, skipped } = totals;
        let unprocessed = job.split.item_count.saturating_sub(totals.done());
        let counts = ResultCounts { succeeded, failed, skipped, unprocessed };
        let results = (has_results && succeeded > 0)
            .then(|| ReportFile { key: report_key(&job, "results.jsonl"), rows: succeeded });
        let report = Report { counts, files: ReportFiles { results, ..ReportFiles::default() }, ..Report::default() };
        let document = serde_json::to_vec(&ResultDocument::new(&job, report)).expect("a document");
        self.files.put(&report_key(&job, RESULT_NAME), document);
        job
    }
}

/// Returns the entry of an item in a work file; `None` if it succeeded.
fn entry(n: u64, (raw, end): &EndedItem) -> Option<Entry> {
    let failed = || End::Failed(Rejection::new("asked_to", None, "the row asked for it"));
    let (end, damaged) = match end {
        ItemEnd::Ok(_) => return None,
        ItemEnd::Failed => (failed(), false),
        ItemEnd::FailedDamaged => (failed(), true),
        ItemEnd::Skipped | ItemEnd::Open => (End::Skipped { reason: "asked to".into() }, false),
    };
    Some(Entry { n, end, raw: raw.clone(), damaged })
}
