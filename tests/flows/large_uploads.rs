//! Large files in parts, on a stack where a file of six megabytes is a large one.

use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::parts::{bytes_of, sha256};
use longshore_tests::harness::stack::{Stack, StackOptions};
use serde_json::{Value, json};

use crate::shared::{Story, counts, dataset, finish, has_own_emulator, lines, start};

const MIB: usize = 1 << 20;

/// A stack on which files above 5 MiB are uploaded in parts. `None` on an emulator that this process did not start.
fn wide() -> Option<&'static Stack> {
    static STACK: OnceLock<Stack> = OnceLock::new();
    let options = StackOptions { parameters: vec![("MultipartBytes", "5242880")], ..Default::default() };
    has_own_emulator().then(|| STACK.get_or_init(|| start(&options)))
}

/// About six megabytes of rows, of which every thousandth has no key.
fn people(rows: u32) -> Vec<u8> {
    let row = |number: u32| {
        let key = if number.is_multiple_of(1_000) { String::new() } else { number.to_string() };
        format!("{key},{}", "n".repeat(300))
    };
    lines(["id,name".to_owned()].into_iter().chain((1..=rows).map(row)))
}

fn listed(document: &Value, name: &str) -> Vec<u64> {
    let parts = document[name].as_array().into_iter().flatten();
    parts.filter_map(|part| part["partNumber"].as_u64()).collect()
}

fn problem(answer: &longshore_tests::harness::client::Answer, kind: &str) -> Result<String> {
    let body = answer.expect(409)?;
    ensure!(body["type"] == format!("/api/problems/{kind}"), "{body}");
    Ok(body["detail"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn a_large_file_is_put_in_parts_goes_on_after_half_of_them_and_is_imported() -> Story {
    let Some(stack) = wide() else { return Ok(()) };
    let (client, file) = (&stack.client, people(20_000));
    let upload = client.promise("people.csv", file.len(), None)?;
    let id = upload["fileGuid"].as_str().context("an upload without id")?;
    let (of_upload, of_urls) = (format!("/api/uploads/{id}"), format!("/api/uploads/{id}/url"));
    ensure!(upload["partSize"] == 5 * MIB && listed(&upload, "parts") == [1, 2] && upload["url"].is_null(), "{upload}");
    let parts = upload["parts"].as_array().context("an upload without parts")?;
    client.put_parts(&upload, &parts[..1], &file)?;
    // The page is reloaded: it knows the upload's id and has the file, and nothing else.
    let status = client.get(&of_upload)?.expect(200)?;
    ensure!(status["state"] == "waiting" && listed(&status, "receivedParts") == [1], "{status}");
    ensure!(status["receivedParts"][0]["sha256"].is_string(), "{status}");
    let options = json!({ "dataset": dataset("large"), "key": "id" });
    assert_eq!(client.ask("import", Some(id), &options)?.bad_field(), "/fileGuid file_not_uploaded");
    ensure!(problem(&client.complete(id)?, "upload-incomplete")?.contains(": 2;"));
    let rest = client.call("POST", &of_urls, &[], &[])?.expect(200)?;
    assert_eq!(listed(&rest, "parts"), [2]);
    client.put_parts(&rest, rest["parts"].as_array().context("no parts")?, &file)?;
    for _ in 0..2 {
        assert_eq!(client.complete(id)?.expect(200)?["state"], "received");
    }
    problem(&client.call("POST", &of_urls, &[], &[])?, "already-uploaded")?;
    let status = client.get(&of_upload)?.expect(200)?;
    ensure!(status["size"] == file.len() && status["receivedParts"].is_null(), "{status}");
    let job = client.ask("import", Some(id), &options)?.expect(202)?;
    let (job, report) = finish(stack, job["jobId"].as_str().context("a job without id")?, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [19_980, 20, 0]), "{job}");
    assert_eq!(report.codes().len(), 20);
    Ok(())
}

#[test]
fn a_client_with_the_checksums_of_all_parts_gets_all_urls_by_one_call() -> Story {
    let Some(stack) = wide() else { return Ok(()) };
    let (client, file) = (&stack.client, people(20_000));
    let wanted = |(number, bytes): (usize, &[u8])| json!({ "partNumber": number, "sha256": sha256(bytes) });
    let parts: Vec<_> = (1..).zip(file.chunks(5 * MIB)).map(wanted).collect();
    let request = json!({
        "fileName": "f.csv", "contentType": "text/csv", "size": file.len(), "partSize": 5 * MIB, "parts": parts,
    });
    let upload = client.post("/api/uploads", &request)?.expect(201)?;
    for (part, bytes) in upload["parts"].as_array().context("no parts")?.iter().zip(file.chunks(5 * MIB)) {
        client.put(part, bytes)?.expect(200)?;
    }
    let id = upload["fileGuid"].as_str().context("an upload without id")?;
    assert_eq!(client.complete(id)?.expect(200)?["state"], "received");
    Ok(())
}

#[test]
fn the_bucket_refuses_a_part_of_other_bytes_or_another_length() -> Story {
    let Some(stack) = wide() else { return Ok(()) };
    let (client, file) = (&stack.client, people(20_000));
    let upload = client.promise("people.csv", file.len(), None)?;
    let id = upload["fileGuid"].as_str().context("an upload without id")?;
    let bytes = bytes_of(&upload, &upload["parts"][0], &file)?;
    let part = client.part_url(id, &upload["parts"][0], bytes)?;
    assert_eq!(client.put(&part, &vec![b'x'; bytes.len()])?.status, 400, "other bytes");
    ensure!(client.put(&part, &bytes[1..])?.status >= 400, "a shorter part");
    let mut unchecked = part.clone();
    unchecked["headers"] = json!({});
    assert_eq!(client.put(&unchecked, bytes)?.status, 403, "without its checksum");
    let mut second = part.clone();
    second["url"] = part["url"].as_str().unwrap_or_default().replace("partNumber=1", "partNumber=2").into();
    assert_eq!(client.put(&second, bytes)?.status, 403, "in another's place");
    assert_eq!(listed(&client.get(&format!("/api/uploads/{id}"))?.expect(200)?, "receivedParts"), Vec::<u64>::new());
    client.put_whole(&upload, &file)
}

#[test]
fn one_key_makes_one_large_upload() -> Story {
    let Some(stack) = wide() else { return Ok(()) };
    let request = json!({ "fileName": "f.csv", "contentType": "text/csv", "size": 6 * MIB }).to_string();
    let headers = [("content-type", "application/json"), ("idempotency-key", "large-1")];
    let post = || stack.client.call("POST", "/api/uploads", &headers, request.as_bytes())?.expect(201);
    assert_eq!(post()?, post()?);
    Ok(())
}

#[test]
fn the_largest_file_is_planned_in_fewer_than_two_hundred_parts() -> Story {
    let Some(stack) = wide() else { return Ok(()) };
    let upload = stack.client.promise("f.csv", 5 << 30, None)?;
    let sizes: u64 = upload["parts"].as_array().into_iter().flatten().filter_map(|part| part["size"].as_u64()).sum();
    ensure!(sizes == 5 << 30 && listed(&upload, "parts").len() == 197, "{} parts", listed(&upload, "parts").len());
    Ok(())
}
