//! Measures the speed of reading and checking rows: a million rows of five columns and 100 bytes, in mode `validate`.
//!
//! `cargo run --example validate_speed -p longshore [rows]` prints rows per second of one thread, with and without a
//! schema. The goal is below 1.5 microseconds a row, so that two cores check 250,000 rows a second beside other work.

use std::error::Error;
use std::time::Instant;

use longshore::handler::{JobContext, Outputs, RawItem, Shape};
use longshore::job_types::builtin;
use longshore_domain::ids::JobId;
use longshore_domain::records::Format;
use longshore_domain::tenant::DEFAULT_TENANT;
use longshore_testing::{MemoryFiles, MemoryRecords};
use serde_json::{Value, json};

/// Number of items per call of the handler.
const BATCH: usize = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    let rows = std::env::args().nth(1).map_or(Ok(1_000_000), |rows| rows.parse())?;
    let schema = json!({
        "type": "object",
        "properties": {
            "id": {"type": "integer", "minimum": 1},
            "email": {"type": "string", "pattern": "^[^@ ]+@[^@ ]+$", "maxLength": 200},
            "name": {"type": "string", "minLength": 1, "maxLength": 100},
            "amount": {"type": "number", "minimum": 0},
            "active": {"type": "boolean"}
        },
        "required": ["id", "email", "name"]
    });
    measure("with a schema", &schema, rows)?;
    measure("without", &Value::Null, rows)
}

fn measure(what: &str, schema: &Value, rows: usize) -> Result<(), Box<dyn Error>> {
    let columns = ["id", "email", "name", "amount", "active"].map(String::from);
    let lines: Vec<String> = (0..BATCH).map(line).collect();
    let items: Vec<_> = lines.iter().zip(1..).map(|(line, number)| item(line, number, &columns)).collect();
    let types = builtin(MemoryRecords::default(), MemoryFiles::default());
    let options = json!({"dataset": "customers", "key": "id", "mode": "validate", "schema": schema});
    let import = types.find("import").ok_or("no import")?.prepare(&options).map_err(|e| format!("{e:?}"))?;
    let job = JobContext { job_id: JobId::generate(), tenant: DEFAULT_TENANT.clone(), dataset: None, round: 0 };
    let started = Instant::now();
    let mut done = 0;
    while done < rows {
        done += futures::executor::block_on(import.run(&job, &items, Outputs::Kept)).outcomes.len();
    }
    let elapsed = started.elapsed();
    let (per_row, per_second) = (elapsed.as_nanos() as f64 / done as f64, done as f64 / elapsed.as_secs_f64());
    println!("{what}: {done} rows, {per_row:.0} ns a row, {per_second:.0} rows/s");
    Ok(())
}

fn item<'a>(line: &'a str, number: u64, columns: &'a [String]) -> RawItem<'a> {
    let shape = Shape::Record { format: Format::Csv, columns, bytes: line.as_bytes(), unterminated: false };
    RawItem { number, shape }
}

/// A row of 100 bytes.
fn line(n: usize) -> String {
    let row = format!("{},customer-{n:06}@mail.example.com,Firstname Lastname {n:06},{n}.25,true", n + 1_000_000);
    let filling = "x".repeat(100_usize.saturating_sub(row.len() + 1));
    row.replacen("Firstname", &format!("Firstname{filling}"), 1)
}
