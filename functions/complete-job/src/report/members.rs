//! The members of an output that are columns of a file, as the JSON that the handler wrote.
//!
//! The values are not parsed: a handler can write numbers and depths that no JSON value of ours can hold, and a row must
//! never keep its job from ending.

use std::borrow::Cow;
use std::fmt;

use longshore_domain::results::ResultColumn;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Returns the member of each column: the last one of its name, `None` if there is none or the output is no object.
/// Calls `other` with the name of each member without a column.
pub(super) fn members<'o>(
    columns: &[ResultColumn],
    output: &'o [u8],
    other: &mut dyn FnMut(&[u8]),
) -> Vec<Option<&'o RawValue>> {
    let mut members = vec![None; columns.len()];
    let visitor = Members { columns, members: &mut members, other };
    let mut deserializer = serde_json::Deserializer::from_slice(output);
    // Anything but an object is an error, and has no members.
    drop(deserializer.deserialize_map(visitor));
    members
}

struct Members<'c, 'm, 'o> {
    columns: &'c [ResultColumn],
    members: &'m mut [Option<&'o RawValue>],
    other: &'m mut dyn FnMut(&[u8]),
}

impl<'o> Visitor<'o> for Members<'_, '_, 'o> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'o>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Name(name)) = map.next_key()? {
            if self.columns.iter().all(|column| column.name.as_bytes() != &*name) {
                (self.other)(&name);
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let value = map.next_value()?;
            let wanted = self.columns.iter().zip(&mut *self.members);
            wanted.filter(|(column, _)| column.name.as_bytes() == &*name).for_each(|(_, member)| *member = Some(value));
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
