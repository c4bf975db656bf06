//! Tests of options: their JSON, and the text of each error.

use super::*;

fn parse(json: &str) -> Options {
    serde_json::from_str(json).expect(json)
}

fn errors(json: &str) -> Vec<String> {
    parse(json).check().expect_err(json).iter().map(ToString::to_string).collect()
}

#[test]
fn only_names_and_widths_are_needed() {
    let options = parse(r#"{"sizes":[{"name":"thumbnail","width":320}]}"#);
    let size = SizeOptions { name: "thumbnail".into(), width: 320, height: None, fit: Fit::Contain };
    assert_eq!(options, Options { sizes: vec![size], format: OutputFormat::Original, quality: 80 });
    assert_eq!(options.clone().check().unwrap().get(), &options);
}

#[test]
fn options_are_written_as_they_were_read() {
    let json = r#"{"sizes":[{"name":"square","width":64,"height":64,"fit":"cover"}],"format":"webp","quality":1}"#;
    assert_eq!(serde_json::to_string(&parse(json)).unwrap(), json);
}

#[test]
fn unknown_fields_and_values_are_refused() {
    for json in [
        r#"{"sizes":[],"scale":2}"#,
        r#"{"sizes":[{"name":"a","width":1,"Height":2}]}"#,
        r#"{"sizes":[{"name":"a","width":-1}]}"#,
        r#"{"sizes":[{"name":"a","width":1.5}]}"#,
        r#"{"sizes":[{"name":"a","width":1,"fit":"fill"}]}"#,
        r#"{"sizes":[{"name":"a","width":1}],"format":"gif"}"#,
        r#"{"sizes":[{"name":"a"}]}"#,
        "{}",
    ] {
        assert!(serde_json::from_str::<Options>(json).is_err(), "{json}");
    }
}

#[test]
fn an_error_names_its_place_and_the_way_to_fix_it() {
    let rows: &[(&str, &[&str])] = &[
        (r#"{"sizes":[]}"#, &["sizes: There are 0 sizes. Give between 1 and 8."]),
        (
            r#"{"sizes":[{"name":"a","width":1}],"quality":0}"#,
            &["quality: 0 is no quality. Use a number from 1 to 100, such as 80."],
        ),
        (
            r#"{"sizes":[{"name":"a","width":1}],"quality":101}"#,
            &["quality: 101 is no quality. Use a number from 1 to 100, such as 80."],
        ),
        (
            r#"{"sizes":[{"name":"a","width":0},{"name":"a","width":8193,"height":0}]}"#,
            &[
                "sizes[0].width: 0 is outside the range. Use a number of pixels from 1 to 8192.",
                "sizes[1].name: The name \"a\" is used twice. Give each size its own name.",
                "sizes[1].width: 8193 is outside the range. Use a number of pixels from 1 to 8192.",
                "sizes[1].height: 0 is outside the range. Use a number of pixels from 1 to 8192.",
            ],
        ),
        (
            r#"{"sizes":[{"name":"a","width":1,"fit":"cover"}]}"#,
            &["sizes[0].fit: \"cover\" needs a width and a height. Add \"height\", or use \"contain\"."],
        ),
    ];
    for (json, expected) in rows {
        assert_eq!(errors(json), *expected, "{json}");
    }
}

#[test]
fn names_are_safe_in_file_names() {
    for name in ["", "../a", "a/b", "A", "ä", "a b", "a.b", "abcdefghijklmnopqrstuvwxyz0123456"] {
        let options = Options {
            sizes: vec![SizeOptions { name: name.into(), width: 1, height: None, fit: Fit::Contain }],
            format: OutputFormat::Png,
            quality: 80,
        };
        let errors = options.check().expect_err(name);
        assert_eq!(errors.len(), 1, "{name}");
        assert_eq!(errors[0].place, "sizes[0].name");
    }
}

#[test]
fn eight_sizes_are_accepted_and_nine_are_not() {
    for (count, accepted) in [(1, true), (8, true), (9, false), (10_000, false)] {
        let sizes = (0..count).map(|n| SizeOptions { name: n.to_string(), width: 0, height: None, fit: Fit::Contain });
        let mut options = Options { sizes: sizes.collect(), format: OutputFormat::Png, quality: 80 };
        assert!(options.clone().check().unwrap_err().len() <= 9);
        options.sizes.iter_mut().for_each(|size| size.width = 1);
        assert_eq!(options.check().is_ok(), accepted, "{count}");
    }
}
