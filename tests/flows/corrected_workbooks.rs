//! Failed rows as a workbook, and their correction in one. A number of a workbook is that number, whatever notation the
//! texts of its column have.

use std::io::Cursor;

use anyhow::{Context, ensure};
use calamine::{Data, Reader, Xlsx};
use longshore_tests::harness::watch::Watch;
use rust_xlsxwriter::{Formula, Workbook, Worksheet, XlsxError};
use serde_json::{Value, json};

use crate::shared::{Story, counts, dataset, stack};

/// Builds a workbook with one sheet.
fn workbook(fill: impl FnOnce(&mut Worksheet) -> Result<(), XlsxError>) -> Result<Vec<u8>, XlsxError> {
    let mut workbook = Workbook::new();
    fill(workbook.add_worksheet())?;
    workbook.save_to_buffer()
}

/// Retries a job with a corrected file, and returns the job at its end.
fn retried(id: &str, name: &str, file: &[u8]) -> anyhow::Result<Value> {
    let upload = stack().client.upload(name, file)?;
    stack().client.retry(id, Some(&upload))?.expect(202)?;
    Watch::new(stack(), id).end()
}

fn codes(id: &str) -> anyhow::Result<Vec<String>> {
    let failures = stack().client.get(&format!("/api/jobs/{id}/failures"))?.expect(200)?;
    let failures = failures["failures"].as_array().into_iter().flatten();
    Ok(failures.map(|failure| failure["code"].as_str().unwrap_or_default().to_owned()).collect())
}

#[test]
fn numbers_of_a_workbook_are_themselves_in_the_import_and_in_its_correction() -> Story {
    let stack = stack();
    let dataset = dataset("numbers");
    let source = workbook(|sheet| {
        sheet.write_row(0, 0, ["id", "price", "note"])?;
        sheet.write_column(1, 0, ["a", "b", "c", "d"])?;
        sheet.write(1, 1, 1.234)?;
        sheet.write(2, 1, "1,5")?;
        sheet.write_formula(3, 1, Formula::new("=NA()").set_result("#N/A"))?;
        sheet.write(4, 1, "soon")?.write(4, 2, 0.125)?;
        Ok(())
    })?;
    let upload = stack.client.upload("prices.xlsx", &source)?;
    let schema = json!({ "properties": { "price": { "type": "number" } } });
    let options = json!({ "dataset": dataset, "key": "id", "schema": schema });
    let job = stack.client.request_job("import", Some(&upload), &options)?.expect(202)?;
    let id = job["jobId"].as_str().context("an id")?.to_owned();
    let job = Watch::new(stack, &id).end()?;
    ensure!(counts(&job) == [2, 2, 0] && codes(&id)? == ["cell_error", "schema_type"], "{job}");
    let price = |key: &str| -> anyhow::Result<Value> {
        Ok(stack.client.records(&dataset)?.get(key).context("a record")?["record"]["price"].clone())
    };
    ensure!(price("a")? == 1.234 && price("b")? == 1.5, "{} {}", price("a")?, price("b")?);

    let failed = stack.client.get(&format!("/api/jobs/{id}/failures?format=xlsx"))?;
    ensure!(failed.status == 200, "{}", failed.text());
    let mut read: Xlsx<_> = Xlsx::new(Cursor::new(&failed.body))?;
    let range = read.worksheet_range("failed")?;
    let rows: Vec<Vec<_>> = range.rows().map(|row| row.iter().map(Data::to_string).collect()).collect();
    ensure!(rows[0] == ["row", "sheet_row", "id", "price", "note", "code", "field", "message"], "{:?}", rows[0]);
    ensure!(
        rows[1][..5] == ["3", "4", "c", "#N/A", ""] && rows[2][..5] == ["4", "5", "d", "soon", "0.125"],
        "{rows:?}"
    );

    // What was not touched is the same: also the cell without a value.
    let job = retried(&id, "failed.xlsx", &failed.body)?;
    ensure!(counts(&job) == [2, 2, 0] && codes(&id)? == ["cell_error", "schema_type"], "{job}");

    let corrected = workbook(|sheet| {
        sheet.write_row(0, 0, ["row", "id", "price", "note"])?;
        sheet.write(1, 0, 3)?.write(1, 1, "c")?.write(1, 2, 2.25)?;
        sheet.write(2, 0, 4)?.write(2, 1, "d")?.write(2, 2, "3,5")?.write(2, 3, 0.125)?;
        Ok(())
    })?;
    let job = retried(&id, "corrected.xlsx", &corrected)?;
    ensure!(counts(&job) == [4, 0, 0], "{job}");
    ensure!(price("c")? == 2.25 && price("d")? == 3.5, "{} {}", price("c")?, price("d")?);
    Ok(())
}

#[test]
fn a_number_of_a_corrected_workbook_is_read_in_a_job_over_csv_with_decimal_commas() -> Story {
    let stack = stack();
    let dataset = dataset("csv-numbers");
    let upload =
        stack.client.upload("preise.csv", "id;price;name\na;1,5;M\u{fc}ller\nb;x;J\u{e4}ger\nc;y;z\n".as_bytes())?;
    let schema = json!({ "properties": { "price": { "type": "number" } } });
    let options = json!({ "dataset": dataset, "key": "id", "schema": schema });
    let job = stack.client.request_job("import", Some(&upload), &options)?.expect(202)?;
    let id = job["jobId"].as_str().context("an id")?.to_owned();
    ensure!(counts(&Watch::new(stack, &id).end()?) == [1, 2, 0], "two prices are none");
    let corrected = workbook(|sheet| {
        sheet.write_row(0, 0, ["row", "id", "price", "name"])?;
        sheet.write(1, 0, 2)?.write(1, 1, "b")?.write(1, 2, 1.234)?.write(1, 3, "J\u{e4}ger")?;
        Ok(())
    })?;
    ensure!(counts(&retried(&id, "corrected.xlsx", &corrected)?) == [2, 1, 0], "b is corrected");
    // As a spreadsheet program of Windows saves "CSV".
    let job = retried(&id, "corrected.csv", b"row;id;price;name\r\n3;c;2,5;Gr\xf6\xdfe\r\n")?;
    ensure!(counts(&job) == [3, 0, 0], "{job}");
    let issues: Vec<_> = job["issues"].as_array().into_iter().flatten().map(|issue| issue["code"].clone()).collect();
    ensure!(issues.contains(&json!("corrected_encoding_guessed")), "{issues:?}");
    let records = stack.client.records(&dataset)?;
    let record = |key: &str| records.get(key).map(|record| record["record"].clone()).unwrap_or_default();
    ensure!(record("b")["price"] == 1.234 && record("c")["price"] == 2.5, "{} {}", record("b"), record("c"));
    ensure!(record("c")["name"] == "Gr\u{f6}\u{df}e", "{}", record("c"));
    Ok(())
}
