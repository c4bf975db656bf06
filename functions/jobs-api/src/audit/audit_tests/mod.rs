//! A sound job, and one thing of it changed at a time: the audit names that thing.

mod audited;
mod ledger;
mod report;
mod work;
