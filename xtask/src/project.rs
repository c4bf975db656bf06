//! Where things are: the checkout, its private folder `.longshore/`, and the lock on that folder.
//!
//! All state of a local stack is inside the checkout, so two checkouts never meet. The benchmark's stack runs other
//! binaries than the one of `up`, and so has a folder of its own below it.

use anyhow::{Context, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// One checkout of this repository.
pub(crate) struct Project {
    /// The folder of the workspace's Cargo.toml.
    pub(crate) root: PathBuf,
    /// Which binaries its stack runs.
    pub(crate) build: Build,
}

/// How the function binaries are built. Each build has a stack of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// Quick to build: for all but benchmarks.
    Dev,
    /// As for AWS.
    Release,
}

impl Project {
    /// The checkout that this binary was built from.
    pub(crate) fn find() -> Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.parent().context("xtask lies in no workspace")?;
        Ok(Self { root: root.to_owned(), build: Build::Dev })
    }

    /// The same checkout with the stack of another build.
    pub(crate) fn with(&self, build: Build) -> Self {
        Self { root: self.root.clone(), build }
    }

    /// `.longshore/`: ignored by git, safe to delete when nothing runs. The tools are here.
    pub(crate) fn home_dir(&self) -> PathBuf {
        self.root.join(".longshore")
    }

    /// State, logs and reports of the stack.
    pub(crate) fn state_dir(&self) -> Result<PathBuf> {
        let dir = match self.build {
            Build::Dev => self.home_dir(),
            Build::Release => self.home_dir().join("bench"),
        };
        fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        Ok(dir)
    }

    /// The folder that is deployed: template.yaml, samconfig.toml and, below it, the function packages. A copy, because the
    /// template names its packages by place, and `target/lambda` of the checkout is for what `cargo lambda build` makes for AWS.
    pub(crate) fn template_dir(&self) -> Result<PathBuf> {
        let dir = self.state_dir()?;
        for name in ["template.yaml", "samconfig.toml"] {
            fs::copy(self.root.join(name), dir.join(name)).with_context(|| format!("cannot copy {name}"))?;
        }
        Ok(dir)
    }

    /// The log file of that name in the state's folder.
    pub(crate) fn log(&self, name: &str) -> Result<PathBuf> {
        Ok(self.state_dir()?.join(format!("{name}.log")))
    }

    /// `target/lambda/NAME/bootstrap` below the folder that is deployed: the layout that template.yaml's `CodeUri` names.
    pub(crate) fn bootstrap(&self, function: &str) -> PathBuf {
        self.functions_dir().join(function).join("bootstrap")
    }

    /// The folder of all function packages.
    pub(crate) fn functions_dir(&self) -> PathBuf {
        match self.build {
            Build::Dev => self.home_dir().join("target/lambda"),
            Build::Release => self.home_dir().join("bench/target/lambda"),
        }
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
