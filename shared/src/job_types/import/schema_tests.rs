//! The work of hostile schemas and rows, in steps of the validator itself. The format `step` counts its own checks.

use std::cell::Cell;

use serde_json::{Value, json};

use super::{DETAIL_STEPS, ROW_STEPS, Schema, size};

thread_local!(static STEPS: Cell<u64> = const { Cell::new(0) });

/// Checks the format `step`, which any text except `bad` has.
pub(super) fn step(text: &str) -> bool {
    STEPS.set(STEPS.get() + 1);
    text != "bad"
}

/// Returns the code with which the schema or the row is refused, if any, and the number of steps taken.
fn check(schema: &Value, row: &Value) -> (Option<String>, u64) {
    STEPS.set(0);
    let code = match Schema::compile(schema) {
        Err(error) => Some(error.code),
        Ok(schema) => schema.check(row).err().map(|why| why.code),
    };
    (code, STEPS.get())
}

/// Two references at each of `levels` levels: 2^levels checks of each value of the property `p`.
fn doubling(levels: usize) -> Value {
    let mut defs = serde_json::Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        defs.insert(format!("d{level}"), json!({"allOf": [next.clone(), next]}));
    }
    defs.insert(format!("d{levels}"), json!({"format": "step"}));
    json!({"properties": {"p": {"items": {"$ref": "#/$defs/d0"}}}, "$defs": defs})
}

fn row(text: &str, values: usize) -> Value {
    json!({"p": vec![text; values]})
}

#[test]
fn a_row_takes_at_most_the_counted_steps() {
    for (levels, values) in [(0, 1), (3, 7), (8, 100)] {
        let (schema, row) = (doubling(levels), row("x", values));
        let counted = Schema::compile(&schema).unwrap().cost.steps * size(&row);
        let (code, steps) = check(&schema, &row);
        assert_eq!((code, steps), (None, values as u64 * (1 << levels)), "every step is counted");
        assert!(steps <= counted, "{steps} of {counted}");
    }
}

/// Without the limit on a schema's steps: 2^17 steps for one value.
#[test]
fn a_schema_with_too_many_steps_is_refused_before_the_first_step() {
    assert_eq!(check(&doubling(17), &row("x", 1)), (Some("schema_too_complex".into()), 0));
}

/// Without the limit on a row's steps: 61 million.
#[test]
fn a_row_with_too_many_steps_is_refused_before_the_first_step() {
    let (schema, row) = (doubling(10), row("x", 60_000));
    const { assert!(60_000 << 10 > ROW_STEPS) };
    assert_eq!(check(&schema, &row), (Some("row_too_complex".into()), 0));
}

/// Without the limit on details: a step and an error in memory for each value.
#[test]
fn not_all_errors_of_a_large_row_are_collected() {
    let values = DETAIL_STEPS as usize;
    let (code, steps) = check(&doubling(0), &row("bad", values));
    assert_eq!(code.as_deref(), Some("schema_format"));
    assert!(steps <= 10, "{steps}");
    let (code, steps) = check(&doubling(0), &row("bad", 100));
    assert_eq!(code.as_deref(), Some("schema_format"));
    assert!(steps >= 100, "all errors of a small row are counted: {steps}");
}
