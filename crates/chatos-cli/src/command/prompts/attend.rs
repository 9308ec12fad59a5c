//! Questions of a call that this very process makes, asked where the call was made.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use chatos_host::{Environment, ErrorCode, Fault, Text};

use super::desk::Desk;
use super::form::{self, Outcome};
use super::input;
use crate::args::Global;
use crate::client::Api;
use crate::output::Output;

/// A person does not notice it.
const LOOK: Duration = Duration::from_millis(60);

/// From now on questions of this process are shown on the terminal. The future never ends but with a
/// fault: the person left a question, so that the call cannot go on. With a running host, whose page and
/// notifications show them, and without a terminal there is nothing to do.
pub(crate) async fn questions<'a>(
    api: &'a Arc<Api>,
    global: &Global,
    environment: Environment,
    output: &'a Output,
) -> Result<impl Future<Output = Result<Infallible, Fault>> + use<'a>, Fault> {
    let terminal = !output.json && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let here = match &**api {
        Api::Embedded(local) if terminal => {
            local.host().attend();
            // Opened just now: the log is being read.
            local.host().prompts()?.prompts().ready().await;
            let desk = Desk::over(Arc::clone(api), global, environment);
            let before = pending(&desk, output).await?;
            Some((desk, before))
        }
        _ => None,
    };
    Ok(async move {
        let Some((desk, mut seen)) = here else { return std::future::pending().await };
        loop {
            tokio::time::sleep(LOOK).await;
            for id in pending(&desk, output).await? {
                if !seen.insert(id.clone()) {
                    continue;
                }
                input::heed_interrupts(true);
                let item = desk.show(&id, output.lang).await?;
                if let Outcome::Left = form::ask(&desk, output, &id, item, None, None).await? {
                    return Err(Fault::new(
                        ErrorCode::Canceled,
                        Text::fixed(
                            "the question was left; the call was canceled",
                            "未回答该提问；调用已取消",
                        ),
                    ));
                }
            }
        }
    })
}

async fn pending(desk: &Desk, output: &Output) -> Result<BTreeSet<String>, Fault> {
    let list = desk.list(&[("state", "pending".to_owned())], output.lang).await?;
    let ids = list["items"].as_array().into_iter().flatten();
    Ok(ids.filter_map(|item| item["requestId"].as_str()).map(str::to_owned).collect::<BTreeSet<_>>())
}
