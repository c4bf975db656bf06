//! Where things are: the checkout, its private folder `.longshore/`, and the lock on that folder.
//!
//! All state of a local stack is inside the checkout, so two checkouts never meet.

use anyhow::{Context, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// One checkout of this repository.
pub(crate) struct Project {
    /// The folder of the workspace's Cargo.toml.
    pub(crate) root: PathBuf,
}

impl Project {
    /// The checkout that this binary was built from.
    pub(crate) fn find() -> Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.parent().context("xtask lies in no workspace")?;
        Ok(Self { root: root.to_owned() })
    }

    /// `.longshore/`: state, logs and reports; ignored by git, safe to delete when nothing runs.
    pub(crate) fn state_dir(&self) -> Result<PathBuf> {
        let dir = self.root.join(".longshore");
        fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        Ok(dir)
    }

    /// The log file of that name in `.longshore/`.
    pub(crate) fn log(&self, name: &str) -> Result<PathBuf> {
        Ok(self.state_dir()?.join(format!("{name}.log")))
    }

    /// `target/lambda/NAME/bootstrap`: the layout that template.yaml's `CodeUri` names.
    /// It stays inside the checkout even when CARGO_TARGET_DIR points elsewhere.
    pub(crate) fn bootstrap(&self, function: &str) -> PathBuf {
        self.functions_dir().join(function).join("bootstrap")
    }

    /// The folder of all function packages.
    pub(crate) fn functions_dir(&self) -> PathBuf {
        self.root.join("target/lambda")
    }

    /// Files in `infra/local`.
    pub(crate) fn infra(&self, name: &str) -> PathBuf {
        self.root.join("infra/local").join(name)
    }

    /// A path as a person in the checkout would write it.
    pub(crate) fn short<'a>(&self, path: &'a Path) -> std::path::Display<'a> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }

    /// Held while a stack is started, changed or stopped; the system drops it if this process dies.
    pub(crate) fn lock_stack(&self) -> Result<File> {
        lock(&self.state_dir()?.join("lock"), "another xtask command")
    }
}

/// Takes an exclusive lock, and says so if it has to wait for it.
pub(crate) fn lock(path: &Path, holder: &str) -> Result<File> {
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    if file.try_lock().is_err() {
        eprintln!("waiting for {holder} to finish...");
        file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    }
    Ok(file)
}
