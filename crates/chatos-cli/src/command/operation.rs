//! Following long work of the host until it ends.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use chatos_tool::Fault;
use chatos_wire::OperationState;
use chatos_wire::operation::{OperationProgress, OperationView};
use hyper::Method;
use serde_json::{Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};

use chatos_desk::encode;
use chatos_terminal::client::{Api, typed};
use chatos_terminal::output::Output;

/// How often an operation is asked about.
const POLL: Duration = Duration::from_millis(50);

/// Waits for an operation, drawing a bar where a person looks; gives its result or its failure. Ctrl-C
/// takes the work back, rather than leaving it to the host or half of it to the next start.
pub(crate) async fn follow(api: &Api, output: &Output, begun: Value) -> Result<Value, Fault> {
    let mut operation: OperationView = typed(begun)?.body;
    let path = format!("/api/v1/operations/{}", encode(&operation.id));
    let draws = !output.json && !output.quiet && std::io::stderr().is_terminal();
    // Listening from here on: a signal between two looks is not lost.
    let mut interrupted = signal(SignalKind::interrupt()).ok();
    let mut terminated = signal(SignalKind::terminate()).ok();
    let mut canceled = false;
    loop {
        match operation.state {
            OperationState::Running => {}
            OperationState::Done => {
                erase(draws);
                return Ok(operation.result.unwrap_or_default());
            }
            OperationState::Failed | OperationState::Canceled => {
                erase(draws);
                let body = json!({ "error": operation.error });
                return Err(chatos_desk::host_fault(operation.status.unwrap_or(500), &body));
            }
        }
        if let Some(progress) = operation.progress.as_ref().filter(|_| draws) {
            draw(progress);
        }
        let asked = tokio::select! {
            () = tokio::time::sleep(POLL) => false,
            () = heard(interrupted.as_mut()) => true,
            () = heard(terminated.as_mut()) => true,
        };
        if asked && !canceled {
            canceled = true;
            api.call(Method::POST, &format!("{path}/cancel"), Some(&json!({})), output.lang).await?;
        }
        operation = api.get(&path, output.lang).await?.body;
    }
}

/// Ends when the signal came; never, when it cannot be listened to.
async fn heard(listener: Option<&mut Signal>) {
    match listener {
        Some(listener) => drop(listener.recv().await),
        None => std::future::pending().await,
    }
}

fn draw(progress: &OperationProgress) {
    const WIDTH: u64 = 30;
    let (done, total) = (progress.done, progress.total);
    let filled =
        total.filter(|total| *total > 0).map_or(0, |total| (done.min(total) * WIDTH / total) as usize);
    let bar = format!("{}{}", "#".repeat(filled), ".".repeat(WIDTH as usize - filled));
    let message = &progress.message;
    let amount = if progress.unit == "bytes" { size(done) } else { done.to_string() };
    // A terminal that is gone is noticed elsewhere.
    write!(std::io::stderr(), "\r\u{1b}[K[{bar}] {amount}  {message}").ok();
}

fn erase(draws: bool) {
    if draws {
        write!(std::io::stderr(), "\r\u{1b}[K").ok();
    }
}

/// A number of bytes in the unit a person would use.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}
