//! A crafted worker: it commits the items that a test specifies, with the files that a real worker would write.

use longshore::crc64;
use longshore::fingerprint::{Fingerprint, Fingerprinter};
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Commit, CommitOutcome};
use longshore_domain::ids::ChunkId;
use longshore_domain::outcome::{Counts, Rejection};
use longshore_domain::ports::Ledger;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::{End, Entry, OutputSlice, WorkFile, WorkFileHeader};

use crate::fixture::{Fixture, now};

/// Outcome of an item.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Outcome {
    Ok,
    Fail,
    Skip,
    Later,
}

/// State of the round after a commit.
#[derive(Copy, Clone, Eq, PartialEq)]
enum Round {
    Continues,
    Ends,
}

pub(crate) struct CraftedWorker<'a> {
    fixture: &'a Fixture,
    id: ChunkId,
    cursor: Option<Cursor>,
    /// Items of this round, in order.
    todo: Vec<(u64, String)>,
    position: usize,
    deferred: Vec<(u64, String)>,
    commits: u32,
    /// Output of an item, if the items have one.
    output: Option<String>,
    /// Outputs since the last commit.
    lines: String,
}

impl<'a> CraftedWorker<'a> {
    pub(crate) fn new(fixture: &'a Fixture, (id, plan): &(ChunkId, ChunkPlan)) -> Self {
        let texts = texts(fixture, plan);
        let todo = (plan.first..).zip(texts).collect();
        Self {
            fixture,
            id: *id,
            cursor: None,
            todo,
            position: 0,
            deferred: Vec::new(),
            commits: 0,
            output: None,
            lines: String::new(),
        }
    }

    /// Gives each item that succeeds this output.
    pub(crate) fn with_output(self, output: &str) -> Self {
        Self { output: Some(output.to_owned()), ..self }
    }

    /// Returns the number of remaining items of this round.
    pub(crate) fn remaining(&self) -> usize {
        self.todo.len() - self.position
    }

    /// Returns the numbers of the next items.
    pub(crate) fn next_numbers(&self, count: usize) -> Vec<u64> {
        self.todo.iter().skip(self.position).take(count).map(|(n, _)| *n).collect()
    }

    /// Processes the next items and commits. The commit of the last item ends the round.
    pub(crate) fn work(&mut self, outcomes: &[Outcome]) -> CommitOutcome {
        let (counts, entries) = self.process(outcomes);
        let round = if self.remaining() == 0 { Round::Ends } else { Round::Continues };
        self.commit(counts, entries, round)
    }

    /// Processes the next items and commits, as a worker that is killed before it records the end of the round.
    pub(crate) fn work_without_round_end(&mut self, outcomes: &[Outcome]) -> CommitOutcome {
        let (counts, entries) = self.process(outcomes);
        self.commit(counts, entries, Round::Continues)
    }

    fn process(&mut self, outcomes: &[Outcome]) -> (Counts, Vec<Entry>) {
        let (mut counts, mut entries, round) = (Counts::default(), Vec::new(), self.round());
        for outcome in outcomes {
            let (n, raw) = self.todo[self.position].clone();
            self.position += 1;
            let end = match outcome {
                Outcome::Ok => {
                    counts.succeeded += 1;
                    if let Some(output) = &self.output {
                        self.lines += &format!("{{\"number\":{n},\"output\":{output}}}\n");
                    }
                    continue;
                }
                Outcome::Fail => {
                    counts.failed += 1;
                    End::Failed(Rejection::new("bad", (n % 2 == 0).then_some("name"), format!("@{n} is wrong")))
                }
                Outcome::Skip => {
                    counts.skipped += 1;
                    End::Skipped { reason: "asked, \"politely\"".into() }
                }
                Outcome::Later => {
                    self.deferred.push((n, raw.clone()));
                    End::Transient { attempts: round + 1, reason: "busy".into(), due: None }
                }
            };
            entries.push(Entry { n, end, raw, damaged: false });
        }
        (counts, entries)
    }

    /// Writes the file of a worker that was killed before its commit, or whose commit was refused. It must never be
    /// read.
    pub(crate) fn stray_file(&self) {
        let end = End::Failed(Rejection::new("stray", None, "no commit names this file"));
        let entries = self
            .todo
            .iter()
            .map(|(n, raw)| Entry { n: *n, end: end.clone(), raw: raw.clone(), damaged: false })
            .collect();
        self.write(&format!("stray{}", self.commits), entries);
    }

    fn round(&self) -> u32 {
        self.cursor.as_ref().map_or(0, |c| c.round)
    }

    fn write(&self, token: &str, entries: Vec<Entry>) {
        let prev = self.cursor.as_ref().and_then(|c| c.file.clone());
        let folder = self.fixture.folder().chunk(self.id);
        let outputs = (!self.lines.is_empty()).then(|| outputs_of(&self.lines));
        if outputs.is_some() {
            self.fixture.ports.files.inner.put(&folder.outputs_key(token), self.lines.as_str());
        }
        let header = WorkFileHeader { outputs, ..WorkFileHeader::following(self.round(), prev, None) };
        let (file, key) = (WorkFile { header, entries }, folder.work_key(token));
        self.fixture.ports.files.inner.put(&key, file.to_bytes().unwrap());
    }

    fn commit(&mut self, counts: Counts, entries: Vec<Entry>, state: Round) -> CommitOutcome {
        self.commits += 1;
        let token = format!("crafted{}", self.commits);
        let mut file = self.cursor.as_ref().and_then(|c| c.file.clone());
        if !entries.is_empty() || !self.lines.is_empty() {
            self.write(&token, entries);
            self.lines.clear();
            file = Some(token.clone());
        }
        let (round, deferred) = (self.round(), self.deferred.len() as u32);
        let current = Cursor {
            round,
            position: self.position as u32,
            token,
            file,
            deferred,
            due: None,
            finished: false,
            by_sweeper: false,
        };
        let to = match (state, deferred) {
            (Round::Continues, _) => current,
            (Round::Ends, 0) => Cursor { position: 0, finished: true, ..current },
            (Round::Ends, _) => {
                Cursor { round: round + 1, position: 0, deferred: 0, due: Some(Timestamp(30_000)), ..current }
            }
        };
        if to.round > round {
            self.todo = std::mem::take(&mut self.deferred);
            self.todo.sort();
            self.position = 0;
        }
        let commit = Commit {
            chunk: self.id.chunk,
            from: self.cursor.replace(to.clone()),
            to,
            counts,
            usage: Default::default(),
            at: Timestamp(7_000),
        };
        now(self.fixture.ports.store.commit(self.fixture.id, self.id.group, &commit)).unwrap()
    }
}

fn outputs_of(lines: &str) -> OutputSlice {
    let mut print = Fingerprinter::default();
    print.take(lines.as_bytes());
    let Fingerprint { size: bytes, sha256 } = print.finish();
    OutputSlice { rows: lines.lines().count() as u64, bytes, sha256, crc64: crc64::of(lines.as_bytes()) }
}

/// Returns the items of a chunk as a worker records them.
fn texts(fixture: &Fixture, plan: &ChunkPlan) -> Vec<String> {
    let Some(source) = fixture.job().file().cloned() else { return vec![r#"{"n":-1}"#.into()] };
    if plan.oversize {
        return vec![String::new()];
    }
    let bytes = fixture.ports.files.inner.get(&source.key).unwrap();
    let bytes = &bytes[plan.start as usize..plan.end as usize];
    source.records(bytes).map(|span| String::from_utf8_lossy(span.content(bytes)).into_owned()).collect()
}
