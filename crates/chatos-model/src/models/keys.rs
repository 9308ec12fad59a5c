//! Keys at the moment of a call (agents §1.3): a secret, else a variable of the host's environment
//! where that is allowed, else a failure that says what to do. They go into the request and nowhere
//! else; what learns them first is whatever keeps them out of logs.

use std::sync::Arc;

use chatos_store::ModelRecord;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::Models;
use super::edit::secret_reference;
use super::proxy;
use super::state::no_key;
use crate::error::{Class, ModelError};
use crate::http::{FindSecrets, Secrets};

/// What finds the secrets of a model's calls. `given`: a key that is tried and not stored.
pub(super) fn finder(
    models: &Models,
    record: &ModelRecord,
    given: Option<Zeroizing<String>>,
) -> Arc<FindSecrets> {
    let models = models.clone();
    let (name, url) = (record.api_key_name.clone(), record.base_url.clone());
    let (headers, body) = (record.extra_headers.clone(), record.extra_body.clone());
    Arc::new(move || {
        let mut secrets = find(&models, &name, given.as_ref(), &headers, &body)?;
        secrets.proxy = proxy::proxy_for(&models, &url, &mut secrets.values)?;
        Ok(secrets)
    })
}

fn find(
    models: &Models,
    name: &str,
    given: Option<&Zeroizing<String>>,
    headers: &Map<String, Value>,
    body: &Map<String, Value>,
) -> Result<Secrets, ModelError> {
    let mut secrets = Secrets::default();
    if let Some(given) = given {
        models.parts().redactor.learn(given);
        secrets.values.push(given.clone());
        secrets.key = Some(given.clone());
    } else if !name.is_empty() {
        secrets.key = Some(take(models, name, &mut secrets.values)?);
    }
    for (header, value) in headers {
        let Some(text) = value.as_str() else { continue };
        let value = match secret_reference(text) {
            Some(name) => take(models, name, &mut secrets.values)?,
            None => Zeroizing::new(text.to_owned()),
        };
        secrets.headers.push((header.clone(), value));
    }
    for (member, value) in body {
        let value = match value.as_str().and_then(secret_reference) {
            Some(name) => Value::String(take(models, name, &mut secrets.values)?.to_string()),
            None => value.clone(),
        };
        secrets.body.insert(member.clone(), value);
    }
    Ok(secrets)
}

pub(super) fn take(
    models: &Models,
    name: &str,
    values: &mut Vec<Zeroizing<String>>,
) -> Result<Zeroizing<String>, ModelError> {
    let config = |text: String| ModelError::new(Class::Config, text);
    let stored = models.parts().secrets.open(name).map_err(|fault| config(fault.message.en.into_owned()))?;
    let value = match stored {
        Some(secret) => Zeroizing::new(secret.expose().to_owned()),
        None => {
            let found = models.key_of_environment(name);
            Zeroizing::new(found.ok_or_else(|| config(no_key(name).en.into_owned()))?.trim().to_owned())
        }
    };
    models.parts().redactor.learn(&value);
    values.push(value.clone());
    Ok(value)
}
