//! Opens the demo's job on the page, in the local browser.

use crate::up;
use local_cloud::state::State;
use std::process::{Command, Stdio};

/// Opens the page of the job at `url` of the API; without a browser, only prints its URL.
pub(super) fn show_job(state: &State, url: &str) {
    // `/api/jobs/ID` is the job's JSON, `/jobs/ID` its page.
    let page = url.replacen("/api/jobs/", "/jobs/", 1);
    println!("\n  page      {page}");
    up::show_sign_in(state);
    println!();
    let (program, arguments): (_, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start"]),
        _ => ("xdg-open", &[]),
    };
    // The browser's own messages are about the desktop, not about the demo.
    let mut browser = Command::new(program);
    browser.args(arguments).arg(&page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if browser.spawn().is_err() {
        println!("  No browser could be opened here: open the address in one.");
    }
}
