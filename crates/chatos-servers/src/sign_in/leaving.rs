//! Ends sign-ins that nobody can use any more: those to removed servers and to servers of removed plugins,
//! and those for an address that a server no longer has. Here at once; where they were given when it answers.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use chatos_events::Finding;
use chatos_mcp::{Addresses, Auth, Endpoint, Grant};
use chatos_store::{SecretKind, StoreError};
use chatos_tool::Text;
use chatos_wire::Severity;
use serde_json::{Map, json};
use tokio::runtime::Handle;

use super::kept::{KeptFor, Place};
use super::{blocking, revoked};
use crate::catalogue::{Catalogue, ServerRecord};
use crate::parts::ServersParts;
use crate::servers::Servers;

/// A host that stops, or a command that is done, waits this long for the other side.
const LAST_WORDS: Duration = Duration::from_secs(3);
const KINDS: [SecretKind; 2] = [SecretKind::Grant, SecretKind::SignIn];

/// What is ended: dropped here, or about to be.
pub struct Leaving {
    identity: String,
    endpoint: Endpoint,
    grant: Grant,
}

impl ServersParts {
    /// What sign-ins to the servers of a plugin gave. The store forgets them with the plugin. Blocks.
    pub fn sign_ins_of(&self, plugin: &str) -> Vec<Leaving> {
        let names = self.store.secret_names(SecretKind::Grant).unwrap_or_default();
        let prefix = SecretKind::Grant.name_for(&format!("app:{plugin}/"));
        let own = names.into_iter().filter(|name| name.starts_with(&prefix));
        own.filter_map(|name| {
            let (_, identity) = name.split_once(':')?;
            // As every server of an app: the trust page asked about addresses inside (security T20).
            self.leaving(identity, true)
        })
        .collect()
    }

    /// Tells where they were given that they are over. Nobody waits for it.
    pub fn end_sign_ins(&self, leaving: Vec<Leaving>) {
        for Leaving { identity, endpoint, grant } in leaving {
            let mut fields = Map::new();
            fields.insert("id".to_owned(), json!(identity));
            fields.insert("issuer".to_owned(), json!(grant.issuer()));
            fields.insert("scopes".to_owned(), json!(grant.scopes()));
            self.audit.note("server_signed_out", fields);
            let (Ok(_), Endpoint::Http(remote)) = (Handle::try_current(), endpoint) else { continue };
            let stop = self.life.stop().clone();
            self.life.spawn(Box::pin(async move {
                let late = async {
                    stop.cancelled().await;
                    tokio::time::sleep(LAST_WORDS).await;
                };
                tokio::select! {
                    _ = revoked(&remote, &grant) => {}
                    () = late => {}
                }
            }));
        }
    }

    /// The grant of a server, wherever that was then.
    fn leaving(&self, identity: &str, private: bool) -> Option<Leaving> {
        let name = SecretKind::Grant.name_for(identity);
        let secret = self.store.look_at_secret(&self.auth_key(), &name).ok()??;
        let kept: KeptFor = serde_json::from_str(secret.expose()).ok()?;
        let addresses = if private { Addresses::Private } else { Addresses::Public };
        let endpoint = Endpoint::remote(&kept.url, &Auth::default(), addresses).ok()?;
        Some(Leaving { identity: identity.to_owned(), endpoint, grant: kept.grant })
    }

    /// Drops what was given for another address than the server has now. Blocks.
    fn drop_elsewhere(&self, identity: &str, url: &str, private: bool) -> Result<Vec<Leaving>, StoreError> {
        let leaving = self.leaving(identity, private);
        let mut is_gone = false;
        for kind in KINDS {
            let elsewhere = |text: &str| serde_json::from_str(text).is_ok_and(|at: Place| at.url != url);
            let name = kind.name_for(identity);
            let dropped = self.store.swap_secret(&self.auth_key(), &name, elsewhere, None)?;
            is_gone |= dropped && kind == SecretKind::Grant;
        }
        Ok(leaving.filter(|_| is_gone).into_iter().collect())
    }

    /// Sign-ins of servers that are not there, or not at that address, for the doctor. Blocks.
    pub(crate) fn examine_sign_ins(&self, known: &Catalogue) -> Vec<Finding> {
        let mut findings = Vec::new();
        for kind in KINDS {
            for name in self.store.secret_names(kind).unwrap_or_default() {
                let Some((_, identity)) = name.split_once(':') else { continue };
                let server = known.servers.iter().find(|server| server.identity().as_str() == identity);
                let kept = self.store.look_at_secret(&self.auth_key(), &name).ok().flatten();
                let kept = kept.and_then(|kept| serde_json::from_str::<Place>(kept.expose()).ok());
                let message = match (server, kept) {
                    (None, _) => Text::new(
                        format!("a sign-in is kept for the server `{identity}`, which is not there"),
                        format!("保存了服务器 `{identity}` 的登录，但该服务器不存在"),
                    ),
                    (Some(server), Some(kept)) if kept.url != server.url => Text::new(
                        format!(
                            "a sign-in is kept for `{}` at another address than it has now",
                            server.name()
                        ),
                        format!("保存的 `{}` 的登录对应另一个地址，不是它现在的地址", server.name()),
                    ),
                    _ => continue,
                };
                let title = Text::fixed("Sign-ins to servers", "服务器登录");
                let command = format!("chatos secrets remove {name}");
                findings.push(
                    Finding::new("sign_in_leftover", Severity::Warning, title, message)
                        .action(Text::same(command)),
                );
            }
        }
        findings
    }
}

impl Servers {
    /// Drops everything of a server that is removed; the other side is told when it answers.
    pub(crate) async fn forget_sign_in(&self, known: &Arc<ServerRecord>) {
        let parts = self.parts();
        let (identity, private) = (known.identity().as_str().to_owned(), known.allow_private);
        let gone = blocking(move || {
            let leaving = parts.leaving(&identity, private);
            for kind in KINDS {
                parts.store.remove_secret(&kind.name_for(&identity))?;
            }
            parts.end_sign_ins(leaving.into_iter().collect());
            Ok::<(), StoreError>(())
        });
        match gone.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "a sign-in of a removed server is left over"),
            Err(fault) => tracing::warn!(%fault, "a sign-in of a removed server is left over"),
        }
    }

    /// The address of a server changed: what was given for the old one is ended.
    pub(crate) async fn forget_elsewhere(&self, identity: String, url: String, private: bool) {
        let parts = self.parts();
        let ended = blocking(move || {
            let leaving = parts.drop_elsewhere(&identity, &url, private)?;
            parts.end_sign_ins(leaving);
            Ok::<(), StoreError>(())
        });
        match ended.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "a sign-in for an old address is left over"),
            Err(fault) => tracing::warn!(%fault, "a sign-in for an old address is left over"),
        }
    }
}

/// Drops sign-ins that nobody finished in time, and what was given for addresses that servers no longer
/// have; a host that is not there cannot do it.
pub(crate) async fn tidy(parts: &Arc<ServersParts>, known: &Arc<Catalogue>) {
    let (parts, known) = (Arc::clone(parts), Arc::clone(known));
    let tidied = blocking(move || {
        let kept: HashSet<String> = KINDS
            .into_iter()
            .flat_map(|kind| parts.store.secret_names(kind).unwrap_or_default())
            .filter_map(|name| Some(name.split_once(':')?.1.to_owned()))
            .collect();
        for server in known.servers.iter().filter(|server| kept.contains(server.identity().as_str())) {
            if let Some(sign_in) = server.sign_in.as_ref().filter(|sign_in| sign_in.is_over())
                && let Err(reason) = sign_in.abandon()
            {
                tracing::warn!(reason, "a sign-in that is over cannot be dropped");
            }
            match parts.drop_elsewhere(server.identity().as_str(), &server.url, server.allow_private) {
                Ok(leaving) => parts.end_sign_ins(leaving),
                Err(error) => tracing::warn!(%error, "a sign-in for an old address is left over"),
            }
        }
    });
    if let Err(fault) = tidied.await {
        tracing::warn!(%fault, "sign-ins that are over cannot be dropped");
    }
}
