//! Failures of a call in the words of a model's failures, without anybody's key in them.

use chatos_net::NetError;
use zeroize::Zeroizing;

use crate::{Class, ModelError};

/// The call was cancelled by its caller.
pub(super) fn cancelled() -> ModelError {
    ModelError::new(Class::Canceled, "the call was cancelled")
}

/// No connection.
pub(super) fn unconnected(error: &NetError) -> ModelError {
    let class = match error {
        NetError::AddressRefused { .. } | NetError::Proxy { status: Some(407), .. } => Class::Config,
        NetError::Proxy { .. } | NetError::Unreachable { .. } | NetError::Tls { .. } => Class::Network,
    };
    ModelError::new(class, error.to_string())
}

/// A connection that broke, with what is behind it.
pub(super) fn broken(error: &dyn std::error::Error) -> ModelError {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    ModelError::new(Class::Network, text)
}

/// Takes secrets out of what a vendor said: some repeat the key they refuse (security T15).
pub(super) fn scrub(mut error: ModelError, values: &[Zeroizing<String>]) -> ModelError {
    let redactor = chatos_tool::Redactor::new();
    for value in values {
        redactor.learn(value);
    }
    error.message = redactor.message(&error.message).into_owned();
    error.param = error.param.filter(|param| values.iter().all(|value| !param.contains(value.as_str())));
    error
}
