//! The upload of a file with a bar.

use std::path::Path;

use anyhow::Result;
use indicatif::ProgressBar;
use serde_json::Value;

use crate::api::{Api, CostEstimate, LocalFile};
use crate::output::interrupt;
use crate::output::progress::{Shown, style};

/// Opens a file, or with `-` copies standard input. Without a name, the file has its own, and standard input this one.
pub(crate) fn open(file: &Path, name: Option<&str>, default_name: &str) -> Result<LocalFile> {
    if file == Path::new("-") {
        return LocalFile::standard_input(name.unwrap_or(default_name));
    }
    let file = LocalFile::open(file)?;
    Ok(match name {
        Some(name) => file.named(name),
        None => file,
    })
}

/// Uploads what the deployment does not have of the file. Returns the upload's id.
pub(crate) fn upload(api: &Api, file: &LocalFile) -> Result<String> {
    let bar = ProgressBar::new(file.size_bytes());
    bar.set_style(style("  {bar:32} {bytes} of {total_bytes} uploaded  {bytes_per_sec}").progress_chars("█▌░"));
    if bar.is_hidden() {
        eprintln!("  Uploading {}...", file.name());
    }
    interrupt::hint("interrupted; the same command resumes the upload");
    let sent = |bytes: i64| if bytes < 0 { bar.dec(bytes.unsigned_abs()) } else { bar.inc(bytes.unsigned_abs()) };
    let shown = Shown::new(&bar);
    let uploaded = api.upload_missing(file, &sent);
    drop(shown);
    interrupt::hint("");
    bar.finish_and_clear();
    uploaded
}

/// Uploads the file, and creates a job of this request with it. Returns the URL to poll.
pub(crate) fn create_job(api: &Api, file: &LocalFile, request: &Value) -> Result<String> {
    upload_for(api, file, |id| {
        let mut request = request.clone();
        request["fileGuid"] = id.into();
        create(api, &request)
    })
}

/// Creates a job of this request, and prints the estimate of its cost, or that there is none. Returns the URL to poll.
pub(crate) fn create(api: &Api, request: &Value) -> Result<String> {
    let (url, estimate) = api.create_estimated(request)?;
    match estimate {
        Some(CostEstimate { total, assumed_item_bytes: None }) => eprintln!("  The job will cost about ${total:.6}"),
        Some(CostEstimate { total, assumed_item_bytes: Some(bytes) }) => {
            eprintln!("  The job will cost about ${total:.6}, if its rows have {bytes} bytes; shorter ones cost more");
        }
        None if has_items(request) => {
            eprintln!("  The cost of the job is not estimated, because the number of its items is not known");
        }
        None => {}
    }
    Ok(url)
}

/// Returns true if the job of this request has items. One without is a single item.
fn has_items(request: &Value) -> bool {
    ["fileGuid", "items", "source"].iter().any(|member| request.get(member).is_some())
}

/// Uploads the file, and creates a job or retry with it by `create`. The upload of an earlier command is used if it still
/// exists.
pub(crate) fn upload_for<T>(api: &Api, file: &LocalFile, create: impl Fn(&str) -> Result<T>) -> Result<T> {
    match create(&upload(api, file)?) {
        // It was removed with its last job between the two calls.
        Err(error) if crate::api::is_refused_with(&error, "unknown_file") => create(&api.upload(file)?),
        created => created,
    }
}
