//! The guide: its examples are valid, and its table has every code.

use longshore::handler::AnyJobType;
use longshore::job_types::image::image_registration;
use longshore::remote::RegisteredType;
use longshore_domain::registration::{FunctionAlias, VersionedRegistration};
use serde_json::Value;

const GUIDE: &str = include_str!("../../../../docs/guides/images.md");

/// Returns the JSON blocks with their kind.
fn blocks() -> Vec<(&'static str, Value)> {
    let blocks = GUIDE.split("```json ").skip(1).map(|block| block.split_once('\n').unwrap());
    blocks.map(|(kind, rest)| (kind, serde_json::from_str(rest.split("```").next().unwrap()).unwrap())).collect()
}

fn registered() -> VersionedRegistration {
    let arn = "arn:aws:lambda:eu-central-1:123456789012:function:image:live";
    image_registration(FunctionAlias::parse(arn).unwrap())
}

#[test]
fn the_examples_of_the_guide_are_valid() {
    let job_type = RegisteredType::new(registered());
    let output = jsonschema::validator_for(&registered().registration.output_schema.unwrap()).unwrap();
    let item = jsonschema::validator_for(&registered().registration.item_schema.unwrap()).unwrap();
    let mut kinds = Vec::new();
    for (kind, block) in blocks() {
        kinds.push(kind);
        match kind {
            "request" => {
                assert_eq!(block["jobType"], "image");
                assert!(job_type.prepare(&block["options"]).is_ok());
                assert!(block["items"].as_array().unwrap().iter().all(|value| item.is_valid(value)));
            }
            "options" => assert!(job_type.prepare(&block).is_ok()),
            _ => assert!(output.is_valid(&block), "{block}"),
        }
    }
    assert_eq!(kinds, ["request", "options", "output"]);
}

#[test]
fn the_guide_explains_every_code() {
    let code = [
        include_str!("../../src/reject.rs"),
        include_str!("../../src/download.rs"),
        include_str!("../../src/batch.rs"),
    ];
    let library = include_str!("../../../../shared/images/src/rejection.rs");
    let quoted = |text: &'static str| text.split('"').skip(1).step_by(2).filter(|word| is_code(word));
    let of_library = quoted(library.split("fn code").nth(1).unwrap().split("pub(crate)").next().unwrap());
    let renamed = ["too_large", "too_many_pixels", "damaged_image", "unsupported_type"];
    let codes: Vec<_> =
        code.into_iter().flat_map(quoted).chain(of_library).filter(|code| !renamed.contains(code)).collect();
    assert!(codes.len() > 14, "{codes:?}");
    for code in codes {
        assert!(GUIDE.contains(&format!("`{code}`")), "the guide has no {code}");
    }
}

fn is_code(word: &str) -> bool {
    word.contains('_') && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}
