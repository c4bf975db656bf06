//! Ensures that every job ends: finds jobs without progress, and pushes them.
//!
//! - **Trigger:** a schedule, every minute.
//! - **Reads and writes:** the index of unfinished jobs, their groups, the dead-letter queues and the depth of the
//!   chunk queues. Sends messages again, commits items of dead chunks as failed, and stops jobs. For a deleted job that
//!   has ended it removes files, upload, records and the job. For job types with a concurrency limit it wakes parked
//!   chunks if there are free permits.
//! - **Paused:** of a paused job it only marks groups that have ended, and completes its end. Neither a dead split nor
//!   its cost stops the job; its time limit and its deletion do.
//! - **Scheduled jobs:** puts those whose time has come into their queue.
//! - **Schedules:** fires those whose time has come: each occurrence makes one job, or has one reason why not. After
//!   that, it checks the options of those whose job type was registered again, and fires them.
//! - **Webhooks:** sends messages for deliveries whose attempt is overdue.
//! - **Run twice at once:** both runs send their pushes, which is harmless, and one of the two is counted. So work that
//!   is given up after four pushes was sent at four different times.
//! - **If it fails:** the next minute's run reads the same ledger and makes the same decisions. The failure of one job
//!   is logged and does not delay the others.
//! - **Dead letters:** each is recorded in the table once, for operators. A message is deleted once its record says
//!   that an operator has replayed or discarded it, or once it is no longer needed and hides others of its message
//!   group.
//! - **Never:** deletes any other message; touches a job that has ended, is not deleted and has no pending event; removes a record that a job
//!   has imported; relies on anything but the ledger and the queues.
//!
//! It lists the jobs, decides with pure functions ([`decide`]) and then acts.

mod dead_letters;
pub mod decide;
mod due;
mod inspector;
mod jobs;
mod options;
pub mod overdue;
mod pauses;
mod push;
mod run;

pub use dead_letters::{OpenDeadLetters, read_dead_letters};
pub use jobs::SweepSummary;
pub use run::Sweep;
