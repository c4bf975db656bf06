//! The sections of the runbook. The heading of a section is the code of a finding.

/// The runbook of this version.
const RUNBOOK: &str = include_str!("../../../../docs/runbook.md");

/// Path of the runbook in the repository.
const PATH: &str = "docs/runbook.md";

/// Returns the link to the section of a code. The anchor is the heading in lower case.
pub(super) fn link(code: &str) -> Option<String> {
    let is_heading = RUNBOOK.lines().any(|line| line.strip_prefix("### ") == Some(code));
    is_heading.then(|| format!("{PATH}#{}", code.to_lowercase()))
}

/// Returns the names of the sections for what only `doctor` finds.
#[cfg(test)]
pub(super) fn of_doctor() -> impl Iterator<Item = &'static str> {
    let (_, sections) = RUNBOOK.split_once("\n## Findings of doctor\n").unwrap();
    sections.lines().filter_map(|line| line.strip_prefix("### "))
}

#[cfg(test)]
mod tests {
    use deployment::template::Template;

    use super::*;

    #[test]
    fn a_code_is_the_heading_of_its_section() {
        assert_eq!(link("ChunkQueueAgeAlarm").as_deref(), Some("docs/runbook.md#chunkqueueagealarm"));
        assert_eq!(link("handler_failing").as_deref(), Some("docs/runbook.md#handler_failing"));
        assert_eq!(link("QueueAge"), None);
    }

    #[test]
    fn every_alarm_of_the_template_has_a_section() {
        let template = Template::parse(include_str!("../../../../template.yaml")).unwrap();
        let alarms: Vec<_> = template.of_type("AWS::CloudWatch::Alarm").map(|(id, _)| id).collect();
        assert!(alarms.len() > 20, "{alarms:?}");
        let missing: Vec<_> = alarms.into_iter().filter(|id| link(id).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
