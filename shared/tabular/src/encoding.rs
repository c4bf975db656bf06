//! Detection of the encoding of a text from its first bytes.
//!
//! A file without a byte order mark is UTF-8 if its first bytes are. Otherwise chardetng guesses among the encodings in
//! which a file can be split without decoding it. Encodings and their names are those of the Encoding Standard
//! (<https://encoding.spec.whatwg.org>).

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, GB18030, GBK, UTF_8, UTF_16BE, UTF_16LE};
use longshore_domain::records::{Extent, TextEncoding};

/// The encoding of a file.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct DetectedEncoding {
    /// The encoding.
    pub encoding: TextEncoding,
    /// Length of the byte order mark, after which the text begins.
    pub bom_len: usize,
    /// True if a byte order mark or valid UTF-8 shows the encoding. False for a guess, and for the beginning of a file
    /// with ASCII only.
    pub is_certain: bool,
}

/// Detects the encoding of a file from its first bytes.
pub fn detect_encoding(head: &[u8], extent: Extent) -> DetectedEncoding {
    if let Some((encoding, bom_len)) = Encoding::for_bom(head) {
        return DetectedEncoding { encoding: TextEncoding::from(encoding), bom_len, is_certain: true };
    }
    let (encoding, is_certain) = match (utf16_without_mark(head), Utf8Share::new(head, extent)) {
        (Some(utf16), _) => (utf16, false),
        (None, Utf8Share { valid, invalid: 0 }) => (UTF_8, valid > 0 || extent == Extent::Whole),
        // A cell that was cut within a character: only its row should fail.
        (None, Utf8Share { valid, invalid }) if valid >= invalid * MIN_VALID => (UTF_8, false),
        (None, _) => (guess(head, extent), false),
    };
    DetectedEncoding { encoding: TextEncoding::from(encoding), bom_len: 0, is_certain }
}

/// Valid characters for each invalid one in a file that is taken for UTF-8. Texts in other encodings have few.
const MIN_VALID: usize = 4;

/// The characters of a text that are not ASCII, if it is read as UTF-8.
struct Utf8Share {
    valid: usize,
    invalid: usize,
}

impl Utf8Share {
    /// Counts the characters. The last one of the beginning of a file can be cut off.
    fn new(head: &[u8], extent: Extent) -> Self {
        let mut share = Self { valid: 0, invalid: 0 };
        let mut chunks = head.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            share.valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
            let invalid = chunk.invalid();
            let is_cut_off = extent == Extent::Start
                && chunks.peek().is_none()
                && std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            share.invalid += usize::from(!invalid.is_empty() && !is_cut_off);
        }
        share
    }
}

/// Recognizes UTF-16 without a byte order mark. Its text has zero bytes, line breaks and delimiters, and no control
/// characters. Of the two byte orders, that with more ASCII characters is right.
fn utf16_without_mark(head: &[u8]) -> Option<&'static Encoding> {
    memchr::memchr(0, head)?;
    let even = &head[..head.len() / 2 * 2];
    let ascii = |encoding: &'static Encoding| {
        let (text, _) = encoding.decode_without_bom_handling(even);
        let is_text = !text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\r' | '\n'));
        let is_table = text.contains(['\n', '\r', ',', ';', '\t', '|']);
        (is_text && is_table).then(|| text.chars().filter(char::is_ascii).count())
    };
    match (ascii(UTF_16LE), ascii(UTF_16BE)) {
        (None, None) => None,
        (little, big) if little >= big => Some(UTF_16LE),
        _ => Some(UTF_16BE),
    }
}

fn guess(head: &[u8], extent: Extent) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(head, extent == Extent::Whole);
    match detector.guess(None, Utf8Detection::Deny) {
        // GB18030 reads all of GBK, and more.
        encoding if encoding == GBK => GB18030,
        encoding => encoding,
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::Encoding;

    use super::*;

    /// Name, length of the byte order mark, and certainty.
    type Found = (&'static str, usize, bool);

    fn detected(head: &[u8], extent: Extent) -> Found {
        let DetectedEncoding { encoding, bom_len, is_certain } = detect_encoding(head, extent);
        (encoding.name(), bom_len, is_certain)
    }

    #[test]
    fn unicode_is_recognized_with_and_without_a_mark() {
        let table: [(&[u8], Found); 11] = [
            (b"name\n", ("UTF-8", 0, true)),
            ("n\u{e4}me\n".as_bytes(), ("UTF-8", 0, true)),
            (b"\xef\xbb\xbfname\n", ("UTF-8", 3, true)),
            (b"\xff\xfen\0", ("UTF-16LE", 2, true)),
            (b"\xfe\xff\0n", ("UTF-16BE", 2, true)),
            (b"n\0;\0\xe4\0\n\0", ("UTF-16LE", 0, false)),
            (b"\0n\0;\0\xe4\0\n", ("UTF-16BE", 0, false)),
            // A full-width space and the digit one in Chinese have a zero byte on the other side.
            (b"a\0;\0\x00\x30\x00\x4e\n\0", ("UTF-16LE", 0, false)),
            // A zero byte in a padded cell.
            (b"id,name\n1,A\0\n", ("UTF-8", 0, true)),
            (b"a\0\x01\0\n\0", ("UTF-8", 0, true)),
            (b"", ("UTF-8", 0, true)),
        ];
        for (head, expected) in table {
            assert_eq!(detected(head, Extent::Whole), expected, "{head:?}");
        }
    }

    #[test]
    fn a_character_that_the_end_of_the_head_cuts_is_no_error() {
        let head = &"\u{e9}n\u{e4}".as_bytes()[..4];
        assert_eq!(detected(head, Extent::Start), ("UTF-8", 0, true));
        assert_ne!(detected(head, Extent::Whole).0, "UTF-8");
    }

    /// Later rows can have another encoding.
    #[test]
    fn a_beginning_with_ascii_only_is_not_certain() {
        assert_eq!(detected(b"name\n", Extent::Start), ("UTF-8", 0, false));
    }

    #[test]
    fn one_damaged_character_does_not_change_the_encoding_of_the_others() {
        let head = ["n\u{e4}me\nM\u{fc}ller\nJ\u{e4}ger\nK\u{f6}hler\nJos".as_bytes(), b"\xc3\n"].concat();
        assert_eq!(detected(&head, Extent::Whole), ("UTF-8", 0, false));
    }

    /// Lists of names and places, as people keep them.
    const LISTS: [(&str, &str); 12] = [
        ("windows-1252", "Name;Straße;Ort\nMüller;Königsallee 5;Düsseldorf\nJäger;Große Bleichen 1;Köln\n"),
        ("windows-1252", "nom;prénom;société\nLefèvre;Hélène;Crédit à l'économie\nGarçon;François;Hôtel\n"),
        ("windows-1252", "nombre;dirección\nMuñoz;Calle Ávila nº 7\nPeña;Plaza de España\n"),
        ("windows-1250", "jméno;město\nDvořák;Plzeň\nČerný;Ústí nad Labem\nŽižka;Třebíč\n"),
        ("windows-1250", "imię;miasto\nŁukasz;Łódź\nWójcik;Gdańsk\nZieliński;Świdnica\n"),
        ("windows-1251", "имя;город\nИванов;Москва\nСмирнова;Санкт-Петербург\nКузнецов;Казань\n"),
        ("windows-1253", "όνομα;πόλη\nΠαπαδόπουλος;Αθήνα\nΓεωργίου;Θεσσαλονίκη\nΝικολάου;Πάτρα\n"),
        ("windows-1254", "adı;şehir\nYılmaz;İstanbul\nŞahin;Eskişehir\nÖztürk;Diyarbakır\nÇelik;Muğla\n"),
        ("Shift_JIS", "氏名,住所\n田中太郎,東京都千代田区\n佐藤花子,大阪府大阪市\n"),
        ("EUC-JP", "氏名,住所\n田中太郎,東京都千代田区\n佐藤花子,大阪府大阪市\n"),
        ("gb18030", "姓名,地址\n王小明,北京市朝阳区\n李芳,上海市浦东新区\n"),
        ("EUC-KR", "이름,주소\n김철수,서울특별시 강남구\n이영희,부산광역시 해운대구\n"),
    ];

    #[test]
    fn older_encodings_are_guessed_and_decoded() {
        for (name, text) in LISTS {
            let encoding = Encoding::for_label(name.as_bytes()).unwrap();
            let (bytes, _, had_errors) = encoding.encode(text);
            assert!(!had_errors, "{name} cannot encode {text}");
            let detected = detect_encoding(&bytes, Extent::Start);
            assert_eq!((detected.encoding.name(), detected.is_certain), (name, false), "{text}");
            assert_eq!(detected.encoding.decode(&bytes).as_deref(), Some(text));
        }
    }
}
