//! Ctrl-C: a command that waits for a job prints how to continue, and exits with 130. The job itself goes on. A command
//! that creates many jobs stops first.

use std::fs::remove_file;
use std::path::PathBuf;
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::output::exit::Exit;

/// The text that is printed on Ctrl-C.
static HINT: Mutex<String> = Mutex::new(String::new());

/// The file that is removed on Ctrl-C, because it is not complete.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Prints the hint and ends the process on Ctrl-C. Without a handler of signals, the shell's own treatment stays.
pub fn listen() {
    thread::spawn(move || {
        if wait().is_ok() {
            let hint = HINT.lock().unwrap_or_else(PoisonError::into_inner);
            eprintln!("\n{}", if hint.is_empty() { "interrupted" } else { &hint });
            if let Some(path) = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).take() {
                // The process ends anyway.
                let _ = remove_file(path);
            }
            exit(Exit::Interrupted as i32);
        }
    });
}

/// Sets the flag on the first Ctrl-C, and ends the process on the second one.
pub(crate) fn stop_on_first(flag: &'static AtomicBool) {
    thread::spawn(move || {
        if wait().is_ok() {
            flag.store(true, Ordering::Relaxed);
            eprintln!("\nStopping; press Ctrl-C again to end at once");
            if wait().is_ok() {
                exit(Exit::Interrupted as i32);
            }
        }
    });
}

/// Waits for Ctrl-C.
fn wait() -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(tokio::signal::ctrl_c())
}

/// Sets the text that is printed on Ctrl-C from now on.
pub fn hint(text: impl Into<String>) {
    *HINT.lock().unwrap_or_else(PoisonError::into_inner) = text.into();
}

/// Sets the file that is removed on Ctrl-C; `None` once it is complete.
pub fn unfinished(path: Option<PathBuf>) {
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = path;
}
