//! Check of the lists of handlers, with the parsers of the functions. A function that cannot read its list does not
//! start, so no call of the API would work.

use deployment::finding::Finding;
use deployment::parameters;
use deployment::settings::Settings;
use deployment::template::Template;
use longshore_domain::registration::AllowedFunctions;
use longshore_outbound::policy::UrlPolicy;

/// A parameter, and the check of its value.
type Check = (&'static str, fn(&str) -> Option<String>);

/// The parameters with lists of handlers.
const CHECKS: [Check; 3] =
    [("HandlerFunctions", bad_functions), ("HandlerHosts", bad_hosts), ("HandlerPorts", bad_ports)];

/// Lists the values that CloudFormation accepts and the functions cannot read.
pub(super) fn findings(template: &Template, settings: &Settings) -> Vec<Finding> {
    let values = settings.effective(template);
    let check = |(name, check): Check| {
        let is_accepted = parameters::is_accepted(template, &values, name);
        let problem = template.parameter(name, &values).filter(|_| is_accepted).and_then(|list| check(&list))?;
        Some(Finding::error(settings.location(name), problem, settings.change(name)))
    };
    CHECKS.into_iter().filter_map(check).collect()
}

fn bad_functions(list: &str) -> Option<String> {
    AllowedFunctions::read(list).err().map(|error| error.to_string())
}

fn bad_hosts(list: &str) -> Option<String> {
    UrlPolicy::new(entries(list), []).err().map(|error| error.to_string())
}

fn bad_ports(list: &str) -> Option<String> {
    let ports: Result<Vec<_>, _> = entries(list).map(str::parse).collect();
    match ports {
        Ok(ports) => UrlPolicy::new([], ports).err().map(|error| error.to_string()),
        Err(_) => Some("a port is a number from 1 to 65535".to_owned()),
    }
}

fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|entry| !entry.is_empty())
}

#[cfg(test)]
mod tests {
    use deployment::template::Parameters;

    use super::*;

    const TEMPLATE: &str = include_str!("../../../../template.yaml");
    const ALIAS: &str = "arn:aws:lambda:eu-central-1:123456789012:function:contacts";

    fn settings(name: &str, value: &str) -> Settings {
        Settings { parameters: Parameters::from([(name.to_owned(), value.to_owned())]), ..Settings::default() }
    }

    /// Returns the check of a parameter.
    fn check(name: &str) -> fn(&str) -> Option<String> {
        CHECKS.into_iter().find(|(checked, _)| *checked == name).unwrap().1
    }

    #[test]
    fn the_template_accepts_what_the_functions_can_read_and_nothing_else() {
        let template = Template::parse(TEMPLATE).unwrap();
        let alias = |suffix: &str| format!("{ALIAS}:{suffix}");
        let rows: [(&str, &[String], &[String]); 3] = [
            (
                "HandlerFunctions",
                &[String::new(), alias("live"), alias("2a"), alias("1-2"), format!("{},{}", alias("a"), alias("b"))],
                &[alias("1"), alias("$LATEST"), ALIAS.to_owned(), format!("{},{}", alias("a"), alias("7"))],
            ),
            (
                "HandlerHosts",
                &["", "api.example.com", "*.example.com", "1.example.com,a-b.xn--p1ai"].map(str::to_owned),
                &["*.com", "handlers", "localhost", "10.0.0.5", "a.0x1f", "a-.example.com", "*", "a.example.com."]
                    .map(str::to_owned),
            ),
            (
                "HandlerPorts",
                &["", "1", "8443,9443", "10000", "65535"].map(str::to_owned),
                &["0", "65536", "70000", "8443,0"].map(str::to_owned),
            ),
        ];
        for (name, good, bad) in rows {
            let is_accepted = |value: &str| parameters::is_accepted(&template, &settings(name, value).parameters, name);
            for value in good {
                assert!(is_accepted(value) && check(name)(value).is_none(), "{name}={value}");
            }
            for value in bad {
                assert!(!is_accepted(value) && check(name)(value).is_some(), "{name}={value}");
            }
        }
    }

    #[test]
    fn a_value_that_only_the_functions_refuse_is_an_error() {
        let template = Template::parse(TEMPLATE).unwrap();
        let long = format!("{ALIAS}:{}", "a".repeat(129));
        for (name, value) in [("HandlerFunctions", long.as_str()), ("HandlerHosts", "xn--a.example.com")] {
            let found = findings(&template, &settings(name, value));
            assert!(found.len() == 1 && found[0].location.ends_with(name), "{value}: {found:?}");
        }
        assert_eq!(findings(&template, &settings("HandlerPorts", "0")), [], "CloudFormation refuses it");
        assert_eq!(findings(&template, &Settings::default()), []);
    }
}
