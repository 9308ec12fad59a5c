//! A server's question, in its old form (a request) and its new one (a result that needs input).

use serde_json::{Map, Value, json};

/// A question to the person.
#[derive(Debug, Clone, PartialEq)]
pub enum Elicitation {
    /// A form.
    Form {
        /// What it is about.
        message: String,
        /// The wanted values, an object schema of plain fields.
        schema: Value,
    },
    /// Something to do in a browser; opened only when the person clicks.
    Url {
        /// What it is about.
        message: String,
        /// The whole address.
        url: String,
        /// The server's own id of it.
        id: Option<String>,
    },
}

/// What the person did.
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitAnswer {
    /// Accepted, with the values of a form.
    Accept(Map<String, Value>),
    /// Said no.
    Decline,
    /// Went away.
    Cancel,
}

/// Something a server needs before it can go on (`input_required`, or a task that waits).
#[derive(Debug, Clone, PartialEq)]
pub enum InputRequest {
    /// A question to the person.
    Elicitation(Elicitation),
    /// Text from the model, as `sampling/createMessage` has it.
    Sampling(Value),
    /// The project's folders.
    Roots,
    /// Something this client does not know; it cannot be answered.
    Unknown(Value),
}

impl Elicitation {
    /// Reads the parameters of `elicitation/create`.
    pub fn from_params(params: &Value) -> Result<Self, String> {
        let text = |key: &str| params.get(key).and_then(Value::as_str).map(str::to_owned);
        let message = text("message").unwrap_or_default();
        match params.get("mode").and_then(Value::as_str) {
            None | Some("form") => {
                let schema = params.get("requestedSchema").cloned().unwrap_or_else(|| json!({}));
                if !schema.is_object() {
                    return Err("`requestedSchema` is not an object".to_owned());
                }
                Ok(Self::Form { message, schema })
            }
            Some("url") => {
                let url = text("url").ok_or_else(|| "`url` is missing".to_owned())?;
                let web = url.starts_with("https://") || url.starts_with("http://");
                if !web || url.chars().any(|c| c.is_control() || c.is_whitespace()) {
                    return Err("`url` is not a web address".to_owned());
                }
                Ok(Self::Url { message, url, id: text("elicitationId") })
            }
            Some(_) => Err("`mode` is neither form nor url".to_owned()),
        }
    }
}

impl ElicitAnswer {
    /// As the protocol has it.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Accept(values) => json!({ "action": "accept", "content": values }),
            Self::Decline => json!({ "action": "decline" }),
            Self::Cancel => json!({ "action": "cancel" }),
        }
    }
}

impl InputRequest {
    /// Reads one entry of `inputRequests`.
    pub fn from_json(request: &Value) -> Self {
        let params = request.get("params").cloned().unwrap_or(Value::Null);
        match request.get("method").and_then(Value::as_str) {
            Some("elicitation/create") => match Elicitation::from_params(&params) {
                Ok(ask) => Self::Elicitation(ask),
                Err(_) => Self::Unknown(request.clone()),
            },
            Some("sampling/createMessage") => Self::Sampling(params),
            Some("roots/list") => Self::Roots,
            _ => Self::Unknown(request.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_modes_are_read_and_bad_ones_are_refused() {
        let form =
            Elicitation::from_params(&json!({ "message": "m", "requestedSchema": { "type": "object" } }));
        assert!(matches!(form, Ok(Elicitation::Form { message, .. }) if message == "m"));
        let url =
            json!({ "mode": "url", "message": "m", "url": "https://a.example/x", "elicitationId": "e" });
        assert!(matches!(Elicitation::from_params(&url), Ok(Elicitation::Url { id: Some(_), .. })));
        for bad in [
            json!({ "mode": "url", "url": "javascript:alert(1)" }),
            json!({ "mode": "url", "url": "https://a\n.example" }),
            json!({ "mode": "url" }),
            json!({ "mode": "voice" }),
            json!({ "requestedSchema": [] }),
        ] {
            assert!(Elicitation::from_params(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_unknown_input_request_is_kept() {
        let odd = json!({ "method": "x/y", "params": {} });
        assert_eq!(InputRequest::from_json(&odd), InputRequest::Unknown(odd.clone()));
        assert_eq!(InputRequest::from_json(&json!({ "method": "roots/list" })), InputRequest::Roots);
    }
}
