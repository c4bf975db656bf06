//! Functions of several versions in one stack: their code is replaced while jobs run, as an update or a rollback does.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::setup::{binary_path, functions};
use super::stack::{NAME, Stack};

/// A version of the code.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Version {
    /// That of the previous release.
    Previous,
    /// That of the checkout.
    Current,
}

impl Version {
    /// The other version.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Previous => Self::Current,
            Self::Current => Self::Previous,
        }
    }
}

/// Binaries of both versions.
#[derive(Clone, Debug)]
pub struct Binaries {
    /// Folder of the previous release, with NAME/bootstrap for each function.
    previous: PathBuf,
    /// Names of the functions that both versions have.
    pub names: Vec<String>,
}

impl Binaries {
    /// Binaries of the previous release in this folder, and those of the checkout.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn new(previous: PathBuf) -> Result<Self> {
        let mut names = Vec::new();
        for entry in previous.read_dir().with_context(|| format!("cannot read {}", previous.display()))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            // The stack has no function that was removed. The target folder can have its binary.
            if functions().any(|(_, function)| function == name) {
                names.push(name);
            }
        }
        names.sort();
        Ok(Self { previous, names })
    }

    fn path(&self, function: &str, version: Version) -> Result<PathBuf> {
        match version {
            Version::Previous => Ok(self.previous.join(function).join("bootstrap")),
            Version::Current => binary_path(function),
        }
    }
}

impl Stack {
    /// Replaces the code of a function by that of this version. The emulator kills the function's processes, which an
    /// update on AWS lets end.
    ///
    /// # Errors
    /// If this process did not start the emulator, or the emulator refuses it.
    pub fn replace_code(&self, binaries: &Binaries, function: &str, version: Version) -> Result<()> {
        let path = binaries.path(function, version)?;
        self.deploy_program(function, &path)
    }

    /// Replaces the code of a function by that of the checkout, as a deployment of it does.
    ///
    /// # Errors
    /// If this process did not start the emulator, or the emulator refuses it.
    pub fn restore_code(&self, function: &str) -> Result<()> {
        self.deploy_program(function, &binary_path(function)?)
    }

    /// Replaces the code of a function by this program.
    ///
    /// # Errors
    /// If this process did not start the emulator, or the emulator refuses it.
    pub fn deploy_program(&self, function: &str, program: &Path) -> Result<()> {
        self.cloud.update_code(&format!("{NAME}-{function}"), program)
    }
}
