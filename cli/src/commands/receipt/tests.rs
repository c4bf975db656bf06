//! A folder of downloaded files, with one change at a time.

use super::{Comparison, Paths, verify};
use anyhow::Result;
use crc_fast::CrcAlgorithm::Crc64Nvme;
use data_encoding::{BASE64, HEXLOWER};
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
                Comparison::Unverified(reason) => panic!("{}: {reason}", line.name),
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
fn a_name_cannot_leave_the_folder_and_an_input_without_a_checksum_is_not_verified() -> Result<()> {
    let folder = Folder::new()?;
    let mut receipt = receipt();
    receipt["input"] = json!({ "name": "../../p.csv", "size": INPUT.len(), "sha256": null, "basis": "gone" });
    folder.write("p-receipt.json", &receipt.to_string())?;
    let paths = Paths { folder: folder.0.path().to_owned(), ..Paths::default() };
    let lines = verify(&folder.path("p-receipt.json"), &paths)?;
    let expected = "only the size was compared, 11 bytes: the receipt has no checksum, because the file had been removed or \
                    replaced when the job ended";
    assert_eq!(lines[0].comparison, Comparison::Unverified(expected.to_owned()));
    folder.write("p.csv", "id\n")?;
    let lines = verify(&folder.path("p-receipt.json"), &paths)?;
    assert!(matches!(lines[0].comparison, Comparison::Different(_)), "{:?}", lines[0]);
    Ok(())
}

const RESULTS: &str = "{\"number\":4,\"output\":\"d\"}\n{\"number\":5,\"output\":\"e\"}\n";

/// A folder with results of two items. The receipt has a SHA-256 of the file unless S3 has assembled it.
fn with_results(assembled: bool) -> Result<Folder> {
    let folder = Folder::new()?;
    let slices: Vec<_> = RESULTS.lines().map(|line| format!("{line}\n")).collect();
    let slice = |text: &String| json!({ "rows": 1, "bytes": text.len(), "sha256": sha256(text) }).to_string() + "\n";
    let index = slices.iter().map(slice).collect::<String>();
    let crc64 = BASE64.encode(&crc_fast::checksum(Crc64Nvme, RESULTS.as_bytes()).to_be_bytes());
    let mut receipt = receipt();
    receipt["itemCount"] = 5.into();
    receipt["counts"]["succeeded"] = 2.into();
    receipt["results"] = json!({
        "name": "p-results.jsonl", "rows": 2, "size": RESULTS.len(), "crc64nvme": crc64,
        "sha256": (!assembled).then(|| sha256(RESULTS)),
        "index": { "name": "p-results-index.jsonl", "rows": 2, "size": index.len(), "sha256": sha256(&index) },
    });
    folder.write("p-receipt.json", &receipt.to_string())?;
    folder.write("p-results.jsonl", RESULTS)?;
    folder.write("p-results-index.jsonl", &index)?;
    Ok(folder)
}

#[test]
fn every_changed_byte_of_the_results_and_the_index_is_detected() -> Result<()> {
    for assembled in [false, true] {
        let folder = with_results(assembled)?;
        assert_eq!(folder.verify()?.1, Vec::<String>::new(), "assembled: {assembled}");
        for name in ["p-results.jsonl", "p-results-index.jsonl"] {
            let text = fs::read_to_string(folder.path(name))?;
            for at in 0..text.len() {
                let mut bytes = text.as_bytes().to_vec();
                bytes[at] ^= 1;
                fs::write(folder.path(name), bytes)?;
                let (_, different) = folder.verify()?;
                assert!(different.iter().any(|line| line.starts_with(name)), "{name} {at}: {different:?}");
            }
            folder.write(name, &text)?;
        }
    }
    Ok(())
}

#[test]
fn results_are_compared_by_size_checksums_and_slices() -> Result<()> {
    let changed = |assembled, change: &dyn Fn(&mut Value)| -> Result<Vec<String>> {
        let folder = with_results(assembled)?;
        let mut receipt: Value = serde_json::from_str(&fs::read_to_string(folder.path("p-receipt.json"))?)?;
        change(&mut receipt);
        folder.write("p-receipt.json", &receipt.to_string())?;
        Ok(folder.verify()?.1)
    };
    let other = sha256("other");
    let crc64 = "AAAAAAAAAAA=";
    for (assembled, pointer, value, expected) in [
        (false, "/results/size", json!(7), "52 bytes instead of 7"),
        (false, "/results/crc64nvme", json!(crc64), "but CRC-64/NVME"),
        (false, "/results/sha256", json!(other), "but SHA-256"),
        (true, "/results/crc64nvme", json!(crc64), "but CRC-64/NVME"),
        (true, "/results/index/sha256", json!(other), "but SHA-256"),
        (true, "/results/index/rows", json!(3), "2 rows instead of 3"),
    ] {
        let set = |receipt: &mut Value| *receipt.pointer_mut(pointer).unwrap_or(&mut Value::Null) = value.clone();
        let different = changed(assembled, &set)?;
        assert!(different.len() == 1 && different[0].contains(expected), "{pointer}: {different:?}");
    }
    Ok(())
}

#[test]
fn assembled_results_are_compared_with_the_slices_of_the_index() -> Result<()> {
    // The checksums of the receipt are those of the changed files.
    let compare = |results: &str, index: &dyn Fn(&str) -> String| -> Result<Vec<String>> {
        let folder = with_results(true)?;
        let index = index(&fs::read_to_string(folder.path("p-results-index.jsonl"))?);
        let mut receipt: Value = serde_json::from_str(&fs::read_to_string(folder.path("p-receipt.json"))?)?;
        receipt["results"]["size"] = results.len().into();
        let crc64 = crc_fast::checksum(Crc64Nvme, results.as_bytes());
        receipt["results"]["crc64nvme"] = BASE64.encode(&crc64.to_be_bytes()).into();
        receipt["results"]["index"]["size"] = index.len().into();
        receipt["results"]["index"]["sha256"] = sha256(&index).into();
        receipt["results"]["index"]["rows"] = index.lines().count().into();
        folder.write("p-receipt.json", &receipt.to_string())?;
        folder.write("p-results.jsonl", results)?;
        folder.write("p-results-index.jsonl", &index)?;
        Ok(folder.verify()?.1)
    };
    let same = |index: &str| index.to_owned();
    let first = |index: &str| index.split_inclusive('\n').take(1).collect();
    let more = |index: &str| index.replacen("\"rows\":1", "\"rows\":2", 1);
    assert_eq!(compare(RESULTS, &same)?, Vec::<String>::new());
    for (results, index, expected) in [
        (RESULTS.replace("\"e\"", "\"E\""), &same as &dyn Fn(&str) -> String, "from byte 26 on have SHA-256"),
        (RESULTS[..30].to_owned(), &same, "the 26 bytes from byte 26 on"),
        (format!("{RESULTS}x"), &same, "more than the 52 bytes of the slices"),
        (RESULTS.to_owned(), &first, "more than the 26 bytes of the slices"),
        (RESULTS.to_owned(), &more, "its slices have 3 rows, but the results have 2"),
    ] {
        let different = compare(&results, index)?;
        assert!(different.iter().any(|line| line.contains(expected)), "{expected}: {different:?}");
    }
    let folder = with_results(true)?;
    fs::remove_file(folder.path("p-results-index.jsonl"))?;
    let (_, different) = folder.verify()?;
    assert!(different[0].contains("the index that has those of its slices is missing"), "{different:?}");
    assert!(different[1].ends_with("with --results-index"), "{different:?}");
    Ok(())
}
