//! A packed corpus: many inputs in one file, each behind its length in four bytes, lowest first.
//!
//! The inputs are sorted and distinct, so equal corpora are equal files.

use std::error::Error;
use std::fmt;

/// A packed corpus that ends within an entry.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Truncated {
    /// Offset of the entry.
    pub offset: usize,
}

impl fmt::Display for Truncated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the packed corpus ends within the entry at byte {}", self.offset)
    }
}

impl Error for Truncated {}

/// Packs inputs, in order of length and then of bytes, without duplicates.
#[must_use]
pub fn pack(inputs: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    // A longer input would need minutes in the fuzzer: libFuzzer makes none over 4 KiB.
    let sized = |input: Vec<u8>| u32::try_from(input.len()).ok().map(|length| (length, input));
    let mut inputs: Vec<_> = inputs.into_iter().filter_map(sized).collect();
    inputs.sort_unstable();
    inputs.dedup();
    inputs.into_iter().flat_map(|(length, input)| [length.to_le_bytes().to_vec(), input].concat()).collect()
}

/// Returns the inputs of a packed corpus.
///
/// # Errors
/// If the bytes end within an entry.
pub fn unpack(bytes: &[u8]) -> Result<Vec<&[u8]>, Truncated> {
    let (mut inputs, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let truncated = Truncated { offset: bytes.len() - rest.len() };
        let (length, after) = rest.split_first_chunk().ok_or(truncated)?;
        let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| truncated)?;
        let (input, after) = after.split_at_checked(length).ok_or(truncated)?;
        inputs.push(input);
        rest = after;
    }
    Ok(inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_inputs_are_sorted_distinct_and_unpacked_as_they_were() {
        let inputs = [&b"ab"[..], b"", b"b", b"\0\n", b"b", b"a"].map(<[u8]>::to_vec);
        let packed = pack(inputs.clone());
        assert_eq!(unpack(&packed), Ok(vec![&b""[..], b"a", b"b", b"\0\n", b"ab"]));
        assert_eq!(pack(inputs.into_iter().rev()), packed);
    }

    #[test]
    fn a_corpus_without_inputs_is_an_empty_file() {
        assert_eq!(pack([]), b"");
        assert_eq!(unpack(b""), Ok(vec![]));
    }

    #[test]
    fn a_truncated_corpus_is_refused_with_the_offset_of_the_entry() {
        let packed = pack([b"abc".to_vec(), b"x".to_vec()]);
        for end in [6, 8, packed.len() - 1] {
            assert_eq!(unpack(&packed[..end]), Err(Truncated { offset: 5 }), "{end}");
        }
    }
}
