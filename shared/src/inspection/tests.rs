//! Inspections of small files, compared with what a validation says.

use std::sync::Arc;

use longshore_domain::preset::{LearntFrom, LearntPreset};
use longshore_domain::records::{CellKind, Format};
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryRecords};
use serde_json::json;

use super::*;
use crate::handler::AnyJobType;
use crate::job_types::import::Import;

async fn inspected(file: &str, options: Option<Value>) -> Inspection {
    inspected_with(file, options, Vec::new()).await
}

async fn inspected_with(file: &str, options: Option<Value>, presets: Vec<LearntPreset>) -> Inspection {
    let files = MemoryFiles::default();
    files.put("file", file);
    let info = files.info("file").await.unwrap().unwrap();
    let format = if file.starts_with('{') { Format::JsonLines } else { Format::Csv };
    let source = SourceFile::new("file", info, format, "file.csv");
    let import = Arc::new(Import::new(Arc::new(MemoryRecords::default()), MemoryFiles::default()));
    let job_type: &dyn AnyJobType = &import;
    let intended = options.map(|options| {
        let prepared = job_type.prepare(&options).unwrap();
        Intended { job_type, options, prepared, presets }
    });
    match inspect(&files, &source, GivenReading::default(), intended).await.unwrap() {
        Inspected::Found(inspection) => inspection,
        Inspected::Unprepared(form, _) => panic!("{form:?}"),
    }
}

#[tokio::test]
async fn a_file_is_described() {
    let found = inspected("id;Preis;Seit;Aktiv\n1;1,5;1.2.2024;ja\n2;7;3.4.2024;nein\n", None).await;
    assert_eq!(found.reading.map(|reading| char::from(reading.dialect.delimiter.byte())), Some(';'));
    let columns: Vec<_> = found.columns.iter().map(|column| (column.name.as_str(), column.found)).collect();
    let expected = [CellType::Number, CellType::Number, CellType::Date, CellType::Boolean];
    assert_eq!(columns, ["id", "Preis", "Seit", "Aktiv"].into_iter().zip(expected).collect::<Vec<_>>());
    assert_eq!(found.columns[1].notation, Some(","));
    let question = found.columns[2].question.as_ref().unwrap();
    assert_eq!(question.cell, "1.2.2024");
    assert_eq!(question.readings.iter().map(|reading| reading.notation).collect::<Vec<_>>(), ["dmy", "mdy"]);
    assert_eq!(found.rows[1].cells, ["2", "7", "3.4.2024", "nein"]);
    assert_eq!((found.error, found.options), (None, None));
}

#[tokio::test]
async fn what_would_fail_is_found() {
    let schema = json!({ "properties": { "price": { "type": "number" } }, "required": ["price"] });
    let options = json!({ "dataset": "d", "key": "id", "schema": schema });
    let found = inspected("id,price\n1,\"1,5\"\n,2\n3,x\n4\n", Some(options.clone())).await;
    let problems: Vec<_> =
        found.rows.iter().map(|row| row.problem.as_ref().map(|problem| problem.code.as_str())).collect();
    assert_eq!(problems, [None, Some("missing_key"), Some("schema_type"), Some("too_few_cells")]);
    assert_eq!(found.options.unwrap()["notations"], json!({ "price": { "decimalSeparator": "," } }));
    let found = inspected("id,price\n1,1.234\n", Some(options.clone())).await;
    assert_eq!(found.error.map(|error| error.code).as_deref(), Some("ambiguous_column"));
    assert_eq!((found.options, found.rows.len()), (None, 1));
    let found = inspected("id,name\n1,a\n", Some(options)).await;
    assert_eq!(found.error.map(|error| error.code).as_deref(), Some("required_column_missing"));
    assert_eq!(inspected("\n\n", None).await.error.map(|error| error.code).as_deref(), Some("file_empty"));
}

#[tokio::test]
async fn a_preset_maps_what_the_options_leave_open() {
    let preset = json!({ "key": "id", "columns": { "Nr": "id", "Ort": "city" }, "values": { "city": { "-": null } } });
    let preset: Preset = serde_json::from_value(preset).unwrap();
    let learnt = LearntPreset { from: LearntFrom::Import, at: Timestamp(1), preset: preset.clone() };
    let found = async |file, members: Value| {
        let mut options = json!({ "dataset": "d", "key": "id" });
        options.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        inspected_with(file, Some(options), vec![learnt.clone()]).await
    };
    let mapped = found("Nr,Ort\n1,Bonn\n", json!({})).await;
    let options = mapped.options.unwrap();
    assert_eq!((&options["columns"], &options["values"]), (&json!(preset.columns), &json!(preset.values)));
    assert_eq!(mapped.issues.iter().map(|issue| issue.code.as_str()).collect::<Vec<_>>(), ["preset_used"]);
    assert_eq!((mapped.error, mapped.preset, &mapped.rows[0].problem), (None, Some(preset.clone()), &None));
    // The client's mapping is never replaced, not even an empty one; the preset is returned all the same.
    for members in [json!({ "columns": { "Nr": "id" } }), json!({ "values": {} }), json!({ "columns": {} })] {
        let found = found("Nr,Ort\n1,Bonn\n", members.clone()).await;
        assert_eq!((found.preset.as_ref(), found.issues.len()), (Some(&preset), 0), "{members}");
        assert_eq!(found.options.is_some(), members["columns"]["Nr"] == "id");
    }
    // A preset that takes the key away is not used.
    let kept = found("Nr,Ort\n1,Bonn\n", json!({ "key": "Nr" })).await;
    assert_eq!(kept.options, Some(json!({ "dataset": "d", "key": "Nr" })));
    // A header that is accepted without the preset only.
    let kept = found("id,Ort\n1,2\n", json!({ "schema": { "required": ["Ort"] } })).await;
    assert_eq!((kept.error, kept.issues, kept.options.unwrap().get("columns").is_none()), (None, Vec::new(), true));
    // The members of JSON Lines are mapped, too: of an export with other names, for example.
    let mapped = found("{\"Nr\":1}\n{\"Nr\":2,\"Ort\":\"-\"}\n{\"Ort\":\"Bonn\"}\n", json!({})).await;
    assert_eq!(mapped.options.unwrap()["columns"], json!(preset.columns));
    assert_eq!((mapped.preset.as_ref(), mapped.issues[0].code.as_str()), (Some(&preset), "preset_used"));
    let codes = mapped.rows.iter().map(|row| row.problem.as_ref().map(|problem| problem.code.as_str()));
    assert_eq!(codes.collect::<Vec<_>>(), [None, None, Some("missing_key")]);
    let kept = found("{\"city\":1,\"Ort\":2}\n", json!({})).await;
    assert_eq!((kept.preset.unwrap().columns.len(), kept.options.unwrap().get("columns").is_none()), (0, true));
    let kept = found("id,Ort,city\n1,2,3\n", json!({})).await;
    assert_eq!(kept.preset.map(|preset| preset.columns.len()), Some(0));
}

#[tokio::test]
async fn the_header_is_searched_in_the_first_64_mib() {
    const SEARCHED: usize = 64 << 20;
    let found = inspected(&("\n".repeat(SEARCHED - 100) + "id\n1\n"), None).await;
    assert_eq!((found.error, found.rows.len()), (None, 1));
    let found = inspected(&("\n".repeat(2 * SEARCHED) + "id\n1\n"), None).await;
    assert_eq!(found.error.map(|error| error.code).as_deref(), Some("header_missing"));
}

#[tokio::test]
async fn json_lines_have_no_columns() {
    let options = json!({ "dataset": "d", "key": "id" });
    let found = inspected("{\"id\":1}\nno\n", Some(options.clone())).await;
    let problems: Vec<_> = found.rows.iter().map(|row| row.problem.is_some()).collect();
    assert_eq!((problems, found.columns, found.options), (vec![false, true], Vec::new(), Some(options)));
}

#[tokio::test]
async fn a_number_of_a_workbook_has_no_notation() {
    let schema = json!({ "properties": { "price": { "type": "number" } } });
    let options = json!({ "dataset": "d", "key": "id", "schema": schema });
    let (number, error) = (CellKind::Number.encode("1.234"), CellKind::Error("why").encode("#N/A"));
    let file = format!("id,price,note\n1,\"1,5\",x\n2,{number},{number}\n3,{error},\n");
    let found = inspected(&file, Some(options.clone())).await;
    assert_eq!(found.columns[1].notation, Some(","));
    assert_eq!(found.options.unwrap()["notations"], json!({ "price": { "decimalSeparator": "," } }));
    let cells: Vec<_> = found.rows.iter().map(|row| row.cells[1].as_str()).collect();
    assert_eq!(cells, ["1,5", "1.234", "#N/A"]);
    let problems = found.rows.into_iter().map(|row| row.problem.map(|problem| (problem.code, problem.message)));
    let error = ("cell_error".to_owned(), "\"price\": why".to_owned());
    assert_eq!(problems.collect::<Vec<_>>(), [None, None, Some(error)]);

    let numbers = inspected(&format!("id,price\n1,{number}\n2,5\n"), Some(options)).await;
    assert_eq!((numbers.columns[1].question.as_ref(), numbers.error), (None, None), "1.234 is no question");
}
