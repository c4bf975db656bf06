//! Writers of records and their precedence: the rules that make writes independent of their order, and the result of a
//! write.

use crate::ids::JobId;

/// One row of one job. Later jobs are greater (their ids begin with the time), and so are later rows of one job.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub struct Writer {
    /// The job.
    pub job: JobId,
    /// Number of the row, from 1.
    pub row: u64,
}

impl Writer {
    /// Parses the output of [`Writer`]'s `Display`.
    pub fn parse(text: &str) -> Option<Self> {
        let (job, row) = text.split_once('#')?;
        Some(Self { job: JobId::parse(job)?, row: row.parse().ok()? })
    }
}

/// Text that sorts as the writers do, so that the table can compare it.
impl std::fmt::Display for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}#{:020}", self.job, self.row)
    }
}

/// Effect of a write on an existing key.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Rule {
    /// Overwrites only its own write: the first writer has the key.
    Insert,
    /// Overwrites its own write and that of an earlier row or job: the latest writer has the key.
    Upsert,
    /// Overwrites like [`Rule::Upsert`], but only an existing record: a missing key stays missing.
    Update,
    /// Deletes the record of an earlier row or job, or its own. A missing record is a success: a repeated delete cannot
    /// be distinguished from the first one.
    Delete,
}

impl Rule {
    /// Returns the result of `new` if `holder` keeps the key; `None` if `new` overwrites it.
    pub fn refusal(self, holder: Writer, new: Writer) -> Option<Written> {
        match self {
            Self::Insert => (holder != new).then_some(Written::Taken(Some(holder))),
            Self::Upsert | Self::Update | Self::Delete => (holder > new).then_some(Written::Superseded(holder)),
        }
    }

    /// Returns true if the rule stores a record for a key that does not exist.
    pub fn creates(self) -> bool {
        matches!(self, Self::Insert | Self::Upsert)
    }

    /// Returns true if the last of several rows with the same key takes precedence, false if the first one does.
    pub fn last_wins(self) -> bool {
        self != Self::Insert
    }
}

/// Result of a write.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Written {
    /// The record is in the table; under [`Rule::Delete`], no record has the key.
    Stored,
    /// No record has the key, and the rule overwrites existing records only.
    Missing,
    /// A later writer's record is in the table, and stays.
    Superseded(Writer),
    /// Another writer has the key, and the rule forbids overwriting; `None` if that record was not written by an
    /// import.
    Taken(Option<Writer>),
    /// The table will never accept the record; with the reason.
    Refused(String),
    /// The result is unknown: write the record again, later.
    Unknown(String),
    /// The table had no capacity and did not write the record: write it again, later. The record itself is valid.
    Throttled(String),
    /// The record is no longer the version that was to be replaced: read it again.
    Changed,
    /// The write was not started, because earlier ones took too long: write the record again, now.
    Untried,
}

impl Written {
    /// Returns the result for a key whose record no import wrote: no import overwrites it.
    pub fn not_imported() -> Self {
        Self::Refused(String::from("the key belongs to a record that no import wrote"))
    }
}

#[cfg(test)]
mod tests {
    use crate::ids::JobId;

    use super::{Rule, Writer, Written};

    #[test]
    fn a_writer_reads_back_and_its_text_sorts_as_it_does() {
        let (old, new) = (JobId::generate(), JobId::generate());
        let writers = [(old, 1), (old, 2), (old, 10), (old, u64::MAX), (new, 1)].map(|(job, row)| Writer { job, row });
        let texts = writers.map(|w| w.to_string());
        assert!(writers.is_sorted() && texts.is_sorted());
        assert_eq!(texts.map(|t| Writer::parse(&t)), writers.map(Some));
        assert_eq!(Writer::parse("nonsense"), None);
    }

    #[test]
    fn insert_yields_to_every_other_writer_and_the_other_rules_only_to_later_ones() {
        let job = JobId::generate();
        let [first, second] = [1, 2].map(|row| Writer { job, row });
        assert_eq!(Rule::Insert.refusal(first, first), None);
        assert_eq!(Rule::Insert.refusal(first, second), Some(Written::Taken(Some(first))));
        assert_eq!(Rule::Insert.refusal(second, first), Some(Written::Taken(Some(second))));
        for rule in [Rule::Upsert, Rule::Update, Rule::Delete] {
            assert_eq!(rule.refusal(first, first), None);
            assert_eq!(rule.refusal(first, second), None);
            assert_eq!(rule.refusal(second, first), Some(Written::Superseded(second)));
        }
    }
}
