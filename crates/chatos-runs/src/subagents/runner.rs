//! What the router server asks about subagents.

use std::sync::PoisonError;
use std::time::Duration;

use chatos_layer::{BoxFuture, SubDone, SubOrder, SubagentRunner};
use chatos_store::{iso_from_ms, now_ms};
use chatos_tool::{ErrorCode, Fault, Needed, Reason, Text, ToolError, Trace};
use chatos_wire::RunState;
use chatos_wire::subagent::SubPlugin;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::super::begin::agent_of;
use super::super::desk::{Runs, WeakRuns, broken};
use super::job_state;
use chatos_records::{no_run, run_view};

/// Subagents for the router server, without keeping the runs.
pub(crate) struct RunSubagents(pub(crate) WeakRuns);

impl RunSubagents {
    fn runs(&self) -> Result<Runs, ToolError> {
        self.0.get().ok_or_else(|| {
            ToolError::unavailable(Needed::Host, Text::fixed("the host is stopping", "主机正在停止"))
        })
    }
}

fn failed(fault: Fault) -> ToolError {
    match fault.class {
        ErrorCode::NotFound => {
            let reason =
                Reason::NotFound { what: "job".to_owned(), id: None, path: None, nearest: Vec::new() };
            ToolError::new(reason, fault.message)
        }
        ErrorCode::PermissionDenied => ToolError::denied(chatos_tool::DenyRule::LandConfig, fault.message),
        _ => ToolError::unavailable(Needed::Host, fault.message),
    }
}

impl SubagentRunner for RunSubagents {
    fn catalogue(&self, trace: &Trace) -> BoxFuture<'_, Result<Vec<SubPlugin>, ToolError>> {
        let agent = trace.agent_id.clone().unwrap_or_default();
        Box::pin(async move {
            let runs = self.runs()?;
            let listed = chatos_blocking::run(move || {
                let agent = agent_of(runs.parts(), &agent)?;
                runs.offered(&agent)
            });
            listed.await.map_err(|error| failed(broken(&error)))?.map_err(failed)
        })
    }

    fn run(
        &self,
        order: SubOrder,
        trace: Trace,
        call_id: String,
        progress: mpsc::UnboundedSender<Value>,
    ) -> BoxFuture<'_, Result<SubDone, ToolError>> {
        Box::pin(async move {
            let runs = self.runs()?;
            let making = runs.clone();
            let made = chatos_blocking::run(move || making.sub_run(&order, &trace, &call_id, true));
            let run = made.await.map_err(|error| failed(broken(&error)))?.map_err(failed)?;
            let job = run.job_id.clone().unwrap_or_default();
            let listeners = || runs.subs().listeners.lock().unwrap_or_else(PoisonError::into_inner);
            listeners().insert(job.clone(), progress);
            // A caller that goes away stops its child; the child writes its own end.
            let stop = StopChild { runs: runs.clone(), run: Some(run.id.clone()) };
            let done = runs.drive_sub(run).await;
            stop.disarm();
            listeners().remove(&job);
            runs.sub_result(done.map_err(failed)?).await.map_err(failed)
        })
    }

    fn prefer(
        &self,
        task: String,
        candidates: Vec<(String, String)>,
        trace: Trace,
    ) -> BoxFuture<'_, Option<(String, f64)>> {
        Box::pin(async move {
            let runs = self.runs().ok()?;
            let said = runs.compare(&task, &candidates, &trace).await;
            said.inspect_err(|fault| tracing::info!(%fault, "no model compared the subagents")).ok()?
        })
    }

    fn start(
        &self,
        order: SubOrder,
        trace: Trace,
        call_id: String,
    ) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let runs = self.runs()?;
            let making = runs.clone();
            let made = chatos_blocking::run(move || making.sub_run(&order, &trace, &call_id, false));
            let run = made.await.map_err(|error| failed(broken(&error)))?.map_err(failed)?;
            let answer = json!({
                "job_id": run.job_id, "status": job_state(run.state), "created_at": iso_from_ms(run.created_at),
            });
            tokio::spawn(async move {
                if let Err(fault) = runs.drive_sub(run).await {
                    tracing::warn!(%fault, "a job of a subagent failed");
                }
            });
            Ok(answer)
        })
    }

    fn status(&self, job_id: String, wait_ms: u64) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let runs = self.runs()?;
            let find = |job: String| runs.work(move |store| store.run_of_job(&job));
            let unknown = || failed(no_run(&job_id));
            let mut run = find(job_id.clone()).await.map_err(failed)?.ok_or_else(unknown)?;
            if wait_ms > 0 && matches!(job_state(run.state), "pending" | "running") {
                let wait = Duration::from_millis(wait_ms.min(60_000));
                // Its end is an event; when the time is over the state is told as it is.
                tokio::time::timeout(wait, runs.wait(&run.id)).await.ok();
                run = find(job_id.clone()).await.map_err(failed)?.ok_or_else(unknown)?;
            }
            let state = job_state(run.state);
            let age = now_ms() - run.updated_at;
            let mut answer = json!({
                "job_id": job_id, "status": state, "created_at": iso_from_ms(run.created_at),
                "updated_at": iso_from_ms(run.updated_at), "heartbeat_age_ms": age, "heartbeat_stale": false,
            });
            if matches!(state, "done" | "error" | "canceled") {
                let view = run_view(run.clone());
                let done = runs.sub_result(run).await.map_err(failed)?;
                answer["result"] = done.data;
                if let Some((code, message)) = done.failed {
                    answer["error"] =
                        json!({ "code": code.as_str(), "message": message.en, "run": view.error });
                }
            }
            Ok(answer)
        })
    }

    fn cancel(&self, job_id: String) -> BoxFuture<'_, Result<(Value, bool), ToolError>> {
        Box::pin(async move {
            let runs = self.runs()?;
            let job = job_id.clone();
            let run = runs.work(move |store| store.run_of_job(&job)).await.map_err(failed)?;
            let run = run.ok_or_else(|| failed(no_run(&job_id)))?;
            let over = matches!(job_state(run.state), "done" | "error" | "canceled");
            if !over {
                let stopped = match run.state {
                    RunState::Interrupted | RunState::Queued => runs.discard(&run.id).await,
                    _ => runs.abort(&run.id).await,
                };
                stopped.map_err(failed)?;
                runs.wait(&run.id).await;
            }
            let state = if over { job_state(run.state) } else { "canceled" };
            Ok((json!({ "job_id": job_id, "status": state }), over))
        })
    }
}

/// Stops a child whose caller is gone.
struct StopChild {
    runs: Runs,
    run: Option<String>,
}

impl StopChild {
    fn disarm(mut self) {
        self.run = None;
    }
}

impl Drop for StopChild {
    fn drop(&mut self) {
        let Some(run) = self.run.take() else { return };
        // A host that stops leaves its children to be continued with their parents.
        if self.runs.parts().life.is_over() {
            return;
        }
        if let Some(active) = self.runs.active().get(&run) {
            active.cancel.cancel();
        }
    }
}
