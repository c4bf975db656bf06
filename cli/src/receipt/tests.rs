//! A folder of downloaded files, with one thing changed at a time.

use super::{Comparison, Places, verify};
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
            folder.put(name, text)?;
        }
        folder.put("p-receipt.json", &receipt().to_string())?;
        Ok(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, text: &str) -> Result<()> {
        Ok(fs::write(self.path(name), text)?)
    }

    /// Returns the names of the matching files, and the differences of the others.
    fn verified(&self) -> Result<(Vec<String>, Vec<String>)> {
        let places = Places { folder: self.0.path().to_owned(), ..Places::default() };
        let (mut equal, mut different) = (Vec::new(), Vec::new());
        for line in verify(&self.path("p-receipt.json"), &places)? {
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
fn files_as_they_were_downloaded_equal() -> Result<()> {
    let (equal, different) = Folder::new()?.verified()?;
    assert_eq!((equal.join(" "), different), ("p.csv p-failed.csv p-skipped.csv".to_owned(), vec![]));
    Ok(())
}

#[test]
fn each_byte_that_is_changed_is_found() -> Result<()> {
    let folder = Folder::new()?;
    for (name, text) in [("p.csv", INPUT), ("p-failed.csv", FAILED), ("p-skipped.csv", SKIPPED)] {
        for at in 0..text.len() {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] ^= 1;
            fs::write(folder.path(name), bytes)?;
            let (equal, different) = folder.verified()?;
            assert!(
                equal.len() == 2 && different.len() == 1 && different[0].starts_with(name),
                "{name} {at}: {different:?}"
            );
        }
        folder.put(name, text)?;
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
        folder.put(name, text)?;
        let (_, different) = folder.verified()?;
        assert!(different.len() == 1 && different[0].contains(expected), "{expected}: {different:?}");
        folder.put("p-failed.csv", FAILED)?;
        folder.put("p.csv", INPUT)?;
    }
    fs::remove_file(folder.path("p-skipped.csv"))?;
    let (_, different) = folder.verified()?;
    assert!(different[0].contains("does not exist") && different[0].ends_with("with --skipped"), "{different:?}");
    Ok(())
}

#[test]
fn a_receipt_that_is_none_or_is_cut_off_or_contradicts_itself_is_refused() -> Result<()> {
    let folder = Folder::new()?;
    let whole = receipt().to_string();
    for end in 0..whole.len() {
        folder.put("p-receipt.json", &whole[..end])?;
        let error = folder.verified().err().map(|error| format!("{error:#}")).unwrap_or_default();
        assert!(error.contains("p-receipt.json is no receipt, or not all of one; download it again"), "{end}: {error}");
    }
    let changed = |path: &str, to: u64| {
        let mut receipt = receipt();
        if let Some(value) = receipt.pointer_mut(path) {
            *value = to.into();
        }
        receipt.to_string()
    };
    for (text, expected) in [
        (changed("/counts/succeeded", 2), "its counts make 5 items, and it says 4"),
        (changed("/files/1/rows", 3), "it counts 1 skipped items, and names a file of 3"),
    ] {
        folder.put("p-receipt.json", &text)?;
        let error = folder.verified().err().map(|error| format!("{error:#}")).unwrap_or_default();
        assert!(error.contains("contradicts itself") && error.contains(expected), "{error}");
    }
    Ok(())
}

#[test]
fn names_of_a_receipt_lead_out_of_no_folder_and_an_unknown_sha256_is_reported() -> Result<()> {
    let folder = Folder::new()?;
    let mut receipt = receipt();
    receipt["input"] = json!({ "name": "../../p.csv", "size": INPUT.len(), "sha256": null, "basis": "gone" });
    folder.put("p-receipt.json", &receipt.to_string())?;
    let places = Places { folder: folder.0.path().to_owned(), ..Places::default() };
    let lines = verify(&folder.path("p-receipt.json"), &places)?;
    let expected = "11 bytes; SHA-256 not compared, because it is unknown (gone)";
    assert_eq!(lines[0].comparison, Comparison::Equal(expected.to_owned()));
    Ok(())
}
