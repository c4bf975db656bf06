//! Builds the page that the function `web` embeds: `web/page/dist`.
//!
//! The page is built only if one of its sources has changed. A stamp file records the last input.

use crate::npm::{self, has_content};
use crate::project::{Project, lock};
use anyhow::{Context, Result, bail};
use data_encoding::HEXLOWER;
use longshore_cli::progress;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Minimum version of Node.js that all pinned packages support.
const MIN_NODE: u32 = 20;

/// Folder of the page and the client.
const WEB: &str = "web";

/// Sources of the page in `web/`.
const SOURCES: [&str; 12] = [
    "package.json",
    "package-lock.json",
    "licences.mjs",
    "client/package.json",
    "client/tsconfig.json",
    "client/tsconfig.build.json",
    "client/src",
    "page/package.json",
    "page/tsconfig.json",
    "page/vite.config.ts",
    "page/index.html",
    "page/src",
];

/// Builds the page unless it is up to date.
pub fn build(project: &Project) -> Result<()> {
    let web = project.root.join(WEB);
    let fingerprint = fingerprint(&web)?;
    let home = project.home_dir();
    fs::create_dir_all(&home).with_context(|| format!("cannot create {}", home.display()))?;
    let _lock = lock(&home.join("page.lock"), "another build of the page")?;
    let stamp = home.join("page.stamp");
    if web.join("page/dist/index.html").exists() && has_content(&stamp, &fingerprint) {
        return Ok(());
    }
    check_node()?;
    npm::install(project, WEB)?;
    let step = progress::step("Building the page");
    npm::run(project, WEB, &["run", "build"])?;
    fs::write(stamp, fingerprint)?;
    step.done();
    Ok(())
}

/// Ensures that the browser tests have a browser. `web/chromium.ts` downloads one if none is installed.
pub fn check_browser(project: &Project) -> Result<()> {
    npm::install(project, WEB)?;
    let step = progress::step("Finding a browser for the tests");
    npm::run(project, WEB, &["exec", "--workspace", "page", "--", "playwright", "test", "--list"])?;
    step.done();
    Ok(())
}

/// Installs the packages. Returns the command that runs a script of the package `client` or `page`.
pub fn script(project: &Project, package: &str, script: &str) -> Result<Command> {
    npm::install(project, WEB)?;
    let mut npm = Command::new("npm");
    npm.current_dir(project.root.join(WEB)).args(["run", script, "--workspace", package]);
    Ok(npm)
}

fn check_node() -> Result<()> {
    let output = Command::new("node").arg("--version").stderr(Stdio::null()).output();
    let version = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_some_and(|major| major >= MIN_NODE) {
        return Ok(());
    }
    let reason = if version.is_empty() {
        "but was not found".to_owned()
    } else {
        format!("but the installed version is {version}")
    };
    bail!(
        "Node.js {MIN_NODE} or newer is required to build the page, {reason}.\n\
         Install it with npm and try again (https://nodejs.org; Debian, Ubuntu: apt install nodejs npm; macOS: brew \
         install node)."
    )
}

/// Returns a hash of the names and contents of all sources of the page.
fn fingerprint(web: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    for source in SOURCES {
        add(&mut hash, &web.join(source))?;
    }
    Ok(HEXLOWER.encode(&hash.finalize()))
}

fn add(hash: &mut Sha256, path: &Path) -> Result<()> {
    let error = || format!("cannot read {}", path.display());
    hash.update(path.as_os_str().as_encoded_bytes());
    if !path.is_dir() {
        hash.update(fs::read(path).with_context(error)?);
        return Ok(());
    }
    let mut entries =
        fs::read_dir(path).with_context(error)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    entries.sort();
    entries.iter().try_for_each(|entry| add(hash, entry))
}
