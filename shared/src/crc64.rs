//! CRC-64/NVME: S3's checksum of whole objects, which also holds for an object that S3 assembles from parts
//! (<https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html>). That of several blocks is
//! computed from theirs, without reading them again.

use crc_fast::CrcAlgorithm::Crc64Nvme;

/// Returns the checksum of these bytes.
pub fn of(bytes: &[u8]) -> u64 {
    crc_fast::checksum(Crc64Nvme, bytes)
}

/// Returns the checksum of a file that consists of a first part with the checksum `first`, and a second one of
/// `bytes` bytes with the checksum `second`.
pub fn joined(first: u64, second: u64, bytes: u64) -> u64 {
    crc_fast::checksum_combine(Crc64Nvme, first, second, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of the catalogue of CRC algorithms: <https://reveng.sourceforge.io/crc-catalogue/17plus.htm>.
    #[test]
    fn the_checksum_is_that_of_the_catalogue_and_can_be_joined() {
        assert_eq!(of(b"123456789"), 0xae8b_1486_0a79_9888);
        let (first, second) = (of(b"1234"), of(b"56789"));
        assert_eq!(joined(first, second, 5), of(b"123456789"));
        assert_eq!(joined(of(b""), second, 5), second);
        assert_eq!(joined(first, of(b""), 0), first);
    }
}
