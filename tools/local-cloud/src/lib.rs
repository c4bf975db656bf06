//! The local cloud: Longshore's stack on an emulator of AWS, on this machine.
//!
//! A program that starts a stack by [`up`] needs two hidden commands, `guard` and `local-proxy`, which call
//! [`guard::run`] and [`local_proxy::run`]: the library starts the program again for its background processes.
//!
//! | module | contents |
//! | --- | --- |
//! | [`project`], [`tools`] | locations in the checkout, and the Python tools (emulator, SAM, cargo-lambda) |
//! | [`process`] | background processes, owned processes, and what cleans up after them |
//! | [`emulator`] | the emulator of AWS, started or attached to |
//! | [`cloud`] | calls of CloudFormation, Lambda, Cognito and others |
//! | [`cargo`], [`page`], [`functions`] | builds of the functions and of the page |
//! | [`stack`], [`deploy`] | deployment by `sam deploy`, or of changed code alone |
//! | [`state`], [`user`], [`users`] | `.longshore/local.json`, and the local users |
//! | [`up`], [`guard`] | start and stop of the whole stack |
//! | [`local_proxy`] | a proxy that serves the API at root-level URLs |

pub mod cargo;
pub mod cloud;
pub mod deploy;
pub mod emulator;
pub mod functions;
pub mod guard;
pub mod local_proxy;
pub mod page;
pub mod process;
pub mod project;
pub mod stack;
pub mod state;
pub mod tools;
pub mod up;
pub mod user;
pub mod users;
