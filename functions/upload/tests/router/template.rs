//! Guarantees of the template for uploads.

const TEMPLATE: &str = include_str!("../../../../template.yaml");

/// Returns the lines of a resource, without comments.
fn resource(name: &str) -> String {
    let mut lines = TEMPLATE.lines().skip_while(|line| *line != format!("  {name}:"));
    lines.next().unwrap();
    let own = lines.take_while(|line| line.is_empty() || line.starts_with("   "));
    own.filter(|line| !line.trim_start().starts_with('#')).map(|line| format!("{}\n", line.trim())).collect()
}

#[test]
fn parts_of_incomplete_uploads_are_removed_after_a_day_under_every_prefix() {
    let bucket = resource("Bucket");
    let rules = bucket.split_once("LifecycleConfiguration:\n").unwrap().1;
    let rule = rules.split("- Id: ").find(|rule| rule.contains("AbortIncompleteMultipartUpload")).unwrap();
    assert!(rule.contains("Status: Enabled\n") && rule.contains("DaysAfterInitiation: 1 }"), "{rule}");
    assert!(!rule.contains("Prefix") && !rule.contains("Filter"), "{rule}");
}

#[test]
fn the_function_has_the_timeout_of_the_gateway_for_the_assembly_of_parts() {
    assert!(resource("Upload").contains("Timeout: 29 "));
}
