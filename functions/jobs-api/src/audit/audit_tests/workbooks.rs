//! Audits of results in a workbook, and of the CSV file in place of one.

use longshore_domain::results::{ResultFormat, ResultsForm};

use super::results::{CSV, with_results};

fn workbook() -> ResultsForm {
    ResultsForm { format: ResultFormat::Xlsx, ..ResultsForm::default() }
}

#[test]
fn a_workbook_is_compared_with_its_receipt() {
    let audited = with_results(workbook(), "workbook");
    assert_eq!(audited.audit().equal, Some(true));
    audited.put("results.xlsx", "workbooK");
    let differences = audited.differences();
    assert_eq!(differences.len(), 2, "{differences:?}");
    assert!(differences[0].starts_with("sha256 of results.xlsx"), "{differences:?}");
    assert!(differences[1].starts_with("crc64nvme of results.xlsx"), "{differences:?}");
}

#[test]
fn the_csv_in_place_of_a_workbook_is_compared_row_by_row() {
    let mut audited = with_results(workbook().as_csv(), CSV);
    audited.records.results = Some(workbook());
    assert_eq!(audited.audit().equal, Some(true), "{:?}", audited.differences());
    let mut changed = with_results(workbook().as_csv(), &CSV.replace("4,d", "5,d"));
    changed.records.results = Some(workbook());
    let differences = changed.differences();
    assert_eq!(differences.len(), 1, "{differences:?}");
    assert!(differences[0].starts_with("result_items of results.csv"), "{differences:?}");
}
