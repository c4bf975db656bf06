//! The local proxy: serves the local API at root-level URLs, as on AWS.
//!
//! The emulator serves an HTTP API at `/_aws/execute-api/ID/STAGE/`, but clients, the page and every `Location` header
//! expect it at `/`. This reverse proxy on 127.0.0.1 maps the paths. It reads a complete request before it forwards it,
//! and has the same size limit as API Gateway.

mod forward;
mod process;
mod routes;
mod server;

pub use forward::Upstream;
pub use process::{port_of, run, spawn};
pub use server::{READY, listen, serve};
