//! Booleans: the words for true and false in the languages of spreadsheet programs.

/// For each language, the words for true and for false, in lower case. The first of each is what a spreadsheet program
/// shows.
const WORDS: [(&str, &[&str], &[&str]); 10] = [
    ("en", &["true", "yes", "y", "t"], &["false", "no", "n", "f"]),
    ("de", &["wahr", "ja", "j"], &["falsch", "nein"]),
    ("fr", &["vrai", "oui"], &["faux", "non"]),
    ("es", &["verdadero", "sí", "si", "s"], &["falso", "no"]),
    ("it", &["vero", "sì", "si"], &["falso", "no"]),
    ("pt", &["verdadeiro", "sim"], &["falso", "não", "nao"]),
    ("nl", &["waar", "ja"], &["onwaar", "nee"]),
    ("pl", &["prawda", "tak"], &["fałsz", "nie"]),
    ("cs", &["pravda", "ano"], &["nepravda", "ne"]),
    ("ru", &["истина", "да"], &["ложь", "нет"]),
];

/// Returns the boolean that a word or a digit means, in any case; `None` if it means none.
pub fn parse_boolean(text: &str) -> Option<bool> {
    let word = text.trim().to_lowercase();
    let is_in = |words: &[&str]| words.contains(&word.as_str());
    if word == "1" || WORDS.iter().any(|(_, yes, _)| is_in(yes)) {
        return Some(true);
    }
    (word == "0" || WORDS.iter().any(|(_, _, no)| is_in(no))).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::{WORDS, parse_boolean};

    #[test]
    fn a_word_is_true_or_false_in_any_case() {
        for (text, expected) in [
            ("TRUE", Some(true)),
            (" Ja ", Some(true)),
            ("SÍ", Some(true)),
            ("ИСТИНА", Some(true)),
            ("1", Some(true)),
            ("FALSCH", Some(false)),
            ("Não", Some(false)),
            ("0", Some(false)),
            ("", None),
            ("maybe", None),
            ("10", None),
        ] {
            assert_eq!(parse_boolean(text), expected, "{text:?}");
        }
    }

    #[test]
    fn each_word_means_one_boolean_in_all_languages() {
        for (language, yes, no) in WORDS {
            assert!(yes.iter().all(|word| parse_boolean(word) == Some(true)), "{language}");
            assert!(no.iter().all(|word| parse_boolean(word) == Some(false)), "{language}");
        }
    }
}
