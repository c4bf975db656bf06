//! Ctrl-C: a command that waits for a job tells how to go on, and ends with 130. The job itself goes on.

use std::fs::remove_file;
use std::path::PathBuf;
use std::process::exit;
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::exit::Exit;

/// The text that is printed on Ctrl-C.
static HINT: Mutex<String> = Mutex::new(String::new());

/// The file that is removed on Ctrl-C, because it is not complete.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Prints the hint and ends the process on Ctrl-C. Without a handler of signals, the shell's own treatment stays.
pub fn listen() {
    let wait = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        runtime.block_on(tokio::signal::ctrl_c())
    };
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

/// Sets the text that is printed on Ctrl-C from now on.
pub fn hint(text: impl Into<String>) {
    *HINT.lock().unwrap_or_else(PoisonError::into_inner) = text.into();
}

/// Sets the file that is removed on Ctrl-C; `None` once it is complete.
pub fn unfinished(path: Option<PathBuf>) {
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = path;
}
