//! The only source of time, passed in where it is needed. Nothing that goes into a manifest reads it.

use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use jiff::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// A clock that can also be waited on: what waits for rate limits takes it, so that a test waits for nothing.
pub trait Timer: Clock {
    /// Ends after this long.
    fn pause(&self, length: Duration) -> BoxFuture<'_, ()>;
}

/// The machine's own clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the wall clock"
    )]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

impl Timer for SystemClock {
    fn pause(&self, length: Duration) -> BoxFuture<'_, ()> {
        tokio::time::sleep(length).boxed()
    }
}
