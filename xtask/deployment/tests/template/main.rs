//! Promises of template.yaml that only AWS would break.

mod check;
mod functions;
mod gateway;
mod parameters;
mod permissions;
mod port_calls;
mod reach;
mod release;

use deployment::template::Template;

const TEMPLATE: &str = include_str!("../../../../template.yaml");

fn template() -> Template {
    Template::parse(TEMPLATE).unwrap()
}
