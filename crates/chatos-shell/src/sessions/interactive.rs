//! `run_shell_command` with `interactive`: a command on a terminal that becomes a session when it waits for
//! input.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chatos_layer::{CallCx, Outcome};
use chatos_tool::{Text, ToolError};

use super::client::{self, Client};
use super::run::{cols, made_up_name, rows, waiting};
use super::{Found, Record, State};
use crate::output::{Printed, clean};
use crate::run::{self as command_run, GRACE_MS, Prepared};
use crate::server::Shop;

/// `run_shell_command` on a terminal: waits for the end, or hands over a session that waits for input.
pub(crate) async fn interactive(
    shop: &Arc<Shop>,
    cx: &CallCx,
    prepared: Prepared,
    timeout: Duration,
) -> Result<Outcome<command_run::Data>, ToolError> {
    let began = Instant::now();
    let (found, prepared) =
        shop.start_session(cx, &made_up_name(), "", Some((cols(), rows())), prepared).await?;
    let deadline = began + timeout;
    loop {
        let Ok(mut client) = Client::connect(&found).await else { break };
        let Ok(status) = client.status().await else { break };
        if status.record.state != State::Running {
            break;
        }
        if let Some(needs) = waiting(cx, &found, &status) {
            return Ok(Outcome::NeedsInput(needs, None));
        }
        let over = Instant::now() >= deadline;
        if over || cx.is_stopped() {
            let ended = client.kill(Duration::from_millis(GRACE_MS));
            if cx.is_stopped() {
                // Answered at once; the session ends on its own.
                cx.tracker.spawn(async move { drop(ended.await) });
                return Err(cx.stop_error());
            }
            ended.await.map_err(|error| super::input::unreachable(&error))?;
            let record = client::final_record(&found).await;
            return finished(cx, &found, prepared, &record, true, began).await;
        }
        let seconds = began.elapsed().as_secs();
        cx.progress(None, None, &Text::new(format!("{seconds} s"), format!("{seconds} 秒")), None);
        let left = deadline.saturating_duration_since(Instant::now());
        let pause = Duration::from_millis(250).min(left);
        tokio::select! {
            // New output may be the question; the end is the end.
            _ = tokio::time::timeout(pause, client.watch(status.record.marks.total)) => {}
            _ = cx.stopped() => {}
        }
        // A program that prints without end must not keep this loop busy.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let record = client::final_record(&found).await;
    finished(cx, &found, prepared, &record, false, began).await
}

async fn finished(
    cx: &CallCx,
    found: &Found,
    prepared: Prepared,
    record: &Record,
    timed_out: bool,
    began: Instant,
) -> Result<Outcome<command_run::Data>, ToolError> {
    let found = Found { record: record.clone(), ..found.clone() };
    let max = cx.settings.text.data_bytes() / 2;
    let (got, _) = client::lines(&found, None, u64::MAX / 4, max)
        .await
        .map_err(|error| super::input::unreachable(&error))?;
    let text = cx.redactor().known(&clean(&got.bytes)).into_owned();
    let omitted = record.marks.total.saturating_sub(got.bytes.len() as u64);
    let printed = Printed::of(text, omitted, got.from.saturating_sub(1));
    let ended = (record.exit_code, record.signal.clone(), timed_out, began.elapsed());
    Ok(command_run::on_terminal(cx, prepared, printed, ended))
}
