//! The local cloud: Longshore's stack on an AWS emulator on this machine.
//!
//! A program that starts a stack with [`up`] needs two hidden commands: `guard`, which calls [`guard::run`], and
//! `local-proxy`, which calls [`local_proxy::run`]. The library runs these commands as background processes.
//!
//! | module | contents |
//! | --- | --- |
//! | [`project`], [`tools`] | paths in the checkout, and the Python tools (emulator, SAM, cargo-lambda) |
//! | [`process`] | background processes, owned processes, and their cleanup |
//! | [`emulator`] | the AWS emulator |
//! | [`cloud`] | calls to CloudFormation, Lambda, Cognito and other services |
//! | [`archive`] | reproducible ZIP archives |
//! | [`cargo`], [`npm`], [`page`], [`functions`] | builds of the functions and of the page |
//! | [`stack`], [`parameters`] | deployment with `sam deploy` |
//! | [`state`], [`users`] | `.longshore/local.json`, and the local users |
//! | [`up`], [`guard`] | start, update and stop of the stack |
//! | [`local_proxy`] | a proxy that serves the API at root-level URLs |

pub mod archive;
pub mod cargo;
pub mod cloud;
pub mod emulator;
pub mod functions;
pub mod guard;
pub mod local_proxy;
pub mod npm;
pub mod page;
pub mod parameters;
pub mod process;
pub mod project;
pub mod stack;
pub mod state;
pub mod tools;
pub mod up;
pub mod users;
