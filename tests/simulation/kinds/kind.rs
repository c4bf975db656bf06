//! A job type, and the job types of one world with their stores.

use longshore::handler::Registry;
use longshore_domain::writer::Rule;
use longshore_testing::MemoryRecords;
use serde_json::{Value, json};

use crate::handler::{self, Coarse, Fine, Limited, Simulated};
use crate::report::Ended;
use crate::rng::Rng;
use crate::rows::{OK, RETRY, bit};

use super::imports::{self, SmallImport};

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
    /// An import in which the first row of a key wins.
    Insert,
    /// An import in which the last row of a key wins.
    Upsert,
}

/// The job types of one world, with their stores.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    records: MemoryRecords,
}

impl Kind {
    const ALL: [Self; 6] = [Self::Simulated, Self::Limited, Self::Fine, Self::Coarse, Self::Insert, Self::Upsert];

    /// A random kind, by weight.
    pub(crate) fn random(rng: &mut Rng) -> Self {
        Self::ALL[rng.weighted(&[45, 23, 11, 7, 8, 6])]
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Limited => "limited",
            Self::Fine => "fine",
            Self::Coarse => "coarse",
            Self::Insert | Self::Upsert => "import",
        }
    }

    /// Returns the rule of an import, and `None` for the other job types.
    fn rule(self) -> Option<Rule> {
        match self {
            Self::Insert => Some(Rule::Insert),
            Self::Upsert => Some(Rule::Upsert),
            Self::Simulated | Self::Limited | Self::Fine | Self::Coarse => None,
        }
    }

    /// Returns true if rows have the outcomes that they name.
    pub(crate) fn obeys(self) -> bool {
        self.rule().is_none()
    }

    pub(crate) fn options(self, tolerated: Option<u64>) -> Value {
        self.rule().map_or_else(|| json!({ "max_failed": tolerated }), imports::options)
    }

    /// Returns true if any row can fail with this code, in addition to the codes of every handler.
    pub(crate) fn explains(self, code: &str) -> bool {
        match self.rule() {
            Some(rule) => code == "retries_exhausted" || (code == "duplicate_key" && rule == Rule::Insert),
            None => false,
        }
    }
}

impl Kinds {
    pub(crate) fn registry(&self) -> Registry {
        let registry = Registry::default().with(Simulated).with(Limited).with(Fine).with(Coarse);
        registry.with(SmallImport::into(&self.records))
    }

    /// Checks the handler's effects at the end of a job.
    pub(crate) fn check(&self, kind: Kind, ended: &Ended<'_>) {
        let Ended { job, possible, succeeded, failed } = ended;
        assert_eq!(job.job_type, kind.name());
        assert!(succeeded.iter().all(|n| !failed.contains_key(n)), "a row has succeeded and failed");
        if let Some(rule) = kind.rule() {
            return imports::check(&self.records, rule, ended);
        }
        for n in *succeeded {
            let can_succeed = possible[*n - 1] & (bit(OK) | bit(RETRY)) > 0;
            let has_succeeded = can_succeed && handler::has_succeeded(job.job_id, *n as u64);
            assert!(has_succeeded, "row {n} counts as succeeded, but no handler has returned ok");
        }
    }
}
