//! Ctrl-C, and on Unix SIGTERM and SIGHUP: a command that waits for a job prints how to continue, removes an unfinished
//! file, and exits with 128 and the number of the signal. The job itself goes on. A command that creates many jobs stops
//! first.

use std::fs::remove_file;
use std::io;
use std::path::PathBuf;
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use tokio::signal::ctrl_c;

use crate::output::exit::Exit;

/// The text that is printed when the command is interrupted.
static HINT: Mutex<String> = Mutex::new(String::new());

/// The file that is removed when the command is interrupted, because it is not complete.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Prints the hint and ends the process when it is interrupted. Without a handler of signals, the shell's own treatment
/// stays.
pub fn listen() {
    thread::spawn(move || {
        if let Ok(end) = wait(interruption()) {
            let hint = HINT.lock().unwrap_or_else(PoisonError::into_inner);
            eprintln!("\n{}", if hint.is_empty() { "interrupted" } else { &hint });
            if let Some(path) = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).take() {
                // The process ends anyway.
                let _ = remove_file(path);
            }
            exit(end as i32);
        }
    });
}

/// Sets the flag on the first Ctrl-C, and ends the process on the second one. Other signals end it at once: another
/// process removes what it has created.
pub(crate) fn stop_on_first(flag: &'static AtomicBool) {
    thread::spawn(move || {
        if wait(ctrl_c()).is_ok() {
            flag.store(true, Ordering::Relaxed);
            eprintln!("\nStopping; press Ctrl-C again to end at once");
            if wait(ctrl_c()).is_ok() {
                exit(Exit::Interrupted as i32);
            }
        }
    });
}

/// Waits for a signal.
fn wait<T>(signal: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(signal)
}

/// Waits for Ctrl-C, or another signal that ends a process. Returns the exit code.
#[cfg(unix)]
async fn interruption() -> io::Result<Exit> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    // A handler would end a command that `nohup` has started.
    let mut hang_up = if ignores_hang_up() { None } else { Some(signal(SignalKind::hangup())?) };
    let hung_up = async {
        match &mut hang_up {
            Some(hang_up) => hang_up.recv().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        pressed = ctrl_c() => pressed.map(|()| Exit::Interrupted),
        _ = terminate.recv() => Ok(Exit::Terminated),
        _ = hung_up => Ok(Exit::HungUp),
    }
}

/// Waits for Ctrl-C. Returns the exit code.
#[cfg(not(unix))]
async fn interruption() -> io::Result<Exit> {
    ctrl_c().await.map(|()| Exit::Interrupted)
}

/// Returns true if the process was started so that it ignores SIGHUP. Where the system does not tell, one without a
/// terminal does: `nohup` takes it away.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    use std::io::IsTerminal;
    let status = std::fs::read_to_string("/proc/self/status").ok();
    let ignored = status.as_deref().and_then(ignored_signals);
    ignored.map_or_else(|| !io::stderr().is_terminal(), |ignored| ignored & 1 == 1)
}

/// Returns the ignored signals of a process from its status in `/proc`, as bits. The first bit is SIGHUP.
#[cfg(unix)]
fn ignored_signals(status: &str) -> Option<u64> {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(ignored.trim(), 16).ok()
}

/// Sets the text that is printed when the command is interrupted from now on.
pub fn hint(text: impl Into<String>) {
    *HINT.lock().unwrap_or_else(PoisonError::into_inner) = text.into();
}

/// Sets the file that is removed when the command is interrupted; `None` once it is complete.
pub fn unfinished(path: Option<PathBuf>) {
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = path;
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_ignored_signals_are_those_of_the_status() {
        assert_eq!(ignored_signals("SigBlk:\t0000000000000001\nSigIgn:\t0000000000001001\nSigCgt:\t0\n"), Some(0x1001));
        assert_eq!(ignored_signals("Name:\tlongshore\n"), None);
    }
}
