//! Tests of ARNs and of the list of allowed functions.

use proptest::prelude::*;

use super::*;

const ARN: &str = "arn:aws:lambda:eu-central-1:123456789012:function:invite:live";

#[test]
fn the_arn_of_an_alias_is_accepted_in_every_partition_and_region() {
    let longest = format!("arn:aws:lambda:eu-central-1:123456789012:function:{}:{}", "f".repeat(64), "a".repeat(128));
    for arn in [
        ARN,
        "arn:aws-cn:lambda:cn-north-1:123456789012:function:In_vite-2:v1",
        "arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:f:1a",
        "arn:aws-iso-b:lambda:us-isob-east-1:123456789012:function:f:_",
        "arn:aws-eusc:lambda:eusc-de-east-1:123456789012:function:f:live",
        &longest,
    ] {
        assert_eq!(FunctionAlias::parse(arn).map(|alias| alias.to_string()), Ok(arn.to_owned()));
    }
    assert_eq!(FunctionAlias::parse(ARN).unwrap().function_name(), "invite");
}

#[test]
fn any_other_text_is_refused_with_the_part_that_is_wrong() {
    use BadFunctionAlias::{Latest, Part, Unqualified, Version};
    for (arn, expected) in [
        ("", Part("beginning")),
        ("invite:live", Part("beginning")),
        (" arn:aws:lambda:eu-central-1:123456789012:function:invite:live", Part("beginning")),
        ("arn:awsx:lambda:eu-central-1:123456789012:function:invite:live", Part("partition")),
        ("arn:AWS:lambda:eu-central-1:123456789012:function:invite:live", Part("partition")),
        ("arn:aws:states:eu-central-1:123456789012:function:invite:live", Part("service")),
        ("arn:aws:lambda::123456789012:function:invite:live", Part("region")),
        ("arn:aws:lambda:*:123456789012:function:invite:live", Part("region")),
        ("arn:aws:lambda:eu-central:123456789012:function:invite:live", Part("region")),
        ("arn:aws:lambda:eu-central-1:12345678901:function:invite:live", Part("account")),
        ("arn:aws:lambda:eu-central-1:12345678901x:function:invite:live", Part("account")),
        ("arn:aws:lambda:eu-central-1:123456789012:layer:invite:live", Part("resource type")),
        ("arn:aws:lambda:eu-central-1:123456789012:function::live", Part("function name")),
        ("arn:aws:lambda:eu-central-1:123456789012:function:in*:live", Part("function name")),
        ("arn:aws:lambda:eu-central-1:123456789012:function:invite", Unqualified),
        ("arn:aws:lambda:eu-central-1:123456789012:function:invite:$LATEST", Latest),
        ("arn:aws:lambda:eu-central-1:123456789012:function:invite:7", Version),
        ("arn:aws:lambda:eu-central-1:123456789012:function:invite:", Part("alias")),
        ("arn:aws:lambda:eu-central-1:123456789012:function:invite:*", Part("alias")),
        ("arn:aws:lambda:eu-central-1:123456789012:function:invite:li ve", Part("alias")),
        ("arn:aws:lambda:eu-central-1:123456789012:function:invite:live:x", Part("end")),
        ("arn:aws:lambda:eu-central-1:123456789012:function:invite:$LATEST:x", Part("end")),
    ] {
        assert_eq!(FunctionAlias::parse(arn), Err(expected), "{arn}");
    }
    for (text, max) in [("f".repeat(65), "function name"), (format!("f:{}", "a".repeat(129)), "alias")] {
        let arn = format!("arn:aws:lambda:eu-central-1:123456789012:function:{text}");
        assert_eq!(FunctionAlias::parse(&arn), Err(Part(max)));
    }
}

#[test]
fn only_exact_entries_of_the_list_are_permitted_and_an_empty_list_permits_none() {
    let alias = FunctionAlias::parse(ARN).unwrap();
    for (list, permitted) in [
        (ARN.to_owned(), true),
        (format!(" , arn:aws:lambda:us-east-1:123456789012:function:f:a ,{ARN},"), true),
        (ARN.replace(":live", ":test"), false),
        (ARN.replace("eu-central-1", "eu-central-2"), false),
        (ARN.replace("123456789012", "123456789013"), false),
        (ARN.replace("invite", "Invite"), false),
        (String::new(), false),
        (" , ".to_owned(), false),
    ] {
        assert_eq!(AllowedFunctions::read(&list).unwrap().permits(&alias), permitted, "{list}");
    }
    assert!(!AllowedFunctions::default().permits(&alias));
    assert_eq!(AllowedFunctions::read("arn:aws:lambda:*"), Err(BadFunctionAlias::Part("region")));
}

#[test]
fn the_functions_of_the_stack_are_never_permitted() {
    for (name, permitted) in
        [("prod-process-item", false), ("prod-jobs-api", false), ("prod-invite", true), ("test-jobs-api", true)]
    {
        let arn = ARN.replace("invite", name);
        let allowed = AllowedFunctions::read(&arn).unwrap().without_stack("prod");
        assert_eq!(allowed.permits(&FunctionAlias::parse(&arn).unwrap()), permitted, "{name}");
    }
}

proptest! {
    #[test]
    fn an_accepted_arn_has_eight_parts_and_no_character_of_a_pattern(
        text in "arn:aws[a-z-]{0,4}:lambda:[a-z0-9*-]{0,12}:[0-9]{11,12}:function:[A-Za-z0-9_$*-]{0,8}(:[A-Za-z0-9_$*-]{0,8}){0,2}"
    ) {
        if let Ok(alias) = FunctionAlias::parse(&text) {
            prop_assert_eq!(alias.as_str(), &text);
            prop_assert_eq!(text.split(':').count(), 8);
            prop_assert!(!text.contains(['*', '$', '?', ' ']));
            prop_assert!(!text.rsplit(':').next().unwrap().bytes().all(|byte| byte.is_ascii_digit()));
        }
    }

    #[test]
    fn no_text_makes_the_parser_fail(text in ".{0,80}") {
        let _ = FunctionAlias::parse(&text);
        let _ = AllowedFunctions::read(&text);
    }
}
