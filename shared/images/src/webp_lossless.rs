//! The number of groups of Huffman codes of lossless WebP data
//! (<https://developers.google.com/speed/webp/docs/webp_lossless_bitstream_specification>, sections 4 to 6).
//!
//! The decoder builds all groups before the first pixel, with tables of some KiB for codes of some bytes: a file of 4 MB
//! and one pixel takes more than 1 GB. The number depends on the values of one image within the data, so everything
//! before that image is read, too.

/// Bytes of the decoder for one group, at most. Each of five codes has a table of 2^10 entries of 4 bytes. Longer codes
/// have two nodes of 16 bytes per symbol: up to 2,328 symbols of green, and three times 256.
pub(crate) const GROUP_BYTES: u64 = 5 * 4 * 1024 + 2 * 16 * (2_328 + 3 * 256);

const GREEN: usize = 256 + 24;
const MAX_CACHE_BITS: u32 = 11;
const LENGTH_ORDER: [usize; 19] = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
const MAX_LENGTH: usize = 15;

/// Returns the number of groups of an image of these dimensions. `None` if the data are not valid.
pub(crate) fn count_groups(data: &[u8], (width, height): (u32, u32)) -> Option<u32> {
    let mut bits = Bits { data, at: 0 };
    let width = bits.skip_transforms(width, height)?;
    bits.cache_symbols()?;
    if bits.read(1)? == 0 {
        return Some(1);
    }
    let size = bits.read(3)? + 2;
    let last = bits.highest_group(blocks(width, size) * blocks(height, size))?;
    Some(last + 1)
}

fn blocks(side: u32, bits: u32) -> u64 {
    u64::from(side.div_ceil(1 << bits))
}

/// A reader of bits, the lowest first.
struct Bits<'a> {
    data: &'a [u8],
    at: usize,
}

/// A Huffman code.
enum Code {
    /// One symbol, of no bits.
    Single(u16),
    /// The number of symbols of each length, and the symbols in the order of their codes.
    Canonical { counts: [u16; MAX_LENGTH + 1], symbols: Vec<u16> },
}

impl Bits<'_> {
    fn read(&mut self, count: u32) -> Option<u32> {
        (0..count).try_fold(0, |value, shift| {
            let bit = (self.data.get(self.at / 8)? >> (self.at % 8)) & 1;
            self.at += 1;
            Some(value | (u32::from(bit) << shift))
        })
    }

    /// Skips the transforms. Returns the width of the image that they leave.
    fn skip_transforms(&mut self, mut width: u32, height: u32) -> Option<u32> {
        let mut seen = [false; 4];
        while self.read(1)? == 1 {
            let kind = usize::try_from(self.read(2)?).ok()?;
            if std::mem::replace(&mut seen[kind], true) {
                return None;
            }
            match kind {
                0 | 1 => {
                    let size = self.read(3)? + 2;
                    self.skip_image(blocks(width, size) * blocks(height, size))?;
                }
                2 => {}
                _ => {
                    let colors = self.read(8)? + 1;
                    self.skip_image(colors.into())?;
                    let packing = if colors <= 2 {
                        3
                    } else if colors <= 4 {
                        2
                    } else {
                        u32::from(colors <= 16)
                    };
                    width = width.div_ceil(1 << packing);
                }
            }
        }
        Some(width)
    }

    fn skip_image(&mut self, pixels: u64) -> Option<()> {
        self.highest_group(pixels).map(|_| ())
    }

    /// Reads an image of one group of codes. Returns the highest of its values, each of red and green. Pixels from the
    /// cache and from copies have values that were read before.
    fn highest_group(&mut self, pixels: u64) -> Option<u32> {
        let green = GREEN + self.cache_symbols()?;
        let [green, red, blue, alpha, distance] =
            [self.code(green)?, self.code(256)?, self.code(256)?, self.code(256)?, self.code(40)?];
        let mut done = 0;
        let mut highest = 0;
        while done < pixels {
            let before = self.at;
            let symbol = green.read(self)?;
            done += match symbol {
                0..256 => {
                    highest = highest.max((red.read(self)? << 8) | symbol);
                    blue.read(self)?;
                    alpha.read(self)?;
                    // Without bits, all pixels are this one.
                    if self.at == before { pixels } else { 1 }
                }
                256..280 => {
                    let length = self.prefixed(symbol - 256)?;
                    let distance = distance.read(self)?;
                    self.prefixed(distance)?;
                    length.into()
                }
                _ => 1,
            };
        }
        Some(highest)
    }

    /// Reads the size of the cache. Returns the number of its symbols.
    fn cache_symbols(&mut self) -> Option<usize> {
        if self.read(1)? == 0 {
            return Some(0);
        }
        let bits = self.read(4)?;
        (1..=MAX_CACHE_BITS).contains(&bits).then_some(1 << bits)
    }

    fn prefixed(&mut self, prefix: u32) -> Option<u32> {
        if prefix < 4 {
            return Some(prefix + 1);
        }
        let extra = (prefix - 2) >> 1;
        Some(((2 + (prefix & 1)) << extra) + self.read(extra)? + 1)
    }

    fn code(&mut self, alphabet: usize) -> Option<Code> {
        if self.read(1)? == 0 {
            let lengths = self.lengths(alphabet)?;
            return Code::new(&lengths);
        }
        let two = self.read(1)? == 1;
        let bits = if self.read(1)? == 1 { 8 } else { 1 };
        let first = u16::try_from(self.read(bits)?).ok()?;
        if !two {
            return Some(Code::Single(first));
        }
        let second = u16::try_from(self.read(8)?).ok()?;
        let mut counts = [0; MAX_LENGTH + 1];
        counts[1] = 2;
        Some(Code::Canonical { counts, symbols: vec![first, second] })
    }

    fn lengths(&mut self, alphabet: usize) -> Option<Vec<u8>> {
        let mut lengths = [0; 19];
        let count = usize::try_from(self.read(4)?).ok()? + 4;
        for symbol in LENGTH_ORDER.iter().take(count) {
            lengths[*symbol] = u8::try_from(self.read(3)?).ok()?;
        }
        let code = Code::new(&lengths)?;
        let mut symbols = u32::MAX;
        if self.read(1)? == 1 {
            let bits = 2 + 2 * self.read(3)?;
            symbols = 2 + self.read(bits)?;
        }
        let mut lengths = Vec::with_capacity(alphabet);
        let mut previous = 8;
        while lengths.len() < alphabet && symbols > 0 {
            symbols -= 1;
            let (length, times) = match code.read(self)? {
                16 => (previous, 3 + self.read(2)?),
                17 => (0, 3 + self.read(3)?),
                18 => (0, 11 + self.read(7)?),
                length => (u8::try_from(length).ok()?, 1),
            };
            previous = if length == 0 { previous } else { length };
            lengths.extend((0..times).map(|_| length));
        }
        (lengths.len() <= alphabet).then_some(lengths)
    }
}

impl Code {
    fn new(lengths: &[u8]) -> Option<Self> {
        let mut symbols: Vec<u16> =
            (0..).zip(lengths).filter(|(_, length)| **length > 0).map(|(symbol, _)| symbol).collect();
        if let [symbol] = symbols[..] {
            return Some(Self::Single(symbol));
        }
        let mut counts = [0; MAX_LENGTH + 1];
        symbols.iter().for_each(|symbol| counts[usize::from(lengths[usize::from(*symbol)])] += 1);
        let used: u32 = (1..).zip(&counts[1..]).map(|(length, count)| u32::from(*count) << (MAX_LENGTH - length)).sum();
        symbols.sort_by_key(|symbol| lengths[usize::from(*symbol)]);
        (used == 1 << MAX_LENGTH).then_some(Self::Canonical { counts, symbols })
    }

    fn read(&self, bits: &mut Bits<'_>) -> Option<u32> {
        let (counts, symbols) = match self {
            Self::Single(symbol) => return Some((*symbol).into()),
            Self::Canonical { counts, symbols } => (counts, symbols),
        };
        let (mut code, mut first, mut index) = (0, 0, 0);
        for count in counts[1..].iter().map(|count| u32::from(*count)) {
            code |= bits.read(1)?;
            if code < first + count {
                return symbols.get(usize::try_from(index + code - first).ok()?).map(|symbol| (*symbol).into());
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}
