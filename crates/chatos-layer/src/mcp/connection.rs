//! One client of an endpoint: answers its requests by calling the layer.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chatos_tool::{Lang, Transport};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams,
    ClientCapabilities, CompleteRequestParams, CompleteResult, ContentBlock, CreateTaskResult, CustomRequest,
    CustomResult, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    GetTaskParams, GetTaskResult, Implementation, InputRequiredResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject, NotificationMetaObject,
    PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResultType, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer, SubscriptionContext};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::door::{self, Door};
use super::relay::{self, Relay, RelayedCall, RelayedClient, RelayedList};
use super::request_state::Carried;
use super::roots::ClientRoots;
use super::{Endpoint, changes, elicit, offer, tasks};
use crate::client::{ClientLink, ClientRound, Severity};
use crate::context::Caller;
use crate::feature::PromptReply;
use crate::layer::{CallRequest, Reply};
use crate::person::{Elicitor, FORM_KEY, InputRequired, Resume};
use crate::progress::{ProgressReport, ProgressSink};

/// Reports waiting to be sent; more are dropped, because only the newest says something.
const REPORTS: usize = 16;
/// How long a modern client may keep the list of tools (mcp, server side). Switches change it rarely,
/// and a change is told.
const LIST_TTL_MS: u64 = 60_000;

/// Documents one client watches; more than any client shows.
const WATCHED: usize = 256;

/// A client.
pub(super) struct Connection {
    pub(super) endpoint: Arc<Endpoint>,
    /// Names the connection: fair queueing, and the binding of request states.
    pub(super) id: String,
    pub(super) transport: Transport,
    /// The client is gone.
    pub(super) closed: CancellationToken,
    pub(super) tools: Mutex<Option<Listed>>,
    // Of an older client; a modern one says both with its requests.
    pub(super) watched: Arc<Mutex<BTreeSet<String>>>,
    severity: Mutex<Severity>,
    pub(super) roots: Arc<ClientRoots>,
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
        Self {
            endpoint,
            id,
            transport,
            closed,
            tools: Mutex::new(None),
            watched: Arc::default(),
            severity: Mutex::new(Severity::Info),
            roots: Arc::default(),
        }
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

    /// What a request brings from an earlier round. A state that is not ours, or of another call, is an
    /// error of the protocol.
    fn carried(&self, state: Option<&String>, call: &str, arguments: &Value) -> Result<Carried, ErrorData> {
        let Some(state) = state else { return Ok(Carried::default()) };
        let opened = self.endpoint.seal.open(state, &self.id, call, arguments, chatos_store::now_ms());
        opened.map_err(|error| ErrorData::invalid_params(error.to_string(), None))
    }

    fn seal(&self, call: &str, arguments: &Value, carried: Carried) -> String {
        self.endpoint.seal.seal(&self.id, call, arguments, carried, chatos_store::now_ms())
    }

    fn input_required(
        &self,
        tool: &str,
        arguments: &Value,
        required: InputRequired,
    ) -> Result<InputRequiredResult, ErrorData> {
        let request = elicit::input_request(&required.form).map_err(|error| bug(&error))?;
        let state = self.seal(
            tool,
            arguments,
            Carried { id: required.request_id, shown: Some(required.shown), own: None },
        );
        let requests = [(FORM_KEY.to_owned(), request)].into_iter().collect();
        Ok(InputRequiredResult::new(Some(requests), Some(state)))
    }

    fn ask_client(
        &self,
        call: &str,
        arguments: &Value,
        round: ClientRound,
    ) -> Result<InputRequiredResult, ErrorData> {
        let requests = door::input_requests(&round).map_err(|error| bug(&error))?;
        let state = round
            .state
            .map(|own| self.seal(call, arguments, Carried { own: Some(own), ..Carried::default() }));
        Ok(InputRequiredResult::new(Some(requests), state))
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(relay) = &self.endpoint.relay {
            let hold = relay.holds();
            if let (Some(patience), tasks::WAIT_TOOL) = (hold, request.name.as_ref()) {
                let id =
                    request.arguments.as_ref().and_then(|given| given.get("call")).and_then(Value::as_str);
                let waiting = self.endpoint.tasks.wait(id.unwrap_or_default(), patience, self.lang());
                return Ok(waiting.await.into());
            }
            let as_task = relay.keeps_tasks()
                && is_modern(&context)
                && context.client_capabilities().is_some_and(|can| can.supports_tasks());
            let detached = as_task || hold.is_some();
            let cancel = if detached { CancellationToken::new() } else { context.ct.clone() };
            let (asked, asks) = watch::channel(false);
            let roots = if relay.asks_roots() { self.roots.of(&context).await } else { Vec::new() };
            let (progress, forward) = reports(&context);
            let call = RelayedCall {
                progress,
                roots,
                tool: request.name.to_string(),
                arguments: request.arguments.unwrap_or_default(),
                meta: context.meta.0.0.clone(),
                client: self.client_of(&context),
                cancel: cancel.clone(),
                asked: detached.then_some(asked),
            };
            let lang = self.endpoint.layer.settings().lang;
            if detached {
                let (forward, hold) = (tokio::spawn(forward), hold.filter(|_| !as_task));
                let relay = Arc::clone(relay);
                return self.call_detached(relay, call, (cancel, asks), forward, hold, &context).await;
            }
            let (reply, ()) = tokio::join!(relay::call(relay, call, lang), forward);
            return reply.map(Into::into);
        }
        let arguments = request.arguments.clone().map_or(Value::Null, Value::Object);
        let carried = self.carried(request.request_state.as_ref(), &request.name, &arguments)?;
        let answers = request.input_responses.unwrap_or_default();
        let answer = answers.get(FORM_KEY).map(elicit::from_json);
        let Carried { id: request_id, shown, own: state } = carried;
        // Answers to a question of the layer count only with its state.
        let resume = request.request_state.is_some().then_some(Resume { request_id, answer, shown });
        let client = ClientLink { door: Arc::new(self.client(&context)), answers, state };
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
                asked: None,
                approved: None,
                together: None,
                client: Some(client),
                batch: None,
            },
        );
        // The reports end when the call drops their sender, so none comes after the result.
        let (reply, ()) = tokio::join!(call, forward);
        match reply {
            Ok(Reply::Done(envelope)) => {
                let content: Result<Vec<ContentBlock>, _> =
                    envelope.content().into_iter().map(serde_json::from_value).collect();
                let mut result = CallToolResult::success(content.map_err(|error| bug(&error))?);
                result.structured_content = envelope.structured();
                result.meta = Some(beside(envelope.context()));
                result.is_error = Some(envelope.status.is_error());
                Ok(result.into())
            }
            Ok(Reply::InputRequired(required)) => {
                self.input_required(&request.name, &arguments, required).map(Into::into)
            }
            Ok(Reply::AskClient(round)) => self.ask_client(&request.name, &arguments, round).map(Into::into),
            Ok(Reply::MissingCapability(missing)) => {
                let wanted = json!({ missing.as_str(): {} });
                let wanted: ClientCapabilities =
                    serde_json::from_value(wanted).map_err(|error| bug(&error))?;
                Err(ErrorData::missing_required_client_capability(wanted))
            }
            Err(unknown) => {
                let message = match unknown.nearest {
                    Some(near) => format!("{unknown}; did you mean `{near}`?"),
                    None => unknown.to_string(),
                };
                Err(ErrorData::invalid_params(message, None))
            }
        }
    }

    /// Makes a call that becomes a task as soon as it waits for a person. With `hold` it is waited for so long, and then
    /// the model is told how to wait itself.
    async fn call_detached(
        &self,
        relay: Arc<dyn Relay>,
        call: RelayedCall,
        (cancel, mut asks): (CancellationToken, watch::Receiver<bool>),
        forward: tokio::task::JoinHandle<()>,
        hold: Option<Duration>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let settings = self.endpoint.layer.settings();
        let (lang, ttl) = (settings.lang, settings.gateway_task_ttl);
        // A client that goes away before there is a task withdraws the call.
        let guard = cancel.clone().drop_guard();
        let mut work = tokio::spawn(async move { relay::call(&relay, call, lang).await });
        let waits = async {
            // A call that ends drops its sender: the result is taken then.
            if asks.wait_for(|asked| *asked).await.is_err() {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(hold.unwrap_or_default()).await;
        };
        let works = async {
            match hold {
                Some(_) => std::future::pending().await,
                None => tokio::time::sleep(tasks::SOFT).await,
            }
        };
        tokio::select! {
            biased;
            ended = &mut work => {
                // No report comes after the result.
                forward.await.ok();
                ended.map_err(|error| bug(&error))?.map(Into::into)
            }
            () = context.ct.cancelled() => {
                forward.abort();
                Err(ErrorData::invalid_request("canceled", None))
            }
            () = async { tokio::select! { () = waits => {}, () = works => {} } } => {
                forward.abort();
                guard.disarm();
                let task = self.endpoint.tasks.keep(work, cancel, ttl, lang);
                Ok(match hold {
                    Some(_) => tasks::parked(&task.task_id, lang).into(),
                    None => CallToolResponse::Task(CreateTaskResult::new(task)),
                })
            }
        }
    }

    /// Who is at the other end, as it says itself.
    fn client_of(&self, context: &RequestContext<RoleServer>) -> RelayedClient {
        let named = context.client_info().map(|client| (client.name.clone(), client.version.clone()));
        let (name, version) = named.unwrap_or_default();
        RelayedClient { session: self.id.clone(), name, version }
    }

    fn lang(&self) -> Lang {
        self.endpoint.layer.settings().lang
    }

    fn client(&self, context: &RequestContext<RoleServer>) -> Door {
        let severity = *self.severity.lock().unwrap_or_else(PoisonError::into_inner);
        Door::new(context, self.endpoint.features.logging.then_some(severity))
    }
}

/// Our part of a `_meta`.
fn beside(detail: Value) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.0.insert("chatos".to_owned(), detail);
    meta
}

pub(super) fn bug(error: &dyn std::error::Error) -> ErrorData {
    tracing::error!(%error, "a definition or form cannot be built");
    ErrorData::internal_error("internal", None)
}

/// A method that this endpoint does not have.
fn unknown(method: &'static str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)
}

/// Every list is one page; a cursor can only be somebody else's.
fn one_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    if request.and_then(|request| request.cursor).is_some_and(|cursor| !cursor.is_empty()) {
        return Err(ErrorData::invalid_params("unknown cursor", None));
    }
    Ok(())
}

fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

// The older era still has logging levels and subscriptions of single documents.
#[expect(deprecated, reason = "both eras are answered")]
impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let lang = self.endpoint.layer.settings().lang;
        let info = self.endpoint.server.info();
        let passed_on = self.endpoint.relay.as_ref().and_then(|relay| relay.instructions());
        let own = info.instructions.get(lang);
        let instructions = passed_on.map_or_else(|| own.to_owned(), |more| format!("{own}\n\n{more}"));
        ServerConfig::new(offer::capabilities(self.endpoint.offers()))
            .with_server_info(
                Implementation::new(&self.endpoint.name, &self.endpoint.version)
                    .with_title(info.title.get(lang)),
            )
            .with_instructions(instructions)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        one_page(request)?;
        let tools = match &self.endpoint.relay {
            Some(relay) => {
                let mut tools = relay::tools(relay, self.lang(), self.client_of(&context)).await?;
                if relay.holds().is_some() {
                    let wait = serde_json::from_value(tasks::wait_tool(self.lang()));
                    tools.push(wait.map_err(|error| bug(&error))?);
                }
                tools
            }
            None => self.tools()?.as_ref().clone(),
        };
        let mut list = ListToolsResult::with_all_items(tools);
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // The task of a request has room for the largest of its futures and is moved several times.
        let mut response = Box::pin(self.call(request, context)).await?;
        // Here, whoever made the result: a modern client takes one without it for a failure. For an older
        // client the library leaves it out again.
        if let CallToolResponse::Complete(result) = &mut response {
            result.result_type = Some(ResultType::COMPLETE);
        }
        Ok(response)
    }

    /// A standard method arrives here only when its parameters cannot be read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if offer::answers(self.endpoint.offers(), &request.method, is_modern(&context)) {
            let message = format!("the parameters of `{}` cannot be read", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        one_page(request)?;
        if let Some(relay) = self.endpoint.passing_on() {
            let listed = relay::list(relay, RelayedList::Resources, self.lang()).await?;
            return Ok(ListResourcesResult::with_all_items(listed));
        }
        offer::resources(&self.endpoint.features).ok_or_else(|| unknown("resources/list"))?
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        one_page(request)?;
        if let Some(relay) = self.endpoint.passing_on() {
            let listed = relay::list(relay, RelayedList::Templates, self.lang()).await?;
            return Ok(ListResourceTemplatesResult::with_all_items(listed));
        }
        offer::templates(&self.endpoint.features).ok_or_else(|| unknown("resources/templates/list"))?
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if let Some(relay) = self.endpoint.passing_on() {
            let params = json!({ "uri": request.uri });
            let (contents, _) = relay::ask(relay, "resources/read", &params, "contents", self.lang()).await?;
            return Ok(ReadResourceResult::new(contents).into());
        }
        let read = offer::read(&self.endpoint.features, &request.uri).await;
        read.ok_or_else(|| unknown("resources/read"))?.map(Into::into)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        one_page(request)?;
        if let Some(relay) = self.endpoint.passing_on() {
            let listed = relay::list(relay, RelayedList::Prompts, self.lang()).await?;
            return Ok(ListPromptsResult::with_all_items(listed));
        }
        offer::prompts(&self.endpoint.features).ok_or_else(|| unknown("prompts/list"))?
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if let Some(relay) = self.endpoint.passing_on() {
            let params = json!({ "name": request.name, "arguments": request.arguments.unwrap_or_default() });
            let (messages, rest) = relay::ask(relay, "prompts/get", &params, "messages", self.lang()).await?;
            let mut result = GetPromptResult::new(messages);
            result.description = rest["description"].as_str().map(str::to_owned);
            return Ok(result.into());
        }
        // Sealed apart from a tool of the same name.
        let call = format!("prompt {}", request.name);
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        let carried = self.carried(request.request_state.as_ref(), &call, &arguments)?;
        let reply = offer::prompt(&self.endpoint.features, &request, carried.own.as_ref()).await;
        match reply.ok_or_else(|| unknown("prompts/get"))?? {
            PromptReply::Messages(messages) => offer::prompt_result(&messages).map(Into::into),
            PromptReply::Ask(round) => self.ask_client(&call, &arguments, round).map(Into::into),
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        if let Some(relay) = self.endpoint.passing_on() {
            let (info, _) =
                relay::ask(relay, "completion/complete", &request, "completion", self.lang()).await?;
            return Ok(CompleteResult::new(info));
        }
        offer::complete(&self.endpoint.features, &request).ok_or_else(|| unknown("completion/complete"))?
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.endpoint.tasks.get(&request.task_id, self.lang())
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.endpoint.tasks.update(&request.task_id)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.endpoint.tasks.cancel(&request.task_id)
    }

    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // A modern client says it with each request.
        if !self.endpoint.features.logging || is_modern(&context) {
            return Err(unknown("logging/setLevel"));
        }
        let severity = serde_json::from_value(json!(request.level)).map_err(|error| bug(&error))?;
        *self.severity.lock().unwrap_or_else(PoisonError::into_inner) = severity;
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if self.endpoint.features.resources.is_none() {
            return Err(unknown("resources/subscribe"));
        }
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if watched.len() >= WATCHED && !watched.contains(&request.uri) {
            return Err(ErrorData::invalid_request(format!("at most {WATCHED} resources are watched"), None));
        }
        watched.insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if self.endpoint.features.resources.is_none() {
            return Err(unknown("resources/unsubscribe"));
        }
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).remove(&request.uri);
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let inbox = self.endpoint.changes.subscribe();
        // Ends with the connection.
        tokio::spawn(changes::tell(
            context.peer,
            inbox,
            Arc::clone(&self.endpoint),
            Arc::clone(&self.watched),
            self.closed.clone(),
        ));
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(offer::listens(self.endpoint.offers(), requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let inbox = self.endpoint.changes.subscribe();
        changes::listen(&context, inbox, &self.closed).await;
        Ok(())
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
        params.meta = Some(NotificationMetaObject(beside(json!(detail))));
    }
    peer.notify_progress(params).await
}
