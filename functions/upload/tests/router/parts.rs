//! Uploads in parts through the router: planned, uploaded, resumed, completed once.

use std::sync::atomic::Ordering;

use axum::body::Body;
use longshore::ports::upload_key;
use longshore_domain::ids::FileGuid;
use longshore_domain::parts::Multipart;
use longshore_domain::ports::{JobStore, TenantLimits, UploadStorage};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryStore};
use serde_json::{Value, json};
use upload::{Uploads, router};

use crate::calls::{HASH, NoSigner, send, send_keyed, uploads};

const MIB: u64 = 1 << 20;

/// Three parts: two of 5 MiB and one of 1 MiB.
const SIZE: u64 = 11 * MIB;

/// A deployment that uploads files above 5 MiB in parts.
fn wide<P>(storage: P) -> (MemoryStore, Uploads<MemoryStore, P>) {
    let (store, uploads) = uploads(storage);
    let store = store.with_limits(TenantLimits::default());
    let room = (1 << 40, 5 * MIB);
    (
        store.clone(),
        Uploads { store, max_file_bytes: room.0, max_bytes_per_day: room.0, multipart_bytes: room.1, ..uploads },
    )
}

fn large() -> Value {
    json!({"fileName": "people.csv", "contentType": "text/csv", "size": SIZE})
}

/// Planned parts with these numbers.
fn planned(numbers: impl IntoIterator<Item = u32>) -> Value {
    let size = |number: u32| if number == 3 { MIB } else { 5 * MIB };
    numbers.into_iter().map(|number| json!({"partNumber": number, "size": size(number)})).collect()
}

pub(crate) fn bytes_of(number: u32) -> Vec<u8> {
    vec![b'0' + u8::try_from(number).unwrap(); usize::try_from(if number == 3 { MIB } else { 5 * MIB }).unwrap()]
}

/// A large upload on these files.
pub(crate) struct Large<P> {
    uploads: Uploads<MemoryStore, P>,
    id: FileGuid,
    pub(crate) multipart: Multipart,
}

impl<P: UploadStorage + Clone + 'static> Large<P> {
    pub(crate) async fn promised(storage: P) -> Self {
        let (store, uploads) = wide(storage);
        let (response, document) = send(router(uploads.clone()), "POST", "/api/uploads", large().to_string()).await;
        assert_eq!(response.status(), 201, "{document}");
        let id = document["fileGuid"].as_str().and_then(FileGuid::parse).unwrap();
        assert_eq!(document, json!({"fileGuid": id, "partSize": 5 * MIB, "parts": planned(1..=3)}));
        assert_eq!(response.headers()["location"], format!("/api/uploads/{id}"));
        let multipart = store.upload(id).await.unwrap().unwrap().multipart.unwrap();
        assert_eq!(multipart.part_bytes, 5 * MIB);
        Self { uploads, id, multipart }
    }

    pub(crate) async fn call(&self, method: &str, call: &str, body: impl Into<Body>) -> (u16, Value) {
        let path = format!("/api/uploads/{}{call}", self.id);
        let (response, body) = send(router(self.uploads.clone()), method, &path, body).await;
        (response.status().as_u16(), body)
    }

    async fn refused(&self, call: &str, body: impl Into<Body>, kind: &str) -> String {
        let (status, problem) = self.call("POST", call, body).await;
        assert_eq!((status, &problem["type"]), (409, &json!(format!("/api/problems/{kind}"))), "{problem}");
        problem["detail"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn a_large_upload_is_sent_in_parts_resumed_and_completed_once() {
    let files = MemoryFiles::default();
    let large = Large::promised(files.clone()).await;
    let (_, status) = large.call("GET", "", "").await;
    assert_eq!((&status["state"], &status["partSize"]), (&json!("waiting"), &json!(5 * MIB)));
    assert_eq!(status["receivedParts"], json!([]));
    for number in [1, 3, 1] {
        files.put_part(&large.multipart.id, number, bytes_of(number));
    }
    let (_, status) = large.call("GET", "", "").await;
    let received: Vec<_> =
        status["receivedParts"].as_array().unwrap().iter().map(|part| (&part["partNumber"], &part["size"])).collect();
    assert_eq!(
        received,
        [(&json!(1), &json!(5 * MIB)), (&json!(3), &json!(MIB))],
        "a part that is uploaded twice counts once"
    );
    assert!(status["receivedParts"][0]["sha256"].is_string());
    let (code, rest) = large.call("POST", "/url", "").await;
    assert_eq!((code, &rest["parts"]), (200, &planned([2])), "the parts that S3 does not have");
    assert!(large.refused("/complete", "", "upload-incomplete").await.contains(": 2;"));
    files.put_part(&large.multipart.id, 2, bytes_of(2));
    for _ in 0..2 {
        let (code, status) = large.call("POST", "/complete", "").await;
        assert_eq!((code, &status["state"], &status["partSize"]), (200, &json!("received"), &Value::Null), "{status}");
    }
    let whole: Vec<u8> = (1..=3).flat_map(bytes_of).collect();
    assert!(files.get(&upload_key(&TenantId::from_static("acme"), large.id)) == Some(whole), "another file");
    assert_eq!(large.call("GET", "", "").await.1["receivedParts"], Value::Null);
    large.refused("/url", "", "already-uploaded").await;
    let one = json!({"parts": [{"partNumber": 1, "sha256": HASH}]});
    large.refused("/url", one.to_string(), "already-uploaded").await;
}

#[tokio::test]
async fn the_url_of_a_part_includes_its_checksum() {
    let large = Large::promised(MemoryFiles::default()).await;
    let hex = "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD";
    let body = json!({"parts": [{"partNumber": 3, "sha256": hex}, {"partNumber": 1, "sha256": HASH}]});
    let (code, document) = large.call("POST", "/url", body.to_string()).await;
    let part = |number: u32, size: u64| {
        json!({
            "partNumber": number, "size": size, "method": "PUT",
            "url": format!("memory:uploads/acme/{}?part={number}&for=3600", large.id),
            "headers": {"x-amz-checksum-sha256": HASH}, "expiresAt": "2023-11-14T23:13:20Z",
        })
    };
    let expected = json!({"fileGuid": large.id, "partSize": 5 * MIB, "parts": [part(3, MIB), part(1, 5 * MIB)]});
    assert_eq!((code, document), (200, expected));
}

#[tokio::test]
async fn parts_with_known_checksums_get_their_urls_at_once() {
    let files = MemoryFiles::default();
    let (_, uploads) = wide(files.clone());
    let mut request = large();
    request["partSize"] = (6 * MIB).into();
    let of = |number: u32| json!({"partNumber": number, "sha256": HASH});
    request["parts"] = json!([of(2), of(1)]);
    let post = ("POST", "/api/uploads");
    let (response, document) = send_keyed(router(uploads.clone()), post, "k", request.to_string()).await;
    assert_eq!(response.status(), 201, "{document}");
    let id = document["fileGuid"].as_str().unwrap();
    let signed = |number: u32, size: u64| {
        json!({
            "partNumber": number, "size": size, "method": "PUT",
            "url": format!("memory:uploads/acme/{id}?part={number}&for=3600"),
            "headers": {"x-amz-checksum-sha256": HASH}, "expiresAt": "2023-11-14T23:13:20Z",
        })
    };
    let parts = [signed(1, 6 * MIB), signed(2, 5 * MIB)];
    assert_eq!(document, json!({"fileGuid": id, "partSize": 6 * MIB, "parts": parts}));
    request["parts"] = json!([of(1), of(2)]);
    assert_eq!(
        send_keyed(router(uploads.clone()), post, "k", request.to_string()).await.1,
        document,
        "the repeated request"
    );
    request["parts"] = json!([of(2)]);
    let of_one = request.to_string();
    assert_eq!(
        send_keyed(router(uploads.clone()), post, "k", of_one.clone()).await.0.status(),
        422,
        "a different request"
    );
    let (_, document) = send(router(uploads.clone()), post.0, post.1, of_one).await;
    assert_eq!(
        (&document["parts"][0], &document["parts"][1]["method"]),
        (&json!({"partNumber": 1, "size": 6 * MIB}), &json!("PUT"))
    );
    let (_, rest) = send(router(uploads), "POST", &format!("/api/uploads/{id}/url"), "").await;
    assert_eq!(rest["partSize"], 6 * MIB, "the upload keeps its part size");
}

#[tokio::test]
async fn an_invalid_list_of_parts_is_refused_with_every_error() {
    let large = Large::promised(MemoryFiles::default()).await;
    for (body, expected) in [
        (json!({"parts": 3}), vec!["/parts invalid_parts"]),
        (json!({"parts": []}), vec!["/parts invalid_parts"]),
        (json!({"parts": [3]}), vec!["/parts invalid_parts"]),
        (json!({"parts": vec![json!({}); 201]}), vec!["/parts invalid_parts"]),
        (json!({"part": []}), vec!["/part unknown_field"]),
        (
            json!({"parts": [
                {"partNumber": 1},
                {"partNumber": 0, "sha256": "x", "size": 1},
                {"partNumber": 4, "sha256": HASH},
                {"partNumber": "1", "sha256": HASH},
            ]}),
            vec![
                "/parts/0/sha256 required",
                "/parts/1/partNumber unknown_part",
                "/parts/1/sha256 invalid_sha256",
                "/parts/1/size unknown_field",
                "/parts/2/partNumber unknown_part",
                "/parts/3/partNumber unknown_part",
            ],
        ),
    ] {
        let (code, problem) = large.call("POST", "/url", body.to_string()).await;
        let word = |error: &Value, name: &str| error[name].as_str().unwrap().to_owned();
        let errors = problem["errors"].as_array().unwrap().iter();
        let reported: Vec<_> = errors.map(|e| format!("{} {}", word(e, "pointer"), word(e, "code"))).collect();
        assert_eq!((code, reported), (422, expected.into_iter().map(str::to_owned).collect()), "{problem}");
    }
    assert_eq!(large.call("POST", "/url", "{").await.0, 400);
    assert_eq!(large.call("POST", "/url", " ".repeat(64 * 1024 + 1)).await.0, 413);
}

#[tokio::test]
async fn a_part_of_a_wrong_size_counts_as_missing() {
    let files = MemoryFiles::default();
    let large = Large::promised(files.clone()).await;
    for number in 1..=3 {
        files.put_part(&large.multipart.id, number, bytes_of(number));
    }
    files.put_part(&large.multipart.id, 2, "short");
    assert!(large.refused("/complete", "", "upload-incomplete").await.contains(": 2;"));
    assert_eq!(large.call("POST", "/url", "").await.1["parts"], planned([2]));
    assert_eq!(files.get(&upload_key(&TenantId::from_static("acme"), large.id)), None);
}

#[tokio::test]
async fn an_upload_that_is_never_completed_is_abandoned() {
    let files = MemoryFiles::default();
    let mut large = Large::promised(files.clone()).await;
    files.abort_parts(&large.multipart.id);
    // Within the first day, only a completing call removes the parts.
    let (_, status) = large.call("GET", "", "").await;
    assert_eq!((&status["state"], &status["receivedParts"]), (&json!("waiting"), &json!([])));
    for call in ["/url", "/complete"] {
        assert!(large.refused(call, "", "upload-incomplete").await.contains("retry in a moment"));
    }
    large.uploads.clock = || Timestamp(1_700_000_000_000 + 86_400_000);
    let (_, status) = large.call("GET", "", "").await;
    assert_eq!((&status["state"], &status["receivedParts"]), (&json!("abandoned"), &Value::Null));
    large.refused("/url", "", "upload-abandoned").await;
    large.refused("/complete", "", "upload-abandoned").await;
}

#[tokio::test]
async fn of_two_large_uploads_with_one_key_one_is_created_and_the_other_is_aborted() {
    let files = MemoryFiles::default();
    let (_, uploads) = wide(files.clone());
    let post = ("POST", "/api/uploads");
    let (_, first) = send_keyed(router(uploads.clone()), post, "k", large().to_string()).await;
    let begun = files.unfinished_parts();
    let (response, second) = send_keyed(router(uploads.clone()), post, "k", large().to_string()).await;
    assert_eq!((response.status().as_u16(), &second), (201, &first));
    let mut other = large();
    other["size"] = (SIZE + 1).into();
    assert_eq!(send_keyed(router(uploads), post, "k", other.to_string()).await.0.status(), 422);
    assert_eq!((begun.len(), files.unfinished_parts()), (1, begun));
}

#[tokio::test]
async fn a_checksum_of_a_large_file_is_refused() {
    let (_, uploads) = wide(MemoryFiles::default());
    let mut request = large();
    request["sha256"] = HASH.into();
    let (response, problem) = send(router(uploads), "POST", "/api/uploads", request.to_string()).await;
    assert_eq!(response.status(), 422);
    assert_eq!(problem["errors"][0]["code"], "sha256_not_allowed");
}

#[tokio::test]
async fn a_refused_call_begins_no_multipart_upload_and_a_repeated_call_is_still_answered() {
    let storage = NoSigner::default();
    let (store, uploads) = wide(storage.clone());
    let limits = TenantLimits { work_calls: 2, upload_bytes_per_day: 2 * SIZE, ..TenantLimits::default() };
    let uploads = Uploads { store: store.with_limits(limits), ..uploads };
    let create = async |key: &str| {
        let post = ("POST", "/api/uploads");
        let (response, document) = send_keyed(router(uploads.clone()), post, key, large().to_string()).await;
        (response.status().as_u16(), document)
    };
    let (first, _) = (create("a").await, create("b").await);
    assert_eq!((first.0, storage.begun.load(Ordering::Relaxed)), (201, 2));
    let (status, problem) = create("c").await;
    assert_eq!((status, &problem["type"]), (429, &json!("/api/problems/rate-limited")));
    assert_eq!(create("a").await, first, "a repeated call has the same response despite the limits");
    assert_eq!(storage.begun.load(Ordering::Relaxed), 2, "no further multipart upload was begun");
}
