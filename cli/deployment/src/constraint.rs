//! Constraints on the value of a parameter, from its declaration.

use regex_lite::{Error, Regex};
use serde_json::Value;

use crate::template::plain;

/// Returns the members of a list parameter, or the single value of any other parameter.
pub(crate) fn members(declaration: &Value, value: &str) -> Vec<String> {
    let kind = declaration["Type"].as_str().unwrap_or_default();
    if kind == "CommaDelimitedList" || kind.starts_with("List<") {
        return value.split(',').map(|member| member.trim().to_owned()).collect();
    }
    vec![value.to_owned()]
}

/// Returns the reason why CloudFormation refuses a value, or `None` if it accepts the value.
pub(crate) fn refusal(declaration: &Value, value: &str) -> Option<String> {
    let is_number = matches!(declaration["Type"].as_str(), Some("Number" | "List<Number>"));
    members(declaration, value).iter().find_map(|member| {
        let reason = if is_number { number(declaration, member) } else { text(declaration, member) };
        reason.or_else(|| not_listed(declaration, member))
    })
}

fn not_listed(declaration: &Value, value: &str) -> Option<String> {
    let allowed: Vec<_> = declaration["AllowedValues"].as_array()?.iter().filter_map(plain).collect();
    let is_listed = allowed.iter().any(|allowed| allowed == value);
    (!is_listed).then(|| format!("{value:?} is not allowed; use one of {}", allowed.join(", ")))
}

fn number(declaration: &Value, value: &str) -> Option<String> {
    let Some(number) = value.parse().ok().filter(|number: &f64| number.is_finite()) else {
        return Some(format!("{value:?} is not a number"));
    };
    let range = out_of_range(number, ["MinValue", "MaxValue"].map(|name| plain(&declaration[name])))?;
    Some(format!("{value:?} is not allowed; use {range}"))
}

fn text(declaration: &Value, value: &str) -> Option<String> {
    let length = u32::try_from(value.chars().count()).map_or(f64::INFINITY, f64::from);
    if let Some(range) = out_of_range(length, ["MinLength", "MaxLength"].map(|name| plain(&declaration[name]))) {
        return Some(format!("{value:?} is not allowed; use {range} characters"));
    }
    let pattern = pattern(declaration)?.ok()?;
    let expected = declaration["AllowedPattern"].as_str()?;
    (!pattern.is_match(value)).then(|| format!("{value:?} is not allowed; it must match {expected}"))
}

/// Returns the permitted range if a value is outside of it.
fn out_of_range(number: f64, [min, max]: [Option<String>; 2]) -> Option<String> {
    let bound = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<f64>().ok());
    let is_inside = bound(&min).is_none_or(|min| number >= min) && bound(&max).is_none_or(|max| number <= max);
    if is_inside {
        return None;
    }
    Some(match (min, max) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, max) => format!("at most {}", max?),
    })
}

/// Compiles `AllowedPattern`, anchored, because CloudFormation matches the entire value. Fails for syntax that only
/// Java supports.
pub(crate) fn pattern(declaration: &Value) -> Option<Result<Regex, Error>> {
    let pattern = declaration["AllowedPattern"].as_str()?;
    Some(Regex::new(&format!(r"\A(?:{pattern})\z")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(declaration: &str, value: &str) -> anyhow::Result<Option<String>> {
        Ok(refusal(&crate::yaml::parse(declaration)?, value))
    }

    #[test]
    fn a_value_that_violates_a_constraint_is_refused() -> anyhow::Result<()> {
        let rows = [
            ("{ Type: Number }", "abc", "is not a number"),
            ("{ Type: Number }", "", "is not a number"),
            ("{ Type: Number }", "inf", "is not a number"),
            ("{ Type: Number, MinValue: 1 }", "0", "at least 1"),
            ("{ Type: Number, MaxValue: '9' }", "10", "at most 9"),
            ("{ Type: Number, MinValue: 1, MaxValue: 9 }", "9.5", "1 to 9"),
            ("{ Type: Number, AllowedValues: [1, 3] }", "2", "one of 1, 3"),
            ("{ Type: List<Number> }", "1,b", "\"b\" is not a number"),
            ("{ Type: String, AllowedValues: [a, b] }", "c", "one of a, b"),
            ("{ Type: CommaDelimitedList, AllowedValues: [a, b] }", "a,c", "\"c\" is not allowed"),
            ("{ Type: String, MinLength: 2 }", "a", "at least 2 characters"),
            ("{ Type: String, MaxLength: 2 }", "äöü", "at most 2 characters"),
            ("{ Type: String, AllowedPattern: '[a-z]+' }", "ab1", "it must match [a-z]+"),
            ("{ Type: String, AllowedPattern: 'a|b' }", "ac", "it must match a|b"),
            ("{ Type: String, AllowedPattern: '^a$' }", "a\n", "it must match ^a$"),
        ];
        for (declaration, value, expected) in rows {
            let reason = reason(declaration, value)?.unwrap_or_default();
            assert!(reason.contains(expected), "{declaration} {value}: {reason:?}");
        }
        Ok(())
    }

    #[test]
    fn values_at_the_bounds_are_accepted() -> anyhow::Result<()> {
        let rows = [
            ("{ Type: Number, MinValue: 1, MaxValue: 9 }", ["1", "9"]),
            ("{ Type: Number, MinValue: -1 }", ["-1", "0.5"]),
            ("{ Type: String, MinLength: 1, MaxLength: 3 }", ["a", "äöü"]),
            ("{ Type: String, AllowedPattern: 'a|b' }", ["a", "b"]),
            ("{ Type: CommaDelimitedList, AllowedValues: [a, b] }", ["a, b", "b"]),
        ];
        for (declaration, values) in rows {
            for value in values {
                assert_eq!(reason(declaration, value)?, None, "{declaration} {value}");
            }
        }
        Ok(())
    }
}
