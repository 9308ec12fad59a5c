//! One client of an endpoint: answers its requests by calling the layer.

use std::sync::{Arc, Mutex, PoisonError};

use chatos_tool::{Lang, Transport};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, ErrorData, Implementation, InputRequiredResult, ListToolsResult, MetaObject,
    NotificationMetaObject, PaginatedRequestParams, ProgressNotificationParam, ProgressToken,
    ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer, SubscriptionContext};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Endpoint, elicit};
use crate::context::Caller;
use crate::layer::{CallRequest, Reply};
use crate::person::{Elicitor, FORM_KEY, InputRequired, Resume};
use crate::progress::{ProgressReport, ProgressSink};

/// Reports waiting to be sent; more are dropped, because only the newest says something.
const REPORTS: usize = 16;
/// How long a modern client may keep the list of tools (mcp, server side). Switches change it rarely,
/// and a change is told.
const LIST_TTL_MS: u64 = 60_000;

/// A client.
pub(super) struct Connection {
    pub(super) endpoint: Arc<Endpoint>,
    /// Names the connection: fair queueing, and the binding of request states.
    pub(super) id: String,
    pub(super) transport: Transport,
    /// The client is gone.
    pub(super) closed: CancellationToken,
    pub(super) tools: Mutex<Option<Listed>>,
}

/// The definitions in one language at one revision of the list.
pub(super) struct Listed {
    lang: Lang,
    revision: u64,
    tools: Arc<Vec<Tool>>,
}

impl Connection {
    pub(super) fn new(endpoint: Arc<Endpoint>, transport: Transport, closed: CancellationToken) -> Self {
        let id = uuid::Uuid::new_v4().to_string();
        Self { endpoint, id, transport, closed, tools: Mutex::new(None) }
    }

    /// The definitions, built once per language.
    fn tools(&self) -> Result<Arc<Vec<Tool>>, ErrorData> {
        let lang = self.endpoint.layer.settings().lang;
        let revision = *self.endpoint.list.borrow();
        let mut cached = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = cached.as_ref().filter(|known| known.lang == lang && known.revision == revision)
        {
            return Ok(Arc::clone(&known.tools));
        }
        let definitions = self.endpoint.server.definitions(&self.endpoint.access, lang);
        let tools: Result<Vec<Tool>, _> = definitions.into_iter().map(serde_json::from_value).collect();
        let tools = Arc::new(tools.map_err(|error| bug(&error))?);
        *cached = Some(Listed { lang, revision, tools: Arc::clone(&tools) });
        Ok(tools)
    }

    fn resume(
        &self,
        request: &CallToolRequestParams,
        arguments: &Value,
    ) -> Result<Option<Resume>, ErrorData> {
        let Some(state) = &request.request_state else { return Ok(None) };
        let now = chatos_store::now_ms();
        let opened = self.endpoint.seal.open(state, &self.id, &request.name, arguments, now);
        let request_id = opened.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let answers = request.input_responses.as_ref();
        let answer = answers.and_then(|answers| answers.get(FORM_KEY)).map(elicit::from_json);
        Ok(Some(Resume { request_id, answer }))
    }

    fn input_required(
        &self,
        tool: &str,
        arguments: &Value,
        required: &InputRequired,
    ) -> Result<CallToolResponse, ErrorData> {
        let request = elicit::input_request(&required.form).map_err(|error| bug(&error))?;
        let now = chatos_store::now_ms();
        let state = self.endpoint.seal.seal(&self.id, tool, arguments, required.request_id.as_ref(), now);
        let requests = [(FORM_KEY.to_owned(), request)].into_iter().collect();
        Ok(InputRequiredResult::new(Some(requests), Some(state)).into())
    }
}

fn bug(error: &dyn std::error::Error) -> ErrorData {
    tracing::error!(%error, "a definition or form cannot be built");
    ErrorData::internal_error("internal", None)
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let lang = self.endpoint.layer.settings().lang;
        let info = self.endpoint.server.info();
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new(&self.endpoint.name, &self.endpoint.version)
                    .with_title(info.title.get(lang)),
            )
            .with_instructions(info.instructions.get(lang))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.and_then(|request| request.cursor).is_some_and(|cursor| !cursor.is_empty()) {
            // The whole list is one page; a cursor can only be somebody else's.
            return Err(ErrorData::invalid_params("unknown cursor", None));
        }
        let mut list = ListToolsResult::with_all_items(self.tools()?.as_ref().clone());
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.clone().map_or(Value::Null, Value::Object);
        let resume = self.resume(&request, &arguments)?;
        let (progress, forward) = reports(&context);
        let call = self.endpoint.layer.call(
            &self.endpoint.server,
            CallRequest {
                tool: request.name.to_string(),
                arguments: request.arguments.map(Value::Object),
                meta: context.meta.0.0.clone(),
                transport: self.transport,
                session: self.id.clone(),
                access: Arc::clone(&self.endpoint.access),
                caller: Caller::Main,
                root: self.endpoint.root.clone(),
                cancel: context.ct.clone(),
                closed: self.closed.clone(),
                progress,
                elicitor: elicit::elicitor(&context).map(|client| Arc::new(client) as Arc<dyn Elicitor>),
                resume,
            },
        );
        // The reports end when the call drops their sender, so none comes after the result.
        let (reply, ()) = tokio::join!(call, forward);
        match reply {
            Ok(Reply::Done(envelope)) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(&envelope.text)]);
                result.structured_content = Some(envelope.structured());
                result.is_error = Some(envelope.status.is_error());
                Ok(result.into())
            }
            Ok(Reply::InputRequired(required)) => self.input_required(&request.name, &arguments, &required),
            Err(unknown) => {
                let message = match unknown.nearest {
                    Some(near) => format!("{unknown}; did you mean `{near}`?"),
                    None => unknown.to_string(),
                };
                Err(ErrorData::invalid_params(message, None))
            }
        }
    }

    /// A standard method arrives here only when its parameters cannot be read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let known = ["tools/call", "tools/list", "initialize", "ping", "server/discover"];
        if known.contains(&request.method.as_str()) {
            let message = format!("the parameters of `{}` cannot be read", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut list = self.endpoint.list.subscribe();
        let closed = self.closed.clone();
        // Ends with the connection.
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = closed.cancelled() => return,
                    changed = list.changed() => {
                        if changed.is_err() || context.peer.notify_tool_list_changed().await.is_err() {
                            return;
                        }
                    }
                }
            }
        });
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::new();
        accepted.tools_list_changed = requested.tools_list_changed;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut list = self.endpoint.list.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.closed.cancelled() => return Ok(()),
                changed = list.changed() => {
                    if changed.is_err() || context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// Where the reports of a call go, and what sends them on.
fn reports(
    context: &RequestContext<RoleServer>,
) -> (Option<Arc<dyn ProgressSink>>, impl Future<Output = ()> + use<>) {
    let token = context.meta.get_progress_token();
    let (sink, mut inbox) = mpsc::channel(REPORTS);
    let sink = token.as_ref().map(|_| Arc::new(Outbox(sink)) as Arc<dyn ProgressSink>);
    let peer = context.peer.clone();
    let forward = async move {
        let Some(token) = token else { return };
        while let Some(report) = inbox.recv().await {
            if let Err(error) = send(&peer, &token, report).await {
                tracing::debug!(%error, "progress could not be sent");
                return;
            }
        }
    };
    (sink, forward)
}

struct Outbox(mpsc::Sender<ProgressReport>);

impl ProgressSink for Outbox {
    fn send(&self, report: ProgressReport) {
        // A client that does not read its progress does not miss it.
        self.0.try_send(report).ok();
    }
}

async fn send(
    peer: &Peer<RoleServer>,
    token: &ProgressToken,
    report: ProgressReport,
) -> Result<(), rmcp::ServiceError> {
    let mut params = ProgressNotificationParam::new(token.clone(), report.progress);
    params.total = report.total;
    params.message = Some(report.message).filter(|text| !text.is_empty());
    if let Some(detail) = report.detail {
        let mut meta = MetaObject::new();
        meta.0.insert("chatos".to_owned(), json!(detail));
        params.meta = Some(NotificationMetaObject(meta));
    }
    peer.notify_progress(params).await
}
