//! The parts of a workbook by their roles: relationships, sheets, shared strings and styles.

use std::collections::HashMap;
use std::io::{Read, Seek};

use quick_xml::events::Event;

use crate::archive::Archive;
use crate::cell::DateSystem;
use crate::error::WorkbookError;
use crate::xml::attribute;

/// Maximum number of relationships of a part.
const RELATIONSHIPS: usize = 10_000;

/// Maximum number of sheets.
const SHEETS: usize = 10_000;

/// A relationship of a part to another one.
struct Relationship {
    id: String,
    /// The last part of its type's address: `worksheet`, `styles`, …
    kind: String,
    /// The name of the other part.
    target: String,
}

/// A worksheet.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Sheet {
    /// Its name.
    pub name: String,
    /// False if the sheet is hidden.
    pub is_visible: bool,
    /// The name of its part.
    pub(crate) part: String,
}

/// The contents of a workbook, without its cells.
pub(crate) struct Package {
    pub(crate) sheets: Vec<Sheet>,
    pub(crate) dates: DateSystem,
    /// True if the program that opens the workbook must compute all formulas.
    pub(crate) is_computed_on_load: bool,
    pub(crate) strings: Option<String>,
    pub(crate) styles: Option<String>,
}

impl Package {
    /// Reads the workbook part and its relationships.
    ///
    /// # Errors
    /// If they are missing or damaged, or exceed a limit.
    pub(crate) fn read<R: Read + Seek>(archive: &mut Archive<R>) -> Result<Self, WorkbookError> {
        // The first part of OpenDocument, https://docs.oasis-open.org/office/OpenDocument/v1.3/.
        if archive.part("mimetype", 0)?.is_some() {
            return Err(WorkbookError::OtherFormat("an OpenDocument file, such as .ods"));
        }
        let roots = relationships(archive, "")?;
        let workbook = roots.into_iter().find(|relationship| relationship.kind == "officeDocument");
        let workbook = workbook.ok_or(WorkbookError::NotAWorkbook)?.target;
        if workbook.ends_with(".bin") {
            return Err(WorkbookError::OtherFormat("a binary workbook (.xlsb)"));
        }
        let parts = relationships(archive, &workbook)?;
        let target = |kind: &str| parts.iter().find(|part| part.kind == kind).map(|part| part.target.clone());
        let (strings, styles) = (target("sharedStrings"), target("styles"));
        let (sheets, dates, is_computed_on_load) = (Vec::new(), DateSystem::From1900, false);
        let mut package = Self { sheets, dates, is_computed_on_load, strings, styles };
        package.read_workbook(archive, &workbook, &parts)?;
        Ok(package)
    }

    fn read_workbook<R: Read + Seek>(
        &mut self,
        archive: &mut Archive<R>,
        name: &str,
        parts: &[Relationship],
    ) -> Result<(), WorkbookError> {
        let limit = archive.limits().part_bytes;
        let mut part = archive.part(name, limit)?.ok_or(WorkbookError::NotAWorkbook)?;
        let (mut is_workbook, mut sheets) = (false, 0);
        let worksheets: HashMap<_, _> =
            parts.iter().filter(|part| part.kind == "worksheet").map(|part| (part.id.as_str(), part)).collect();
        loop {
            match part.next()? {
                Event::Start(element) if !is_workbook => {
                    if element.local_name().as_ref() != "workbook" {
                        return Err(WorkbookError::OtherFormat("a document of another program of Office"));
                    }
                    is_workbook = true;
                }
                Event::Start(element) if element.local_name().as_ref() == "workbookPr" => {
                    if matches!(attribute(&element, "date1904")?.as_deref(), Some("1" | "true")) {
                        self.dates = DateSystem::From1904;
                    }
                }
                Event::Start(element) if element.local_name().as_ref() == "calcPr" => {
                    let on_load = attribute(&element, "fullCalcOnLoad")?;
                    self.is_computed_on_load = matches!(on_load.as_deref(), Some("1" | "true"));
                }
                Event::Start(element) if element.local_name().as_ref() == "sheet" => {
                    let id = attribute(&element, "id")?.unwrap_or_default();
                    sheets += 1;
                    if sheets > SHEETS {
                        return Err(WorkbookError::TooMany("sheets"));
                    }
                    let Some(worksheet) = worksheets.get(id.as_str()) else { continue };
                    let state = attribute(&element, "state")?;
                    self.sheets.push(Sheet {
                        name: attribute(&element, "name")?.unwrap_or_default(),
                        is_visible: !matches!(state.as_deref(), Some("hidden" | "veryHidden")),
                        part: worksheet.target.clone(),
                    });
                }
                Event::Eof => return Ok(()),
                _ => {}
            }
        }
    }
}

/// Reads the relationships of a part; none if it has no such part. The name of the root is empty.
fn relationships<R: Read + Seek>(archive: &mut Archive<R>, name: &str) -> Result<Vec<Relationship>, WorkbookError> {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    let separator = if folder.is_empty() { "" } else { "/" };
    let limit = archive.limits().part_bytes;
    let mut found = Vec::new();
    let Some(mut part) = archive.part(&format!("{folder}{separator}_rels/{file}.rels"), limit)? else {
        return Ok(found);
    };
    loop {
        match part.next()? {
            Event::Start(element) if element.local_name().as_ref() == "Relationship" => {
                if found.len() >= RELATIONSHIPS {
                    return Err(WorkbookError::TooMany("relationships"));
                }
                let value = |name| Ok::<_, WorkbookError>(attribute(&element, name)?.unwrap_or_default());
                let kind = value("Type")?;
                found.push(Relationship {
                    id: value("Id")?,
                    kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
                    target: resolve(folder, &value("Target")?),
                });
            }
            Event::Eof => return Ok(found),
            _ => {}
        }
    }
}

/// Returns the name of a part from a target, which is relative to a folder or begins with a slash.
fn resolve(folder: &str, target: &str) -> String {
    let (base, path) = match target.strip_prefix('/') {
        Some(path) => ("", path),
        None => (folder, target),
    };
    let mut names: Vec<&str> = Vec::new();
    for name in base.split('/').chain(path.split('/')) {
        match name {
            "" | "." => {}
            ".." => _ = names.pop(),
            name => names.push(name),
        }
    }
    names.join("/")
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn a_target_is_relative_to_the_folder_of_its_part() {
        for (folder, target, expected) in [
            ("", "xl/workbook.xml", "xl/workbook.xml"),
            ("xl", "worksheets/sheet1.xml", "xl/worksheets/sheet1.xml"),
            ("xl", "/xl/worksheets/sheet1.xml", "xl/worksheets/sheet1.xml"),
            ("xl/worksheets", "../styles.xml", "xl/styles.xml"),
            ("", "../../a", "a"),
            ("xl", "./b//c", "xl/b/c"),
        ] {
            assert_eq!(resolve(folder, target), expected, "{folder} {target}");
        }
    }
}
