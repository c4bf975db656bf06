//! Queue messages. Every message may arrive twice, late or out of order; the stored state decides, never a message.

mod chunk;
mod complete;
mod create;
mod defaults;
mod lanes;
mod ping;
mod webhook;

#[cfg(test)]
mod tests;

pub use chunk::ChunkMessage;
pub use complete::CompleteMessage;
pub use create::CreateMessage;
pub use lanes::SPLIT_LANES;
pub use ping::PingMessage;
pub use webhook::WebhookMessage;
