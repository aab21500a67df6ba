//! Watching a running job's time, signs of life, disk and output: the same in every room.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use super::contract::{End, Job};
use super::error::SandboxError;

/// How often limits are looked at.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// How long a killed job may take to be gone.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// How often the disk is looked at, in ticks.
const DISK_EVERY: u32 = 20;

/// A job is stopped when less than this is free, in bytes, on the disk under a writable mount.
const DISK_RESERVE: u64 = 256 << 20;

/// Most that is read of a channel, in bytes.
const CHANNEL_CAP: u64 = 256 << 20;

/// One job's watch.
pub(super) struct Vigil<'a> {
    job: &'a Job,
    pub(super) started: Instant,
    sign_of_life: Instant,
    channel_size: u64,
    ticks: u32,
}

impl<'a> Vigil<'a> {
    pub(super) fn begin(job: &'a Job) -> Self {
        let now = Instant::now();
        Self {
            job,
            started: now,
            sign_of_life: now,
            channel_size: 0,
            ticks: 0,
        }
    }

    /// The job said something.
    pub(super) fn heard(&mut self) {
        self.sign_of_life = Instant::now();
    }

    /// Why a job that has printed so much must be stopped.
    pub(super) fn printed(&self, bytes: u64) -> Option<End> {
        (bytes > self.job.limits.output_bytes).then_some(End::OutputLimit)
    }

    /// Why the job must be stopped now, asked at every [`TICK`].
    pub(super) fn overdue(&mut self) -> Option<End> {
        self.ticks = self.ticks.wrapping_add(1);
        let now = Instant::now();
        if let Some(channel) = &self.job.channel {
            let size = fs::metadata(channel).map_or(0, |meta| meta.len());
            if size != self.channel_size {
                self.channel_size = size;
                self.sign_of_life = now;
            }
        }
        let limits = &self.job.limits;
        if now - self.started > limits.wall {
            return Some(End::WallClock);
        }
        if limits
            .silence
            .is_some_and(|silence| now - self.sign_of_life > silence)
        {
            return Some(End::Silence);
        }
        (self.ticks.is_multiple_of(DISK_EVERY) && self.disk_is_full()).then_some(End::DiskLimit)
    }

    fn disk_is_full(&self) -> bool {
        let mut writable = self.job.mounts.iter().filter(|mount| mount.writable);
        writable.any(|mount| {
            rustix::fs::statvfs(&mount.host)
                .is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < DISK_RESERVE)
        })
    }

    /// What the job told on its channel.
    pub(super) fn channel(&self) -> Result<Vec<u8>, SandboxError> {
        match &self.job.channel {
            Some(path) => read_capped(path).map_err(SandboxError::io("read", path)),
            None => Ok(Vec::new()),
        }
    }
}

fn read_capped(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(CHANNEL_CAP).read_to_end(&mut bytes)?;
    Ok(bytes)
}
