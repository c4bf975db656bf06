//! The versions of each record, as a plain program keeps them: a stack for each key. An import pushes a version, or
//! replaces its own; an undo pops the version of its import.
//!
//! Every write of the real code is compared with the stack when it happens: after an undo, the record is exactly the
//! version below, with its data, writer and creator, or it is gone if there was none.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use longshore_domain::dataset::Dataset;
use longshore_domain::history::RecordVersion;
use longshore_domain::ids::JobId;
use longshore_domain::writer::Writer;
use longshore_testing::MemoryRecords;
use serde_json::{Map, Value};

use crate::faults::count_fault;

/// A version without what each write changes.
#[derive(Clone, PartialEq, Debug)]
struct Version {
    data: Map<String, Value>,
    writer: Option<Writer>,
    created_by: Option<JobId>,
}

/// The history of one key.
#[derive(Default)]
struct Lineage {
    /// The versions that undos can still bring back, and the current one.
    stack: Vec<Version>,
    /// The writers of all versions ever.
    writers: BTreeSet<Writer>,
    /// Undos that have changed the record, each with the job whose version it has removed.
    undone: BTreeSet<(JobId, JobId)>,
    /// Number of changes.
    changes: usize,
}

thread_local! {
    /// `None` if the run has no lineages.
    static LINEAGES: RefCell<Option<Lineages>> = const { RefCell::new(None) };
}

type Lineages = BTreeMap<(Dataset, String), Lineage>;

/// Resets the state at the beginning of a run.
pub(crate) fn begin() {
    LINEAGES.set(Some(Lineages::new()));
}

/// The origin of a write.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Origin {
    Import,
    /// A row of this undo.
    Undo(JobId),
}

/// Makes a write of records with these keys, and compares what it changes with their lineages.
pub(crate) async fn observed<T>(
    records: &MemoryRecords,
    of: &Dataset,
    keys: Vec<(String, Origin)>,
    write: impl Future<Output = T>,
) -> T {
    if LINEAGES.with_borrow(Option::is_none) {
        return write.await;
    }
    let before = records.versions(of);
    let result = write.await;
    let after = records.versions(of);
    for (key, origin) in keys {
        let (before, after) = (before.get(&key), after.get(&key));
        if before != after {
            LINEAGES.with_borrow_mut(|lineages| {
                let lineages = lineages.as_mut().expect("the run has lineages");
                let lineage = lineages.entry((of.clone(), key)).or_insert_with(|| Lineage::new(before));
                lineage.change(origin, before, after);
            });
        }
    }
    result
}

impl Version {
    fn new(version: &RecordVersion) -> Self {
        Self { data: version.data.clone(), writer: version.writer, created_by: version.created_by }
    }

    fn is_of(&self, job: JobId) -> bool {
        self.writer.is_some_and(|writer| writer.job == job)
    }
}

impl Lineage {
    fn new(version: Option<&RecordVersion>) -> Self {
        let stack = version.map(Version::new).into_iter().collect();
        let writers = version.and_then(|version| version.writer).into_iter().collect();
        Self { stack, writers, undone: BTreeSet::new(), changes: 0 }
    }

    fn change(&mut self, origin: Origin, before: Option<&RecordVersion>, after: Option<&RecordVersion>) {
        assert_eq!(self.stack.last(), before.map(Version::new).as_ref(), "a record was changed by no call");
        self.changes += 1;
        match origin {
            Origin::Import => self.import(before, after),
            Origin::Undo(undo) => self.undo(undo, after),
        }
    }

    fn import(&mut self, before: Option<&RecordVersion>, after: Option<&RecordVersion>) {
        let Some(after) = after else { return self.stack.clear() };
        let writer = after.writer.expect("an import writes its name");
        let created_by = before.map_or(Some(writer.job), |before| before.created_by);
        assert_eq!(after.created_by, created_by, "the creator of a record has changed");
        self.writers.insert(writer);
        self.stack.pop_if(|top| top.is_of(writer.job));
        self.stack.push(Version::new(after));
    }

    fn undo(&mut self, undo: JobId, after: Option<&RecordVersion>) {
        let undone = self.stack.pop().and_then(|version| version.writer).expect("an undo changes what an import wrote");
        self.undone.insert((undo, undone.job));
        count_fault(if after.is_some() { "version restored" } else { "record undone" });
        assert_eq!(after.map(Version::new).as_ref(), self.stack.last(), "a previous version is lost");
    }
}

/// Returns true if an undo has changed a record of the dataset.
pub(crate) fn has_undone(of: &Dataset) -> bool {
    LINEAGES.with_borrow(|lineages| of_dataset(lineages, of).any(|lineage| !lineage.undone.is_empty()))
}

/// Number of changes of the records of a dataset.
pub(crate) fn changes(of: &Dataset) -> usize {
    LINEAGES.with_borrow(|lineages| of_dataset(lineages, of).map(|lineage| lineage.changes).sum())
}

/// Returns true if a job has written or undone a record of the dataset.
pub(crate) fn has_changed(of: &Dataset, job: JobId) -> bool {
    let is_changed = |lineage: &Lineage| {
        lineage.writers.iter().any(|writer| writer.job == job) || lineage.undone.iter().any(|(by, _)| *by == job)
    };
    LINEAGES.with_borrow(|lineages| of_dataset(lineages, of).any(is_changed))
}

fn of_dataset<'a>(lineages: &'a Option<Lineages>, of: &'a Dataset) -> impl Iterator<Item = &'a Lineage> {
    lineages.iter().flatten().filter(move |((dataset, _), _)| dataset == of).map(|(_, lineage)| lineage)
}

/// All writers that the record of a key has had.
pub(crate) fn writers(of: &Dataset, key: &str) -> BTreeSet<Writer> {
    with(of, key, |lineage| lineage.writers.clone())
}

/// Returns true if a version of a job is the record of a key, or can become it again.
pub(crate) fn remains(of: &Dataset, key: &str, job: JobId) -> bool {
    with(of, key, |lineage| lineage.stack.iter().any(|version| version.is_of(job)))
}

/// The undos that have changed the record of a key, each with the job whose version it has removed.
pub(crate) fn undone(of: &Dataset, key: &str) -> BTreeSet<(JobId, JobId)> {
    with(of, key, |lineage| lineage.undone.clone())
}

fn with<T: Default>(of: &Dataset, key: &str, read: impl FnOnce(&Lineage) -> T) -> T {
    let lineage = (of.clone(), key.to_owned());
    LINEAGES.with_borrow(|lineages| {
        lineages.as_ref().and_then(|lineages| lineages.get(&lineage)).map(read).unwrap_or_default()
    })
}
