//! A folder of downloaded files, with one change at a time.

use super::{Comparison, Paths, verify};
use anyhow::Result;
use data_encoding::HEXLOWER;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

const INPUT: &str = "id\na\nb\nc\nd\n";
const FAILED: &str = "row,id,code,field,message\r\n1,a,bad,,\"no,\r\nnever\"\r\n3,c,bad,,no\r\n";
const SKIPPED: &str = "row,id,reason\r\n2,b,asked\r\n";

struct Folder(TempDir);

impl Folder {
    fn new() -> Result<Self> {
        let folder = Self(tempfile::tempdir()?);
        for (name, text) in [("p.csv", INPUT), ("p-failed.csv", FAILED), ("p-skipped.csv", SKIPPED)] {
            folder.write(name, text)?;
        }
        folder.write("p-receipt.json", &receipt().to_string())?;
        Ok(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        Ok(fs::write(self.path(name), text)?)
    }

    /// Returns the names of the files that match, and the differences of the others.
    fn verify(&self) -> Result<(Vec<String>, Vec<String>)> {
        let paths = Paths { folder: self.0.path().to_owned(), ..Paths::default() };
        let (mut equal, mut different) = (Vec::new(), Vec::new());
        for line in verify(&self.path("p-receipt.json"), &paths)? {
            match line.comparison {
                Comparison::Equal(_) => equal.push(line.name),
                Comparison::Different(reason) => different.push(format!("{}: {reason}", line.name)),
            }
        }
        Ok((equal, different))
    }
}

fn sha256(text: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(text))
}

fn receipt() -> Value {
    let file =
        |name, rows, text: &str| json!({ "name": name, "rows": rows, "size": text.len(), "sha256": sha256(text) });
    json!({
        "jobId": "j", "jobType": "import", "generation": 0, "itemCount": 4,
        "counts": { "succeeded": 1, "failed": 2, "skipped": 1, "unprocessed": 0 },
        "input": { "name": "p.csv", "size": INPUT.len(), "sha256": sha256(INPUT), "basis": "upload" },
        "corrected": null,
        "files": [file("p-failed.csv", 2, FAILED), file("p-skipped.csv", 1, SKIPPED)],
        "code": { "version": "0.1.0", "commit": null },
    })
}

#[test]
fn unchanged_files_match() -> Result<()> {
    let (equal, different) = Folder::new()?.verify()?;
    assert_eq!((equal.join(" "), different), ("p.csv p-failed.csv p-skipped.csv".to_owned(), vec![]));
    Ok(())
}

#[test]
fn every_changed_byte_is_detected() -> Result<()> {
    let folder = Folder::new()?;
    for (name, text) in [("p.csv", INPUT), ("p-failed.csv", FAILED), ("p-skipped.csv", SKIPPED)] {
        for at in 0..text.len() {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] ^= 1;
            fs::write(folder.path(name), bytes)?;
            let (equal, different) = folder.verify()?;
            assert!(
                equal.len() == 2 && different.len() == 1 && different[0].starts_with(name),
                "{name} {at}: {different:?}"
            );
        }
        folder.write(name, text)?;
    }
    Ok(())
}

#[test]
fn differences_are_reported() -> Result<()> {
    let folder = Folder::new()?;
    for (name, text, expected) in [
        ("p-failed.csv", &FAILED.replace("3,c,bad,,no\r\n", "") as &str, "1 rows instead of 2, 50 bytes instead of 63"),
        ("p-failed.csv", &FAILED.replace("3,c", "4,d"), "the same number of rows and bytes, but SHA-256"),
        ("p-failed.csv", "", "0 rows instead of 2"),
        ("p.csv", "id\nx\ny\nz\nw\n", "not the file that was processed: SHA-256"),
        ("p.csv", "id\n", "not the file that was processed: 3 bytes instead of 11"),
    ] {
        folder.write(name, text)?;
        let (_, different) = folder.verify()?;
        assert!(different.len() == 1 && different[0].contains(expected), "{expected}: {different:?}");
        folder.write("p-failed.csv", FAILED)?;
        folder.write("p.csv", INPUT)?;
    }
    fs::remove_file(folder.path("p-skipped.csv"))?;
    let (_, different) = folder.verify()?;
    assert!(different[0].contains("does not exist") && different[0].ends_with("with --skipped"), "{different:?}");
    Ok(())
}

#[test]
fn a_truncated_or_inconsistent_receipt_is_refused() -> Result<()> {
    let folder = Folder::new()?;
    let text = receipt().to_string();
    for end in 0..text.len() {
        folder.write("p-receipt.json", &text[..end])?;
        let error = folder.verify().err().map(|error| format!("{error:#}")).unwrap_or_default();
        assert!(error.contains("p-receipt.json is not a complete receipt: download it again"), "{end}: {error}");
    }
    let changed = |path: &str, new: u64| {
        let mut receipt = receipt();
        if let Some(value) = receipt.pointer_mut(path) {
            *value = new.into();
        }
        receipt.to_string()
    };
    for (text, expected) in [
        (changed("/counts/succeeded", 2), "the counts add up to 5 items, but itemCount is 4"),
        (changed("/files/1/rows", 3), "counts.skipped is 1, but the file of skipped items has 3 rows"),
    ] {
        folder.write("p-receipt.json", &text)?;
        let error = folder.verify().err().map(|error| format!("{error:#}")).unwrap_or_default();
        assert!(error.contains("is inconsistent") && error.contains(expected), "{error}");
    }
    Ok(())
}

#[test]
fn a_name_cannot_leave_the_folder_and_an_unknown_sha256_is_reported() -> Result<()> {
    let folder = Folder::new()?;
    let mut receipt = receipt();
    receipt["input"] = json!({ "name": "../../p.csv", "size": INPUT.len(), "sha256": null, "basis": "gone" });
    folder.write("p-receipt.json", &receipt.to_string())?;
    let paths = Paths { folder: folder.0.path().to_owned(), ..Paths::default() };
    let lines = verify(&folder.path("p-receipt.json"), &paths)?;
    let expected = "11 bytes; SHA-256 not compared, because it is unknown (gone)";
    assert_eq!(lines[0].comparison, Comparison::Equal(expected.to_owned()));
    Ok(())
}
