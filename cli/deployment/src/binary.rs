//! A function's binary: its machine, symbols, size and build settings.

use crate::finding::Finding;

/// Prefix under which `longshore::telemetry` embeds the build settings.
const SETTINGS: &[u8] = b"longshore build: ";
/// Size limit for a warning. A release is a few megabytes; debug information makes it ten times larger.
const LARGE_BYTES: usize = 40 << 20;
/// ELF section type of a symbol table, which `strip` removes.
const SYMBOLS: u32 = 2;

/// Lambda's architectures, by ELF machine number.
const MACHINES: [(u16, &str); 2] = [(62, "x86_64"), (183, "arm64")];

/// Properties of a binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    /// `arm64` or `x86_64`; `None` for any other machine.
    pub machine: Option<&'static str>,
    /// True if the binary has not been stripped.
    pub has_symbols: bool,
    /// Size in bytes.
    pub bytes: usize,
    /// Build settings, such as `panic=unwind; profile=release;`; `None` if the binary does not contain any.
    pub settings: Option<String>,
}

impl Binary {
    /// Parses a binary. Returns `None` unless it is a 64-bit little-endian ELF file.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.get(..6)? != b"\x7fELF\x02\x01" {
            return None;
        }
        let machine = u16::from_le_bytes(bytes.get(18..20)?.try_into().ok()?);
        let known = MACHINES.iter().find(|(number, _)| *number == machine);
        Some(Self {
            machine: known.map(|(_, name)| *name),
            has_symbols: kinds_of_sections(bytes).is_some_and(|kinds| kinds.contains(&SYMBOLS)),
            bytes: bytes.len(),
            settings: settings(bytes),
        })
    }

    /// Lists the defects of the binary at `place` as the code of a function for `architecture`.
    pub fn findings(&self, place: &str, architecture: &str) -> Vec<Finding> {
        let mut found = Vec::new();
        let build = build(architecture);
        let mut error = |what: String, fix: &str| found.push(Finding::error(place, what, fix));
        if self.machine != Some(architecture) {
            let instead = self.machine.map(|machine| format!(", or deploy with Architecture={machine}"));
            error(
                format!("it is for {}, the function for {architecture}", self.machine.unwrap_or("another machine")),
                &format!("{build}{}", instead.unwrap_or_default()),
            );
        }
        match self.settings.as_deref() {
            None => error("it does not say how it was built: it is no function of this version".into(), &build),
            Some(settings) => {
                if !settings.contains("panic=unwind;") {
                    let what = "it aborts on panic: one bad row would fail its whole chunk";
                    error(what.into(), "set panic = \"unwind\" in [profile.release] and build again");
                }
                if !settings.contains("profile=release;") {
                    error("it is a debug build: slow, and paid for by the millisecond".into(), &build);
                }
            }
        }
        if self.has_symbols || self.bytes > LARGE_BYTES {
            let what = format!("it has {} MiB{}", self.bytes >> 20, if self.has_symbols { " and symbols" } else { "" });
            let fix = "set strip = true in [profile.release] and build again: cold starts are shorter";
            found.push(Finding::warning(place, what, fix));
        }
        found
    }
}

/// The build command for an architecture; it works on any host.
fn build(architecture: &str) -> String {
    format!("cargo lambda build --release --{}", architecture.replace('_', "-"))
}

/// The types of all sections; `None` if the section table is malformed.
fn kinds_of_sections(bytes: &[u8]) -> Option<Vec<u32>> {
    let at = usize::try_from(u64::from_le_bytes(bytes.get(40..48)?.try_into().ok()?)).ok()?;
    let short = |from: usize| Some(usize::from(u16::from_le_bytes(bytes.get(from..from + 2)?.try_into().ok()?)));
    let (size, count) = (short(58)?, short(60)?);
    let kind = |index: usize| {
        let from = at.checked_add(index * size)?.checked_add(4)?;
        Some(u32::from_le_bytes(bytes.get(from..from.checked_add(4)?)?.try_into().ok()?))
    };
    (0..count).map(kind).collect()
}

fn settings(bytes: &[u8]) -> Option<String> {
    let at = bytes.windows(SETTINGS.len()).position(|window| window == SETTINGS)? + SETTINGS.len();
    let text: String = bytes[at..].iter().take(64).map(|byte| char::from(*byte)).take_while(char::is_ascii).collect();
    let end = text.rfind(';')? + 1;
    Some(text[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest ELF file with one section.
    fn elf(machine: u16, kind: u32, settings: &str) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
        bytes[40..48].copy_from_slice(&64_u64.to_le_bytes());
        bytes[58..60].copy_from_slice(&64_u16.to_le_bytes());
        bytes[60..62].copy_from_slice(&1_u16.to_le_bytes());
        let mut section = vec![0; 64];
        section[4..8].copy_from_slice(&kind.to_le_bytes());
        [bytes, section, settings.as_bytes().to_vec()].concat()
    }

    fn whats(bytes: &[u8]) -> Vec<String> {
        let binary = Binary::read(bytes).unwrap_or_else(|| panic!("no binary"));
        binary.findings("target/lambda/upload/bootstrap", "arm64").into_iter().map(|finding| finding.what).collect()
    }

    const GOOD: &str = "longshore build: panic=unwind; profile=release;";

    #[test]
    fn a_stripped_release_for_the_machine_is_good() {
        assert_eq!(whats(&elf(183, 1, GOOD)), [""; 0]);
    }

    #[test]
    fn machine_profile_panic_and_symbols_are_reported_apart() {
        let rows = [
            (elf(62, 1, GOOD), "it is for x86_64, the function for arm64"),
            (elf(40, 1, GOOD), "it is for another machine"),
            (elf(183, 1, "longshore build: panic=unwind; profile=debug;"), "it is a debug build"),
            (elf(183, 1, "longshore build: panic=abort; profile=release;"), "it aborts on panic"),
            (elf(183, 1, ""), "it does not say how it was built"),
            (elf(183, SYMBOLS, GOOD), "it has 0 MiB and symbols"),
        ];
        for (bytes, what) in rows {
            let found = whats(&bytes);
            assert!(found.len() == 1 && found[0].starts_with(what), "{what}: {found:?}");
        }
    }

    #[test]
    fn the_advice_is_to_build_for_the_machine_of_the_function() {
        let fixes = |architecture: &str, bytes: &[u8]| {
            let binary = Binary::read(bytes).unwrap_or_else(|| panic!("no binary"));
            binary.findings("bootstrap", architecture).into_iter().map(|finding| finding.fix).collect::<Vec<_>>()
        };
        let debug = "longshore build: panic=unwind; profile=debug;";
        assert_eq!(fixes("x86_64", &elf(62, 1, debug)), ["cargo lambda build --release --x86-64"]);
        assert_eq!(fixes("arm64", &elf(183, 1, debug)), ["cargo lambda build --release --arm64"]);
        let other = "cargo lambda build --release --x86-64, or deploy with Architecture=arm64";
        assert_eq!(fixes("x86_64", &elf(183, 1, GOOD)), [other]);
    }

    #[test]
    fn what_is_no_program_is_none() {
        assert_eq!(Binary::read(b"#!/bin/sh\n"), None);
        assert_eq!(Binary::read(b"\x7fELF\x02"), None);
    }

    #[test]
    fn a_file_that_is_cut_off_is_read_as_far_as_it_goes() {
        let whole = elf(183, 1, GOOD);
        for end in 0..whole.len() {
            drop(Binary::read(&whole[..end]));
        }
    }
}
