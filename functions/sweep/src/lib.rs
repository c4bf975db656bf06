//! Every job ends: finds those that do not get on, and gives them a push.
//!
//! - **Trigger:** a schedule, every minute.
//! - **Reads and writes:** the index of unfinished jobs, their groups, the dead-letter queues and the depth of the
//!   chunk queues. Sends messages again, commits items of dead chunks as failed, and tells jobs to stop. For a deleted
//!   job that has ended it removes files, upload, records and the job. At the gates of job types it calls in waiting
//!   chunks if there is room.
//! - **Run twice at once:** both send their pushes, which is harmless, and one of them is counted: anything given up
//!   after four pushes was sent at four different times.
//! - **If it fails:** the next minute's run sees the same ledger and decides the same. One job's failure is logged and
//!   does not keep the others waiting.
//! - **Dead letters:** each is noted in the table once, for operators. A message is deleted once its note says that an
//!   operator has replayed or discarded it, or once it is no longer needed and hides others of its message group.
//! - **Never:** deletes any other message, touches a job that has ended and is not deleted, removes a record that a job
//!   has imported, trusts anything but the ledger and the queues.
//!
//! It lists, decides purely ([`decide`]) and then acts.

mod act;
mod dead_letters;
pub mod decide;
mod jobs;
mod look;
mod parked;
mod remove;
mod run;

pub use dead_letters::{OpenDeadLetters, read_dead_letters};
pub use run::{Sweep, Swept};
