//! The dead letter of a path.

use longshore::http::Failure;
use longshore::problem::Problem;
use longshore_domain::dead_letter::DeadLetterRecord;
use longshore_domain::ports::DeadLetterRecords;
use longshore_domain::timestamp::Timestamp;

/// Maximum length of an id in bytes: a time and an SQS message id.
pub(crate) const ID_BYTES: usize = 128;

/// Returns the dead letter of a path.
///
/// # Errors
/// 404 if it does not exist, or if it has expired and DynamoDB has not yet removed it.
pub(crate) async fn find_dead_letter(
    store: &impl DeadLetterRecords,
    id: &str,
    now: Timestamp,
) -> Result<DeadLetterRecord, Failure> {
    // Ids that cannot exist are not looked up: the table refuses keys that are too long.
    if id.len() > ID_BYTES {
        return Err(Problem::not_found("dead letter").into());
    }
    let dead_letter = store.dead_letter(id).await?.filter(|dead_letter| is_kept(dead_letter, now));
    Ok(dead_letter.ok_or_else(|| Problem::not_found("dead letter"))?)
}

/// Returns true if the dead letter has not expired.
pub(crate) fn is_kept(dead_letter: &DeadLetterRecord, now: Timestamp) -> bool {
    dead_letter.expires_at > now.seconds()
}
