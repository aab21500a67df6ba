//! One thread that starts every job and never ends.
//!
//! "Die with your parent" (`PR_SET_PDEATHSIG`) means the parent *thread*: a job started by a worker thread that the
//! runtime later retires would be killed in the middle of its run.

use std::io;
use std::sync::OnceLock;
use std::sync::mpsc;

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

struct Request {
    command: Command,
    runtime: Handle,
    answer: oneshot::Sender<io::Result<Child>>,
}

fn gone() -> io::Error {
    io::Error::other("the thread that starts processes is gone")
}

fn start_thread() -> Option<mpsc::Sender<Request>> {
    let (sender, requests) = mpsc::channel::<Request>();
    std::thread::Builder::new()
        .name("quarry-spawner".to_owned())
        .spawn(move || {
            for mut request in requests {
                let _runtime = request.runtime.enter();
                // A caller that is gone drops the child, and with it kills it.
                let _ = request.answer.send(request.command.spawn());
            }
        })
        .ok()?;
    Some(sender)
}

/// Starts `command` from the spawner thread, for the runtime of the caller.
pub(super) async fn spawn(command: Command) -> io::Result<Child> {
    static SPAWNER: OnceLock<Option<mpsc::Sender<Request>>> = OnceLock::new();
    let sender = SPAWNER.get_or_init(start_thread).as_ref().ok_or_else(gone)?;
    let (answer, reply) = oneshot::channel();
    sender
        .send(Request {
            command,
            runtime: Handle::current(),
            answer,
        })
        .map_err(|_| gone())?;
    reply.await.map_err(|_| gone())?
}
