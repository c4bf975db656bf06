//! Resizes the images at URLs: the handler of the job type `image`.
//!
//! - **Trigger:** a call of `call-handler`, by the contract of all handlers in `docs/contract`. Tenant and job are those of the
//!   request. Only the role of `call-handler` may invoke this function, and both are checked for their form before they
//!   become part of a key.
//! - **Reads and writes:** downloads the images from public addresses, and writes the copies to the folder of the job,
//!   below `images/`. It has no other permission, and no access to a table.
//! - **Delivered twice:** the copies of an item are written again, under the same names.
//! - **If it fails:** an image that cannot be converted is rejected, and one whose server fails is tried again later. When
//!   the time of the call ends, the items without an outcome are left unanswered and are sent again. While the bucket is
//!   unavailable, no item spends a try.
//! - **Never:** connects to an address that is not public; has two decoded images in memory; decodes an image before its
//!   type and dimensions are checked.
//!
//! | module | contents |
//! | --- | --- |
//! | [`function`] | the function on Lambda, and its answer to any event |
//! | [`request`], [`answer`] | both sides of the contract |
//! | `options`, `item` | the options of a job; the URL of an item |
//! | `batch` | the items of a call, one after the other |
//! | `download`, `convert`, `store` | the three steps of an item |
//! | `reject` | codes and texts of items that fail |

pub mod answer;
mod batch;
mod convert;
mod download;
pub mod function;
mod item;
mod options;
mod reject;
pub mod request;
mod store;

pub use function::{HandlerError, ImageHandler, TimeLimits, serve};
