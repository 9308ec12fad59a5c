//! Secrets: set and removed by name; nothing here ever gives a value back (state §6).

use axum::Json;
use axum::extract::{Path, State};
use axum::http::Method;
use axum::routing::{get, put};
use chatos_host::{SecretKind, iso_from_ms};
use chatos_wire::setting::{NewSecret, SecretList, SecretSet, SecretView};
use chatos_wire::status::Done;

use super::tasks::blocking;
use crate::api::{ApiError, Body, Routes};
use crate::app::App;

pub(crate) fn add(routes: &mut Routes) {
    routes.read::<SecretList>("/api/v1/secrets", "Names of secrets, never their values", &[], get(list));
    let path = "/api/v1/secrets/{name}";
    routes.write::<NewSecret, SecretSet>(Method::PUT, path, "Set a secret", 200, put(set).delete(remove));
    routes.document_act::<Done>(Method::DELETE, path, "Remove a secret");
}

async fn list(State(app): State<App>) -> Result<Json<SecretList>, ApiError> {
    let secrets = blocking(&app, |host| host.list_secrets()).await?;
    let items = secrets
        .into_iter()
        .map(|secret| SecretView {
            kind: SecretKind::of(&secret.name).as_str().to_owned(),
            name: secret.name,
            set: true,
            description: secret.description,
            created_at: iso_from_ms(secret.created_at),
            updated_at: iso_from_ms(secret.updated_at),
            last_used_at: secret.last_used_at.map(iso_from_ms),
            openable: secret.openable,
        })
        .collect();
    Ok(Json(SecretList { items }))
}

async fn set(
    State(app): State<App>,
    Path(name): Path<String>,
    Body(body): Body<NewSecret>,
) -> Result<Json<SecretSet>, ApiError> {
    let value = zeroize::Zeroizing::new(body.value);
    let created = blocking(&app, move |host| host.set_secret(&name, &value, body.description)).await?;
    Ok(Json(SecretSet { ok: true, created }))
}

async fn remove(State(app): State<App>, Path(name): Path<String>) -> Result<Json<Done>, ApiError> {
    let gone = name.clone();
    blocking(&app, move |host| host.remove_secret(&gone)).await?;
    app.host().servers().secret_removed(&name).await;
    Ok(Json(Done { ok: true }))
}
