//! The job types of a world, and the stores that they need besides the services.
//!
//! To add a handler, add a variant of [`Kind`] with its name, weight and options, and its job type in
//! [`Kinds::registry`]. If it has a store, add the store to [`Kinds`], wrapped in `Stepwise` like the others, so that
//! its calls are also refused, repeated and interrupted. [`Kinds::check`] checks the handler's effects in that store at
//! the end of each job. Rows request an action in the column `action`; add further columns in `rows::file_of`. Add the
//! handler's own failure codes to [`Kind::explains`].
//!
//! The import handler is in `imports`.

use std::sync::Arc;

use futures::FutureExt;
use longshore::handler::Registry;
use longshore_domain::dataset::Dataset;
use longshore_domain::job::{DatasetSource, Job, Source};
use longshore_domain::ports::{NewRecord, RecordStore};
use longshore_domain::results::{ResultFormat, ResultsForm};
use longshore_domain::writer::{Rule, Writer};
use longshore_testing::{MemoryFiles, MemoryRecords};
use serde_json::{Value, json};

use crate::exports::{self, SmallExport};
use crate::handler::{self, Coarse, Enriching, Fine, Limited, Simulated, Stored};
use crate::imports::{self, SmallImport};
use crate::lying::{self, Lying};
use crate::report::Ended;
use crate::rng::Rng;
use crate::rows::{ACTIONS, OK, RETRY, bit, only};
use crate::small_undo::SmallUndo;

/// A job type.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub(crate) enum Kind {
    /// Chunks of three rows.
    #[default]
    Simulated,
    /// Chunks of three rows, with a concurrency limit.
    Limited,
    /// Chunks of one row, for many groups.
    Fine,
    /// Chunks of many rows, for many commits and continuations.
    Coarse,
    /// A handler with an output for each row that succeeds.
    Enriching,
    /// Items that are the records of a dataset.
    Stored,
    /// Items that are the failed items of another job.
    Copied,
    /// An export of a dataset to which another program writes.
    Export,
    /// An import in which the first row of a key wins.
    Insert,
    /// An import in which the last row of a key wins.
    Upsert,
    /// An import that overwrites existing records only.
    Update,
    /// An import that deletes records.
    Delete,
    /// An undo of one of the world's imports.
    Undo,
    /// A registered type, whose remote handler lies.
    Lying,
}

/// The job types of one world, with their stores.
#[derive(Clone, Debug)]
pub(crate) struct Kinds {
    pub(crate) records: MemoryRecords,
}

impl Kind {
    const ALL: [Self; 12] = [
        Self::Simulated,
        Self::Limited,
        Self::Fine,
        Self::Coarse,
        Self::Insert,
        Self::Upsert,
        Self::Update,
        Self::Delete,
        Self::Enriching,
        Self::Stored,
        Self::Export,
        Self::Lying,
    ];

    /// A random kind, by weight, except for copies and undos.
    pub(crate) fn random(rng: &mut Rng) -> Self {
        Self::ALL[rng.weighted(&[22, 18, 9, 7, 6, 5, 4, 4, 11, 7, 7, 12])]
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Simulated | Self::Copied => "simulated",
            Self::Limited => "limited",
            Self::Fine => "fine",
            Self::Coarse => "coarse",
            Self::Enriching => "enriching",
            Self::Stored => "stored",
            Self::Export => "export",
            Self::Undo => "undo",
            Self::Lying => lying::NAME,
            Self::Insert | Self::Upsert | Self::Update | Self::Delete => "import",
        }
    }

    /// Returns the rule of an import, and `None` for the other job types.
    pub(crate) fn rule(self) -> Option<Rule> {
        match self {
            Self::Insert => Some(Rule::Insert),
            Self::Upsert => Some(Rule::Upsert),
            Self::Update => Some(Rule::Update),
            Self::Delete => Some(Rule::Delete),
            Self::Simulated | Self::Limited | Self::Fine | Self::Coarse | Self::Enriching => None,
            Self::Stored | Self::Export | Self::Copied | Self::Undo | Self::Lying => None,
        }
    }

    /// Returns true if a job of the kind can be undone. Without a tolerance, it stores the versions that it overwrites.
    pub(crate) fn is_undoable(self, tolerated: Option<u64>) -> bool {
        matches!(self, Self::Insert | Self::Upsert | Self::Update) && tolerated.is_none()
    }

    /// Returns true if the items are the records of a dataset.
    pub(crate) fn has_dataset(self) -> bool {
        matches!(self, Self::Stored | Self::Export)
    }

    /// Returns the possible actions of each item, one bit per action. Records can be added to the dataset of an export.
    pub(crate) fn possible(self, rows: &[usize]) -> Vec<u8> {
        if self == Self::Export { vec![bit(OK); 2 * rows.len() + 1] } else { only(rows) }
    }

    /// Returns true if rows have the outcomes that they name.
    pub(crate) fn obeys(self) -> bool {
        self.rule().is_none() && self != Self::Export && self != Self::Undo
    }

    pub(crate) fn options(self, tolerated: Option<u64>) -> Value {
        if self == Self::Export {
            return json!({});
        }
        let of_import = |rule| imports::options(rule, tolerated.is_none());
        self.rule().map_or_else(|| json!({ "max_failed": tolerated }), of_import)
    }

    /// Returns the form of the results, one of several; `None` if the rows have no output.
    pub(crate) fn results(self, variant: usize) -> Option<ResultsForm> {
        let jsonl = ResultsForm::default();
        let forms = [
            ResultsForm { format: ResultFormat::Csv, ..jsonl.clone() },
            ResultsForm { gzip: true, ..jsonl.clone() },
            ResultsForm { format: ResultFormat::Xlsx, ..jsonl.clone() },
            jsonl,
        ];
        let forms = if self == Self::Export { exports::forms() } else { forms };
        matches!(self, Self::Enriching | Self::Export | Self::Lying).then(|| forms[variant % forms.len()].clone())
    }

    /// Returns true if any row can fail with this code, in addition to the codes of every handler.
    pub(crate) fn explains(self, code: &str) -> bool {
        match self.rule() {
            Some(rule) => code == "retries_exhausted" || imports::code(rule) == Some(code),
            None if self == Self::Lying => {
                matches!(code, "handler_failed" | "retries_exhausted" | "handler_unavailable")
            }
            None => self == Self::Undo && code == "retries_exhausted",
        }
    }
}

impl Default for Kinds {
    fn default() -> Self {
        Self { records: imports::records() }
    }
}

impl Kinds {
    /// Returns the job types. Imports keep previous versions of records in the files of the jobs.
    pub(crate) fn registry(&self, files: &MemoryFiles) -> Registry {
        let registry =
            Registry::default().with(Simulated).with(Limited).with(Fine).with(Coarse).with(Enriching).with(Stored);
        let registry = registry.with(SmallExport).with_handlers(Arc::new(Lying));
        let registry = registry.with(SmallUndo::of(&self.records, files));
        registry.with(SmallImport::into(&self.records, files)).with_records(imports::reader(&self.records))
    }

    /// Writes a record for each row into a dataset of the job's own, and returns the dataset as the job's source.
    pub(crate) fn write_records(&self, kind: Kind, job: &Job, rows: &[usize]) -> Source {
        match kind {
            Kind::Export => exports::write(&self.records, job, rows.len()),
            _ => self.write_rows(job, rows),
        }
    }

    /// Writes a record for each row, in the order of the rows. A record is in the report with its key, which therefore
    /// also names the action.
    fn write_rows(&self, job: &Job, rows: &[usize]) -> Source {
        let dataset = job.job_id.to_string();
        let into = Dataset { tenant: job.tenant.clone(), name: dataset.clone() };
        let record = |(n, action): (u64, &usize)| NewRecord {
            key: format!("{n:04}-{}", ACTIONS[*action]),
            data: [("action".to_owned(), json!(ACTIONS[*action]))].into_iter().collect(),
            writer: Writer { job: job.job_id, row: n },
        };
        let records = (1..).zip(rows).map(record).collect();
        self.records.put(&into, Rule::Insert, records).now_or_never().expect("records in memory never wait");
        Source::Dataset(DatasetSource { dataset, updated_since: None })
    }

    /// Checks the handler's effects at the end of a job.
    pub(crate) fn check(&self, kind: Kind, ended: &Ended<'_>) {
        let Ended { job, possible, succeeded, failed, .. } = ended;
        assert_eq!(job.job_type, kind.name());
        assert!(succeeded.iter().all(|n| !failed.contains_key(n)), "a row has succeeded and failed");
        if let Some(rule) = kind.rule() {
            return imports::check(&self.records, rule, ended);
        }
        if kind == Kind::Export || kind == Kind::Undo {
            return;
        }
        if kind == Kind::Lying {
            lying::check_ended(ended);
        }
        for n in *succeeded {
            let can_succeed = possible[*n - 1] & (bit(OK) | bit(RETRY)) > 0;
            let has_succeeded = can_succeed && handler::has_succeeded(job.job_id, *n as u64);
            assert!(has_succeeded, "row {n} counts as succeeded, but no handler has returned ok");
        }
    }
}
