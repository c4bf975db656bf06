//! Permitted and refused changes of a golden file.

use serde_json::json;

use super::*;

/// A golden file with these lists `written`, `read` and `earlier`.
fn golden(version: u32, unknown: &str, [written, read, earlier]: [Value; 3]) -> Value {
    json!({ "version": version, "unknownMembers": unknown, "written": written, "read": read, "earlier": earlier })
}

/// Number of changes from a shape with the values a of version 1 and b of an earlier version, which also reads `read`.
fn changes(unknown: &str, read: &Value, new: &Value) -> usize {
    let old = golden(1, unknown, [json!([{ "a": 1 }]), read.clone(), json!([{ "b": 2 }])]);
    incompatible(&old, new).len()
}

#[test]
fn a_new_member_is_permitted_if_the_earlier_version_ignores_it_or_reads_it() {
    let (one, two, more) = (json!({ "a": 1 }), json!({ "b": 2 }), json!({ "a": 1, "c": 3 }));
    let new = golden(1, "ignored", [json!([more]), json!([]), json!([two, one])]);
    assert_eq!(changes("ignored", &json!([]), &new), 0);
    let refused = golden(1, "refused", [json!([more]), json!([]), json!([two, one])]);
    assert_eq!(changes("refused", &json!([]), &refused), 1, "the earlier version refuses it");
    assert_eq!(changes("refused", &json!([more]), &refused), 0, "the earlier version reads it");
    let lost = golden(1, "ignored", [json!([more]), json!([]), json!([two])]);
    assert_eq!(changes("ignored", &json!([]), &lost), 1, "the value of the earlier version is not kept");
}

#[test]
fn an_appended_value_is_permitted_if_the_earlier_version_reads_it() {
    let (one, two) = (json!({ "a": 1 }), json!({ "b": 2 }));
    for (unknown, value, without, with_read) in [
        ("refused", json!({ "a": 1, "c": 3 }), 1, 0),
        ("refused", json!({ "d": 4 }), 1, 0),
        ("refused", two.clone(), 0, 0),
        ("ignored", json!({ "a": 1, "c": 3 }), 0, 0),
        ("ignored", json!({ "a": "new word" }), 1, 0),
        ("ignored", json!({ "d": 4 }), 1, 0),
    ] {
        let new = golden(1, unknown, [json!([one, value]), json!([]), json!([two])]);
        assert_eq!(changes(unknown, &json!([]), &new), without, "{unknown} {value}");
        assert_eq!(changes(unknown, &json!([value]), &new), with_read, "{unknown} {value}, which was read");
    }
}

#[test]
fn a_changed_value_needs_a_reader_first_then_the_next_version_and_the_old_value_stays_readable() {
    let (one, two, changed) = (json!({ "a": 1 }), json!({ "b": 2 }), json!({ "a": "1" }));
    let after = |version, earlier| golden(version, "ignored", [json!([changed]), json!([]), earlier]);
    let was_read = json!([changed]);
    for (version, earlier, expected) in
        [(1, json!([two, one]), 1), (1, json!([two]), 2), (2, json!([one]), 0), (2, json!([]), 1), (3, json!([one]), 1)]
    {
        assert_eq!(changes("ignored", &was_read, &after(version, earlier)), expected, "version {version}");
    }
    assert_eq!(changes("ignored", &json!([]), &after(2, json!([one]))), 1, "reader and writer change together");
}

#[test]
fn a_value_that_is_read_can_be_added_and_removed() {
    let (one, two) = (json!([{ "a": 1 }]), json!([{ "b": 2 }]));
    for (before, after) in [(json!([]), json!([{ "a": 2 }])), (json!([{ "a": 2 }]), json!([]))] {
        let new = golden(1, "refused", [one.clone(), after, two.clone()]);
        assert_eq!(changes("refused", &before, &new), 0);
    }
}

#[test]
fn a_golden_file_without_the_list_of_read_values_has_none() {
    let old = json!({ "version": 1, "unknownMembers": "refused", "written": [{ "a": 1 }], "earlier": [] });
    let new = |written| golden(1, "refused", [written, json!([]), json!([])]);
    assert_eq!(incompatible(&old, &new(json!([{ "a": 1 }]))).len(), 0);
    assert_eq!(incompatible(&old, &new(json!([{ "a": 1 }, { "d": 4 }]))).len(), 1);
}

#[test]
fn values_of_earlier_versions_and_unknown_members_stay_readable() {
    let one = json!([{ "a": 1 }]);
    let new = |version, unknown, earlier| golden(version, unknown, [one.clone(), json!([]), earlier]);
    assert_eq!(changes("ignored", &json!([]), &new(1, "ignored", json!([]))), 1);
    assert_eq!(changes("ignored", &json!([]), &new(2, "ignored", json!([]))), 0);
    assert_eq!(changes("ignored", &json!([]), &new(1, "refused", json!([{ "b": 2 }]))), 1);
    assert_eq!(changes("refused", &json!([]), &new(1, "ignored", json!([{ "b": 2 }]))), 0);
}
