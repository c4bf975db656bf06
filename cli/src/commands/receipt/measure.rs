//! Measures a local file in one pass: size, SHA-256, and the rows of a CSV file.

use crate::output::progress::{self, Step};
use anyhow::{Context, Result};
use crc_fast::CrcAlgorithm::Crc64Nvme;
use data_encoding::{BASE64, HEXLOWER};
use indicatif::DecimalBytes;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, Instant};

/// Progress is shown if reading takes longer than this.
const PROGRESS_DELAY: Duration = Duration::from_secs(2);

/// Measurements of a file.
pub(super) struct Measurement {
    pub(super) size: u64,
    /// Hexadecimal.
    pub(super) sha256: String,
    /// Rows below the header; counted for report files only.
    pub(super) rows: u64,
    /// CRC-64/NVME in base64.
    pub(super) crc64nvme: String,
}

/// Measures an input file.
pub(super) fn measure(path: &Path) -> Result<Measurement> {
    let mut file = HashingReader::open(path)?;
    io::copy(&mut file, &mut io::sink()).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(file.finish(0))
}

/// Measures a report file, row by row. A truncated row counts as a row.
pub(super) fn measure_rows(path: &Path) -> Result<Measurement> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(HashingReader::open(path)?);
    let (mut row, mut rows) = (csv::ByteRecord::new(), 0);
    while reader.read_byte_record(&mut row).with_context(|| format!("cannot read {}", path.display()))? {
        rows += 1;
    }
    Ok(reader.into_inner().finish(rows))
}

/// A file that is hashed while it is read.
pub(super) struct HashingReader {
    file: File,
    hash: Sha256,
    crc64: crc_fast::Digest,
    size: u64,
    name: String,
    started: Instant,
    step: Option<Step>,
}

impl HashingReader {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.display().to_string();
        let (hash, crc64) = (Sha256::new(), crc_fast::Digest::new(Crc64Nvme));
        Ok(Self { file, hash, crc64, size: 0, name, started: Instant::now(), step: None })
    }

    pub(super) fn finish(self, rows: u64) -> Measurement {
        let sha256 = HEXLOWER.encode(&self.hash.finalize());
        let crc64nvme = BASE64.encode(&self.crc64.finalize().to_be_bytes());
        Measurement { size: self.size, sha256, rows, crc64nvme }
    }

    fn show_progress(&mut self) {
        if self.started.elapsed() >= PROGRESS_DELAY {
            let step = self.step.get_or_insert_with(|| progress::step(&format!("Reading {}", self.name)));
            step.detail(&DecimalBytes(self.size).to_string());
        }
    }
}

impl Read for HashingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        let bytes = buffer.get(..read).unwrap_or_default();
        self.hash.update(bytes);
        self.crc64.update(bytes);
        self.size += read as u64;
        self.show_progress();
        Ok(read)
    }
}
