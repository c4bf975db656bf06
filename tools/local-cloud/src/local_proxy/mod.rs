//! The local proxy: serves the local API at the root-level URLs that it has on AWS.
//!
//! The emulator serves an HTTP API below `/_aws/execute-api/ID/STAGE/`; clients, the page and every `Location` header
//! expect it at `/`. This reverse proxy on 127.0.0.1 maps one to the other. It reads a whole request before it
//! forwards it, with the same size limit as API Gateway.

mod forward;
mod process;
mod routes;
mod server;

pub use forward::Upstream;
pub use process::{port_of, run, spawn};
pub use server::{READY, listen, serve};
