//! The code of a function: a folder with its binary, or a ZIP file with it, as `cargo xtask package` writes it.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use zip::ZipArchive;

/// Name of the binary, which Lambda runs.
const BINARY: &str = "bootstrap";

/// Returns the file with the binary, for messages.
pub fn file(code: &Path) -> PathBuf {
    if is_package(code) { code.to_owned() } else { code.join(BINARY) }
}

/// Reads the binary.
///
/// # Errors
/// If there is none, or Lambda could not run it because it is not executable.
pub fn binary(code: &Path) -> Result<Vec<u8>> {
    let file = file(code);
    let unreadable = || format!("cannot read {}", file.display());
    if !is_package(code) {
        return fs::read(&file).with_context(unreadable);
    }
    let mut archive = ZipArchive::new(File::open(&file).with_context(unreadable)?).with_context(unreadable)?;
    let mut binary = archive.by_name(BINARY).with_context(|| format!("{} has no {BINARY}", file.display()))?;
    let is_executable = binary.unix_mode().is_some_and(|mode| mode & 0o111 == 0o111);
    ensure!(is_executable, "{BINARY} in {} is not executable", file.display());
    let mut bytes = Vec::new();
    binary.read_to_end(&mut bytes).with_context(unreadable)?;
    Ok(bytes)
}

fn is_package(code: &Path) -> bool {
    code.extension().is_some_and(|extension| extension == "zip")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};

    use super::*;

    fn package(path: &Path, name: &str, mode: u32) -> Result<()> {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).unix_permissions(mode);
        let mut archive = ZipWriter::new(File::create(path)?);
        archive.start_file(name, options)?;
        archive.write_all(b"binary")?;
        archive.finish()?;
        Ok(())
    }

    #[test]
    fn a_binary_is_read_from_its_folder_and_from_its_package() -> Result<()> {
        let root = std::env::temp_dir().join(format!("longshore-code-{}", std::process::id()));
        fs::create_dir_all(root.join("upload"))?;
        fs::write(root.join("upload/bootstrap"), b"binary")?;
        package(&root.join("upload.zip"), "bootstrap", 0o755)?;
        package(&root.join("text.zip"), "bootstrap", 0o644)?;
        package(&root.join("other.zip"), "other", 0o755)?;
        let problem = |name: &str| binary(&root.join(name)).map_err(|error| error.to_string());
        let read = [problem("upload"), problem("upload.zip")];
        let errors = [problem("text.zip"), problem("other.zip"), problem("absent.zip")];
        fs::remove_dir_all(&root)?;
        assert_eq!(read, [Ok(b"binary".to_vec()), Ok(b"binary".to_vec())]);
        for (error, expected) in errors.into_iter().zip(["is not executable", "has no bootstrap", "cannot read"]) {
            assert!(error.as_ref().is_err_and(|error| error.contains(expected)), "{expected}: {error:?}");
        }
        Ok(())
    }
}
