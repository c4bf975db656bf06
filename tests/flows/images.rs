//! Jobs of the type `image`: copies of the images at URLs, and the reasons of those that fail.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use longshore_domain::random::nonce;
use longshore_images::{Format, Probed, probe};
use longshore_tests::harness::watch::Watch;
use serde_json::json;

use crate::https_server::{Running, Site};
use crate::shared::{Story, counts, impatient};

fn serve() -> Result<Running> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let images = root.join("../shared/images/tests/files");
    let images = images.to_str().context("the path is no text")?;
    Site::Images.serve(&root.join("flows"), "image_site", &[("IMAGES", images)])
}

#[test]
fn images_are_resized_and_each_bad_one_fails_alone() -> Story {
    let Some(stack) = impatient() else { return Ok(()) };
    let _site = serve()?;
    let stranger = stack.client.clone().with_token(&stack.users.add(&format!("stranger-{}", nonce()))?.token);
    let address = |name: &str| format!("{}{name}", Site::Images.endpoint().url());
    let good = ["progressive.jpg", "palette.png", "moved", "busy"];
    let bad = [
        ("page.jpg", "not_an_image"),
        ("absent.jpg", "not_found"),
        ("cmyk.jpg", "image_damaged"),
        ("metadata", "url_not_allowed"),
    ];
    let names = good.iter().copied().chain(bad.map(|(name, _)| name));
    let items: Vec<_> = names.map(|name| json!({ "url": address(name) })).chain([json!({ "url": 1 })]).collect();
    let listed = stack.client.get("/api/job-types/image")?.expect(200)?;
    ensure!(listed["status"] == "active" && listed["target"].is_null(), "{listed}");
    let sizes = json!([{ "name": "small", "maxWidth": 16 }, { "name": "flat", "maxWidth": 400, "maxHeight": 12 }]);
    let request = json!({ "jobType": "image", "items": items, "options": { "sizes": sizes, "format": "webp" } });
    let job = stack.client.post("/api/jobs", &request)?.expect(202)?;
    let id = job["jobId"].as_str().context("no id")?;
    let job = Watch::new(stack, id).end()?;
    ensure!(counts(&job) == [4, 5, 0], "{job}");
    let failures = stack.client.get(&format!("/api/jobs/{id}/failures"))?.expect(200)?;
    let codes: Vec<_> = failures["failures"].as_array().into_iter().flatten().map(|failure| &failure["code"]).collect();
    ensure!(codes == bad.map(|(_, code)| code).iter().chain(&["url_missing"]).collect::<Vec<_>>(), "{failures}");
    let results = stack.client.get(&format!("/api/jobs/{id}/results"))?.expect(200)?;
    let results = results["results"].as_array().context("no results")?;
    ensure!(results.len() == good.len(), "{results:?}");
    for result in results {
        let output = &result["output"];
        ensure!((&output["width"], &output["height"]) == (&json!(64), &json!(48)), "{output}");
        let files: Vec<_> = output["files"].as_array().into_iter().flatten().collect();
        ensure!(files.len() == 2, "{output}");
        for file in files {
            let path = file["url"].as_str().context("no URL")?;
            let copy = stack.client.redirected(path)?;
            ensure!(file["bytes"] == json!(copy.len()), "{file}");
            let probed = probe(&copy).map_err(|error| anyhow::anyhow!("{path}: {error}"))?;
            ensure!(probed == Probed { format: Format::Webp, width: 16, height: 12 }, "{path}: {probed:?}");
            stranger.get(path)?.expect(404)?;
        }
    }
    Ok(())
}
