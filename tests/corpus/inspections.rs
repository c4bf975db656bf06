//! What the function `inspect` says of each file.

use axum::body::to_bytes;
use inspect::{Inspections, router};
use lambda_http::tower::ServiceExt;
use longshore::http::Access;
use longshore::job_types::builtin;
use longshore::ports::upload_key;
use longshore_domain::ids::FileGuid;
use longshore_domain::ports::{JobStore, Upload};
use longshore_domain::rate::Rate;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryRecords, MemoryStore, signed_in_call};
use serde_json::{Value, json};

use crate::case::{Case, Row, assert_no_differences, trim};

const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// Rows of a file that an inspection shows.
const SHOWN_ROWS: usize = 100;

/// The codes of rows that no import can read.
const UNREADABLE: [&str; 5] = ["too_few_cells", "too_many_cells", "not_utf8", "undecodable", "unterminated_quote"];

/// Uploads a file, and inspects it for an import.
pub(crate) async fn inspect(case: &Case) -> Value {
    let (store, files) = (MemoryStore::default(), MemoryFiles::default());
    let (file_guid, tenant, bytes) = (FileGuid::generate(), TenantId::from_static("acme"), case.bytes());
    let (key, size_bytes) = (upload_key(&tenant, file_guid), bytes.len() as u64);
    files.put(&key, bytes);
    let upload = Upload {
        file_guid,
        tenant,
        key,
        file_name: case.file_name().to_owned(),
        content_type: "application/octet-stream".into(),
        size_bytes,
        sha256: None,
        multipart: None,
        promised_at: NOW,
        expires_at: NOW.plus_days(14).seconds(),
    };
    store.create_upload(&upload, None).await.unwrap();
    let body = json!({ "reading": case.reading, "jobType": "import", "options": case.options() });
    let path = format!("/api/uploads/{file_guid}/inspect");
    let request = signed_in_call("POST", &path, &json!({ "sub": "acme" }), &body);
    let registry = builtin(MemoryRecords::default(), files.clone());
    let inspections = Inspections {
        store,
        files,
        registry,
        access: Access::SignedIn { tenant_claim: "sub".into() },
        max_file_bytes: 1 << 30,
        tenant_calls: Rate { per_second: 1_000, burst: 1_000 },
        clock: || NOW,
    };
    let response = router(inspections).oneshot(request).await.unwrap();
    let status = response.status();
    let body = serde_json::from_slice(&to_bytes(response.into_body(), usize::MAX).await.unwrap()).unwrap();
    assert_eq!(status, 200, "{}: {body}", case.name);
    body
}

/// Returns what differs from the manifest.
async fn differences(case: &Case) -> Vec<String> {
    let found = inspect(case).await;
    match (found["error"]["code"].as_str(), case.error.as_deref()) {
        (None, Some(error)) => return vec![format!("is read, and should be refused: {error}")],
        (Some(code), error) if error == Some(code) => return Vec::new(),
        (Some(code), error) => return vec![format!("is refused as {code}, and should be {error:?}")],
        (None, None) => {}
    }
    [
        reading_differences(case, &found),
        column_differences(case, &found),
        row_differences(case, &found),
        problem_differences(case, &found),
    ]
    .concat()
}

/// Compares how the file is read, and its sheet.
fn reading_differences(case: &Case, found: &Value) -> Vec<String> {
    let mut differences = Vec::new();
    for (name, expected) in &case.expect {
        let found = match name.as_str() {
            "encoding" | "delimiter" | "headerRow" | "quote" => &found["reading"][name],
            "sheet" => &found["prepared"]["sheet"],
            "headerSheetRow" if *expected == 0 => &json!(found["prepared"][name].as_u64().unwrap_or(0)),
            "headerSheetRow" => &found["prepared"][name],
            _ => continue,
        };
        if found != expected {
            differences.push(format!("{name} is {found}, and should be {expected}"));
        }
    }
    differences
}

fn column_differences(case: &Case, found: &Value) -> Vec<String> {
    let columns: Vec<_> = array(&found["columns"]).map(|column| column["name"].as_str().unwrap()).collect();
    if columns == case.columns {
        return Vec::new();
    }
    vec![format!("the columns are {columns:?}, and should be {:?}", case.columns)]
}

/// Compares the cells of the rows that are shown.
fn row_differences(case: &Case, found: &Value) -> Vec<String> {
    let rows = array(&found["rows"]).map(|found| {
        let mut cells: Vec<_> = array(&found["cells"]).map(|cell| cell.as_str().unwrap().to_owned()).collect();
        trim(&mut cells);
        let row = found["sheetRow"].as_u64().or(found["number"].as_u64()).unwrap();
        Row { row, cells, has_error: found["problem"]["code"] == "cell_error" }
    });
    let rows: Vec<_> = rows.filter(|row| !row.cells.is_empty() || row.has_error).collect();
    let (mut expected, mut differences) = (case.rows(), Vec::new());
    expected.truncate(SHOWN_ROWS);
    if rows.len() != expected.len() {
        differences.push(format!("{} rows are read, and there should be {}", rows.len(), expected.len()));
    }
    if let Some((found, expected)) = rows.iter().zip(&expected).find(|(found, expected)| found != expected) {
        differences.push(format!("found {found:?}\n    expected {expected:?}"));
    }
    differences
}

/// Compares the problems of the rows that are shown: those that no import can read.
fn problem_differences(case: &Case, found: &Value) -> Vec<String> {
    let mut differences = Vec::new();
    for row in array(&found["rows"]) {
        let found = row["problem"]["code"].as_str().filter(|code| UNREADABLE.contains(code));
        let failing = case.failing.iter().find(|failing| Some(failing.row) == row["number"].as_u64());
        let expected = failing.map(|failing| failing.code.as_str());
        if found != expected {
            differences.push(format!("row {} fails as {found:?}, and should as {expected:?}", row["number"]));
        }
    }
    differences
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[tokio::test]
async fn hidden_rows_and_merged_cells_are_stated() {
    for (name, expected) in [
        ("taken/pyexcel-xlsx/hidden.xlsx", "rows_hidden"),
        ("workbooks/merged.xlsx", "cells_merged"),
        ("taken/libreoffice/merged.xlsx", "cells_merged"),
        ("taken/frictionless/merged-cells.xlsx", "cells_merged"),
    ] {
        let cases = Case::all();
        let found = inspect(cases.iter().find(|case| case.name == name).unwrap()).await;
        assert!(array(&found["issues"]).any(|issue| issue["code"] == expected), "{name}: {}", found["issues"]);
    }
}

#[tokio::test]
async fn every_file_is_inspected_as_an_independent_reader_reads_it() {
    assert_no_differences(differences).await;
}
