//! The members of an output that are columns of a file, as the JSON that the handler wrote.
//!
//! The values are not parsed: a handler can write numbers and depths that no JSON value of ours can hold, and a row must
//! never keep its job from ending.

use std::borrow::Cow;
use std::fmt;

use longshore::result::NumberedLine;
use longshore_domain::results::{ResultColumn, ResultRow};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The row of a line.
pub(super) struct ResultCells<'o> {
    /// Number of the item, if the rows have one.
    pub(super) number: Option<u64>,
    /// JSON of the other cells: the columns, or the whole output. `None` if the output has no such member.
    pub(super) values: Vec<Option<&'o str>>,
}

/// Returns the member of each column from a line: the last one of its name, `None` if there is none or the output is no
/// object. Calls `other` with the name of each member without a column: twice if the line is read again.
pub(super) fn members<'o>(
    columns: &[ResultColumn],
    row: ResultRow,
    line: &'o [u8],
    other: &mut dyn FnMut(&[u8]),
) -> Result<ResultCells<'o>, serde_json::Error> {
    let mut values = vec![None; columns.len()];
    if let Ok(number) = object(row, line, Members { columns, members: &mut values, other }) {
        return Ok(ResultCells { number, values });
    }
    let (number, output) = output_of(row, line)?;
    let mut output = serde_json::Deserializer::from_str(output);
    // Anything but an object is an error, and has no members.
    drop(Members { columns, members: &mut values, other }.deserialize(&mut output));
    Ok(ResultCells { number, values })
}

/// Returns the number and the output of a line.
pub(super) fn output_of(row: ResultRow, line: &[u8]) -> Result<(Option<u64>, &str), serde_json::Error> {
    Ok(match row {
        ResultRow::Plain => (None, serde_json::from_slice::<&RawValue>(line)?.get()),
        ResultRow::Numbered => {
            let NumberedLine { number, output } = serde_json::from_slice(line)?;
            (Some(number), output.get())
        }
    })
}

/// Reads a line as a worker writes it, with an object as output, in one pass. Returns the number.
fn object<'o>(row: ResultRow, line: &'o [u8], output: Members<'_, '_, 'o>) -> Result<Option<u64>, serde_json::Error> {
    // The deserializer of text does not check each value's encoding.
    let mut line = serde_json::Deserializer::from_str(std::str::from_utf8(line).map_err(serde_json::Error::custom)?);
    let number = match row {
        ResultRow::Plain => output.deserialize(&mut line).map(|()| None)?,
        ResultRow::Numbered => Some(line.deserialize_map(Line(output))?),
    };
    line.end().map(|()| number)
}

/// A line with the number of its item, in the order in which a worker writes it.
struct Line<'c, 'm, 'o>(Members<'c, 'm, 'o>);

impl<'o> Visitor<'o> for Line<'_, '_, 'o> {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a line of results")
    }

    fn visit_map<A: MapAccess<'o>>(self, mut map: A) -> Result<u64, A::Error> {
        let (Some("number"), number) = (map.next_key()?, map.next_value()?) else {
            return Err(A::Error::custom("no number"));
        };
        let Some("output") = map.next_key()? else { return Err(A::Error::custom("no output")) };
        map.next_value_seed(self.0)?;
        let None = map.next_key::<IgnoredAny>()? else { return Err(A::Error::custom("more than an output")) };
        Ok(number)
    }
}

struct Members<'c, 'm, 'o> {
    columns: &'c [ResultColumn],
    members: &'m mut [Option<&'o str>],
    other: &'m mut dyn FnMut(&[u8]),
}

impl<'o> DeserializeSeed<'o> for Members<'_, '_, 'o> {
    type Value = ();

    fn deserialize<D: Deserializer<'o>>(self, output: D) -> Result<(), D::Error> {
        output.deserialize_map(self)
    }
}

impl<'o> Visitor<'o> for Members<'_, '_, 'o> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'o>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Name(name)) = map.next_key()? {
            let columns = self.columns.iter().zip(&mut *self.members);
            let mut wanted = columns.filter(|(column, _)| column.name.as_bytes() == &*name).peekable();
            if wanted.peek().is_none() {
                (self.other)(&name);
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let value = map.next_value::<&RawValue>()?.get();
            wanted.for_each(|(_, member)| *member = Some(value));
        }
        Ok(())
    }
}

/// The name of a member as bytes, because it may have a lone surrogate.
struct Name<'o>(Cow<'o, [u8]>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(NameVisitor)
    }
}

struct NameVisitor;

impl<'de> Visitor<'de> for NameVisitor {
    type Value = Name<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_borrowed_bytes<E>(self, name: &'de [u8]) -> Result<Name<'de>, E> {
        Ok(Name(Cow::Borrowed(name)))
    }

    fn visit_bytes<E>(self, name: &[u8]) -> Result<Name<'de>, E> {
        Ok(Name(Cow::Owned(name.to_vec())))
    }
}
