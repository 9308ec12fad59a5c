//! The proxy on the way to a model: the setting, else the environment, never for this machine. What it
//! wants as a name and a password is a secret, or part of a variable; both are kept out of every log.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chatos_net::{Origin, Proxy, is_excepted, is_loopback, parse_proxy};
use zeroize::Zeroizing;

use super::Models;
use super::keys::take;
use crate::error::{Class, ModelError};

/// The proxy for calls to this address, with what it wants to hear.
pub(super) fn proxy_for(
    models: &Models,
    url: &str,
    values: &mut Vec<Zeroizing<String>>,
) -> Result<Option<Proxy>, ModelError> {
    // An address that is none fails later, with its own words.
    let Some(target) = url.parse().ok().and_then(|uri| Origin::of(&uri)) else { return Ok(None) };
    let chosen = models.parts().settings.text("modelProxy");
    let chosen = chosen.trim();
    if is_loopback(&target.host) || chosen == "off" || is_excepted(&exceptions(models), &target) {
        return Ok(None);
    }
    let (origin, user) = if chosen.is_empty() {
        let Some((origin, user)) = from_environment(models, target.secure) else { return Ok(None) };
        (origin, user.map(|user| decoded(&user)))
    } else {
        let (origin, _) = parse_proxy(chosen).ok_or_else(|| {
            ModelError::new(Class::Config, "the setting modelProxy is not the address of a proxy")
        })?;
        let name = models.parts().settings.text("modelProxySecret");
        let user = Some(name.trim()).filter(|name| !name.is_empty()).map(|name| take(models, name, values));
        (origin, user.transpose()?)
    };
    let authorization = user.map(|user| {
        let encoded = Zeroizing::new(STANDARD.encode(user.as_bytes()));
        let password = user.split_once(':').map_or("", |(_, password)| password);
        for part in [user.as_str(), password, encoded.as_str()].into_iter().filter(|part| !part.is_empty()) {
            models.parts().redactor.learn(part);
            values.push(Zeroizing::new(part.to_owned()));
        }
        Zeroizing::new(format!("Basic {}", encoded.as_str()))
    });
    Ok(Some(Proxy { origin, authorization }))
}

fn exceptions(models: &Models) -> String {
    let chosen = models.parts().settings.text("modelNoProxy");
    if !chosen.trim().is_empty() {
        return chosen;
    }
    let given = ["no_proxy", "NO_PROXY"].into_iter().find_map(|name| models.parts().environment.get(name));
    given.unwrap_or_default().to_owned()
}

/// As other programs read it: the small letters first. What is no proxy we can speak to is left out, so
/// that a machine set up for another kind works as it did.
fn from_environment(models: &Models, secure: bool) -> Option<(Origin, Option<Zeroizing<String>>)> {
    let names = if secure { ["https_proxy", "HTTPS_PROXY"] } else { ["http_proxy", "HTTP_PROXY"] };
    let value = names
        .into_iter()
        .chain(["all_proxy", "ALL_PROXY"])
        .find_map(|name| models.parts().environment.get(name).filter(|value| !value.trim().is_empty()))?;
    let found = parse_proxy(value);
    if found.is_none() {
        tracing::warn!("the proxy of the environment is neither http nor https; models are asked directly");
    }
    found
}

/// `%40` and the like, as a name and a password are written in an address.
fn decoded(text: &str) -> Zeroizing<String> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len()));
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    Zeroizing::new(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_addresses_are_decoded() {
        for (written, meant) in [("u:p%40ss", "u:p@ss"), ("a%3Ab:c", "a:b:c"), ("x%zz%4", "x%zz%4"), ("", "")]
        {
            assert_eq!(decoded(written).as_str(), meant);
        }
    }
}
