//! Promises of template.yaml that only AWS would break.

#![allow(clippy::unwrap_used, reason = "a test's own step that fails ends the test")]

mod check;
mod functions;
mod gateway;
mod parameters;
mod permissions;
mod port_calls;
mod reach;
mod release;
mod visibility;

use deployment::template::Template;

const TEMPLATE: &str = include_str!("../../../../template.yaml");

fn template() -> Template {
    Template::parse(TEMPLATE).unwrap()
}
