//! A bucket of which each chunk has one object of outputs, the same for all. It keeps no part of an assembled file, so
//! the memory of the process is that of the function, and of one object.

use std::sync::Arc;

use longshore::crc64;
use longshore::fingerprint::{Fingerprint, Fingerprinter};
use longshore_domain::group::ChunkPlan;
use longshore_domain::ports::{Files, PortResult, Read};
use longshore_domain::work_file::{OutputSlice, WorkFile, WorkFileHeader};
use longshore_testing::{MemoryFiles, MemoryStream, delegate_files, discard_parts};

/// Number of outputs in an object: about 8 MiB, after which a worker writes one.
pub(crate) const OUTPUTS: u64 = 62_000;

/// The bucket.
#[derive(Clone)]
pub(crate) struct Outputs {
    /// The files that are written as a whole.
    files: MemoryFiles,
    lines: Arc<[u8]>,
    work_file: Arc<[u8]>,
}

impl Outputs {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let lines: Vec<u8> = (1..=OUTPUTS).flat_map(|number| line(number).into_bytes()).collect();
        let mut fingerprint = Fingerprinter::default();
        fingerprint.take(&lines);
        let Fingerprint { size: bytes, sha256 } = fingerprint.finish();
        let slice = OutputSlice { rows: OUTPUTS, bytes, sha256, crc64: crc64::of(&lines) };
        let header = WorkFileHeader { outputs: Some(slice), ..WorkFileHeader::default() };
        let work_file = WorkFile { header, entries: Vec::new() }.to_bytes()?.into();
        Ok(Self { files: MemoryFiles::default(), lines: lines.into(), work_file })
    }

    /// Returns the bytes of an object.
    pub(crate) fn object_bytes(&self) -> usize {
        self.lines.len()
    }
}

/// Returns the line of an output, which has 100 bytes without its number.
fn line(number: u64) -> String {
    let output = format!(
        r#"{{"id":{},"name":"Ada Lovelace","email":"ada-{number:08}@example.org","city":"Lisbon","amount":-12.3}}"#,
        10_000_000 + number
    );
    format!("{{\"number\":{number},\"output\":{output}}}\n")
}

impl Files for Outputs {
    type Stream = MemoryStream;

    delegate_files!(files: info open write remove remove_some);

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        match key {
            key if key.ends_with(".out.jsonl") => Ok(Read::Found(self.lines.to_vec())),
            key if key.contains("/chunks/") => Ok(Read::Found(self.work_file.to_vec())),
            key => self.files.read(key, etag, plan).await,
        }
    }
}

discard_parts!(Outputs);
