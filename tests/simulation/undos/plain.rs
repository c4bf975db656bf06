//! The plain program with which imports and their undos are compared: each key has a stack of versions, and an undo
//! removes the top one if the import wrote it.

use std::collections::BTreeMap;

use longshore_domain::ids::JobId;
use longshore_domain::writer::{Rule, Writer};

/// A version of a record: the row that wrote it; `None` for another program.
pub(super) type Version = Option<Writer>;

/// The versions of each key, the current one last.
#[derive(Clone, Debug, Default)]
pub(super) struct Plain(BTreeMap<String, Vec<Version>>);

impl Plain {
    pub(super) fn top(&self, key: &str) -> Option<Version> {
        self.0.get(key).and_then(|versions| versions.last()).copied()
    }

    /// The current version of each key, and the job that created its record.
    pub(super) fn records(&self) -> BTreeMap<&str, (Version, Option<JobId>)> {
        let record = |versions: &'_ Vec<Version>| {
            let created_by = versions.first()?.map(|writer| writer.job);
            Some((*versions.last()?, created_by))
        };
        self.0.iter().filter_map(|(key, versions)| Some((key.as_str(), record(versions)?))).collect()
    }

    /// Applies a row that an import reports as succeeded.
    pub(super) fn import(&mut self, rule: Rule, key: &str, row: Writer) {
        let versions = self.0.entry(key.to_owned()).or_default();
        match versions.last() {
            Some(Some(holder)) if holder.job == row.job => {
                let latest = if rule == Rule::Insert { row } else { row.max(*holder) };
                versions.pop();
                versions.push(Some(latest));
            }
            _ => versions.push(Some(row)),
        }
    }

    /// Another program writes a record.
    pub(super) fn write_directly(&mut self, key: &str) {
        self.0.insert(key.to_owned(), vec![None]);
    }

    /// A client deletes a record.
    pub(super) fn delete(&mut self, key: &str) {
        self.0.remove(key);
    }

    /// Undoes an import.
    pub(super) fn undo(&mut self, job: JobId) {
        for versions in self.0.values_mut() {
            if versions.last().is_some_and(|top| top.is_some_and(|writer| writer.job == job)) {
                versions.pop();
            }
        }
    }

    /// The outcome of a row of an undo, from the state before it.
    pub(super) fn outcome(&self, key: &str, undone: JobId) -> &'static str {
        self.top(key).and_then(|top| reason(top.map(|writer| writer.job), undone)).unwrap_or("ok")
    }
}

/// The reason for which the undo of a job skips a record, by the job that wrote its version; `None` for another program.
pub(crate) fn reason(writer: Option<JobId>, undone: JobId) -> Option<&'static str> {
    match writer {
        Some(job) if job == undone => None,
        Some(job) if job < undone => Some("not_written"),
        _ => Some("changed_since"),
    }
}
