//! Processes: those that outlive the command that started them, and those that end with it.

mod background;
mod cleanup;
mod owned;
mod ready;
mod signal;

pub use background::{Background, this_program};
pub use cleanup::Cleanup;
pub use owned::Process;
pub(crate) use ready::wait_until_ready;
pub use ready::{agent, free_port, responds};
pub use signal::{kill, terminate, terminate_group};
