//! A folder of downloaded files, with one thing changed at a time.

use super::{Places, verify};
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
        let (mut fit, mut differ) = (Vec::new(), Vec::new());
        for line in verify(&self.path("p-receipt.json"), &places)? {
            match line.found {
                Ok(_) => fit.push(line.name),
                Err(why) => differ.push(format!("{}: {why}", line.name)),
            }
        }
        Ok((fit, differ))
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
fn files_as_they_were_downloaded_fit() -> Result<()> {
    let (fit, differ) = Folder::new()?.verified()?;
    assert_eq!((fit.join(" "), differ), ("p.csv p-failed.csv p-skipped.csv".to_owned(), vec![]));
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
            let (fit, differ) = folder.verified()?;
            assert!(fit.len() == 2 && differ.len() == 1 && differ[0].starts_with(name), "{name} {at}: {differ:?}");
        }
        folder.put(name, text)?;
    }
    Ok(())
}

#[test]
fn what_differs_is_reported() -> Result<()> {
    let folder = Folder::new()?;
    for (name, text, expected) in [
        (
            "p-failed.csv",
            &FAILED.replace("3,c,bad,,no\r\n", "") as &str,
            "1 rows in place of 2, 50 bytes in place of 63",
        ),
        ("p-failed.csv", &FAILED.replace("3,c", "4,d"), "as many rows and bytes, and other ones"),
        ("p-failed.csv", "", "0 rows in place of 2"),
        ("p.csv", "id\nx\ny\nz\nw\n", "another file went in: SHA-256"),
        ("p.csv", "id\n", "another file went in: 11 bytes, and this one has 3"),
    ] {
        folder.put(name, text)?;
        let (_, differ) = folder.verified()?;
        assert!(differ.len() == 1 && differ[0].contains(expected), "{expected}: {differ:?}");
        folder.put("p-failed.csv", FAILED)?;
        folder.put("p.csv", INPUT)?;
    }
    fs::remove_file(folder.path("p-skipped.csv"))?;
    let (_, differ) = folder.verified()?;
    assert!(differ[0].contains("there is no") && differ[0].ends_with("with --skipped"), "{differ:?}");
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
    assert_eq!(lines[0].found, Ok("11 bytes; its SHA-256 is not known (gone), and was not compared".to_owned()));
    Ok(())
}
