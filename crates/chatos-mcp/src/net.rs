//! Connections to servers on other machines, with failures in this crate's words.

use chatos_net::{Addresses, NetError, Stream};

use crate::failure::Failure;

pub(crate) use chatos_net::Origin;

/// Connects, with TLS where the scheme says so.
pub(crate) async fn connect(origin: &Origin, addresses: Addresses) -> Result<Stream, Failure> {
    chatos_net::connect(origin, addresses).await.map_err(|error| match error {
        NetError::AddressRefused { host, kind, can_allow } => {
            Failure::AddressRefused { host, kind, can_allow }
        }
        // Nothing here goes through one.
        NetError::Proxy { proxy: target, error, .. } | NetError::Unreachable { target, error } => {
            Failure::Unreachable { target, error }
        }
        NetError::Tls { target, error } => Failure::Tls { target, error },
    })
}
