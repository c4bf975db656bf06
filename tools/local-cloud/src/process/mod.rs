//! Processes: those that outlive the command that started them, and those that end with it.

mod cleanup;
mod lifetime;
mod ready;
mod signal;

pub use cleanup::Cleanup;
pub use lifetime::{Background, Process, this_program};
pub(crate) use ready::wait_until_ready;
pub use ready::{agent, free_port, responds};
pub use signal::{kill, terminate, terminate_group};
