//! Every fault of every call that the functions make, and functions, emulator and schedule that die.
