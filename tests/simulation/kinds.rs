//! The job types of a world, and what each needs beside the services.
//!
//! To add a handler: a variant of [`Kind`] with its name, its weight and its options; its job type in [`Kinds::registry`]. If it
//! writes to a store of its own, that store is a field of [`Kinds`], wrapped in `Stepwise` as the others are: then each
//! of its calls is refused, made twice or left for another function, too. What its handler must have done is held against
//! that store by [`Kinds::check`], at every end of every job. Rows ask for actions by the column `action`; a handler that reads
//! more has its columns in `handler::file_of`. Failures of its own are told by [`Kind::explains`].

use std::collections::BTreeMap;

use longshore::handler::Registry;
use longshore_domain::job::Job;
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::handler::{Coarse, Fine, Limited, Simulated};

/// A job type.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub(crate) enum Kind {
    /// Chunks of three rows.
    #[default]
    Simulated,
    /// The same, of which only so many chunks run at once.
    Limited,
    /// Chunks of one row: many groups.
    Fine,
    /// Chunks of many rows: many commits, and continuations.
    Coarse,
}

/// A job that has ended, as its report says it.
pub(crate) struct Ended<'a> {
    pub(crate) job: &'a Job,
    /// Numbers of the rows that succeeded.
    pub(crate) succeeded: &'a [usize],
    /// Codes of the rows that failed.
    pub(crate) failed: &'a BTreeMap<usize, String>,
}

/// The job types of one world, with the stores that they write to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds;

impl Kind {
    const ALL: [Self; 4] = [Self::Simulated, Self::Limited, Self::Fine, Self::Coarse];

    /// One of them, the more frequent the likelier.
    pub(crate) fn of(dice: &mut Dice) -> Self {
        Self::ALL[dice.weighted(&[55, 25, 12, 8])]
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Limited => "limited",
            Self::Fine => "fine",
            Self::Coarse => "coarse",
        }
    }

    pub(crate) fn options(self, tolerated: Option<u64>) -> Value {
        json!({ "max_failed": tolerated })
    }

    /// Whether a row of this action may fail with this code, beside the codes that every handler has.
    pub(crate) fn explains(self, _action: &str, _code: &str) -> bool {
        false
    }
}

impl Kinds {
    pub(crate) fn registry(&self) -> Registry {
        Registry::default().with(Simulated).with(Limited).with(Fine).with(Coarse)
    }

    /// What a handler must have done by the end of a job.
    pub(crate) fn check(&self, kind: Kind, ended: &Ended<'_>) {
        match kind {
            // Their effects are the rows that were done: the oracle looks at them.
            Kind::Simulated | Kind::Limited | Kind::Fine | Kind::Coarse => {
                let Ended { job, succeeded, failed } = ended;
                assert_eq!(job.job_type, kind.name());
                assert!(succeeded.iter().all(|n| !failed.contains_key(n)), "a row has succeeded and failed");
            }
        }
    }
}
