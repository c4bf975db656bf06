//! An object of an answer, with the members that the contract has.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::json::{JsonError, Kind, Place, answer_text, check_object, require};
use super::wait::wait;

/// Names of the members of an object.
pub(super) type Names<const N: usize> = &'static [&'static str; N];

/// Maximum number of unknown members whose names are kept.
const NAMED_MEMBERS: usize = 8;

/// The members of an object that the contract has, as JSON text, and the names of others.
#[derive(Debug)]
pub(super) struct Object<'a, const N: usize> {
    place: Place,
    names: Names<N>,
    values: [Option<&'a RawValue>; N],
    /// Names of the first further members, which are ignored.
    pub(super) others: Vec<Cow<'a, str>>,
}

impl<'a, const N: usize> Object<'a, N> {
    /// Reads the members of these names from an answer of at most `max` bytes.
    pub(super) fn of_answer(answer: &'a [u8], max: usize, names: Names<N>) -> Result<Self, JsonError> {
        let text = answer_text(answer, max)?;
        if !text.trim_ascii_start().starts_with('{') {
            check_object(text)?;
        }
        // Parsed again only after an error: a defect of the JSON, wherever it is, comes before all others.
        Self::parse(text, Place::Root, names).or_else(|error| check_object(text).and(Err(error)))
    }

    /// Reads the members of these names.
    pub(super) fn read(value: &'a RawValue, place: Place, names: Names<N>) -> Result<Self, JsonError> {
        require(value, Kind::Object, || place.to_string())?;
        Self::parse(value.get(), place, names)
    }

    fn parse(text: &'a str, place: Place, names: Names<N>) -> Result<Self, JsonError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let read = Reader { place, names }.deserialize(&mut json).and_then(|read| json.end().map(|()| read));
        read.map_err(|error| JsonError::Unreadable { path: place.to_string(), error: error.to_string() })?
    }

    /// Returns the path of a member.
    pub(super) fn path(&self, name: &str) -> String {
        self.place.member(name)
    }

    /// Returns a member; `None` if it is absent or null.
    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.names.iter().position(|known| *known == name).and_then(|at| self.values[at])
    }

    /// Returns the names of the members that are present.
    pub(super) fn present(&self) -> impl Iterator<Item = &'static str> {
        self.names.iter().zip(&self.values).filter(|(_, value)| value.is_some()).map(|(name, _)| *name)
    }

    /// Returns a string.
    pub(super) fn text(&self, name: &str) -> Result<Option<Cow<'a, str>>, JsonError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        require(value, Kind::Text, || self.path(name))?;
        let text = serde_json::from_str(value.get());
        text.map(|Text(text)| Some(text))
            .map_err(|error| JsonError::Unreadable { path: self.path(name), error: error.to_string() })
    }

    /// Returns a string that the contract requires.
    pub(super) fn required_text(&self, name: &str) -> Result<Cow<'a, str>, JsonError> {
        self.text(name)?.ok_or_else(|| JsonError::Missing { path: self.path(name) })
    }

    /// Returns a wait, which is a number of seconds.
    pub(super) fn wait(&self, name: &str) -> Result<Option<Duration>, JsonError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        require(value, Kind::Number, || self.path(name))?;
        // A number of JSON is also one of Rust; one that is out of range is infinite.
        Ok(Some(wait(value.get().parse().unwrap_or(f64::INFINITY))))
    }

    /// Reads at most `max` elements of the array `results`. Each element has its own result.
    pub(super) fn results<const M: usize>(
        &self,
        names: Names<M>,
        max: usize,
    ) -> Result<Vec<Result<Object<'a, M>, JsonError>>, JsonError> {
        let Some(value) = self.get("results") else { return Ok(Vec::new()) };
        require(value, Kind::Array, || self.path("results"))?;
        if let Ok(objects) = serde_json::Deserializer::from_str(value.get()).deserialize_seq(Results { names, max }) {
            return Ok(objects);
        }
        // At least one cannot be read: reads them one by one, so that an earlier defect comes first.
        let values = self.array("results")?.unwrap_or_default().into_iter().take(max).enumerate();
        Ok(values.map(|(at, value)| Object::read(value, Place::Result(at), names)).collect())
    }

    /// Returns the elements of an array.
    pub(super) fn array(&self, name: &str) -> Result<Option<Vec<&'a RawValue>>, JsonError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        require(value, Kind::Array, || self.path(name))?;
        let elements = serde_json::from_str(value.get());
        elements.map(Some).map_err(|error| JsonError::Unreadable { path: self.path(name), error: error.to_string() })
    }
}

/// A string, borrowed if it has no escape sequence.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reader of an object.
struct Reader<const N: usize> {
    place: Place,
    names: Names<N>,
}

impl<'a, const N: usize> DeserializeSeed<'a> for Reader<N> {
    type Value = Result<Object<'a, N>, JsonError>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a, const N: usize> Visitor<'a> for Reader<N> {
    type Value = Result<Object<'a, N>, JsonError>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let Self { place, names } = self;
        let (mut values, mut others, mut doubled) = ([None; N], Vec::new(), None);
        while let Some(name) = members.next_key_seed(NameReader(names))? {
            let value = members.next_value::<&'a RawValue>()?;
            match name {
                Name::Known(at) => {
                    if values[at].replace(value).is_some() {
                        doubled = doubled.or(Some(names[at]));
                    }
                }
                Name::Other(name) if others.len() < NAMED_MEMBERS => others.push(name),
                Name::Other(_) => {}
            }
        }
        if let Some(name) = doubled {
            return Ok(Err(JsonError::Doubled { path: place.member(name) }));
        }
        let values = values.map(|value| value.filter(|value| Kind::of(value) != Kind::Null));
        Ok(Ok(Object { place, names, values, others }))
    }
}

/// Reader of the first elements of the array `results`.
struct Results<const N: usize> {
    names: Names<N>,
    max: usize,
}

impl<'a, const N: usize> Visitor<'a> for Results<N> {
    type Value = Vec<Result<Object<'a, N>, JsonError>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let (names, mut objects) = (self.names, Vec::new());
        while objects.len() < self.max {
            let place = Place::Result(objects.len());
            let Some(object) = elements.next_element_seed(Reader { place, names })? else { return Ok(objects) };
            objects.push(object);
        }
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(objects)
    }
}

/// Name of a member.
enum Name<'a> {
    /// Position among the names that the contract has.
    Known(usize),
    /// A name that the contract does not have.
    Other(Cow<'a, str>),
}

/// Reader of a member's name.
struct NameReader<const N: usize>(Names<N>);

impl<'a, const N: usize> DeserializeSeed<'a> for NameReader<N> {
    type Value = Name<'a>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Name<'a>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'a, const N: usize> Visitor<'a> for NameReader<N> {
    type Value = Name<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_borrowed_str<E>(self, name: &'a str) -> Result<Name<'a>, E> {
        let known = self.0.iter().position(|known| *known == name);
        Ok(known.map_or(Name::Other(Cow::Borrowed(name)), Name::Known))
    }

    fn visit_str<E>(self, name: &str) -> Result<Name<'a>, E> {
        let known = self.0.iter().position(|known| *known == name);
        Ok(known.map_or_else(|| Name::Other(Cow::Owned(name.to_owned())), Name::Known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Object<'_, 2>, JsonError> {
        Object::of_answer(json.as_bytes(), 100_000, &["a", "b"])
    }

    #[test]
    fn members_are_found_under_any_spelling_of_their_names_and_others_are_ignored() {
        let object = read(r#" {"\u0061": "x", "c": {"a": 1}, "b": null, "\u0064": [] } "#).unwrap();
        assert_eq!(object.text("a"), Ok(Some("x".into())));
        assert_eq!((object.get("b").is_none(), object.get("c").is_none()), (true, true));
        assert_eq!(object.present().collect::<Vec<_>>(), ["a"]);
        assert_eq!(object.others, ["c", "d"]);
    }

    #[test]
    fn a_member_that_occurs_twice_is_an_error_even_if_it_is_null() {
        for json in [r#"{"a": 1, "a": 1}"#, r#"{"a": null, "\u0061": 1}"#, r#"{"a": 1, "b": 2, "a": null}"#] {
            assert_eq!(read(json).unwrap_err(), JsonError::Doubled { path: "a".into() }, "{json}");
        }
    }

    #[test]
    fn a_wait_is_any_number_of_json() {
        for (number, seconds) in [
            ("30", 30),
            ("-1e400", 1),
            ("1e400", 3_600),
            ("0.5", 1),
            ("2.5E1", 25),
            ("-0", 1),
            ("90071992547409931", 3_600),
        ] {
            let json = format!(r#"{{"a": {number}}}"#);
            assert_eq!(read(&json).unwrap().wait("a").unwrap().unwrap().as_secs(), seconds, "{number}");
        }
    }
}
