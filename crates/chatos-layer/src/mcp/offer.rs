//! What an endpoint offers besides tools, in the words of the protocol.

use std::collections::BTreeMap;

use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, GetPromptRequestParams,
    GetPromptResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult,
    Reference, ServerCapabilities, SubscriptionFilter,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::connection::bug;
use crate::feature::{CompletionOf, Features, PromptCall, PromptReply};

/// What there is beside tools.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offers {
    pub(super) resources: bool,
    /// Single documents can be watched.
    pub(super) watched: bool,
    pub(super) prompts: bool,
    pub(super) completions: bool,
    pub(super) logging: bool,
    /// Long calls of modern clients are tasks.
    pub(super) tasks: bool,
}

/// What a client reads in the capabilities.
pub(super) fn capabilities(offers: Offers) -> ServerCapabilities {
    let mut capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
    let Offers { resources, watched, prompts, completions, logging, tasks } = offers;
    if resources {
        let own = ServerCapabilities::builder().enable_resources().enable_resources_list_changed();
        capabilities.resources =
            if watched { own.enable_resources_subscribe().build().resources } else { own.build().resources };
    }
    if prompts {
        capabilities.prompts =
            ServerCapabilities::builder().enable_prompts().enable_prompts_list_changed().build().prompts;
    }
    capabilities.completions = completions.then(rmcp::model::JsonObject::new);
    if logging {
        capabilities.logging = Some(rmcp::model::JsonObject::new());
    }
    if tasks {
        capabilities.extensions = ServerCapabilities::builder().enable_tasks().build().extensions;
    }
    capabilities
}

/// Methods that are answered; one of these with parameters nobody can read is not an unknown method. The
/// modern era has no handshake, no ping, and says levels and subscriptions with its requests.
pub(super) fn answers(offers: Offers, method: &str, modern: bool) -> bool {
    let removed = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
    if modern && removed.contains(&method) {
        return false;
    }
    match method.split_once('/') {
        Some(("tools", name)) => matches!(name, "call" | "list"),
        Some(("resources", name)) => {
            let known = ["list", "read", "templates/list"];
            (offers.resources && known.contains(&name))
                || (offers.watched && matches!(name, "subscribe" | "unsubscribe"))
        }
        Some(("prompts", name)) => offers.prompts && matches!(name, "get" | "list"),
        Some(("completion", "complete")) => offers.completions,
        Some(("tasks", name)) => modern && offers.tasks && matches!(name, "get" | "update" | "cancel"),
        Some(("logging", "setLevel")) => offers.logging,
        Some(("server", "discover")) => true,
        _ => matches!(method, "initialize" | "ping"),
    }
}

/// What a modern client may listen to.
pub(super) fn listens(offers: Offers, requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = SubscriptionFilter::new();
    accepted.tools_list_changed = requested.tools_list_changed;
    if offers.prompts {
        accepted.prompts_list_changed = requested.prompts_list_changed;
    }
    if offers.resources {
        accepted.resources_list_changed = requested.resources_list_changed;
    }
    if offers.watched {
        accepted.resource_subscriptions.clone_from(&requested.resource_subscriptions);
    }
    accepted
}

pub(super) fn resources(features: &Features) -> Option<Result<ListResourcesResult, ErrorData>> {
    let list = features.resources.as_ref()?.list();
    Some(typed(&list).map(ListResourcesResult::with_all_items))
}

pub(super) fn templates(features: &Features) -> Option<Result<ListResourceTemplatesResult, ErrorData>> {
    let list = features.resources.as_ref()?.templates();
    Some(typed(&list).map(ListResourceTemplatesResult::with_all_items))
}

pub(super) async fn read(features: &Features, uri: &str) -> Option<Result<ReadResourceResult, ErrorData>> {
    let Some(documents) = features.resources.as_ref()?.read(uri).await else {
        let data = Some(json!({ "uri": uri }));
        return Some(Err(ErrorData::resource_not_found(format!("no resource `{uri}`"), data)));
    };
    Some(typed(&documents).map(ReadResourceResult::new))
}

pub(super) fn prompts(features: &Features) -> Option<Result<ListPromptsResult, ErrorData>> {
    let list = features.prompts.as_ref()?.list();
    Some(typed(&list).map(ListPromptsResult::with_all_items))
}

/// A prompt, or what the client is asked first.
pub(super) async fn prompt(
    features: &Features,
    request: &GetPromptRequestParams,
    state: Option<&Value>,
) -> Option<Result<PromptReply, ErrorData>> {
    let prompts = features.prompts.as_ref()?;
    let Some(known) = prompts.list().into_iter().find(|known| known.name == request.name) else {
        let message = format!("unknown prompt `{}`", request.name);
        return Some(Err(ErrorData::invalid_params(message, None)));
    };
    let none = Map::new();
    let arguments = request.arguments.as_ref().unwrap_or(&none);
    let missing = known
        .arguments
        .iter()
        .find(|wanted| wanted.required && arguments.get(&wanted.name).is_none_or(Value::is_null));
    if let Some(missing) = missing {
        let message = format!("the prompt `{}` needs the argument `{}`", known.name, missing.name);
        return Some(Err(ErrorData::invalid_params(message, None)));
    }
    let given = BTreeMap::new();
    let answers = request.input_responses.as_ref().unwrap_or(&given);
    let reply = prompts.get(PromptCall { name: &request.name, arguments, answers, state }).await;
    Some(Ok(match reply {
        PromptReply::Ask(round) => match round.answered(answers, state) {
            // A prompt that asks for what it was given would ask for ever.
            Ok(_) => return Some(Err(ErrorData::internal_error("internal", None))),
            Err(open) => PromptReply::Ask(open),
        },
        messages @ PromptReply::Messages(_) => messages,
    }))
}

pub(super) fn prompt_result(
    messages: &[crate::feature::PromptMessage],
) -> Result<GetPromptResult, ErrorData> {
    typed(&messages).map(GetPromptResult::new)
}

pub(super) fn complete(
    features: &Features,
    request: &CompleteRequestParams,
) -> Option<Result<CompleteResult, ErrorData>> {
    let completions = features.completions.as_ref()?;
    let of = match &request.r#ref {
        Reference::Prompt(prompt) => CompletionOf::Prompt(&prompt.name),
        Reference::Resource(template) => CompletionOf::Template(&template.uri),
        _ => {
            return Some(Err(ErrorData::invalid_params(
                "only prompts and resource templates are completed",
                None,
            )));
        }
    };
    let mut values = completions.complete(of, &request.argument.name, &request.argument.value);
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let more = total > values.len();
    let total = u32::try_from(total).ok();
    Some(match CompletionInfo::with_pagination(values, total, more) {
        Ok(info) => Ok(CompleteResult::new(info)),
        Err(message) => Err(ErrorData::internal_error(message, None)),
    })
}

/// Our plain types are written as the protocol has them.
fn typed<T: DeserializeOwned>(plain: &impl Serialize) -> Result<T, ErrorData> {
    serde_json::to_value(plain).and_then(serde_json::from_value).map_err(|error| bug(&error))
}
