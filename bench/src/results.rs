//! All measurements.

use crate::beside::{Beside, ReadCost};
use crate::cold_start::{ColdStart, Size};
use crate::run::CaseResult;
use longshore_cli::api::Mode;
use std::collections::BTreeMap;

/// All measurements.
pub(crate) struct Results {
    pub(crate) machine: Vec<(&'static str, String)>,
    pub(crate) cases: Vec<CaseResult>,
    pub(crate) cold_starts: Vec<ColdStart>,
    pub(crate) sizes: Vec<Size>,
    /// Configured memory by function.
    pub(crate) memory_mb: BTreeMap<String, u32>,
}

impl Results {
    pub(crate) fn case(&self, mode: Mode, rows: u64) -> Option<&CaseResult> {
        self.cases.iter().find(|result| result.case.is(mode, rows))
    }
}

/// A small job beside a large one, and the cost of reading both.
pub(crate) struct BesideResults {
    pub(crate) machine: Vec<(&'static str, String)>,
    pub(crate) beside: Beside,
    pub(crate) reads: Vec<ReadCost>,
}
