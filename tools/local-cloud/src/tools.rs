//! The Python tools (emulator, SAM, cargo-lambda) in virtual environments of this project.
//!
//! SAM has its own environment inside the other one, because it needs another version of botocore than the emulator. A
//! link in `bin` makes it available like the other tools. Zig has one, too, because only packages for AWS need it.
//!
//! The lock files are the only input: a stamp file has the content of the installed ones. The tools are installed again
//! if a lock file has changed, or if there is no stamp because an installation was interrupted.

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

/// Minimum version of Python that all pinned tools support.
const MIN_PYTHON: (u32, u32) = (3, 10);

/// Lock file of all tools except SAM, in `infra/local`.
const LOCK: &str = "requirements.txt";

/// Lock file of SAM.
const SAM_LOCK: &str = "sam.txt";

/// Lock file of Zig.
const ZIG_LOCK: &str = "zig.txt";

/// Environment variable of a folder in which checkouts share environments, one for each content of the lock files. CI
/// keeps it between runs.
const CACHE_VARIABLE: &str = "LONGSHORE_CACHE_DIR";

/// An installed environment.
pub struct Tools {
    /// Root of the virtual environment.
    pub venv: PathBuf,
}

impl Tools {
    /// Returns the environment in `LONGSHORE_VENV`.
    ///
    /// # Errors
    /// If the variable is not set.
    pub fn from_env() -> Result<Self> {
        let venv = std::env::var_os("LONGSHORE_VENV").context(
            "LONGSHORE_VENV is not set: run the tests with `cargo xtask test`, which sets it to the tools' environment",
        )?;
        Ok(Self { venv: venv.into() })
    }

    /// Returns the command of an installed program. It inherits only the variables for finding programs and files: a
    /// developer's AWS settings must not direct a local command to a real account.
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

    /// Returns the command of an installed program that calls an emulator only. The shell's AWS account is ignored.
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

    /// Returns the path of an installed program.
    pub fn program(&self, program: &str) -> PathBuf {
        self.venv.join("bin").join(program)
    }

    /// Returns the caller's search path, with these tools first.
    pub fn path(&self) -> std::ffi::OsString {
        let mut path = self.venv.join("bin").into_os_string();
        if let Some(inherited) = std::env::var_os("PATH") {
            path.push(":");
            path.push(inherited);
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
    let venv = venv_path(project, &locked)?;
    let tools = Tools { venv: venv.clone() };
    let dir = venv.parent().context("the path of the tools has no folder")?;
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
    let step = progress::step("Installing the emulator, SAM and cargo-lambda (once, about a minute)");
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

/// Installs Zig if needed, with which cargo-lambda links programs for AWS on any machine. Returns the folder that must
/// be first on the search path: cargo-lambda finds Zig as a module of the first Python.
pub fn ensure_zig(project: &Project, tools: &Tools) -> Result<PathBuf> {
    let lock_file = project.infra(ZIG_LOCK);
    let locked = fs::read_to_string(&lock_file).with_context(|| format!("cannot read {}", lock_file.display()))?;
    let venv = tools.venv.join("zig");
    let _lock = lock(&venv.with_extension("lock"), "another installation of Zig")?;
    let (stamp, bin) = (venv.join("longshore.lock"), venv.join("bin"));
    if fs::read_to_string(&stamp).is_ok_and(|content| content == locked) && bin.join("python").exists() {
        return Ok(bin);
    }
    if venv.exists() {
        fs::remove_dir_all(&venv).with_context(|| format!("cannot remove {}", venv.display()))?;
    }
    let step = progress::step("Installing Zig (once, about a minute)");
    create(&find_python()?, &venv)?;
    install(&step, &bin.join("python"), &lock_file, &project.log("zig")?)?;
    fs::write(&stamp, locked)?;
    step.done();
    Ok(bin)
}

fn venv_path(project: &Project, locked: &str) -> Result<PathBuf> {
    let Some(cache) = std::env::var_os(CACHE_VARIABLE).filter(|dir| !dir.is_empty()) else {
        return Ok(project.home_dir().join("venv"));
    };
    let hash = Sha256::digest(locked.as_bytes());
    let short = HEXLOWER.encode(&hash[..6]);
    // Absolute, because the programs also run from other folders.
    let cache = std::path::absolute(&cache)?;
    Ok(cache.join(format!("venv-{short}")))
}

/// Returns true if the environment's Python works. It does not if the Python that it was created from was removed or
/// replaced.
fn runs(python: &Path) -> bool {
    let status = Command::new(python).args(["-c", "import boto3"]).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Finds the first Python on the search path that is new enough.
fn find_python() -> Result<PathBuf> {
    let (major, minor) = MIN_PYTHON;
    for name in ["python3", "python3.13", "python3.12", "python3.11", "python3.10"] {
        let check = format!("import sys; sys.exit(sys.version_info < ({major}, {minor}))");
        let status = Command::new(name).arg("-c").arg(check).stderr(Stdio::null()).status();
        if status.is_ok_and(|status| status.success()) {
            return Ok(name.into());
        }
    }
    bail!(
        "Python {major}.{minor} or newer is required for the local AWS emulator, but was not found.\n\
         Install it (Debian, Ubuntu: apt install python3 python3-venv; macOS: brew install python3) and try again."
    )
}

fn create(python: &Path, venv: &Path) -> Result<()> {
    let output = Command::new(python)
        .args([OsStr::new("-m"), OsStr::new("venv"), venv.as_os_str()])
        .output()
        .with_context(|| format!("cannot run {}", python.display()))?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        bail!(
            "{} -m venv failed: {}\nOn Debian and Ubuntu, install the module with apt install python3-venv",
            python.display(),
            messages.trim()
        );
    }
    Ok(())
}

/// Installs exactly the locked packages, by hash and as wheels. Nothing is resolved or compiled.
fn install(step: &Step, python: &Path, requirements: &Path, log: &Path) -> Result<()> {
    // pip inherits the user's environment, because it can configure a mirror or a proxy.
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
        if let Some(package) = line.strip_prefix("Collecting ") {
            step.detail(package.split([' ', '=']).next().unwrap_or(package));
        } else if line.starts_with("Installing collected packages") {
            step.detail("unpacking");
        }
    }
    if !child.wait()?.success() {
        let messages = fs::read_to_string(log).unwrap_or_default();
        bail!("cannot install the tools from {}:\n{}", requirements.display(), messages.trim());
    }
    Ok(())
}
