//! The lines of a file of JSON Lines: a streaming count, and the items that they belong to.
//!
//! Memory: the beginning of a line, regardless of its length.

/// Beginning of a line with the number of its item.
const START: &[u8] = b"{\"number\":";

/// Length that has the number of any line, and the comma after it.
const START_BYTES: usize = START.len() + 21;

/// Reads the number at the beginning of each line.
#[derive(Default)]
pub(super) struct LineNumbers {
    /// Beginning of the line.
    start: Vec<u8>,
    rows: u64,
}

impl LineNumbers {
    /// Returns the complete lines so far.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Parses a block, and calls `row` for each complete line with its number, or `None` if it has none.
    pub(super) fn take(&mut self, block: &[u8], row: &mut impl FnMut(Option<u64>)) {
        for piece in block.split_inclusive(|byte| *byte == b'\n') {
            let room = START_BYTES - self.start.len();
            self.start.extend(piece.iter().take(room));
            if piece.ends_with(b"\n") {
                self.rows += 1;
                row(number(&self.start));
                self.start.clear();
            }
        }
    }
}

fn number(start: &[u8]) -> Option<u64> {
    let after = start.strip_prefix(START)?;
    let end = after.iter().position(|byte| *byte == b',')?;
    std::str::from_utf8(after.get(..end)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "{\"number\":7,\"output\":\"a,b\"}\n{\"number\":18446744073709551615,\"output\":1}\n\
                        {\"number\":184467440737095516150,\"output\":1}\n{\"numbers\":1,\"output\":1}\n\n{\"number\":8";

    #[test]
    fn numbers_are_those_at_the_beginning_of_complete_lines_for_any_block_size() {
        for block_bytes in 1..FILE.len() {
            let (mut lines, mut found) = (LineNumbers::default(), Vec::new());
            for block in FILE.as_bytes().chunks(block_bytes) {
                lines.take(block, &mut |number| found.push(number));
            }
            assert_eq!(found, [Some(7), Some(u64::MAX), None, None, None], "blocks of {block_bytes}");
            assert_eq!(lines.rows(), 5);
        }
    }
}
