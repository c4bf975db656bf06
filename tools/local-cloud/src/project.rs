//! Paths in the checkout and in its private folder `.longshore/`, and the lock on that folder.
//!
//! All state of a local stack is inside the checkout, so two checkouts never conflict. The benchmark's stack has other
//! binaries than the stack of `up`, and therefore its own subfolder.

use anyhow::{Context, Result, ensure};
use longshore_cli::progress;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A checkout of this repository.
pub struct Project {
    /// The folder of the workspace's Cargo.toml.
    pub root: PathBuf,
    /// The build of the stack's binaries.
    pub build: Build,
}

/// The build of the function binaries. Each build has its own stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// Fast to build; used for everything except benchmarks.
    Dev,
    /// Optimized, as for AWS.
    Release,
}

/// Returns the folder of the workspace's Cargo.toml.
pub(crate) fn checkout() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest)
}

impl Project {
    /// Finds the checkout that this binary was built from.
    pub fn find() -> Result<Self> {
        let root = checkout();
        ensure!(root.is_dir(), "{} does not exist any more, from which this program was built", root.display());
        Ok(Self { root: root.to_owned(), build: Build::Dev })
    }

    /// Returns the same checkout with the stack of another build.
    pub fn with(&self, build: Build) -> Self {
        Self { root: self.root.clone(), build }
    }

    /// Returns `.longshore/`. Git ignores it, it contains the tools, and it can be deleted when nothing runs.
    pub fn home_dir(&self) -> PathBuf {
        self.root.join(".longshore")
    }

    /// Returns the folder of the stack's state, logs and reports.
    pub fn state_dir(&self) -> Result<PathBuf> {
        let dir = match self.build {
            Build::Dev => self.home_dir(),
            Build::Release => self.home_dir().join("bench"),
        };
        fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        Ok(dir)
    }

    /// Returns the folder that is deployed: copies of template.yaml and samconfig.toml, and the function packages. The
    /// template has relative paths of its packages, and `target/lambda` of the checkout is for the AWS builds of `cargo
    /// lambda build`.
    pub fn template_dir(&self) -> Result<PathBuf> {
        let dir = self.state_dir()?;
        for name in ["template.yaml", "samconfig.toml"] {
            fs::copy(self.root.join(name), dir.join(name)).with_context(|| format!("cannot copy {name}"))?;
        }
        Ok(dir)
    }

    /// Returns the path of a log file in the state folder.
    pub fn log(&self, name: &str) -> Result<PathBuf> {
        Ok(self.state_dir()?.join(format!("{name}.log")))
    }

    /// Returns the path of a function's binary, as template.yaml's `CodeUri` expects it.
    pub fn bootstrap(&self, function: &str) -> PathBuf {
        self.functions_dir().join(function).join("bootstrap")
    }

    /// Returns the folder of all function packages.
    pub fn functions_dir(&self) -> PathBuf {
        match self.build {
            Build::Dev => self.home_dir().join("target/lambda"),
            Build::Release => self.home_dir().join("bench/target/lambda"),
        }
    }

    /// Returns the path of a file in `infra/local`.
    pub fn infra(&self, name: &str) -> PathBuf {
        self.root.join("infra/local").join(name)
    }

    /// Shortens a path in the checkout for display.
    pub fn short<'a>(&self, path: &'a Path) -> std::path::Display<'a> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }

    /// Locks the stack, so that it is started, changed or stopped by one process at a time. The lock is released if the
    /// process ends.
    pub fn lock_stack(&self) -> Result<File> {
        lock(&self.state_dir()?.join("lock"), "another xtask command")
    }
}

/// Acquires an exclusive lock. Prints a message if it has to wait.
pub fn lock(path: &Path, holder: &str) -> Result<File> {
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    if file.try_lock().is_err() {
        progress::note(&format!("Waiting for {holder} to finish..."));
        file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    }
    Ok(file)
}
