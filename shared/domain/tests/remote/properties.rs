//! Property tests of the reader of answers.

use std::collections::BTreeSet;

use longshore_domain::remote::{Answer, read_answer};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::key;
use super::schemas::{ITEMS_ANSWER, validator};

/// Any JSON value, of the names and values that answers have.
fn any_json() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "results",
        "all",
        "retryBatch",
        "fatal",
        "key",
        "outcome",
        "output",
        "code",
        "after",
        "reason",
        "ok",
        "reject",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        words.clone().prop_map(Value::from),
        (1_u64..6).prop_map(|number| key(number).to_string().into()),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map(words.clone().prop_map(String::from), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A result of one of the items 1 to 8, some of them with members that do not belong together.
fn any_result() -> impl Strategy<Value = Value> {
    let outcome = prop::sample::select(vec!["ok", "reject", "retry", "skip", "fatal"]);
    let after = prop_oneof![Just(json!(null)), Just(json!("5")), any::<f32>().prop_map(|after| json!(after))];
    let code = prop::sample::select(vec![json!("bad_email"), json!("Bad"), json!(null), json!(7)]);
    (1_u64..9, outcome, after, code, any_json()).prop_map(|(number, outcome, after, code, output)| {
        json!({"key": key(number).to_string(), "outcome": outcome, "after": after, "code": code, "output": output})
    })
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(read_answer(&bytes, &[key(1)]).is_err());
    }

    #[test]
    fn any_damage_of_an_answer_is_read_or_refused(
        results in prop::collection::vec(any_result(), 1..5),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = json!({"results": results}).to_string().into_bytes();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = read_answer(&bytes, &[key(1), key(2)]);
    }

    #[test]
    fn what_the_reader_accepts_the_schema_accepts(value in any_json()) {
        let keys: Vec<_> = (1..9).map(key).collect();
        let schema = validator(ITEMS_ANSWER);
        for value in [json!({"results": [value]}), json!({"retryBatch": value}), json!({"fatal": value}), value] {
            if read_answer(value.to_string().as_bytes(), &keys).is_ok() {
                prop_assert!(schema.is_valid(&value), "{}", value);
            }
        }
    }

    #[test]
    fn each_sent_key_is_answered_or_unanswered_and_no_other_key_is_named(
        sent in prop::collection::btree_set(1_u64..9, 1..9),
        results in prop::collection::vec(any_result(), 0..6),
    ) {
        let keys: Vec<_> = sent.iter().copied().map(key).collect();
        let numbers: Vec<_> = results
            .iter()
            .filter_map(|result| keys.iter().find(|key| result["key"] == key.to_string()))
            .map(|key| key.number)
            .collect();
        let answer = json!({"results": results});
        match read_answer(answer.to_string().as_bytes(), &keys) {
            Ok(Answer::Items(items)) => {
                let unanswered: Vec<_> = items.unanswered().collect();
                prop_assert_eq!(items.outcomes().len(), keys.len());
                prop_assert_eq!(items.answered() + unanswered.len(), keys.len());
                let answered: BTreeSet<_> = (0..keys.len())
                    .filter(|at| !unanswered.contains(at))
                    .map(|at| keys[at].number)
                    .collect();
                prop_assert_eq!(numbers.len(), results.len(), "an unknown key was accepted");
                prop_assert_eq!(&answered, &numbers.iter().copied().collect::<BTreeSet<_>>());
                prop_assert_eq!(answered.len(), results.len(), "a doubled key was accepted");
                prop_assert!(validator(ITEMS_ANSWER).is_valid(&answer));
            }
            Ok(answer) => prop_assert!(false, "{:?}", answer),
            Err(_) => {
                let unknown = numbers.len() < results.len();
                let doubled = numbers.iter().collect::<BTreeSet<_>>().len() < numbers.len();
                prop_assert!(unknown || doubled || !validator(ITEMS_ANSWER).is_valid(&answer));
            }
        }
    }
}
