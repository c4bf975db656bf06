//! The checks, one file each.

mod batch;
mod codes;
mod concurrency;
mod content_type;
mod deadline;
mod invalid_items;
mod keys;
mod large_batch;
mod one_item;
mod ping;
mod repeat;
mod signature;
mod timestamp;
mod unknown_members;
mod unknown_ping;

use anyhow::Result;

use super::lab::{Lab, Notebook};
use super::order::Check;
use super::report::Report;

/// Makes a check.
///
/// # Errors
/// If a message cannot be written.
pub(super) async fn make(check: Check, lab: &Lab, notebook: &mut Notebook) -> Result<Report> {
    match check {
        Check::Ping => Ok(ping::check(lab, notebook).await),
        Check::ContentType => Ok(content_type::check(notebook)),
        Check::UnknownPing => Ok(unknown_ping::check(lab).await),
        Check::Signature => Ok(signature::check(lab, notebook).await),
        Check::Timestamp => Ok(timestamp::check(lab, notebook).await),
        Check::OneItem => one_item::check(lab, notebook).await,
        Check::Batch => batch::check(lab, notebook).await,
        Check::Keys => keys::check(lab, notebook).await,
        Check::Repeat => repeat::check(lab, notebook).await,
        Check::UnknownMembers => unknown_members::check(lab, notebook).await,
        Check::InvalidItems => invalid_items::check(lab, notebook).await,
        Check::LargeBatch => large_batch::check(lab, notebook).await,
        Check::Deadline => deadline::check(lab, notebook).await,
        Check::Concurrency => concurrency::check(lab, notebook).await,
        Check::Codes => Ok(codes::check(notebook)),
    }
}

/// Returns a note if some items have no result.
fn partial_note(answered: usize, all: usize) -> Option<String> {
    (answered < all).then(|| {
        format!("answers only {answered} of {all} items: this is allowed, and the others are sent again at once")
    })
}
