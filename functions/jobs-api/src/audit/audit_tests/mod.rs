//! A consistent job with one change at a time: the audit reports that change.

mod audited;
mod ledger;
mod report;
mod work;
