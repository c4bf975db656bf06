//! The files of a package.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use data_encoding::HEXLOWER;
use local_cloud::archive::{self, Compression, DOCUMENT, Entry, PROGRAM};
use sha2::{Digest, Sha256};

use super::{Architecture, dependencies, template};

/// Name of the checksums, in the form of `sha256sum`.
pub(super) const CHECKSUMS: &str = "SHA256SUMS";

/// Name of the list of dependencies.
const DEPENDENCIES: &str = "dependencies.cdx.json";

/// Files of the checkout that are in each package as they are.
const LICENSES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// The files of a package, by name.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// Returns the files of a package of these binaries, with their checksums. `root` is the checkout.
pub(super) fn files(
    root: &Path,
    binaries: &BTreeMap<String, Vec<u8>>,
    dependencies: String,
    architecture: Architecture,
) -> Result<Files> {
    let read = |name: &str| fs::read_to_string(root.join(name)).with_context(|| format!("cannot read {name}"));
    let functions: Vec<_> = binaries.keys().cloned().collect();
    let template = template::template(&read("template.yaml")?, &functions, architecture)?;
    let samconfig = template::samconfig(&read("samconfig.toml")?, architecture);
    let mut files = Files::from([
        ("template.yaml".to_owned(), template.into_bytes()),
        ("samconfig.toml".to_owned(), samconfig.into_bytes()),
        (DEPENDENCIES.to_owned(), dependencies.into_bytes()),
    ]);
    for name in LICENSES {
        files.insert(name.to_owned(), read(name)?.into_bytes());
    }
    for (function, binary) in binaries {
        let entry = Entry { name: "bootstrap", content: binary, mode: PROGRAM };
        files.insert(format!("{function}.zip"), archive::write(&[entry], Compression::Small)?);
    }
    let checksums = checksums(files.iter().map(|(name, content)| (name.as_str(), content.as_slice())));
    files.insert(CHECKSUMS.to_owned(), checksums.into_bytes());
    Ok(files)
}

/// Returns the lines that `sha256sum --check` reads.
pub(super) fn checksums<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> String {
    let line = |(name, content): (&str, &[u8])| format!("{}  {name}\n", HEXLOWER.encode(&Sha256::digest(content)));
    files.into_iter().map(line).collect()
}

/// Writes the files to a folder, in place of an earlier package.
pub(super) fn write(folder: &Path, files: &Files) -> Result<()> {
    let error = || format!("cannot write {}", folder.display());
    if folder.exists() {
        ensure!(folder.join(CHECKSUMS).exists(), "{} is not a package: select another folder", folder.display());
        fs::remove_dir_all(folder).with_context(error)?;
    }
    fs::create_dir_all(folder).with_context(error)?;
    files.iter().try_for_each(|(name, content)| fs::write(folder.join(name), content)).with_context(error)
}

/// Returns an archive of the files in a folder of this name. They are stored, because the functions are compressed.
pub(super) fn archived(folder: &str, files: &Files) -> Result<Vec<u8>> {
    let names: Vec<_> = files.keys().map(|name| format!("{folder}/{name}")).collect();
    let entry = |(name, content)| Entry { name, content, mode: DOCUMENT };
    let entries: Vec<_> = names.iter().map(String::as_str).zip(files.values().map(Vec::as_slice)).map(entry).collect();
    archive::write(&entries, Compression::None)
}

/// Returns the commit of an archive of the files in a folder of this name; `None` if it is not known.
pub(super) fn commit_of(folder: &str, archive: &[u8]) -> Option<String> {
    dependencies::commit_of(&archive::read(archive, &format!("{folder}/{DEPENDENCIES}")).ok()?)
}

#[cfg(test)]
mod tests {
    use deployment::code;
    use deployment::template::Template;
    use local_cloud::functions;
    use local_cloud::project::Project;

    use super::*;

    fn package(project: &Project) -> Result<Files> {
        let names = functions::names(project)?;
        let binaries = names.into_iter().map(|name| (name.clone(), format!("binary of {name}").into_bytes())).collect();
        files(&project.root, &binaries, "{}".to_owned(), Architecture::Arm64)
    }

    #[test]
    fn the_code_of_every_function_is_an_executable_in_the_package() -> Result<()> {
        let (project, folder) = (Project::find()?, tempfile::tempdir()?);
        let folder = folder.path().join("package");
        write(&folder, &package(&project)?)?;
        let template = Template::parse(&fs::read_to_string(folder.join("template.yaml"))?)?;
        let functions: Vec<_> = template.of_type("AWS::Serverless::Function").collect();
        assert_eq!(functions.len(), functions::names(&project)?.len());
        for (id, function) in functions {
            let uri = function["CodeUri"].as_str().with_context(|| format!("{id} has no code"))?;
            let name = uri.trim_end_matches(".zip");
            assert_eq!(code::binary(&folder.join(uri))?, format!("binary of {name}").into_bytes());
        }
        Ok(())
    }

    #[test]
    fn a_package_is_reproducible_and_has_the_checksum_of_every_other_file() -> Result<()> {
        let project = Project::find()?;
        let files = package(&project)?;
        assert_eq!(files, package(&project)?);
        assert_eq!(archived("longshore", &files)?, archived("longshore", &files)?);
        let checksums = String::from_utf8(files[CHECKSUMS].clone())?;
        let names: Vec<_> = checksums.lines().filter_map(|line| line.split_once("  ")).map(|(_, name)| name).collect();
        assert_eq!(names, files.keys().filter(|name| *name != CHECKSUMS).collect::<Vec<_>>());
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n";
        assert_eq!(super::checksums([("a", &b""[..])]), empty);
        Ok(())
    }

    #[test]
    fn only_a_package_is_replaced() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let files = Files::from([(CHECKSUMS.to_owned(), Vec::new())]);
        let other = folder.path().join("other");
        fs::create_dir(&other)?;
        assert!(write(&other, &files).is_err());
        let package = folder.path().join("package");
        write(&package, &files)?;
        fs::write(package.join("old.zip"), "")?;
        write(&package, &files)?;
        assert!(!package.join("old.zip").exists());
        Ok(())
    }
}
