//! Every field of a request for an upload, valid and invalid.

use longshore::http::Fields;
use serde_json::{Value, json};

use super::UploadRequest;

const MAX: u64 = 20 << 30;
const LIMIT: u64 = 500;
const MIB: u64 = 1 << 20;
const HASH: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const HASH_BASE64: &str = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";

fn read(changes: Value) -> Result<UploadRequest, Vec<(String, String)>> {
    let mut body = json!({"fileName": "people.csv", "contentType": "text/csv", "size": 10});
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    let fields = Fields::new(body.as_object().cloned().unwrap());
    let code = |e: longshore::field_error::FieldError| (e.pointer, e.code);
    UploadRequest::read(fields, MAX, LIMIT).map_err(|problem| problem.errors.into_iter().map(code).collect())
}

fn refused(changes: Value) -> Vec<(String, String)> {
    read(changes).unwrap_err()
}

fn one(pointer: &str, code: &str) -> Vec<(String, String)> {
    vec![(pointer.to_owned(), code.to_owned())]
}

#[test]
fn a_valid_request_is_accepted() {
    let request = read(json!({"size": MAX, "sha256": null})).unwrap();
    assert_eq!((request.file_name.as_str(), request.size_bytes, request.sha256), ("people.csv", MAX, None));
}

#[test]
fn a_checksum_is_accepted_in_hexadecimal_and_base64() {
    for spelling in [HASH, &HASH.to_uppercase(), HASH_BASE64] {
        assert_eq!(read(json!({"sha256": spelling})).unwrap().sha256.as_deref(), Some(HASH_BASE64));
    }
    for bad in ["", &HASH[1..], &"x".repeat(64), &"é".repeat(32), &"!".repeat(44), &HASH_BASE64.replace('=', "A")] {
        assert_eq!(refused(json!({"sha256": bad})), one("/sha256", "invalid_sha256"), "{bad}");
    }
    assert_eq!(refused(json!({"sha256": 1})), one("/sha256", "invalid_sha256"));
}

#[test]
fn a_file_that_is_uploaded_in_parts_cannot_have_its_own_checksum() {
    assert!(read(json!({"sha256": HASH, "size": LIMIT})).is_ok());
    assert!(read(json!({"size": LIMIT + 1})).is_ok());
    assert_eq!(refused(json!({"sha256": HASH, "size": LIMIT + 1})), one("/sha256", "sha256_not_allowed"));
    assert_eq!(refused(json!({"sha256": "x", "size": LIMIT + 1})), one("/sha256", "invalid_sha256"));
    let (fits, larger) = (json!({"sha256": HASH, "size": 5 * MIB, "partSize": 5 * MIB}), 5 * MIB + 1);
    assert!(read(fits).is_ok());
    let too_large = json!({"sha256": HASH, "size": larger, "partSize": 5 * MIB});
    assert_eq!(refused(too_large), one("/sha256", "sha256_not_allowed"));
}

#[test]
fn the_part_size_is_that_of_the_request_or_else_of_the_deployment() {
    for (request, expected) in [
        (json!({"size": LIMIT}), None),
        (json!({"size": LIMIT + 1}), Some(5 * MIB)),
        (json!({"size": 100 * MIB, "partSize": 7 * MIB + 1}), Some(7 * MIB + 1)),
        (json!({"size": 7 * MIB, "partSize": 7 * MIB}), None),
    ] {
        assert_eq!(read(request.clone()).unwrap().part_bytes(LIMIT), expected, "{request}");
    }
}

#[test]
fn a_part_size_must_be_allowed_by_s3_and_result_in_up_to_200_parts() {
    for good in
        [json!({"partSize": 5 * MIB}), json!({"partSize": 5 << 30}), json!({"size": 1000 * MIB, "partSize": 5 * MIB})]
    {
        assert!(read(good.clone()).is_ok(), "{good}");
    }
    for bad in [
        json!({"partSize": 5 * MIB - 1}),
        json!({"partSize": (5_u64 << 30) + 1}),
        json!({"partSize": "5"}),
        json!({"size": 1000 * MIB + 1, "partSize": 5 * MIB}),
    ] {
        assert_eq!(refused(bad.clone()), one("/partSize", "invalid_part_size"), "{bad}");
    }
}

#[test]
fn requested_parts_must_exist_and_be_listed_once() {
    let part = |number: u32| json!({"partNumber": number, "sha256": HASH});
    let request = read(json!({"size": 11 * MIB, "partSize": 5 * MIB, "parts": [part(3), part(1)]})).unwrap();
    let parts: Vec<_> = request
        .parts
        .iter()
        .flatten()
        .map(|requested| (requested.part.number, requested.part.size_bytes, &*requested.sha256))
        .collect();
    assert_eq!(parts, [(3, MIB, HASH_BASE64), (1, 5 * MIB, HASH_BASE64)]);
    for (bad, expected) in [
        (json!({"size": 11 * MIB, "parts": [part(1)]}), one("/partSize", "required")),
        (
            json!({"size": 11 * MIB, "partSize": 5 * MIB, "parts": [part(4)]}),
            one("/parts/0/partNumber", "unknown_part"),
        ),
        (json!({"size": 5 * MIB, "partSize": 5 * MIB, "parts": [part(1)]}), one("/parts/0/partNumber", "unknown_part")),
        (json!({"size": 0, "partSize": 5 * MIB, "parts": [part(1)]}), one("/size", "empty_file")),
        (
            json!({"size": 11 * MIB, "partSize": 5 * MIB, "parts": [part(1), part(2), part(1)]}),
            one("/parts/2/partNumber", "repeated_part"),
        ),
    ] {
        assert_eq!(refused(bad.clone()), expected, "{bad}");
    }
}

#[test]
fn a_size_is_a_whole_number_within_the_limit() {
    for (size, code) in [
        (json!(0), "empty_file"),
        (json!(-1), "invalid_size"),
        (json!(1.5), "invalid_size"),
        (json!("10"), "invalid_size"),
        (json!(null), "invalid_size"),
        (json!(MAX + 1), "file_too_large"),
        (json!(u64::MAX), "file_too_large"),
    ] {
        assert_eq!(refused(json!({"size": size.clone()})), one("/size", code), "{size}");
    }
}

#[test]
fn a_file_name_can_contain_any_printable_characters() {
    let long = "ü".repeat(255);
    for good in ["a", "Größe / 100 %.csv", "名前.jsonl", long.as_str()] {
        assert!(read(json!({"fileName": good})).is_ok(), "{good}");
    }
    for bad in [json!(""), json!("a\nb"), json!("a\u{0}"), json!("\u{85}"), json!("x".repeat(256)), json!(1)] {
        assert_eq!(refused(json!({"fileName": bad.clone()})), one("/fileName", "invalid_file_name"), "{bad}");
    }
}

#[test]
fn a_content_type_must_be_a_valid_media_type() {
    for good in
        ["text/csv", "application/x-ndjson; charset=utf-8", "application/vnd.ms-excel", "text/csv;header=present"]
    {
        assert!(read(json!({"contentType": good})).is_ok(), "{good}");
    }
    let long = format!("text/{}", "x".repeat(255));
    for bad in [
        "",
        "csv",
        "text/",
        "/csv",
        "text/csv;",
        "text/csv; charset",
        "text/c sv",
        "text/csv\r\nX: y",
        "text/csv;  a=b",
        " text/csv",
        "a/b/c",
        &long,
    ] {
        assert_eq!(refused(json!({"contentType": bad})), one("/contentType", "invalid_content_type"), "{bad}");
    }
}

#[test]
fn all_errors_are_reported_at_once() {
    let errors = refused(json!({"fileName": "", "size": 0, "colour": "red", "sha256": "x"}));
    let pointers: Vec<_> = errors.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/fileName", "/size", "/sha256", "/colour"]);
    assert_eq!(UploadRequest::read(Fields::new(serde_json::Map::new()), MAX, LIMIT).unwrap_err().errors.len(), 3);
}
