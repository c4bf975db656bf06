//! The receipt of a job: it is correct for every kind of upload.

use anyhow::{Context, Result, ensure};
use data_encoding::HEXLOWER;
use longshore_tests::harness::watch::Watch;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::shared::{Story, finish, probe_file, stack, work};

fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// The receipt in an output document, after a check that it equals the linked file.
fn receipt(output: &Value) -> Result<Value> {
    let receipt = &output["receipt"];
    let file = stack().client.get(receipt["url"].as_str().context("the receipt has no link")?)?.expect(200)?;
    ensure!(file == receipt["document"], "the receipt in the response differs from the file: {file} {receipt}");
    Ok(file)
}

#[test]
fn a_receipt_has_the_sizes_and_checksums_of_the_files() -> Story {
    let file = probe_file((0..400).map(|n| if n % 3 == 0 { "reject,,,\"two\nlines\"" } else { "skip,,," }));
    let (job, report) = work(stack(), "probe", &file, &json!({}))?;
    let output = &report.document;
    let receipt = receipt(output)?;
    ensure!(receipt["jobId"] == job["jobId"] && receipt["itemCount"] == 400, "{receipt}");
    ensure!(receipt["counts"] == output["counts"], "{receipt} {output}");
    let input = json!({ "name": "file.csv", "size": file.len(), "sha256": sha256(&file), "basis": "read" });
    assert_eq!(receipt["input"], input);
    for (n, name) in ["failed", "skipped"].into_iter().enumerate() {
        let file = stack().client.get(output["files"][name]["url"].as_str().context("the file has no link")?)?;
        let disposition = file.headers["content-disposition"].clone();
        let (rows, size, sha256) = (&output["files"][name]["rows"], file.body.len(), sha256(&file.body));
        let expected = json!({ "name": format!("file-{name}.csv"), "rows": rows, "size": size, "sha256": sha256 });
        assert_eq!(receipt["files"][n], expected);
        ensure!(disposition.contains(&format!("filename=\"file-{name}.csv\"")), "{disposition}");
    }
    Ok(())
}

#[test]
fn a_checksum_that_the_client_sent_and_the_bucket_checked_is_in_the_receipt() -> Story {
    let (client, file) = (&stack().client, probe_file(["ok,,,", "reject,,,"]));
    let upload = client.create_upload("given.csv", file.len(), Some(&sha256(&file)))?;
    let mut other = file.clone();
    other[30] ^= 1;
    ensure!(client.put(&upload, &other)?.status == 400, "the bucket has accepted a different file");
    client.put(&upload, &file)?.expect(200)?;
    let job = client.request_job("probe", upload["fileGuid"].as_str(), &json!({}))?.expect(202)?;
    let (_, report) = finish(stack(), job["jobId"].as_str().context("the job has no id")?, &file)?;
    let input = receipt(&report.document)?["input"].clone();
    assert_eq!((&input["basis"], &input["sha256"]), (&json!("upload"), &json!(sha256(&file))));
    Ok(())
}

#[test]
fn every_generation_has_its_own_receipt() -> Story {
    let (client, file) = (&stack().client, probe_file(["ok,,,", "reject,,,"]));
    let (job, _) = work(stack(), "probe", &file, &json!({}))?;
    let id = job["jobId"].as_str().context("the job has no id")?;
    client.retry(id, None)?.expect(202)?;
    Watch::new(stack(), id).end()?;
    let receipt = receipt(&client.get(&format!("/api/jobs/{id}/output"))?.expect(200)?)?;
    ensure!(receipt["generation"] == 1 && receipt["files"][0]["rows"] == 1, "{receipt}");
    Ok(())
}
