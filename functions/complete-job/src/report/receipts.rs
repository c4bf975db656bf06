//! The receipt's entries for the files of a report.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use longshore::fingerprint::Fingerprint;
use longshore::receipt::{FileReceipt, ResultsReceipt, download_name};
use longshore_domain::job::Job;

use super::parts::Written;
use super::results::WrittenResults;

/// Returns the entry of a file whose bytes this code has written.
pub(super) fn file_receipt(job: &Job, Written { file, size, sha256, .. }: &Written) -> FileReceipt {
    let fingerprint = Fingerprint { size: *size, sha256: sha256.clone().unwrap_or_default() };
    FileReceipt { name: name(job, &file.key), rows: file.rows, fingerprint }
}

/// Returns the entry of the results.
pub(super) fn results_receipt(job: &Job, WrittenResults { file, index, .. }: &WrittenResults) -> ResultsReceipt {
    ResultsReceipt {
        name: name(job, &file.file.key),
        rows: file.file.rows,
        size: file.size,
        sha256: file.sha256.clone(),
        crc64nvme: STANDARD.encode(file.crc64.to_be_bytes()),
        index: file_receipt(job, index),
    }
}

fn name(job: &Job, key: &str) -> String {
    download_name(job, key.rsplit('/').next().unwrap_or(key))
}
