//! `GET /api/jobs/{jobId}/audit`: recounts a job from all of its stored data, and reports equality or the differences.
//!
//! Every number of a job is a running sum. The audit relies on none of them: it adds up the groups, checks that the
//! chunks of the manifests are contiguous, reads every row of the report and of the work files, splits the input again,
//! reads every output, and compares all of this with each other.
//!
//! | file | contains |
//! | --- | --- |
//! | `get` | the call |
//! | `recount` | all comparisons |
//! | `ledger` | the job against groups, manifests and cursors |
//! | `report` | the result and the receipt against the ledger |
//! | `files` | the rows of the report's files against all of these |
//! | `reading` | streaming of a file, with retries of broken streams |
//! | `work`, `chain` | the work files against the ledger and the report |
//! | `plan` | the manifests against the records of the input |
//! | `results` | the index of the results against the ledger, the result and the receipt |
//! | `outputs` | the outputs of the workers and the results file against the index and the receipt |
//! | `rows`, `lines` | a streaming count of a file's rows, and the items that they belong to |
//! | `items` | sets of items |
//! | `findings` | the comparisons and the verdict |
//! | `document` | the response |

mod chain;
mod document;
mod files;
mod findings;
pub(crate) mod get;
mod items;
mod ledger;
mod lines;
mod outputs;
mod plan;
mod reading;
mod recount;
mod report;
mod results;
mod rows;
mod work;

pub use document::{AuditDocument, Check, Difference, Unchecked};
pub use recount::audit;

#[cfg(test)]
#[path = "audit_tests"]
mod tests {
    //! A consistent job with one change at a time: the audit reports that change.

    mod audited;
    mod files;
    mod item_files;
    mod ledger;
    mod results;
    mod workbooks;
}
