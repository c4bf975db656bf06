//! The speed of a 512 MB function: 0.29 of a processor, enforced by a control group of this process. (1,769 MB are one
//! processor: <https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html>)

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Microseconds of processor time in each period.
const QUOTA_US: u32 = 29_000;
const PERIOD_US: u32 = 100_000;

/// Fraction of a processor that the function has.
pub(crate) const PART: f64 = QUOTA_US as f64 / PERIOD_US as f64;

/// Control group hierarchies, each with its quota file: version 2, and two locations of version 1.
const HIERARCHIES: [(&str, &str); 3] = [
    ("/sys/fs/cgroup", "cpu.max"),
    ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us"),
    ("/sys/fs/cgroup/cpu,cpuacct", "cpu.cfs_quota_us"),
];

/// A processor quota that applies until it is dropped.
pub(crate) struct Quota {
    folder: PathBuf,
    /// The previous control group of this process.
    before: PathBuf,
}

impl Quota {
    /// Moves this process into its own control group. Returns `None` if that is not permitted; it requires root.
    pub(crate) fn hold() -> Option<Self> {
        HIERARCHIES.iter().find_map(|(root, file)| Self::within(Path::new(root), file).ok())
    }

    fn within(root: &Path, file: &str) -> io::Result<Self> {
        let before = root.join(group_of(file)?.trim_start_matches('/'));
        if !root.join("cgroup.procs").exists() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let folder = root.join(format!("longshore-{}", std::process::id()));
        fs::create_dir(&folder)?;
        let quota = Self { folder, before };
        if file == "cpu.max" {
            fs::write(quota.folder.join(file), format!("{QUOTA_US} {PERIOD_US}"))?;
        } else {
            fs::write(quota.folder.join("cpu.cfs_period_us"), PERIOD_US.to_string())?;
            fs::write(quota.folder.join(file), QUOTA_US.to_string())?;
        }
        fs::write(quota.folder.join("cgroup.procs"), std::process::id().to_string())?;
        Ok(quota)
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let moved = fs::write(self.before.join("cgroup.procs"), std::process::id().to_string());
        if moved.and_then(|()| fs::remove_dir(&self.folder)).is_err() {
            eprintln!("cannot remove {}", self.folder.display());
        }
    }
}

/// Returns the group of this process in the hierarchy with this quota file.
fn group_of(file: &str) -> io::Result<String> {
    let groups = fs::read_to_string("/proc/self/cgroup")?;
    let is_own = |controllers: &str| match file {
        "cpu.max" => controllers.is_empty(),
        _ => controllers.split(',').any(|controller| controller == "cpu"),
    };
    let lines = groups.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    let own = lines.filter(|(controllers, _)| is_own(controllers)).map(|(_, path)| path.to_owned()).next();
    own.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Processor time used by this process, in seconds; `None` on systems that do not report it.
pub(crate) fn processor_s() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    // A tick is a hundredth of a second on every Linux.
    Some((ticks()? + ticks()?) / 100.0)
}

/// Peak memory of this process, in MiB; `None` on systems that do not report it.
pub(crate) fn peak_mib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? / 1024)
}
