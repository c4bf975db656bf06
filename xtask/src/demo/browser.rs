//! Opens the demo's job on the page, in the local browser.

use crate::up;
use local_cloud::state::State;
use std::process::{Command, Stdio};

/// Prints the URL of a job's page, and opens it in the browser. `url` is the job's URL in the API.
pub(super) fn show_job(state: &State, url: &str) {
    // `/api/jobs/ID` is the job as JSON, `/jobs/ID` is its page.
    let page = url.replacen("/api/jobs/", "/jobs/", 1);
    println!("\n  page      {page}");
    up::show_sign_in(state);
    println!();
    let (program, arguments): (_, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start"]),
        _ => ("xdg-open", &[]),
    };
    // The browser's messages are not related to the demo.
    let mut browser = Command::new(program);
    browser.args(arguments).arg(&page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if browser.spawn().is_err() {
        println!("  Cannot open a browser: open this URL yourself.");
    }
}
