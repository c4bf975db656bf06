//! The runbook: a section for each alarm and for each reason of `waitingFor`, and the links to them in the template,
//! the guide, the description of the API and the page.

use std::collections::BTreeSet;

use deployment::template::Template;
use serde_json::Value;

use super::TEMPLATE;

const RUNBOOK: &str = include_str!("../../../../docs/runbook.md");
/// Heading of the sections for what only `longshore doctor` finds. Its own tests compare their names with the code.
const DOCTOR: &str = "\n## Findings of doctor\n";
/// Describes `waitingFor`.
const GUIDE: &str = include_str!("../../../../docs/guides/job-types.md");
/// Has the reasons. It is made from the code, and CI compares the two.
const OPENAPI: &str = include_str!("../../../../docs/openapi.json");
/// Has a title and an explanation of each reason.
const PAGE: &str = include_str!("../../../../web/page/src/text/waiting.ts");
/// Places of the page that show reasons.
const VIEWS: [(&str, &str); 2] = [
    ("components/waiting.tsx", include_str!("../../../../web/page/src/components/waiting.tsx")),
    ("views/operations/jobs.tsx", include_str!("../../../../web/page/src/views/operations/jobs.tsx")),
];

/// Rows of a section.
const ROWS: [&str; 4] = ["means", "see", "do", "over"];
/// Maximum length of the description of an alarm
/// (<https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html>).
const DESCRIPTION_CHARS: usize = 1024;

/// A section: the name of an alarm or a reason, and the names of the rows that are not empty.
struct Section<'a> {
    name: &'a str,
    rows: Vec<&'a str>,
}

impl<'a> Section<'a> {
    fn parse(text: &'a str) -> Self {
        let (name, text) = text.split_once('\n').unwrap_or((text, ""));
        let own = text.split("\n## ").next().unwrap_or_default();
        let rows = own.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
        let rows = rows.filter(|(row, text)| *row != "---" && !text.trim().is_empty());
        Self { name, rows: rows.map(|(row, _)| row).collect() }
    }
}

fn parse_sections(text: &str) -> Vec<Section<'_>> {
    text.split("\n### ").skip(1).map(Section::parse).collect()
}

fn reasons() -> Vec<String> {
    let document: Value = serde_json::from_str(OPENAPI).unwrap();
    let reasons = document["components"]["schemas"]["WaitReason"]["enum"].as_array().unwrap();
    reasons.iter().map(|reason| reason.as_str().unwrap().to_owned()).collect()
}

/// Lists the sections with a wrong name or wrong rows. `names` are those of the alarms and the reasons.
fn section_errors(runbook: &str, names: &BTreeSet<String>) -> Vec<String> {
    let (runbook, of_doctor) = runbook.split_once(DOCTOR).unwrap_or((runbook, ""));
    let sections = parse_sections(runbook);
    let unknown = sections.iter().filter(|section| !names.contains(section.name));
    let mut errors: Vec<_> =
        unknown.map(|section| format!("{} is neither an alarm nor a reason", section.name)).collect();
    for section in sections.iter().chain(&parse_sections(of_doctor)) {
        if section.rows != ROWS {
            errors.push(format!("{} has the rows {:?}", section.name, section.rows));
        }
    }
    for name in names {
        match sections.iter().filter(|section| section.name == name).count() {
            0 => errors.push(format!("{name} has no section")),
            1 => {}
            number => errors.push(format!("{name} has {number} sections")),
        }
    }
    errors
}

/// Returns the error in the description of an alarm, which ends with the address of its section. The anchor of a heading
/// is its text in lower case.
fn link_error(template: &Template, id: &str, alarm: &Value) -> Option<String> {
    let description = alarm["AlarmDescription"]["Fn::Sub"].as_str().unwrap_or_default();
    let Some(text) = description.strip_suffix(&format!(" Runbook: ${{RunbookUrl}}#{}", id.to_lowercase())) else {
        return Some(format!("{id} has no link to its section"));
    };
    let url = template.declaration("RunbookUrl")["MaxLength"].as_u64().and_then(|max| usize::try_from(max).ok());
    let longest = url.map(|url| text.chars().count() + " Runbook: #".len() + id.len() + url);
    let is_short = longest.is_some_and(|chars| chars <= DESCRIPTION_CHARS);
    (!is_short).then(|| format!("the description of {id} can be longer than {DESCRIPTION_CHARS} characters"))
}

/// Lists what template, runbook and guide lack.
fn errors(template: &str, runbook: &str, guide: &str) -> Vec<String> {
    let (template, reasons) = (Template::parse(template).unwrap(), reasons());
    let alarms: Vec<_> = template.of_type("AWS::CloudWatch::Alarm").collect();
    let names = alarms.iter().map(|(id, _)| (*id).to_owned()).chain(reasons.iter().cloned()).collect();
    let mut errors = section_errors(runbook, &names);
    errors.extend(alarms.into_iter().filter_map(|(id, alarm)| link_error(&template, id, alarm)));
    let unlinked = reasons.iter().filter(|reason| !guide.contains(&format!("(../runbook.md#{reason})")));
    errors.extend(unlinked.map(|reason| format!("the guide has no link to the section of {reason}")));
    errors
}

/// Returns the keys of `reasons` in the texts of the page.
fn reasons_of_page(page: &str) -> BTreeSet<&str> {
    let (_, rest) = page.split_once("    reasons: {\n").unwrap();
    let (list, _) = rest.split_once("\n    }").unwrap();
    list.lines().filter_map(|line| line.strip_prefix("      ")?.strip_suffix(": [")).collect()
}

/// The page builds the links of its own reasons, so they must be the headings.
#[test]
fn the_page_links_to_the_section_of_each_reason() {
    let reasons = reasons();
    let expected: BTreeSet<_> = reasons.iter().map(String::as_str).collect();
    assert_eq!(reasons_of_page(PAGE), expected);
    let changed = PAGE.replace("      paused: [", "      pause: [");
    assert!(reasons_of_page(&changed).contains("pause"), "a reason that has no section is found");
    for (path, view) in VIEWS {
        assert!(view.contains("<RunbookLink reason={"), "{path} has no link");
    }
}

#[test]
fn the_description_of_the_reasons_names_their_sections() {
    let document: Value = serde_json::from_str(OPENAPI).unwrap();
    let description = document["components"]["schemas"]["WaitReason"]["description"].as_str().unwrap();
    let named = description.split('`').find_map(|word| word.strip_prefix("docs/runbook.md#"));
    assert!(named.is_some_and(|anchor| reasons().iter().any(|reason| reason == anchor)), "{description}");
}

#[test]
fn every_alarm_and_every_reason_to_wait_has_a_section_of_four_rows_and_a_link_to_it() {
    assert_eq!(errors(TEMPLATE, RUNBOOK, GUIDE), [""; 0]);
    assert_eq!(reasons().len(), 6);
}

#[test]
fn a_missing_section_row_or_link_is_found() {
    let rows = [
        (RUNBOOK, "### SweepErrorsAlarm\n", "### SweepErrors\n", "SweepErrorsAlarm has no section"),
        (RUNBOOK, "### SweepErrorsAlarm\n", "### SweepErrors\n", "SweepErrors is neither an alarm nor a reason"),
        (RUNBOOK, "### SweepErrorsAlarm\n", "### SweepSilentAlarm\n", "SweepSilentAlarm has 2 sections"),
        (RUNBOOK, "### backpressure\n", "### back-pressure\n", "backpressure has no section"),
        (RUNBOOK, "| over | the job has ended |\n", "", "rate_limit has the rows [\"means\", \"see\", \"do\"]"),
        (
            RUNBOOK,
            "| over | the job has ended |\n",
            "| over |  |\n",
            "rate_limit has the rows [\"means\", \"see\", \"do\"]",
        ),
        (TEMPLATE, "${RunbookUrl}#weberrorsalarm", "${RunbookUrl}#web", "WebErrorsAlarm has no link to its section"),
        (TEMPLATE, "    MaxLength: 200\n", "    MaxLength: 900\n", "can be longer than 1024 characters"),
        (GUIDE, "../runbook.md#rate_limit", "../runbook.md", "the guide has no link to the section of rate_limit"),
    ];
    for (document, old, new, expected) in rows {
        assert!(document.contains(old), "{old}");
        let changed = document.replace(old, new);
        let of = |original: &'static str| if original == document { changed.as_str() } else { original };
        let errors = errors(of(TEMPLATE), of(RUNBOOK), of(GUIDE));
        assert!(errors.iter().any(|error| error.contains(expected)), "{expected}: {errors:?}");
    }
}
