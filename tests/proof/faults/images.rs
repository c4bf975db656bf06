//! A job of the type `image` over images of the endpoint, and the comparison of its results with the stored copies.

use anyhow::{Context, Result};
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};

use super::handled::create;
use super::handlers::Handlers;
use super::jobs::{END_PATIENCE, patient};

/// Number of images of a job.
pub(super) const IMAGES: u64 = 24;

/// The first bytes of a PNG.
const PNG: &[u8] = b"\x89PNG\r\n";

/// Runs a job. Returns the differences from the expected copies.
pub(super) fn run_images(handlers: &Handlers) -> Result<Vec<String>> {
    let client = patient(&handlers.stack);
    let items: Vec<_> = (1..=IMAGES).map(|number| json!({ "url": handlers.image_url(number) })).collect();
    let options = json!({ "sizes": [{ "name": "small", "maxWidth": 16 }, { "name": "flat", "maxHeight": 12 }] });
    let id = create(&client, &json!({ "jobType": "image", "items": items, "options": options }))?;
    let watch = Watch::new(&handlers.stack, &id).with_client(&client).patient(END_PATIENCE);
    let job = { watch }.end().with_context(|| format!("image job {id}"))?;
    let counts = json!({ "succeeded": IMAGES, "failed": 0, "skipped": 0, "pending": 0 });
    let mut differences = Vec::new();
    if job["status"] != "completed" || job["counts"] != counts {
        differences.push(format!("image job {id}: {} {}", job["status"], job["counts"]));
    }
    let results = client.get(&format!("/api/jobs/{id}/results?limit=100"))?.expect(200)?;
    let results = results["results"].as_array().context("no results")?;
    let mut numbers: Vec<_> = results.iter().filter_map(|result| result["number"].as_u64()).collect();
    numbers.sort_unstable();
    if !numbers.iter().copied().eq(1..=IMAGES) {
        differences.push(format!("image job {id}: the results are of {numbers:?}"));
    }
    for output in results.iter().map(|result| &result["output"]) {
        for file in output["files"].as_array().context("no files")? {
            let path = file["url"].as_str().context("no URL")?;
            let copy = client.redirected(path)?;
            if !is_expected(output, file, &copy) {
                differences.push(format!("{path} has {} bytes: {output}", copy.len()));
            }
        }
    }
    Ok(differences)
}

fn is_expected(output: &Value, file: &Value, copy: &[u8]) -> bool {
    let size = |of: &Value| [&of["width"], &of["height"]].map(Value::as_u64);
    let is_scaled = size(output) == [Some(64), Some(48)] && size(file) == [Some(16), Some(12)];
    is_scaled && copy.starts_with(PNG) && file["bytes"] == json!(copy.len())
}
