//! The options of a job. They were checked against their schema when the job was created, and are checked again here.

use longshore::image_file::is_size_name;
use longshore::job_types::image::{COLUMN_CHARS, SIZES};
use longshore_images::limits::RESULT_SIDE;
use longshore_images::{CheckedOptions, Fit, Options, OutputFormat, SizeOptions};
use serde::Deserialize;
use serde_json::Value;

/// Options as a client sends them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ImageOptions {
    #[serde(default = "default_sizes")]
    sizes: Vec<Size>,
    #[serde(default)]
    format: ResultFormat,
    #[serde(default = "default_quality")]
    quality: u32,
    #[serde(default = "default_column")]
    column: String,
}

/// A copy of each image.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Size {
    name: String,
    max_width: Option<u32>,
    max_height: Option<u32>,
}

/// The format of the copies.
#[derive(Copy, Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ResultFormat {
    Jpeg,
    Webp,
    Png,
    #[default]
    Same,
}

/// Options that have been checked.
#[derive(Clone, Debug)]
pub(crate) struct JobOptions {
    /// The conversion.
    pub(crate) conversion: CheckedOptions,
    /// Name of the column with the URL.
    pub(crate) column: String,
}

/// Options that are not valid.
#[derive(Debug, thiserror::Error)]
#[error("The options are not valid: {0}")]
pub(crate) struct BadOptions(String);

impl JobOptions {
    /// Checks options.
    pub(crate) fn read(options: &Value) -> Result<Self, BadOptions> {
        if !options.is_object() {
            return Err(BadOptions("they are not an object".to_owned()));
        }
        let options = ImageOptions::deserialize(options).map_err(|error| BadOptions(error.to_string()))?;
        if !(1..=COLUMN_CHARS).contains(&options.column.chars().count()) {
            return Err(BadOptions(format!("the name of a column has 1 to {COLUMN_CHARS} characters")));
        }
        if !(1..=SIZES).contains(&options.sizes.len()) {
            return Err(BadOptions(format!("there are 1 to {SIZES} sizes")));
        }
        let sizes = options.sizes.into_iter().map(Size::checked).collect::<Result<_, _>>()?;
        let conversion = Options { sizes, format: options.format.into(), quality: options.quality };
        let all = |errors: Vec<_>| {
            let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
            BadOptions(errors.join("; "))
        };
        Ok(Self { conversion: conversion.check().map_err(all)?, column: options.column })
    }
}

impl Size {
    fn checked(self) -> Result<SizeOptions, BadOptions> {
        let Self { name, max_width, max_height } = self;
        if !is_size_name(&name) {
            return Err(BadOptions("the name of a size has lower-case letters, digits and hyphens".to_owned()));
        }
        if max_width.is_none() && max_height.is_none() {
            return Err(BadOptions(format!("the size \"{name}\" needs maxWidth, maxHeight or both")));
        }
        Ok(SizeOptions { name, width: max_width.unwrap_or(RESULT_SIDE), height: max_height, fit: Fit::Contain })
    }
}

impl From<ResultFormat> for OutputFormat {
    fn from(format: ResultFormat) -> Self {
        match format {
            ResultFormat::Jpeg => Self::Jpeg,
            ResultFormat::Webp => Self::Webp,
            ResultFormat::Png => Self::Png,
            ResultFormat::Same => Self::Original,
        }
    }
}

fn default_sizes() -> Vec<Size> {
    vec![Size { name: "320".to_owned(), max_width: Some(320), max_height: Some(320) }]
}

fn default_quality() -> u32 {
    80
}

fn default_column() -> String {
    "url".to_owned()
}

#[cfg(test)]
mod tests {
    use longshore::handler::AnyJobType;
    use longshore::job_types::image::image_registration;
    use longshore::remote::RegisteredType;
    use longshore_domain::registration::FunctionAlias;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_schema() {
        let arn = "arn:aws:lambda:eu-central-1:123456789012:function:image:live";
        let registered = image_registration(FunctionAlias::parse(arn).unwrap());
        let schema = registered.registration.options_schema.unwrap();
        let members = schema["properties"].as_object().unwrap();
        let defaults: Value = members.iter().map(|(name, member)| (name.clone(), member["default"].clone())).collect();
        let read = [json!({}), defaults].map(|options| JobOptions::read(&options).unwrap());
        assert_eq!(read[0].conversion, read[1].conversion);
        assert_eq!(read[0].column, read[1].column);
    }

    /// Options beside the limits: name, options, and true if they are valid.
    fn table() -> Vec<(Value, bool)> {
        let sizes = |count: usize| -> Value {
            (0..count).map(|at| json!({ "name": at.to_string(), "maxWidth": 8_192 })).collect()
        };
        let size = |size: Value| json!({ "sizes": [size] });
        vec![
            (json!({}), true),
            (json!({ "sizes": sizes(5) }), true),
            (json!({ "sizes": sizes(6) }), false),
            (json!({ "sizes": sizes(0) }), false),
            (size(json!({ "name": "a", "maxHeight": 1 })), true),
            (size(json!({ "name": "a" })), false),
            (size(json!({ "maxWidth": 1 })), false),
            (size(json!({ "name": "a", "maxWidth": 0 })), false),
            (size(json!({ "name": "a", "maxWidth": 8_193 })), false),
            (size(json!({ "name": "a", "maxHeight": 8_193 })), false),
            (size(json!({ "name": "a".repeat(32), "maxWidth": 1 })), true),
            (size(json!({ "name": "a".repeat(33), "maxWidth": 1 })), false),
            (size(json!({ "name": "../a", "maxWidth": 1 })), false),
            (size(json!({ "name": "A", "maxWidth": 1 })), false),
            (size(json!({ "name": "a", "maxWidth": 1, "fit": "cover" })), false),
            (json!({ "format": "same", "quality": 1, "column": "Photo" }), true),
            (json!({ "format": "gif" }), false),
            (json!({ "quality": 101 }), false),
            (json!({ "quality": 0 }), false),
            (json!({ "quality": 1.5 }), false),
            (json!({ "column": "" }), false),
            (json!({ "column": "ä".repeat(200) }), true),
            (json!({ "column": "ä".repeat(201) }), false),
            (json!({ "more": 1 }), false),
            (json!([]), false),
            (json!(null), false),
        ]
    }

    #[test]
    fn this_check_agrees_with_the_schema_of_the_registration() {
        let arn = "arn:aws:lambda:eu-central-1:123456789012:function:image:live";
        let registered = RegisteredType::new(image_registration(FunctionAlias::parse(arn).unwrap()));
        for (options, valid) in table() {
            assert_eq!(JobOptions::read(&options).is_ok(), valid, "{options}");
            assert_eq!(registered.prepare(&options).is_ok(), valid, "schema: {options}");
        }
    }

    #[test]
    fn two_sizes_of_one_name_would_write_one_file_and_are_refused() {
        let size = json!({ "name": "a", "maxWidth": 1 });
        assert!(JobOptions::read(&json!({ "sizes": [size, size] })).unwrap_err().to_string().contains("used twice"));
    }
}
