//! `image`: resized copies of the images at URLs.
//!
//! The type is built in, and its handler is a function of this stack, `image-handler`, which is called by the same contract
//! as a registered handler. Its registration is a constant of the program: an operator can neither change nor delete it.
//!
//! A call of [`BATCH_ITEMS`] slow images fits into its time-out. The handler waits at most [`FETCH_SECONDS`] for an image,
//! and converts it while it waits for the next one.

use std::collections::BTreeSet;

use longshore_domain::registration::{
    Activation, BatchSize, FunctionAlias, Registration, Target, TypeName, Version, VersionedRegistration,
};
use longshore_domain::remote::Mode;
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use crate::field_error::FieldError;
use crate::image_file::SIZE_NAME_CHARS;

/// Name of the job type.
pub const NAME: &str = "image";

/// Version of the registration. Another content has another version.
const VERSION: &str = "built-in-1";

/// Maximum number of sizes of an image.
pub const SIZES: usize = 5;
/// Maximum width and height of a result.
pub const MAX_SIDE: u32 = 8_192;
/// Maximum characters of the name of a column.
pub const COLUMN_CHARS: usize = 200;

/// Maximum number of images in a call.
pub const BATCH_ITEMS: u32 = 10;
/// Maximum time for the download of an image.
pub const FETCH_SECONDS: u64 = 10;
/// Time-out of a call: ten slow downloads, and the conversion of the last image.
const TIMEOUT_SECONDS: u32 = 110;
/// Size of a call in bytes. A row of many long columns is sent alone.
const BATCH_BYTES: u32 = 1 << 20;
/// Maximum number of calls at a time: the images of one server are fetched on at most as many connections, and a wave
/// of jobs leaves the account's other functions their concurrency.
const CONCURRENCY: u32 = 10;
/// Number of tries of an image whose server fails or is slow.
const TRIES: u32 = 5;

/// Returns the registration of the type, whose handler is this function.
pub fn image_registration(function: FunctionAlias) -> VersionedRegistration {
    let registration = Registration {
        description: Some("Resized copies of the images at URLs".to_owned()),
        options_schema: Some(options_schema()),
        item_schema: Some(item_schema()),
        output_schema: Some(output_schema()),
        batch: BatchSize { items: BATCH_ITEMS, bytes: BATCH_BYTES, timeout_seconds: TIMEOUT_SECONDS },
        concurrency: CONCURRENCY,
        tries: TRIES,
        ..Registration::new(TypeName::from_static(NAME), Target::Function(function))
    };
    let activation = Activation { modes: vec![Mode::Run, Mode::Validate], at: Timestamp(0) };
    VersionedRegistration { version: Version::stored(VERSION), registration, activation }
}

/// Returns true for this registration, and false for one of an operator with the same name in a stack without the type.
pub fn is_built_in(registration: &VersionedRegistration) -> bool {
    registration.version == Version::stored(VERSION)
}

/// Checks what the schema of the options cannot: that no two sizes have one name. The handler checks it again.
///
/// # Errors
/// `invalid_option` for each size with the name of an earlier one.
pub fn check_size_names(options: &Value) -> Result<(), Vec<FieldError>> {
    let sizes = options["sizes"].as_array().map_or(&[][..], Vec::as_slice);
    let mut names = BTreeSet::new();
    let repeated = sizes.iter().enumerate().filter(|(_, size)| !names.insert(size["name"].as_str()));
    let error = |(i, size): (usize, &Value)| {
        let detail = format!("{} is the name of another size, too; give each size its own name", size["name"]);
        FieldError::new(format!("/options/sizes/{i}/name"), "invalid_option", detail)
    };
    let errors: Vec<_> = repeated.map(error).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Returns the schema of the options.
fn options_schema() -> Value {
    let side =
        |description: &str| json!({ "type": "integer", "minimum": 1, "maximum": MAX_SIDE, "description": description });
    let size = json!({
        "type": "object",
        "required": ["name"],
        "anyOf": [{ "required": ["maxWidth"] }, { "required": ["maxHeight"] }],
        "additionalProperties": false,
        "properties": {
            "name": {
                "type": "string",
                "pattern": format!("^[a-z0-9-]{{1,{SIZE_NAME_CHARS}}}$"),
                "description": "Part of the name of the file."
            },
            "maxWidth": side("Maximum width in pixels."),
            "maxHeight": side("Maximum height in pixels.")
        }
    });
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "sizes": {
                "type": "array", "minItems": 1, "maxItems": SIZES, "items": size,
                "title": "Sizes",
                "description": "The copies of each image. A copy keeps the ratio of the sides, and is never larger than the original.",
                "default": [{ "name": "320", "maxWidth": 320, "maxHeight": 320 }]
            },
            "format": {
                "enum": ["jpeg", "webp", "png", "same"], "default": "same",
                "title": "Format", "description": "The format of the copies; \"same\" is that of the original."
            },
            "quality": {
                "type": "integer", "minimum": 1, "maximum": 100, "default": 80,
                "title": "Quality", "description": "The quality of JPEG copies."
            },
            "column": {
                "type": "string", "minLength": 1, "maxLength": COLUMN_CHARS, "default": "url",
                "title": "Column", "description": "The column with the URL of the image."
            }
        }
    })
}

/// Returns the schema of an item: a URL, or an object with a column for it.
fn item_schema() -> Value {
    json!({ "type": ["string", "object"] })
}

fn output_schema() -> Value {
    let pixels = json!({ "type": "integer", "minimum": 1 });
    json!({
        "type": "object",
        "required": ["width", "height", "files"],
        "properties": {
            "width": pixels,
            "height": pixels,
            "files": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["name", "url", "width", "height", "bytes", "contentType"],
                    "properties": {
                        "name": { "type": "string" },
                        "url": { "type": "string" },
                        "width": pixels,
                        "height": pixels,
                        "bytes": pixels,
                        "contentType": { "enum": ["image/jpeg", "image/png", "image/webp"] }
                    }
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use longshore_domain::registration::check_schema;
    use longshore_domain::registration::content::{
        BATCH_BYTES as BYTES, BATCH_ITEMS as ITEMS, CONCURRENCY as CALLS, TIMEOUT_SECONDS as TIMEOUT, TRIES as ATTEMPTS,
    };

    use super::*;
    use crate::handler::AnyJobType;
    use crate::remote::RegisteredType;

    fn registered() -> VersionedRegistration {
        let arn = "arn:aws:lambda:eu-central-1:123456789012:function:prod-image-handler:live";
        image_registration(FunctionAlias::parse(arn).unwrap())
    }

    #[test]
    fn the_registration_is_one_that_an_operator_could_have_made() {
        let Registration { name, batch, concurrency, tries, options_schema, item_schema, output_schema, .. } =
            registered().registration;
        assert_eq!(name.as_str(), NAME);
        assert!(ITEMS.contains(&batch.items) && BYTES.contains(&batch.bytes) && CALLS.contains(&concurrency));
        assert!(TIMEOUT.contains(&batch.timeout_seconds) && ATTEMPTS.contains(&tries));
        for schema in [options_schema, item_schema, output_schema] {
            assert_eq!(check_schema(&schema.unwrap()), Ok(()));
        }
        assert_eq!(registered(), registered(), "every process has the same version");
    }

    #[test]
    fn images_are_downloaded_by_ten_calls_at_a_time() {
        assert_eq!(registered().registration.concurrency, 10);
    }

    #[test]
    fn a_call_of_slow_images_ends_before_its_time_out() {
        let downloads = u64::from(BATCH_ITEMS) * FETCH_SECONDS;
        assert!(downloads + 5 <= u64::from(TIMEOUT_SECONDS), "{downloads} s of downloads");
    }

    #[test]
    fn two_sizes_of_one_name_are_refused() {
        let pointers = |options: Value| {
            let errors = check_size_names(&options).err().unwrap_or_default();
            errors.into_iter().map(|error| error.pointer).collect::<Vec<_>>()
        };
        let size = |name: &str| json!({ "name": name, "maxWidth": 1 });
        for (options, expected) in [
            (json!({}), vec![]),
            (json!({ "sizes": [size("a"), size("b")] }), vec![]),
            (json!({ "sizes": [size("a"), size("b"), size("a")] }), vec!["/options/sizes/2/name"]),
        ] {
            assert_eq!(pointers(options), expected);
        }
    }

    #[test]
    fn options_are_checked_when_a_job_is_created() {
        let job_type = RegisteredType::new(registered());
        for options in [
            json!({}),
            json!({ "sizes": [{ "name": "320", "maxWidth": 320 }, { "name": "a-1", "maxHeight": 8192 }] }),
            json!({ "format": "webp", "quality": 100, "column": "Photo" }),
        ] {
            assert!(job_type.prepare(&options).is_ok(), "{options}");
        }
        for options in [
            json!({ "sizes": [] }),
            json!({ "sizes": [{ "name": "320" }] }),
            json!({ "sizes": [{ "name": "../320", "maxWidth": 320 }] }),
            json!({ "sizes": [{ "name": "320", "maxWidth": 8193 }] }),
            json!({ "sizes": [{ "name": "320", "maxWidth": 0 }] }),
            json!({ "sizes": [{ "name": "320", "maxWidth": 320, "fit": "cover" }] }),
            json!({ "sizes": vec![json!({ "name": "320", "maxWidth": 320 }); 6] }),
            json!({ "format": "gif" }),
            json!({ "quality": 0 }),
            json!({ "column": "" }),
            json!({ "colour": "red" }),
        ] {
            assert!(job_type.prepare(&options).is_err(), "{options}");
        }
    }
}
