//! Checks of a deployment before it is made: template, parameters, binaries, quotas.
//!
//! | module | knows |
//! | --- | --- |
//! | [`yaml`] | CloudFormation's YAML, short tags included, as JSON |
//! | [`template`] | resources, parameters and mappings, and their values for given parameters |
//! | [`roles`] | what each function may do, by role |

pub mod roles;
pub mod template;
pub mod yaml;
