//! A buffer of bytes with a maximum.

use std::io::{self, Write};

/// Encoded bytes, up to a maximum.
#[derive(Debug)]
pub(crate) struct BoundedBuffer {
    bytes: Vec<u8>,
    maximum: usize,
    exceeded: bool,
}

impl BoundedBuffer {
    pub(crate) fn new(maximum: usize) -> Self {
        Self { bytes: Vec::new(), maximum, exceeded: false }
    }

    /// Returns true if bytes were refused.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.exceeded
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl Write for BoundedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.maximum - self.bytes.len() {
            self.exceeded = true;
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_above_the_maximum_are_refused() {
        let mut buffer = BoundedBuffer::new(4);
        buffer.write_all(b"abc").unwrap();
        assert!(buffer.write_all(b"de").is_err() && buffer.is_exceeded());
        buffer.write_all(b"f").unwrap();
        assert_eq!(buffer.into_bytes(), b"abcf");
    }
}
