//! The committed inputs of a target: named seeds, which are byte strings, and one packed corpus.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use data_encoding::HEXLOWER;
use fuzz_engine::{Seed, seeds};
use sha2::{Digest, Sha256};

use local_cloud::project::Project;

/// The committed inputs of a target.
pub(super) struct Corpus {
    seeds: &'static [Seed],
    packed: PathBuf,
}

impl Corpus {
    pub(super) fn new(project: &Project, target: &str) -> Self {
        let packed = project.root.join("fuzz/corpus").join(format!("{target}.pack"));
        Self { seeds: seeds(target), packed }
    }

    /// Writes the seeds to a folder, which is emptied first, one file each.
    pub(super) fn write_seeds(&self, folder: &Path) -> Result<()> {
        replace_folder(folder)?;
        for (name, seed) in self.seeds {
            fs::write(folder.join(name), seed)?;
        }
        Ok(())
    }

    /// Writes the packed inputs to a folder, which is emptied first. The name of each file is its hash.
    pub(super) fn unpack(&self, folder: &Path) -> Result<()> {
        replace_folder(folder)?;
        for input in self.inputs()? {
            let hash = Sha256::digest(&input);
            let name = HEXLOWER.encode(&hash[..20]);
            fs::write(folder.join(name), input)?;
        }
        Ok(())
    }

    /// Adds files, and the files in folders, to the packed corpus. Returns the number of inputs before and after.
    pub(super) fn add(&self, paths: &[PathBuf]) -> Result<(usize, usize)> {
        let mut inputs = self.inputs()?;
        let before = inputs.len();
        for path in paths {
            inputs.extend(read_files(path)?);
        }
        Ok((before, self.replace(inputs)?))
    }

    /// Replaces the packed inputs with these, without those that are seeds. Returns their number.
    pub(super) fn replace(&self, mut inputs: BTreeSet<Vec<u8>>) -> Result<usize> {
        for (_, seed) in self.seeds {
            inputs.remove(*seed);
        }
        let count = inputs.len();
        fs::write(&self.packed, fuzz_engine::pack(inputs))
            .with_context(|| format!("cannot write {}", self.packed.display()))?;
        Ok(count)
    }

    /// Reads the packed inputs. Returns none if the file does not exist.
    fn inputs(&self) -> Result<BTreeSet<Vec<u8>>> {
        if !self.packed.exists() {
            return Ok(BTreeSet::new());
        }
        let bytes = fs::read(&self.packed).with_context(|| format!("cannot read {}", self.packed.display()))?;
        let inputs = fuzz_engine::unpack(&bytes).with_context(|| self.packed.display().to_string())?;
        Ok(inputs.into_iter().map(<[u8]>::to_vec).collect())
    }
}

/// Creates a folder, or empties one.
pub(super) fn replace_folder(folder: &Path) -> Result<()> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

/// Reads a file, or each file in a folder.
pub(super) fn read_files(path: &Path) -> Result<Vec<Vec<u8>>> {
    let read = |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    if !path.is_dir() {
        return Ok(vec![read(path)?]);
    }
    fs::read_dir(path)?.map(|entry| read(&entry?.path())).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test's own step that fails ends the test")]
mod tests {
    use super::*;

    fn corpus(root: &Path) -> Corpus {
        Corpus { seeds: &[("an-empty-key", b"seed")], packed: root.join("rows.pack") }
    }

    #[test]
    fn duplicates_and_seeds_are_not_added() {
        let root = tempfile::tempdir().unwrap();
        let (corpus, folder, file) = (corpus(root.path()), root.path().join("folder"), root.path().join("crash"));
        replace_folder(&folder).unwrap();
        for (name, content) in [("a", "x"), ("b", "seed"), ("c", "x")] {
            fs::write(folder.join(name), content).unwrap();
        }
        fs::write(&file, "y").unwrap();
        assert_eq!(corpus.add(&[folder.clone(), file]).unwrap(), (0, 2));
        assert_eq!(corpus.add(&[folder]).unwrap(), (2, 2));
        assert_eq!(corpus.inputs().unwrap(), BTreeSet::from([b"x".to_vec(), b"y".to_vec()]));
    }

    #[test]
    fn unpacking_replaces_the_files_of_the_folder() {
        let root = tempfile::tempdir().unwrap();
        let (corpus, folder) = (corpus(root.path()), root.path().join("unpacked"));
        replace_folder(&folder).unwrap();
        fs::write(folder.join("old"), "old").unwrap();
        corpus.replace(BTreeSet::from([b"x".to_vec(), Vec::new()])).unwrap();
        corpus.unpack(&folder).unwrap();
        let mut inputs = read_files(&folder).unwrap();
        inputs.sort();
        assert_eq!(inputs, [Vec::new(), b"x".to_vec()]);
    }
}
