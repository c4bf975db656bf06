//! Signals to processes and process groups.

use anyhow::{Context, Result};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// Terminates a process.
///
/// # Errors
/// If there is no such process.
pub fn terminate(id: u32) -> Result<()> {
    kill_process(pid(id)?, Signal::TERM).with_context(|| format!("cannot terminate process {id}"))
}

/// Kills a process, as the kernel does when memory runs out. The process cannot clean up.
///
/// # Errors
/// If there is no such process.
pub fn kill(id: u32) -> Result<()> {
    kill_process(pid(id)?, Signal::KILL).with_context(|| format!("cannot kill process {id}"))
}

/// Terminates a process group. An empty group is not an error.
///
/// # Errors
/// If the system refuses the signal.
pub fn terminate_group(group: u32) -> Result<()> {
    signal_group(Signal::TERM, group)
}

/// Kills a process group. An empty group is not an error.
pub(super) fn kill_group(group: u32) -> Result<()> {
    signal_group(Signal::KILL, group)
}

fn signal_group(signal: Signal, group: u32) -> Result<()> {
    match kill_process_group(pid(group)?, signal) {
        // Some systems refuse a signal to a group of zombies.
        Ok(()) | Err(Errno::SRCH | Errno::PERM) => Ok(()),
        Err(error) => Err(error).with_context(|| format!("cannot signal the process group {group}")),
    }
}

fn pid(id: u32) -> Result<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw).with_context(|| format!("{id} is not a process id"))
}
