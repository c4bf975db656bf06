//! Converts CloudFormation's YAML to JSON: `!Ref A` becomes `{"Ref": "A"}`, `!Sub text` becomes `{"Fn::Sub": "text"}`.

use anyhow::{Context, Result, bail};
use saphyr::{LoadableYamlNode, ScalarOwned, YamlOwned};
use serde_json::{Map, Value, json};

/// Parses a document.
///
/// # Errors
/// If the text is not valid YAML, or uses features that templates do not need: anchors, keys that are not strings,
/// several documents.
pub fn parse(text: &str) -> Result<Value> {
    let mut documents = YamlOwned::load_from_str(text).context("the text is not valid YAML")?;
    match (documents.pop(), documents.is_empty()) {
        (Some(document), true) => value(document),
        _ => bail!("expected exactly one document"),
    }
}

fn value(node: YamlOwned) -> Result<Value> {
    Ok(match node {
        YamlOwned::Value(scalar) => scalar_value(scalar),
        YamlOwned::Sequence(items) => Value::Array(items.into_iter().map(value).collect::<Result<_>>()?),
        YamlOwned::Mapping(entries) => {
            let mut object = Map::new();
            for (name, entry) in entries {
                let Value::String(name) = value(name)? else { bail!("a key is not a string") };
                if object.insert(name.clone(), value(entry)?).is_some() {
                    bail!("the key {name} occurs twice");
                }
            }
            Value::Object(object)
        }
        YamlOwned::Tagged(tag, node) => function(&tag.suffix, value(*node)?),
        other => bail!("{other:?} is not supported in a template"),
    })
}

fn scalar_value(scalar: ScalarOwned) -> Value {
    match scalar {
        ScalarOwned::Null => Value::Null,
        ScalarOwned::Boolean(truth) => truth.into(),
        ScalarOwned::Integer(number) => number.into(),
        ScalarOwned::FloatingPoint(number) => number.into_inner().into(),
        ScalarOwned::String(text) => text.into(),
    }
}

/// Expands a short tag to its long form. The tagged scalar is always a string, even if it looks like a number.
fn function(tag: &str, argument: Value) -> Value {
    let argument = match (tag, argument) {
        ("GetAtt", Value::String(path)) => match path.split_once('.') {
            Some((resource, attribute)) => json!([resource, attribute]),
            None => path.into(),
        },
        (_, argument) => argument,
    };
    let name = match tag {
        "Ref" | "Condition" => tag.to_owned(),
        _ => format!("Fn::{tag}"),
    };
    json!({ name: argument })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_tags_are_expanded() -> Result<()> {
        let text = "a: !Ref B\nb: !If [C, !GetAtt D.Arn, '1']\nc: !Sub '${E}/*'\nd: { e: 1, f: '1', g: true }\n";
        let expected = json!({
            "a": { "Ref": "B" },
            "b": { "Fn::If": ["C", { "Fn::GetAtt": ["D", "Arn"] }, "1"] },
            "c": { "Fn::Sub": "${E}/*" },
            "d": { "e": 1, "f": "1", "g": true },
        });
        assert_eq!(parse(text)?, expected);
        Ok(())
    }

    #[test]
    fn a_duplicate_key_is_refused() {
        assert!(parse("a: 1\na: 2\n").is_err());
    }
}
