//! The HTTP API of jobs through its router, on fakes.

mod create;
mod openapi;
mod read;
mod world;
