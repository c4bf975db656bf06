//! Ends jobs over the in-memory services: completed, stopped, raced, broken off at every step.

mod completed;
mod faults;
mod fixture;
mod hand;
mod hooked;
mod partition;
mod stopped;
