//! Size of a compiled regular expression, estimated from its text: `((a{100}){100}){100}` has 22 characters and a
//! million states.
//!
//! An upper bound in approximate states of an automaton, computed in time linear in the text. Counted repetitions
//! multiply the weight of their content, and nested ones multiply each other. Look-around and back-references cost
//! their limit of backtracking steps.

/// Maximum number of steps for one match of a pattern with look-around or back-references. Other patterns match in
/// linear time.
pub(super) const BACKTRACK_LIMIT: usize = 10_000;

/// Weight of a Unicode class such as `\p{L}`, in states.
const UNICODE_CLASS: u64 = 200;
/// Weight of a negated class, or the dot: nearly all of UTF-8.
const NEGATED_CLASS: u64 = 12;
/// Maximum nesting of groups; a deeper pattern counts as too large.
const MAX_NESTING: usize = 100;

/// Returns the estimated weight of a pattern.
pub(super) fn weight(pattern: &str) -> u64 {
    let mut scan = Scan { text: pattern.as_bytes(), at: 0, backtracks: false };
    let sum = scan.alternatives(0);
    if scan.backtracks { sum.saturating_add(BACKTRACK_LIMIT as u64) } else { sum }
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    backtracks: bool,
}

impl Scan<'_> {
    /// Weighs everything up to the group's end: one sequence or several alternatives, which are compiled side by
    /// side.
    fn alternatives(&mut self, nesting: usize) -> u64 {
        if nesting > MAX_NESTING {
            self.at = self.text.len();
            return u64::MAX;
        }
        let mut sum = 1_u64;
        while let Some(byte) = self.next() {
            let atom = match byte {
                b')' => break,
                b'(' => self.group(nesting),
                b'[' => self.class(),
                b'\\' => self.escape(),
                b'.' => NEGATED_CLASS,
                _ => 1,
            };
            sum = sum.saturating_add(atom.saturating_mul(self.repetitions()));
        }
        sum
    }

    fn group(&mut self, nesting: usize) -> u64 {
        if self.peek() == Some(b'?') {
            let kind = self.text.get(self.at + 1..).unwrap_or_default();
            self.backtracks |= [&b"="[..], b"!", b"<=", b"<!", b">", b"("].iter().any(|look| kind.starts_with(look));
        }
        self.alternatives(nesting + 1)
    }

    /// Weighs a bracketed class, including nested ones.
    fn class(&mut self) -> u64 {
        let (mut sum, mut depth) = (if self.peek() == Some(b'^') { NEGATED_CLASS } else { 2 }, 1);
        while let Some(byte) = self.next() {
            match byte {
                b'\\' => sum += self.escape(),
                b'[' => depth += 1,
                b']' => depth -= 1,
                _ => sum += 1,
            }
            if depth == 0 {
                break;
            }
        }
        sum
    }

    fn escape(&mut self) -> u64 {
        let escaped = self.next();
        if matches!(escaped, Some(b'p' | b'P' | b'u' | b'x')) && self.peek() == Some(b'{') {
            let length = self.text[self.at..].iter().position(|byte| *byte == b'}');
            self.at = length.map_or(self.text.len(), |length| self.at + length + 1);
        }
        match escaped {
            Some(b'p' | b'P') => UNICODE_CLASS,
            Some(b'D' | b'W' | b'S') => NEGATED_CLASS,
            Some(b'1'..=b'9' | b'k') => {
                self.backtracks = true;
                1
            }
            _ => 2,
        }
    }

    /// Returns the factor of the quantifiers that follow an atom.
    fn repetitions(&mut self) -> u64 {
        let mut factor = 1_u64;
        loop {
            match self.peek() {
                Some(b'*' | b'+' | b'?') => {
                    self.at += 1;
                    if self.peek() == Some(b'+') {
                        self.backtracks = true;
                    }
                }
                Some(b'{') => match self.counted() {
                    Some(times) => factor = factor.saturating_mul(times),
                    None => return factor,
                },
                _ => return factor,
            }
        }
    }

    /// Reads `{n}`, `{n,}` or `{n,m}` and returns the maximum number of copies; `None` if the brace is a literal
    /// character.
    fn counted(&mut self) -> Option<u64> {
        let rest = &self.text[self.at + 1..];
        let length = rest.iter().position(|byte| *byte == b'}')?;
        let bounds = std::str::from_utf8(&rest[..length]).ok()?;
        let number = |digits: &str| -> Option<u64> {
            let digits = digits.trim();
            let all = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            all.then(|| digits.parse().unwrap_or(u64::MAX))
        };
        let times = match bounds.split_once(',') {
            None => number(bounds)?,
            Some((least, "")) => number(least)?.saturating_add(1),
            Some((least, most)) => number(least).unwrap_or(0).max(number(most)?),
        };
        self.at += length + 2;
        Some(times.max(1))
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }
}

#[cfg(test)]
mod tests {
    use super::{BACKTRACK_LIMIT, weight};

    #[test]
    fn the_weight_of_a_pattern_is_close_to_its_compiled_size() {
        for (pattern, least, most) in [
            ("^[a-z0-9._%+-]+@[a-z]+\\.[a-z]{2,}$", 10, 100),
            ("^\\d{5}(-\\d{4})?$", 10, 60),
            ("a{1000}", 1_000, 1_001),
            ("(a{100}){100}", 10_000, 20_000),
            ("((a{100}){100}){100}", 1_000_000, 2_000_000),
            ("(((a{1000}){1000}){1000}){1000}", 1_000_000_000, u64::MAX),
            ("\\p{L}{1,50}", 10_000, 10_100),
            ("[\\p{L}\\p{N}]{40}", 16_000, 17_000),
            ("a{,9}", 1, 20),
            ("a{x}", 1, 10),
            ("a{2}{3}{4}", 24, 25),
            ("\\u{41}{7}", 14, 15),
            ("x{99999999999999999999}", u64::MAX, u64::MAX),
        ] {
            let weight = weight(pattern);
            assert!((least..=most).contains(&weight), "{pattern}: {weight}");
        }
    }

    #[test]
    fn a_backtracking_pattern_weighs_at_least_the_backtrack_limit() {
        for pattern in ["(?=a)b", "(?!a)b", "(?<!a)b", "(a)\\1", "(?<n>a)\\k<n>", "a++b", "(?>a)b"] {
            assert!(weight(pattern) >= BACKTRACK_LIMIT as u64, "{pattern}");
        }
        for pattern in ["(?:a)b", "(?<name>a)b", "(?i)a", "a+?b", "\\\\(a)"] {
            assert!(weight(pattern) < 100, "{pattern}");
        }
    }

    #[test]
    fn the_estimate_terminates_for_any_text() {
        for pattern in ["(".repeat(60_000), "[".repeat(60_000), "\\".into(), "{".into(), "a{".into(), ")".repeat(9)] {
            weight(&pattern);
        }
    }
}
