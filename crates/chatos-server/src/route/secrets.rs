//! Secrets: set and removed by name; nothing here ever gives a value back (state §6).

use chatos_store::{SecretKind, iso_from_ms};
use chatos_wire::setting::{NewSecret, SecretList, SecretSet, SecretView};
use chatos_wire::status::Done;

use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Path};
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/secrets", "Names of secrets, never their values", list);
    routes.put("/api/v1/secrets/{name}", "Set a secret", set);
    routes.delete("/api/v1/secrets/{name}", "Remove a secret", remove);
}

async fn list(app: App, _: Caller, (): ()) -> Result<SecretList, ApiError> {
    let secrets = blocking(app.host(), |host| host.secrets().list()).await?;
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
    Ok(SecretList { items })
}

async fn set(
    app: App,
    _: Caller,
    (Path(name), Body(body)): (Path<String>, Body<NewSecret>),
) -> Result<SecretSet, ApiError> {
    let value = zeroize::Zeroizing::new(body.value);
    let created =
        blocking(app.host(), move |host| host.secrets().set(&name, &value, body.description)).await?;
    Ok(SecretSet { ok: true, created })
}

async fn remove(app: App, _: Caller, Path(name): Path<String>) -> Result<Done, ApiError> {
    let gone = name.clone();
    blocking(app.host(), move |host| host.secrets().remove(&gone)).await?;
    app.host().servers().secret_removed(&name).await;
    Ok(Done { ok: true })
}
