//! Lists of items: their lines, and the lists that are refused.

use super::*;

fn read(list: &str) -> Checked<Items> {
    Items::read(serde_json::from_str(list).unwrap())
}

fn lines(list: &str) -> String {
    String::from_utf8(read(list).unwrap().into_lines()).unwrap()
}

fn code(list: &str) -> &'static str {
    read(list).unwrap_err().code
}

#[test]
fn every_json_value_is_one_line() {
    assert_eq!(lines("[null, true, 1.50, \"a\", [1, 2], {\"b\": 1}]"), "null\ntrue\n1.50\n\"a\"\n[1,2]\n{\"b\":1}\n");
    assert_eq!(lines("[12345678901234567890123, 1e400]"), "12345678901234567890123\n1e400\n", "digits are kept");
}

#[test]
fn white_space_is_removed_outside_of_strings_only() {
    let list = "[ {\n\t\"a b\" :\r\n \"c \\\" d\\\\\" , \"e\":\" \" } ,\n [\n] ]";
    assert_eq!(lines(list), "{\"a b\":\"c \\\" d\\\\\",\"e\":\" \"}\n[]\n");
}

#[test]
fn line_breaks_and_nul_in_strings_stay_escaped() {
    let list = r#"["a\nb\r\nc\u0000\u2028", "d\u000ae"]"#;
    assert_eq!(lines(list), "\"a\\nb\\r\\nc\\u0000\\u2028\"\n\"d\\u000ae\"\n");
    assert_eq!(lines("[\"a\u{2028}b\u{85}c\"]").lines().count(), 1);
}

#[test]
fn a_list_has_1_to_10_000_items() {
    let list = |count: usize| format!("[{}]", vec!["0"; count].join(","));
    assert_eq!(code("[]"), "no_items");
    assert_eq!(read(&list(MAX_ITEMS)).unwrap().count, MAX_ITEMS);
    let refused = read(&list(MAX_ITEMS + 1)).unwrap_err();
    assert_eq!(refused.code, "too_many_items");
    assert!(refused.detail.contains("there are 10001 items"), "{}", refused.detail);
    assert_eq!(code(&list(500_000)), "too_many_items");
}

#[test]
fn the_lines_have_up_to_2_mib() {
    let list = |bytes: usize| format!("[\"{}\"]", "x".repeat(bytes - "\"\"\n".len()));
    assert_eq!(read(&list(ITEMS_BYTES)).unwrap().lines.len(), ITEMS_BYTES);
    assert_eq!(code(&list(ITEMS_BYTES + 1)), "items_too_large");
    let spaced = list(ITEMS_BYTES).replace('[', "[ \n ").replace(']', " ]");
    assert_eq!(read(&spaced).unwrap().lines.len(), ITEMS_BYTES, "white space does not count");
}

#[test]
fn anything_but_a_list_is_refused() {
    for list in ["{}", "1", "\"[]\"", "true"] {
        assert_eq!(code(list), "invalid_type", "{list}");
    }
}

#[test]
fn items_that_are_not_objects_are_named_by_their_index() {
    let items = read("[{}, 1, {\"a\":[]}, [{}], \"{}\", null]").unwrap();
    let errors = items.check(ItemShape::Object);
    let pointers: Vec<_> = errors.iter().map(|error| error.pointer.as_str()).collect();
    assert_eq!(pointers, ["/items/1", "/items/3", "/items/4", "/items/5"]);
    assert!(errors.iter().all(|error| error.code == "item_not_an_object"));
    assert_eq!(items.check(ItemShape::Any), []);
    let many = read(&format!("[{}]", vec!["0"; 5_000].join(","))).unwrap();
    assert_eq!(many.check(ItemShape::Object).len(), MAX_ERRORS);
}

#[test]
fn white_space_does_not_change_the_hash_of_items() {
    let hash = |list: &str| read(list).unwrap().sha256();
    assert_eq!(hash("[{\"a\":1},2]"), hash("[ {\"a\": 1},\n2 ]"));
    assert_ne!(hash("[12]"), hash("[1,2]"));
    assert_ne!(hash("[\"a b\"]"), hash("[\"ab\"]"));
}

#[test]
fn the_debug_form_shows_no_rows() {
    assert_eq!(format!("{:?}", read("[\"secret\"]").unwrap()), "1 items of 9 bytes");
}
