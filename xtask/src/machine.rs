//! Where and when the figures were made: without it they say nothing.

use crate::project::{Build, Project};
use anyhow::Result;
use std::fs;
use std::process::Command;

/// Lines of `name: value`.
pub(crate) fn describe(project: &Project) -> Result<Vec<(&'static str, String)>> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let model = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned());
    let memory_kib: u64 = field("/proc/meminfo", "MemTotal").and_then(|value| digits(&value)).unwrap_or(0);
    Ok(vec![
        ("Date", said("date", &["-u", "+%Y-%m-%d %H:%M UTC"])),
        ("Commit", commit(project)),
        ("CPU", format!("{model}, {cores} cores")),
        ("Memory", format!("{:.0} GiB", memory_kib as f64 / f64::from(1 << 20))),
        ("Kernel", said("uname", &["-srm"])),
        ("Compiler", said("rustc", &["--version"])),
        ("Emulator", emulator(project)?),
        ("Profile", profile(project).to_owned()),
    ])
}

/// The time, and the commit that is checked out.
pub(crate) fn stamp(project: &Project) -> (String, String) {
    (said("date", &["-u", "+%Y-%m-%d %H:%M UTC"]), commit(project))
}

/// Processes that wanted a core, on average over the last minute; none where there is no /proc.
pub(crate) fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

fn profile(project: &Project) -> &'static str {
    match project.build {
        Build::Dev => "dev (opt-level 1)",
        Build::Release => "release (opt-level 3, fat LTO, one codegen unit)",
    }
}

fn commit(project: &Project) -> String {
    let root = project.root.to_string_lossy().into_owned();
    let id = said("git", &["-C", &root, "rev-parse", "--short", "HEAD"]);
    let changed = said("git", &["-C", &root, "status", "--porcelain", "--untracked-files=no"]);
    if changed.is_empty() { id } else { format!("{id} and changes that are not committed") }
}

fn emulator(project: &Project) -> Result<String> {
    let locked = fs::read_to_string(project.infra("requirements.txt"))?;
    let version = locked.lines().find_map(|line| line.strip_prefix("ministack=="));
    let version = version.map(|rest| rest.split([' ', '\\']).next().unwrap_or(rest));
    Ok(format!("MiniStack {}", version.unwrap_or("of unknown version")))
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn digits(text: &str) -> Option<u64> {
    text.split(' ').next()?.parse().ok()
}

fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or_else(|_| "unknown".to_owned(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
