//! Presigned URLs: a PUT takes exactly what was promised, once; a GET saves under the client's own name.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use longshore::files::PutUrl;
use longshore_domain::ids::FileGuid;
use longshore_domain::ports::{Files, Read, Upload};
use sha2::{Digest, Sha256};

use crate::on_both::Local;

fn upload(bytes: &[u8]) -> Upload {
    Upload {
        file_guid: FileGuid::generate(),
        tenant: "default".into(),
        key: format!("uploads/default/{}", FileGuid::generate()),
        file_name: "people.csv".into(),
        content_type: "text/csv".into(),
        size_bytes: bytes.len() as u64,
        sha256: None,
        promised_at: longshore_domain::time_stamp::Timestamp(0),
        expires_at: 0,
    }
}

/// The status of a PUT of these bytes, with a header left out if one is named.
fn put(target: &PutUrl, bytes: &[u8], without: &str) -> u16 {
    let agent: ureq::Agent = ureq::Agent::config_builder().proxy(None).http_status_as_error(false).build().into();
    let mut request = agent.put(&target.url);
    for (name, value) in target.headers.iter().filter(|(name, _)| name != without) {
        request = request.header(name, value);
    }
    request.send(bytes).unwrap().status().as_u16()
}

#[tokio::test]
async fn a_presigned_put_takes_the_promised_file_once_and_nothing_else() {
    let local = Local::start().await;
    let files = local.files().await;
    let upload = upload(b"a,b\n1,2\n");
    let target = files.presign_put(&upload, 60).await.unwrap();
    assert!(!target.url.to_lowercase().contains("crc32"), "{}", target.url);
    let names: Vec<_> = target.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains(&"content-type") && names.contains(&"if-none-match"), "{names:?}");
    assert!(target.url.contains("X-Amz-SignedHeaders=content-length%3Bcontent-type"), "{}", target.url);
    assert!(put(&target, b"a,b\n1,2\n3,4\n", "") >= 400, "longer than promised");
    assert!(put(&target, b"a,b\n1,2\n", "if-none-match") >= 400, "without a signed header");
    assert_eq!(put(&target, b"a,b\n1,2\n", ""), 200);
    assert_eq!(put(&target, b"A,B\n1,2\n", ""), 412, "a second time");
    assert_eq!(files.read(&upload.key, None, None).await.unwrap(), Read::Found(b"a,b\n1,2\n".to_vec()));
}

#[tokio::test]
async fn a_presigned_put_with_a_checksum_refuses_other_bytes() {
    let local = Local::start().await;
    let files = local.files().await;
    let checksum = STANDARD.encode(Sha256::digest(b"right"));
    let upload = Upload { sha256: Some(checksum.clone()), ..upload(b"right") };
    let target = files.presign_put(&upload, 60).await.unwrap();
    let listed = target.headers.iter().any(|(name, value)| name == "x-amz-checksum-sha256" && *value == checksum);
    assert!(listed, "{:?}", target.headers);
    assert!(put(&target, b"wrong", "") >= 400);
    assert_eq!(put(&target, b"right", ""), 200);
}

#[tokio::test]
async fn a_presigned_get_saves_under_the_clients_name() {
    let local = Local::start().await;
    let files = local.files().await;
    files.write("jobs/1/report/failed.csv", "text/csv", b"a\n".to_vec()).await.unwrap();
    let url = files.presign_get("jobs/1/report/failed.csv", "people (failed).csv", 60).await.unwrap();
    let agent: ureq::Agent = ureq::Agent::config_builder().proxy(None).build().into();
    let mut answer = agent.get(&url).call().unwrap();
    let disposition = answer.headers()["content-disposition"].to_str().unwrap().to_owned();
    assert!(disposition.starts_with("attachment; filename=\"people (failed).csv\""), "{disposition}");
    assert_eq!(answer.body_mut().read_to_string().unwrap(), "a\n");
}
