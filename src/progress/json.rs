//! One JSON object a line.

use std::io::Write;
use std::sync::Mutex;

use crate::domain::event::{Event, EventSink};

/// Writes every event as a JSON line.
pub struct JsonLines<W> {
    out: Mutex<W>,
}

impl<W: Write + Send> JsonLines<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self { out: Mutex::new(out) }
    }
}

impl<W: Write + Send> EventSink for JsonLines<W> {
    fn emit(&self, event: Event) {
        let Ok(mut line) = serde_json::to_vec(&event) else {
            return;
        };
        line.push(b'\n');
        if let Ok(mut out) = self.out.lock() {
            // A reader that went away is no reason to stop the work.
            let _ = out.write_all(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_a_line() {
        let mut bytes = Vec::new();
        JsonLines::new(&mut bytes).emit(Event::Advanced { stage: "mine", by: 3 });
        assert_eq!(bytes, b"{\"event\":\"advanced\",\"stage\":\"mine\",\"by\":3}\n");
    }
}
