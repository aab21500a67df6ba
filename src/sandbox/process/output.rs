//! A job's output, read as it comes.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::super::contract::Captured;

/// One of the job's output streams.
pub(super) struct Stream {
    pipe: Option<Box<dyn AsyncRead + Unpin + Send>>,
    pub(super) captured: Captured,
    buffer: Vec<u8>,
}

impl Stream {
    pub(super) fn new(pipe: Option<impl AsyncRead + Unpin + Send + 'static>) -> Self {
        let pipe = pipe.map(|pipe| Box::new(pipe) as Box<dyn AsyncRead + Unpin + Send>);
        Self {
            pipe,
            captured: Captured::default(),
            buffer: vec![0; 64 << 10],
        }
    }

    /// Reads what is there; waits for ever once the stream has ended.
    pub(super) async fn read(&mut self) -> io::Result<usize> {
        let Some(pipe) = &mut self.pipe else {
            return std::future::pending().await;
        };
        let count = pipe.read(&mut self.buffer).await?;
        self.captured.push(&self.buffer[..count]);
        if count == 0 {
            self.pipe = None;
        }
        Ok(count)
    }

    pub(super) async fn drain(&mut self) {
        while self.pipe.is_some() {
            if self.read().await.is_err() {
                self.pipe = None;
            }
        }
        self.captured.trim();
    }
}
