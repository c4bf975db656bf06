//! A lossless WebP file of one pixel and 65,536 groups of Huffman codes. It has 4 MB, and takes more than 1 GB.

use super::{riff, riff_chunk};

/// Bits, the lowest of each value first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    length: usize,
}

impl Bits {
    fn push(&mut self, value: u32, count: u32) {
        for shift in 0..count {
            if self.length.is_multiple_of(8) {
                self.bytes.push(0);
            }
            *self.bytes.last_mut().unwrap() |= ((value >> shift & 1) as u8) << (self.length % 8);
            self.length += 1;
        }
    }

    /// A code of one symbol of 8 bits.
    fn single(&mut self, symbol: u32) {
        self.push(0b101, 3);
        self.push(symbol, 8);
    }

    /// A code of the lengths 1 to 9, 10 and 10, for which the decoder makes a table of 1,024 entries.
    fn long(&mut self) {
        self.push(0, 1);
        // Lengths of the code of lengths, in the order 17, 18, 0, 1 to 5, 16, 6 to 10: six of 3 bits, four of 4 bits.
        self.push(14 - 4, 4);
        for length in [0, 0, 0, 3, 3, 3, 3, 3, 0, 3, 4, 4, 4, 4] {
            self.push(length, 3);
        }
        // Eleven symbols.
        self.push(1, 1);
        self.push(1, 3);
        self.push(11 - 2, 4);
        for length in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10_u32] {
            // Codes have their highest bit first.
            let (code, bits) = if length <= 6 { (length - 1, 3) } else { (12 + length - 7, 4) };
            self.push(code.reverse_bits() >> (32 - bits), bits);
        }
    }
}

pub fn huffman_bomb(groups: u32) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.push(0x2F, 8);
    // One pixel with alpha; no transform, no cache; groups for blocks of 4 pixels.
    bits.push(1 << 28, 32);
    bits.push(0, 2);
    bits.push(1, 1);
    bits.push(0, 3);
    // The image of groups: no cache; green and red are the highest group.
    bits.push(0, 1);
    let last = groups - 1;
    for symbol in [last & 0xFF, last >> 8, 0, 0, 0] {
        bits.single(symbol);
    }
    for _ in 0..groups * 5 {
        bits.long();
    }
    // The pixel: symbol 0 of each code.
    bits.push(0, 4);
    riff(&riff_chunk(b"VP8L", &bits.bytes))
}
