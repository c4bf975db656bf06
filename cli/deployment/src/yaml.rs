//! CloudFormation's YAML as JSON: `!Ref Name` becomes `{"Ref": "Name"}`, `!Sub text` becomes `{"Fn::Sub": "text"}`.

use anyhow::{Context, Result, bail};
use saphyr::{LoadableYamlNode, ScalarOwned, YamlOwned};
use serde_json::{Map, Value, json};

/// Parses the document as JSON.
///
/// # Errors
/// If the text is not valid YAML, or uses features that templates do not need: anchors, keys that are not strings,
/// several documents.
pub fn parse(text: &str) -> Result<Value> {
    let mut documents = YamlOwned::load_from_str(text).context("this is no YAML")?;
    match (documents.pop(), documents.is_empty()) {
        (Some(document), true) => value(document),
        _ => bail!("one document is expected"),
    }
}

fn value(node: YamlOwned) -> Result<Value> {
    Ok(match node {
        YamlOwned::Value(scalar) => of_scalar(scalar),
        YamlOwned::Sequence(items) => Value::Array(items.into_iter().map(value).collect::<Result<_>>()?),
        YamlOwned::Mapping(entries) => {
            let mut object = Map::new();
            for (name, entry) in entries {
                let Value::String(name) = value(name)? else { bail!("a key is no string") };
                if object.insert(name.clone(), value(entry)?).is_some() {
                    bail!("{name} stands there twice");
                }
            }
            Value::Object(object)
        }
        YamlOwned::Tagged(tag, node) => function(&tag.suffix, value(*node)?),
        other => bail!("{other:?} has no use in a template"),
    })
}

fn of_scalar(scalar: ScalarOwned) -> Value {
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
    fn short_tags_are_written_out() -> Result<()> {
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
    fn a_key_that_stands_there_twice_is_refused() {
        assert!(parse("a: 1\na: 2\n").is_err());
    }
}
