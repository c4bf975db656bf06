//! The Python tools (emulator, SAM, cargo-lambda) in the project's own virtual environments.
//!
//! SAM has an environment inside the other one, because it needs another botocore than the emulator; a link in `bin`
//! makes it look like one of the tools.
//!
//! The lock files are the only input: their content is the environments' stamp. A changed lock file, or an interrupted
//! installation, which has no stamp, causes a fresh installation; otherwise nothing is done.

use crate::project::{Project, lock};
use anyhow::{Context, Result, bail};
use data_encoding::HEXLOWER;
use longshore_cli::progress::{self, Step};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Oldest Python version that all pinned tools support.
const OLDEST_PYTHON: (u32, u32) = (3, 10);

/// Lock file of all tools but SAM, in `infra/local`.
const LOCK: &str = "requirements.txt";

/// Lock file of SAM.
const SAM_LOCK: &str = "sam.txt";

/// Environment variable of a folder in which environments are shared between checkouts, one per lock file. CI keeps
/// it between runs.
const CACHE_VARIABLE: &str = "LONGSHORE_CACHE_DIR";

/// An installed environment.
pub struct Tools {
    /// Root of the virtual environment.
    pub venv: PathBuf,
}

impl Tools {
    /// The environment that `LONGSHORE_VENV` names.
    ///
    /// # Errors
    /// If the variable is not set.
    pub fn from_env() -> Result<Self> {
        let venv = std::env::var_os("LONGSHORE_VENV")
            .context("LONGSHORE_VENV must name the tools' virtual environment; `cargo xtask test` sets it")?;
        Ok(Self { venv: venv.into() })
    }

    /// Builds a command for an installed program that inherits only the variables for finding programs and files: a
    /// developer's own AWS settings must not direct a local command to a real account.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.program(program));
        command.env_clear();
        for name in ["HOME", "LANG", "LC_ALL", "TMPDIR", "TERM"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("PATH", self.path());
        command
    }

    /// Builds a command for an installed program that talks to an emulator only, whatever account the shell is signed
    /// in to.
    pub fn command_for(&self, endpoint: &str, program: &str) -> Command {
        let mut command = self.command(program);
        command
            .env("AWS_ENDPOINT_URL", endpoint)
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", "test")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_DEFAULT_REGION", "us-east-1")
            .env("AWS_CONFIG_FILE", "/dev/null")
            .env("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env("SAM_CLI_TELEMETRY", "0")
            .env("PYTHONUTF8", "1");
        command
    }

    /// Path of an installed program.
    pub fn program(&self, program: &str) -> PathBuf {
        self.venv.join("bin").join(program)
    }

    /// The caller's search path, with these tools first.
    pub fn path(&self) -> std::ffi::OsString {
        let mut path = self.venv.join("bin").into_os_string();
        if let Some(rest) = std::env::var_os("PATH") {
            path.push(":");
            path.push(rest);
        }
        path
    }
}

/// Installs the environments of the current lock files if needed.
pub fn ensure(project: &Project) -> Result<Tools> {
    let mut locked = String::new();
    for name in [LOCK, SAM_LOCK] {
        let path = project.infra(name);
        locked += &fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    }
    let venv = place(project, &locked)?;
    let tools = Tools { venv: venv.clone() };
    let dir = venv.parent().context("no folder for the tools")?;
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let _lock = lock(&venv.with_extension("lock"), "another installation of the tools")?;
    let stamp = venv.join("longshore.lock");
    let installed = fs::read_to_string(&stamp).is_ok_and(|content| content == locked);
    if installed && runs(&tools.program("python")) {
        return Ok(tools);
    }
    let python = find_python()?;
    if venv.exists() {
        fs::remove_dir_all(&venv).with_context(|| format!("cannot remove {}", venv.display()))?;
    }
    let step = progress::step("Installing emulator, SAM and cargo-lambda (about a minute, once)");
    let sam = venv.join("sam");
    for (venv, name) in [(&venv, LOCK), (&sam, SAM_LOCK)] {
        create(&python, venv)?;
        install(&step, &venv.join("bin/python"), &project.infra(name), &project.log("tools")?)?;
    }
    symlink(sam.join("bin/sam"), tools.program("sam")).context("cannot link sam")?;
    fs::write(&stamp, locked)?;
    step.done();
    Ok(tools)
}

fn place(project: &Project, locked: &str) -> Result<PathBuf> {
    let Some(cache) = std::env::var_os(CACHE_VARIABLE).filter(|dir| !dir.is_empty()) else {
        return Ok(project.home_dir().join("venv"));
    };
    let hash = Sha256::digest(locked.as_bytes());
    let short = HEXLOWER.encode(&hash[..6]);
    // Absolute, because the programs are also run from other folders.
    let cache = std::path::absolute(&cache)?;
    Ok(cache.join(format!("venv-{short}")))
}

/// Returns true if the environment's Python works. False also if the Python that it was created from has been removed
/// or replaced.
fn runs(python: &Path) -> bool {
    let status = Command::new(python).args(["-c", "import boto3"]).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Finds the first Python on the path that is new enough.
fn find_python() -> Result<PathBuf> {
    let (major, minor) = OLDEST_PYTHON;
    for name in ["python3", "python3.13", "python3.12", "python3.11", "python3.10"] {
        let check = format!("import sys; sys.exit(sys.version_info < ({major}, {minor}))");
        let status = Command::new(name).arg("-c").arg(check).stderr(Stdio::null()).status();
        if status.is_ok_and(|status| status.success()) {
            return Ok(name.into());
        }
    }
    bail!(
        "python3 {major}.{minor} or newer is needed for the local AWS emulator and was not found.\n\
         Install it (Debian, Ubuntu: apt install python3 python3-venv; macOS: brew install python3) and try again."
    )
}

fn create(python: &Path, venv: &Path) -> Result<()> {
    let output = Command::new(python)
        .args([OsStr::new("-m"), OsStr::new("venv"), venv.as_os_str()])
        .output()
        .with_context(|| format!("cannot run {}", python.display()))?;
    if !output.status.success() {
        let reported = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        bail!(
            "{} -m venv failed: {}\nOn Debian and Ubuntu the module is a package of its own: apt install python3-venv",
            python.display(),
            reported.trim()
        );
    }
    Ok(())
}

/// Installs exactly the locked packages, by hash, wheels only: nothing is resolved or compiled.
fn install(step: &Step, python: &Path, requirements: &Path, log: &Path) -> Result<()> {
    // The user's environment is inherited here, because it may configure a mirror or a proxy.
    let mut child = Command::new(python)
        .args(["-m", "pip", "install", "--no-deps", "--require-hashes", "--only-binary", ":all:"])
        .args(["--no-compile", "--disable-pip-version-check", "--progress-bar", "off", "--requirement"])
        .arg(requirements)
        .stdout(Stdio::piped())
        .stderr(fs::File::create(log)?)
        .spawn()
        .context("cannot run pip")?;
    let output = child.stdout.take().context("pip has no output")?;
    for line in BufReader::new(output).lines() {
        let line = line?;
        if let Some(rest) = line.strip_prefix("Collecting ") {
            step.detail(rest.split([' ', '=']).next().unwrap_or(rest));
        } else if line.starts_with("Installing collected packages") {
            step.detail("unpacking");
        }
    }
    if !child.wait()?.success() {
        let reported = fs::read_to_string(log).unwrap_or_default();
        bail!("the tools could not be installed from {}:\n{}", requirements.display(), reported.trim());
    }
    Ok(())
}
