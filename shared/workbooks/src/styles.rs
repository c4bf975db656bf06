//! The number formats of cells: which numbers are dates, and which are durations.

use std::collections::HashMap;
use std::io::Read;

use quick_xml::events::Event;

use crate::error::WorkbookError;
use crate::xml::{XmlPart, attribute};

/// Maximum number of cell formats. Excel has up to 65,490.
const FORMATS: usize = 65_536;

/// Characters of a format code that are read. Excel has up to 255.
const CODE_CHARS: usize = 2_048;

/// How a number is shown.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub(crate) enum NumberFormat {
    /// As a number.
    #[default]
    Number,
    /// As a date, a time, or both.
    Date,
    /// As a duration, such as `[h]:mm`.
    Duration,
}

/// Reads the number format of each cell format, in order.
///
/// # Errors
/// If the part is damaged, or exceeds a limit.
pub(crate) fn read(mut part: XmlPart<impl Read>) -> Result<Vec<NumberFormat>, WorkbookError> {
    let mut custom: HashMap<String, NumberFormat> = HashMap::new();
    let mut formats = Vec::new();
    let mut is_in_cell_formats = false;
    loop {
        match part.next()? {
            Event::Start(element) => match element.local_name().as_ref() {
                "numFmt" => {
                    if custom.len() >= FORMATS {
                        return Err(WorkbookError::TooMany("number formats"));
                    }
                    let code = attribute(&element, "formatCode")?.unwrap_or_default();
                    custom.insert(attribute(&element, "numFmtId")?.unwrap_or_default(), from_code(&code));
                }
                "cellXfs" => is_in_cell_formats = true,
                "xf" if is_in_cell_formats => {
                    if formats.len() >= FORMATS {
                        return Err(WorkbookError::TooMany("cell formats"));
                    }
                    let id = attribute(&element, "numFmtId")?.unwrap_or_default();
                    formats.push(custom.get(&id).copied().unwrap_or_else(|| built_in(&id)));
                }
                _ => {}
            },
            Event::End(element) if element.local_name().as_ref() == "cellXfs" => is_in_cell_formats = false,
            Event::Eof => return Ok(formats),
            _ => {}
        }
    }
}

/// Returns the format of a built-in number (ECMA-376 part 1, 18.8.30).
fn built_in(id: &str) -> NumberFormat {
    match id.parse::<u32>() {
        Ok(46) => NumberFormat::Duration,
        Ok(14..=22 | 27..=36 | 45 | 47 | 50..=58) => NumberFormat::Date,
        _ => NumberFormat::Number,
    }
}

/// Returns the format of a code: a date if its first section has `d`, `m`, `y`, `h` or `s` outside of quotes and brackets.
fn from_code(code: &str) -> NumberFormat {
    // The word has none of them.
    let code = code.chars().take(CODE_CHARS).collect::<String>().to_lowercase().replace("general", "");
    let mut characters = code.chars();
    let mut found = NumberFormat::Number;
    while let Some(character) = characters.next() {
        match character {
            ';' => break,
            '"' => _ = characters.find(|c| *c == '"'),
            // The next character is literal, or only its width is used.
            '\\' | '_' | '*' => _ = characters.next(),
            '[' => {
                let bracket: String = characters.by_ref().take_while(|c| *c != ']').collect();
                let is_elapsed = !bracket.is_empty() && bracket.chars().all(|c| "hms".contains(c));
                if is_elapsed {
                    return NumberFormat::Duration;
                }
            }
            'd' | 'm' | 'y' | 'h' | 's' => found = NumberFormat::Date,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{NumberFormat, from_code, read};
    use crate::xml::XmlPart;
    use NumberFormat::{Date, Duration, Number};

    #[test]
    fn a_code_is_a_date_by_its_characters() {
        for (code, expected) in [
            ("General", Number),
            ("GENERAL", Number),
            ("0.00", Number),
            ("#,##0.00 \"days\"", Number),
            ("#,##0.00\\ \\d", Number),
            ("0.00E+00", Number),
            ("[Red]0;[Blue]-0", Number),
            ("[$-409]0", Number),
            ("0;yyyy", Number),
            ("_-* #,##0.00_d", Number),
            ("yyyy-mm-dd", Date),
            ("[$-409]d/m/yy h:mm AM/PM;@", Date),
            ("[Red]hh:mm", Date),
            ("mmm", Date),
            ("[h]:mm:ss", Duration),
            ("[mm]:ss", Duration),
            ("", Number),
            ("\"unclosed", Number),
            ("[", Number),
        ] {
            assert_eq!(from_code(code), expected, "{code:?}");
        }
    }

    #[test]
    fn cell_formats_refer_to_custom_and_built_in_codes() {
        let xml = r#"<styleSheet><numFmts><numFmt numFmtId="164" formatCode="d&quot;x&quot;"/></numFmts>
            <cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>
            <cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="46"/><xf/></cellXfs></styleSheet>"#;
        let formats = read(XmlPart::new(xml.as_bytes(), 10_000)).unwrap();
        assert_eq!(formats, [Number, Date, Duration, Number]);
    }
}
