//! Parameter defaults that must reach the functions unchanged.

use super::template;

/// A YAML number of ten digits or more can be passed on as `5.36870912E9`, which no function can parse.
#[test]
fn default_numbers_of_ten_digits_or_more_are_quoted() {
    let unquoted: Vec<_> = template()
        .section("Parameters")
        .filter(|(_, parameter)| parameter["Default"].as_u64().is_some_and(|number| number >= 1_000_000_000))
        .map(|(name, _)| name.to_owned())
        .collect();
    assert_eq!(unquoted, [""; 0]);
}

/// ARNs have another partition in China and GovCloud.
#[test]
fn no_arn_contains_a_fixed_partition() {
    let lines: Vec<_> = super::TEMPLATE.lines().filter(|line| line.contains("arn:aws:")).collect();
    assert_eq!(lines, [""; 0]);
}
