//! A function's binary: its machine, C library, symbols, size and build settings.

use memchr::memmem;

use crate::finding::Finding;

/// Prefix of the build settings that `longshore::telemetry` embeds in a binary.
const SETTINGS: &[u8] = b"longshore build: ";
/// Size above which a binary causes a warning. A release has a few megabytes, with debug information ten times as much.
const LARGE_BYTES: usize = 40 << 20;
/// Prefix of the versions of the C library whose symbols a binary uses.
const GLIBC: &[u8] = b"GLIBC_2.";
/// Minor version of the C library of Lambda's system, Amazon Linux 2023
/// (<https://docs.aws.amazon.com/linux/al2023/ug/core-glibc.html>).
const LAMBDA_GLIBC: u32 = 34;
/// ELF section type of a symbol table, which `strip` removes.
const SYMBOLS: u32 = 2;

/// Lambda's architectures, by ELF machine number.
const MACHINES: [(u16, &str); 2] = [(62, "x86_64"), (183, "arm64")];

/// Properties of a binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    /// `arm64` or `x86_64`; `None` for any other machine.
    pub machine: Option<&'static str>,
    /// Minor version of the C library (glibc 2) that it needs; `None` if it needs none.
    pub glibc: Option<u32>,
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
            glibc: glibc(bytes),
            has_symbols: section_types(bytes).is_some_and(|types| types.contains(&SYMBOLS)),
            bytes: bytes.len(),
            settings: settings(bytes),
        })
    }

    /// Checks the binary at `location` as the code of a function for `architecture`.
    pub fn findings(&self, location: &str, architecture: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        let build = build_command(architecture);
        let mut error = |problem: String, fix: &str| findings.push(Finding::error(location, problem, fix));
        if self.machine != Some(architecture) {
            let alternative = self.machine.map(|machine| format!(", or deploy with Architecture={machine}"));
            error(
                format!(
                    "it is built for {}, but the function is {architecture}",
                    self.machine.unwrap_or("another machine")
                ),
                &format!("{build}{}", alternative.unwrap_or_default()),
            );
        }
        match self.settings.as_deref() {
            None => error("it contains no build settings, so it is not a function of this version".into(), &build),
            Some(settings) => {
                if !settings.contains("panic=unwind;") {
                    let problem = "it aborts on panic: one bad row would fail its entire chunk";
                    error(problem.into(), "set panic = \"unwind\" in [profile.release] and build again");
                }
                if !settings.contains("profile=release;") {
                    error("it is a debug build, which is slow and therefore expensive".into(), &build);
                }
            }
        }
        if self.has_symbols || self.bytes > LARGE_BYTES {
            let symbols = if self.has_symbols { " and symbols" } else { "" };
            let problem = format!("it has {} MiB{symbols}, which makes cold starts longer", self.bytes >> 20);
            let fix = "set strip = true in [profile.release] and build again";
            findings.push(Finding::warning(location, problem, fix));
        }
        findings
    }
}

impl Binary {
    /// Returns an error for a binary that needs a newer C library than that of Lambda, as one can that was linked on a
    /// newer system.
    pub fn system_finding(&self, location: &str, architecture: &str) -> Option<Finding> {
        let glibc = self.glibc.filter(|minor| *minor > LAMBDA_GLIBC)?;
        let problem = format!("it needs glibc 2.{glibc}, and Lambda's system has 2.{LAMBDA_GLIBC}");
        let fix = format!("{}, without --compiler cargo", build_command(architecture));
        Some(Finding::error(location, problem, fix))
    }
}

/// Returns the newest version of the C library that a binary names.
fn glibc(bytes: &[u8]) -> Option<u32> {
    let minor = |at: usize| {
        let digits = bytes.iter().skip(at + GLIBC.len()).take(4).map(|byte| char::from(*byte));
        digits.take_while(char::is_ascii_digit).collect::<String>().parse().ok()
    };
    memmem::find_iter(bytes, GLIBC).filter_map(minor).max()
}

/// Returns the build command for an architecture. It works on any host.
fn build_command(architecture: &str) -> String {
    format!("cargo lambda build --release --{}", architecture.replace('_', "-"))
}

/// Returns the types of all sections, or `None` if the section table is malformed.
fn section_types(bytes: &[u8]) -> Option<Vec<u32>> {
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

    /// Builds the smallest ELF file with one section.
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

    fn problems(bytes: &[u8]) -> Vec<String> {
        let binary = Binary::read(bytes).unwrap_or_else(|| panic!("not a binary"));
        binary.findings("target/lambda/upload/bootstrap", "arm64").into_iter().map(|finding| finding.problem).collect()
    }

    const GOOD: &str = "longshore build: panic=unwind; profile=release;";

    #[test]
    fn a_stripped_release_for_the_architecture_has_no_findings() {
        assert_eq!(problems(&elf(183, 1, GOOD)), [""; 0]);
    }

    #[test]
    fn machine_profile_panic_and_symbols_are_separate_findings() {
        let rows = [
            (elf(62, 1, GOOD), "it is built for x86_64, but the function is arm64"),
            (elf(40, 1, GOOD), "it is built for another machine"),
            (elf(183, 1, "longshore build: panic=unwind; profile=debug;"), "it is a debug build"),
            (elf(183, 1, "longshore build: panic=abort; profile=release;"), "it aborts on panic"),
            (elf(183, 1, ""), "it contains no build settings"),
            (elf(183, SYMBOLS, GOOD), "it has 0 MiB and symbols"),
        ];
        for (bytes, expected) in rows {
            let problems = problems(&bytes);
            assert!(problems.len() == 1 && problems[0].starts_with(expected), "{expected}: {problems:?}");
        }
    }

    #[test]
    fn the_fix_is_to_build_for_the_architecture_of_the_function() {
        let fixes = |architecture: &str, bytes: &[u8]| {
            let binary = Binary::read(bytes).unwrap_or_else(|| panic!("not a binary"));
            binary.findings("bootstrap", architecture).into_iter().map(|finding| finding.fix).collect::<Vec<_>>()
        };
        let debug = "longshore build: panic=unwind; profile=debug;";
        assert_eq!(fixes("x86_64", &elf(62, 1, debug)), ["cargo lambda build --release --x86-64"]);
        assert_eq!(fixes("arm64", &elf(183, 1, debug)), ["cargo lambda build --release --arm64"]);
        let other = "cargo lambda build --release --x86-64, or deploy with Architecture=arm64";
        assert_eq!(fixes("x86_64", &elf(183, 1, GOOD)), [other]);
    }

    #[test]
    fn a_binary_that_needs_a_newer_system_than_lambdas_is_an_error() {
        let finding = |names: &str| {
            let binary = Binary::read(&elf(183, 1, &format!("{names}{GOOD}")));
            let binary = binary.unwrap_or_else(|| panic!("not a binary"));
            binary.system_finding("bootstrap", "arm64").map(|finding| finding.problem)
        };
        assert_eq!(finding(""), None, "without a C library");
        assert_eq!(finding("GLIBC_2.17\0GLIBC_2.34\0GLIBC_2.2.5\0"), None);
        let problem = "it needs glibc 2.38, and Lambda's system has 2.34";
        assert_eq!(finding("GLIBC_2.38\0GLIBC_2.4\0").as_deref(), Some(problem));
    }

    #[test]
    fn a_file_that_is_not_a_program_is_not_parsed() {
        assert_eq!(Binary::read(b"#!/bin/sh\n"), None);
        assert_eq!(Binary::read(b"\x7fELF\x02"), None);
    }

    #[test]
    fn a_truncated_file_does_not_panic() {
        let bytes = elf(183, 1, GOOD);
        for end in 0..bytes.len() {
            drop(Binary::read(&bytes[..end]));
        }
    }
}
