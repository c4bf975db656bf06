//! The wait for the end of a job.
//!
//! | module | content |
//! | --- | --- |
//! | [`watch`] | the wait, with a bar, through answers that fail for a while |
//! | `wait` | options of commands that wait, and the outcome of a job |

pub(crate) mod wait;
pub mod watch;
