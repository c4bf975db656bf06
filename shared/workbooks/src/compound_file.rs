//! OLE2 compound files ([MS-CFB]), the container of encrypted workbooks and of those of Excel 97-2003.

use std::io::{Read, Seek, SeekFrom};

use memchr::memmem;

use crate::error::WorkbookError;

/// The first bytes of a compound file.
const SIGNATURE: [u8; 4] = [0xd0, 0xcf, 0x11, 0xe0];

/// Bytes in which the directory of a compound file is searched.
const SEARCHED_BYTES: u64 = 16 << 20;

/// Refuses a compound file. `start` has its first bytes.
///
/// # Errors
/// If it is one, or cannot be read.
pub(crate) fn refuse(file: &mut (impl Read + Seek), start: &[u8]) -> Result<(), WorkbookError> {
    if !start.starts_with(&SIGNATURE) {
        return Ok(());
    }
    // The names in the directory are UTF-16.
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(SEARCHED_BYTES).read_to_end(&mut bytes)?;
    let is_encrypted = memmem::find(&bytes, &name).is_some();
    Err(if is_encrypted { WorkbookError::Password } else { WorkbookError::OldFormat })
}
