//! State of the function, and the dead letter that a path names.

use longshore::http::{Access, Failure, Operators};
use longshore::ports::Ports;
use longshore::problem::Problem;
use longshore_domain::dead_letter::DeadLetterRecord;
use longshore_domain::ports::DeadLetterRecords;
use longshore_domain::time_stamp::Timestamp;

/// Maximum length of an id in bytes: a time and an SQS message id.
pub(crate) const ID_BYTES: usize = 128;

/// State of the function: services and the clock. It needs no files.
pub struct DeadLetters<S, Q> {
    /// Store of jobs and dead-letter records; the work queues.
    pub ports: Ports<S, Q, ()>,
    /// Access control.
    pub access: Access,
    /// Authorization of operators.
    pub operators: Operators,
    /// The clock.
    pub clock: fn() -> Timestamp,
}

impl<S: DeadLetterRecords, Q> DeadLetters<S, Q> {
    /// Returns the dead letter that a path names.
    ///
    /// # Errors
    /// 404 if it does not exist, or if it has expired and DynamoDB has not yet removed it.
    pub(crate) async fn dead_letter(&self, id: &str) -> Result<DeadLetterRecord, Failure> {
        // Ids that cannot exist are not looked up: the table refuses keys that are too long.
        if id.len() > ID_BYTES {
            return Err(Problem::not_found("dead letter").into());
        }
        let dead_letter = self.ports.store.dead_letter(id).await?;
        let dead_letter = dead_letter.filter(|dead_letter| self.is_kept(dead_letter));
        Ok(dead_letter.ok_or_else(|| Problem::not_found("dead letter"))?)
    }

    /// Returns true if the dead letter has not expired.
    pub(crate) fn is_kept(&self, dead_letter: &DeadLetterRecord) -> bool {
        dead_letter.expires_at > (self.clock)().seconds()
    }
}
