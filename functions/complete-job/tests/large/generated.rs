//! Files of any size that take no memory: the source repeats one block, work files are generated when they are read,
//! and of a report only the sizes are kept.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use longshore::crc64;
use longshore::fingerprint::{Fingerprint, Fingerprinter};
use longshore_domain::group::ChunkPlan;
use longshore_domain::outcome::Rejection;
use longshore_domain::ports::{FileStream, Files, MultipartFiles, MultipartOutcome, MultipartUpload, PortResult, Read};
use longshore_domain::work_file::{End, Entry, NAMED_FILES, OutputSlice, WorkFile, WorkFileHeader};
use longshore_testing::{MemoryFiles, delegate_files};

pub(crate) const KEY: &str = "uploads/default/large";

/// Bytes of the block that the source repeats. It contains only whole rows.
pub(crate) const BLOCK_BYTES: u64 = 1 << 19;

pub(crate) const ROWS_IN_BLOCK: u64 = BLOCK_BYTES / ROW.len() as u64;

/// A row of 64 bytes.
const ROW: &str = "12345678,Ada Lovelace,ada@example.org,1815-12-10,London,-12.345\n";

/// Bytes of a piece of the stream.
const PIECE_BYTES: u64 = 1 << 16;

/// Sizes of the parts of each upload.
type Uploads = BTreeMap<String, BTreeMap<u32, u64>>;

#[derive(Clone)]
pub(crate) struct Generated {
    /// Small files.
    pub(crate) inner: MemoryFiles,
    /// Duration of a read, in milliseconds.
    latency_ms: u64,
    /// Bytes of the source.
    pub(crate) size: u64,
    block: Arc<[u8]>,
    /// The outputs of a chunk, if the items have any.
    outputs: Option<Arc<Outputs>>,
    uploads: Arc<Mutex<Uploads>>,
    appeared: Arc<Mutex<Vec<u64>>>,
}

/// The outputs of a chunk: the same in each chunk, in one object.
struct Outputs {
    lines: Vec<u8>,
    slice: OutputSlice,
}

impl Default for Generated {
    fn default() -> Self {
        let block = ROW.repeat(usize::try_from(ROWS_IN_BLOCK).unwrap()).into_bytes().into();
        let (inner, uploads, appeared) = (MemoryFiles::default(), Arc::default(), Arc::default());
        Self { inner, latency_ms: 0, size: 0, block, outputs: None, uploads, appeared }
    }
}

impl Generated {
    /// Work files whose reads each take this long.
    pub(crate) fn with_work_files(latency_ms: u64) -> Self {
        Self { latency_ms, ..Self::default() }
    }

    /// Outputs of this many items in each chunk, of a hundred bytes each.
    pub(crate) fn with_outputs(items: u64) -> Self {
        let line = |n: u64| {
            let output = format!(
                r#"{{"id":{},"name":"Ada Lovelace","email":"ada-{n:08}@example.org","city":"Lisbon","amount":-12.345}}"#,
                10_000_000 + n
            );
            format!("{{\"number\":{n},\"output\":{output}}}\n")
        };
        let lines = (1..=items).map(line).collect::<String>().into_bytes();
        let mut print = Fingerprinter::default();
        print.take(&lines);
        let Fingerprint { size: bytes, sha256 } = print.finish();
        let slice = OutputSlice { rows: items, bytes, sha256, crc64: crc64::of(&lines) };
        Self { outputs: Some(Arc::new(Outputs { lines, slice })), ..Self::default() }
    }

    /// Sizes of the files that were assembled from parts.
    pub(crate) fn appeared(&self) -> Vec<u64> {
        let mut sizes = self.appeared.lock().unwrap().clone();
        let keys = self.inner.keys().into_iter().filter(|key| key.ends_with(".csv"));
        sizes.extend(keys.map(|key| self.inner.get(&key).unwrap().len() as u64));
        sizes
    }

    fn bytes(&self, start: u64, end: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity((end - start) as usize);
        let mut at = start;
        while at < end {
            let from = at % BLOCK_BYTES;
            let to = BLOCK_BYTES.min(from + end - at);
            bytes.extend_from_slice(&self.block[from as usize..to as usize]);
            at += to - from;
        }
        bytes
    }

    /// Returns file n of a chunk: one row that failed.
    fn work_file(&self, key: &str) -> Option<Vec<u8>> {
        let (place, file) = key.split_once("/chunks/")?.1.strip_suffix(".jsonl")?.split_once('/')?;
        let (group, chunk) = place.split_once('-')?;
        let (group, chunk): (u64, u64) = (group.parse().ok()?, chunk.parse().ok()?);
        let n: u64 = file.parse().ok()?;
        let end = End::Failed(Rejection::new("bad", Some("born"), "no such day"));
        let number = (group * 16 + chunk) * ROWS_IN_BLOCK + n;
        let entries = vec![Entry { n: number, end, raw: ROW.trim_end().into(), damaged: false }];
        let mut named = (1..n).rev().take(NAMED_FILES).map(|n| n.to_string());
        if let Some(outputs) = &self.outputs {
            let header = WorkFileHeader { outputs: Some(outputs.slice.clone()), ..WorkFileHeader::default() };
            return WorkFile { header, entries: Vec::new() }.to_bytes().ok();
        }
        let header = WorkFileHeader { prev: named.next(), before: named.collect(), ..WorkFileHeader::default() };
        WorkFile { header, entries }.to_bytes().ok()
    }
}

pub(crate) struct GeneratedStream(Generated, u64, u64);

impl FileStream for GeneratedStream {
    async fn next(&mut self) -> PortResult<Option<Vec<u8>>> {
        let end = self.2.min(self.1 + PIECE_BYTES);
        let bytes = self.0.bytes(self.1, end);
        self.1 = end;
        Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }
}

impl Files for Generated {
    type Stream = GeneratedStream;

    delegate_files!(inner: info write remove remove_some);

    async fn open(&self, _: &str, _: Option<&str>, start: u64, end: Option<u64>) -> PortResult<Read<GeneratedStream>> {
        Ok(Read::Found(GeneratedStream(self.clone(), start, end.unwrap_or(self.size))))
    }

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        if let Some(outputs) = self.outputs.as_ref().filter(|_| key.ends_with(".out.jsonl")) {
            return Ok(Read::Found(outputs.lines.clone()));
        }
        match (plan, self.work_file(key)) {
            (Some(plan), _) => Ok(Read::Found(self.bytes(plan.start, plan.end))),
            (None, Some(file)) => {
                if self.latency_ms > 0 {
                    tokio::time::sleep(Duration::from_millis(self.latency_ms)).await;
                }
                Ok(Read::Found(file))
            }
            (None, None) => self.inner.read(key, etag, plan).await,
        }
    }
}

impl MultipartFiles for Generated {
    async fn create_multipart(&self, key: &str, _: &str) -> PortResult<MultipartUpload> {
        self.uploads.lock().unwrap().insert(key.to_owned(), BTreeMap::new());
        Ok(MultipartUpload { key: key.to_owned(), id: key.to_owned() })
    }

    async fn upload_part(&self, upload: &MultipartUpload, number: u32, bytes: Vec<u8>) -> PortResult<Option<String>> {
        let mut uploads = self.uploads.lock().unwrap();
        let Some(parts) = uploads.get_mut(&upload.id) else { return Ok(None) };
        parts.insert(number, bytes.len() as u64);
        Ok(Some(number.to_string()))
    }

    async fn copy_part(&self, upload: &MultipartUpload, number: u32, _: &str) -> PortResult<Option<String>> {
        let mut uploads = self.uploads.lock().unwrap();
        let (Some(parts), Some(outputs)) = (uploads.get_mut(&upload.id), &self.outputs) else { return Ok(None) };
        parts.insert(number, outputs.slice.bytes);
        Ok(Some(number.to_string()))
    }

    async fn complete_multipart(&self, upload: &MultipartUpload, etags: &[String]) -> PortResult<MultipartOutcome> {
        let Some(parts) = self.uploads.lock().unwrap().remove(&upload.id) else {
            return Ok(MultipartOutcome::Gone);
        };
        assert_eq!(parts.len(), etags.len(), "every part was uploaded");
        self.appeared.lock().unwrap().push(parts.values().sum());
        Ok(MultipartOutcome::Completed)
    }

    async fn abort_multipart(&self, upload: &MultipartUpload) {
        self.uploads.lock().unwrap().remove(&upload.id);
    }
}
