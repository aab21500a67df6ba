//! Harness 1: the program and its laws, without any daemon.

mod architecture;
