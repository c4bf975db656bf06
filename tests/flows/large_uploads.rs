//! Uploads in parts, on a stack where a file of six megabytes needs parts.

use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::parts::{bytes_of, sha256};
use longshore_tests::harness::stack::{Stack, StackOptions};
use serde_json::{Value, json};

use crate::shared::{Story, counts, dataset, finish, has_own_emulator, lines, start};

const MIB: usize = 1 << 20;

/// A stack on which files above 5 MiB are uploaded in parts. `None` on an emulator that this process did not start.
fn multipart_stack() -> Option<&'static Stack> {
    static STACK: OnceLock<Stack> = OnceLock::new();
    let options = StackOptions { parameters: vec![("MultipartBytes", "5242880")], ..Default::default() };
    has_own_emulator().then(|| STACK.get_or_init(|| start(&options)))
}

/// A file of about six megabytes. Every thousandth row has no key.
fn people(rows: u32) -> Vec<u8> {
    let row = |number: u32| {
        let key = if number.is_multiple_of(1_000) { String::new() } else { number.to_string() };
        format!("{key},{}", "n".repeat(300))
    };
    lines(["id,name".to_owned()].into_iter().chain((1..=rows).map(row)))
}

fn part_numbers(document: &Value, name: &str) -> Vec<u64> {
    let parts = document[name].as_array().into_iter().flatten();
    parts.filter_map(|part| part["partNumber"].as_u64()).collect()
}

fn problem(answer: &longshore_tests::harness::client::Answer, kind: &str) -> Result<String> {
    let body = answer.expect(409)?;
    ensure!(body["type"] == format!("/api/problems/{kind}"), "{body}");
    Ok(body["detail"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn an_upload_in_parts_resumes_after_half_of_the_parts_and_is_imported() -> Story {
    let Some(stack) = multipart_stack() else { return Ok(()) };
    let (client, file) = (&stack.client, people(20_000));
    let upload = client.create_upload("people.csv", file.len(), None)?;
    let id = upload["fileGuid"].as_str().context("the upload has no id")?;
    let (upload_path, url_path) = (format!("/api/uploads/{id}"), format!("/api/uploads/{id}/url"));
    ensure!(
        upload["partSize"] == 5 * MIB && part_numbers(&upload, "parts") == [1, 2] && upload["url"].is_null(),
        "{upload}"
    );
    let parts = upload["parts"].as_array().context("the upload has no parts")?;
    client.put_parts(&upload, &parts[..1], &file)?;
    // The page is reloaded: it has only the upload's id and the file.
    let status = client.get(&upload_path)?.expect(200)?;
    ensure!(status["state"] == "waiting" && part_numbers(&status, "receivedParts") == [1], "{status}");
    ensure!(status["receivedParts"][0]["sha256"].is_string(), "{status}");
    let options = json!({ "dataset": dataset("large"), "key": "id" });
    assert_eq!(client.request_job("import", Some(id), &options)?.bad_field(), "/fileGuid file_not_uploaded");
    ensure!(problem(&client.complete(id)?, "upload-incomplete")?.contains(": 2;"));
    let remaining = client.call("POST", &url_path, &[], &[])?.expect(200)?;
    assert_eq!(part_numbers(&remaining, "parts"), [2]);
    client.put_parts(&remaining, remaining["parts"].as_array().context("the response has no parts")?, &file)?;
    for _ in 0..2 {
        assert_eq!(client.complete(id)?.expect(200)?["state"], "received");
    }
    problem(&client.call("POST", &url_path, &[], &[])?, "already-uploaded")?;
    let status = client.get(&upload_path)?.expect(200)?;
    ensure!(status["size"] == file.len() && status["receivedParts"].is_null(), "{status}");
    let job = client.request_job("import", Some(id), &options)?.expect(202)?;
    let (job, report) = finish(stack, job["jobId"].as_str().context("the job has no id")?, &file)?;
    assert_eq!((job["status"].as_str(), counts(&job)), (Some("completed"), [19_980, 20, 0]), "{job}");
    assert_eq!(report.codes().len(), 20);
    Ok(())
}

#[test]
fn a_client_with_the_checksums_of_all_parts_gets_all_urls_in_one_call() -> Story {
    let Some(stack) = multipart_stack() else { return Ok(()) };
    let (client, file) = (&stack.client, people(20_000));
    let part = |(number, bytes): (usize, &[u8])| json!({ "partNumber": number, "sha256": sha256(bytes) });
    let parts: Vec<_> = (1..).zip(file.chunks(5 * MIB)).map(part).collect();
    let request = json!({
        "fileName": "f.csv", "contentType": "text/csv", "size": file.len(), "partSize": 5 * MIB, "parts": parts,
    });
    let upload = client.post("/api/uploads", &request)?.expect(201)?;
    for (part, bytes) in
        upload["parts"].as_array().context("the response has no parts")?.iter().zip(file.chunks(5 * MIB))
    {
        client.put(part, bytes)?.expect(200)?;
    }
    let id = upload["fileGuid"].as_str().context("the upload has no id")?;
    assert_eq!(client.complete(id)?.expect(200)?["state"], "received");
    Ok(())
}

#[test]
fn the_bucket_refuses_a_part_with_different_bytes_or_a_different_length() -> Story {
    let Some(stack) = multipart_stack() else { return Ok(()) };
    let (client, file) = (&stack.client, people(20_000));
    let upload = client.create_upload("people.csv", file.len(), None)?;
    let id = upload["fileGuid"].as_str().context("the upload has no id")?;
    let bytes = bytes_of(&upload, &upload["parts"][0], &file)?;
    let part = client.part_url(id, &upload["parts"][0], bytes)?;
    assert_eq!(client.put(&part, &vec![b'x'; bytes.len()])?.status, 400, "different bytes");
    ensure!(client.put(&part, &bytes[1..])?.status >= 400, "a shorter part");
    let mut unchecked = part.clone();
    unchecked["headers"] = json!({});
    assert_eq!(client.put(&unchecked, bytes)?.status, 403, "without its checksum");
    let mut second = part.clone();
    second["url"] = part["url"].as_str().unwrap_or_default().replace("partNumber=1", "partNumber=2").into();
    assert_eq!(client.put(&second, bytes)?.status, 403, "under another part number");
    assert_eq!(
        part_numbers(&client.get(&format!("/api/uploads/{id}"))?.expect(200)?, "receivedParts"),
        Vec::<u64>::new()
    );
    client.put_file(&upload, &file)
}

#[test]
fn requests_with_one_idempotency_key_create_one_large_upload() -> Story {
    let Some(stack) = multipart_stack() else { return Ok(()) };
    let request = json!({ "fileName": "f.csv", "contentType": "text/csv", "size": 6 * MIB }).to_string();
    let headers = [("content-type", "application/json"), ("idempotency-key", "large-1")];
    let post = || stack.client.call("POST", "/api/uploads", &headers, request.as_bytes())?.expect(201);
    assert_eq!(post()?, post()?);
    Ok(())
}

#[test]
fn the_largest_file_is_planned_in_fewer_than_two_hundred_parts() -> Story {
    let Some(stack) = multipart_stack() else { return Ok(()) };
    let upload = stack.client.create_upload("f.csv", 5 << 30, None)?;
    let sizes: u64 = upload["parts"].as_array().into_iter().flatten().filter_map(|part| part["size"].as_u64()).sum();
    ensure!(
        sizes == 5 << 30 && part_numbers(&upload, "parts").len() == 197,
        "{} parts",
        part_numbers(&upload, "parts").len()
    );
    Ok(())
}
