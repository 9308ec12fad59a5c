//! Browsers that are signed in: listed, and signed out one by one or all at once (inbox §7).

use chatos_store::{BrowserRow, iso_from_ms};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::auth::{BrowserList, BrowserView, BrowsersRevoked};
use chatos_wire::event::{HostEvent, RevokedBrowser};
use serde_json::{Map, json};

use crate::api::ApiError;
use crate::app::App;
use crate::blocking::failed;
use crate::caller::Caller;
use crate::input::Path;
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/browsers", "Browsers that are signed in", list);
    routes.delete("/api/v1/browsers", "Sign all browsers out", revoke_all);
    routes.delete("/api/v1/browsers/{id}", "Sign a browser out", revoke);
}

/// Does what waits for the disk beside everything else.
pub(super) async fn work<T: Send + 'static>(
    app: &App,
    work: impl FnOnce(&App) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let app = app.clone();
    let done = chatos_blocking::run(move || work(&app)).await;
    done.map_err(|error| failed(&error))?
}

async fn list(app: App, cx: Caller, (): ()) -> Result<BrowserList, ApiError> {
    let session = cx.session()?;
    work(&app, move |app| {
        let own = app.auth().browser_of(session);
        let rows = app.browsers().list().map_err(Fault::from)?;
        let view = |(row, until): (BrowserRow, i64)| BrowserView {
            current: own.as_ref() == Some(&row.id),
            id: row.id,
            name: row.name,
            created_at: iso_from_ms(row.created_at),
            last_seen: iso_from_ms(row.seen_at),
            address: Some(row.address).filter(|address| !address.is_empty()),
            expires_at: iso_from_ms(until),
        };
        Ok(BrowserList { items: rows.into_iter().map(view).collect() })
    })
    .await
}

async fn revoke(app: App, _: Caller, Path(id): Path<String>) -> Result<BrowsersRevoked, ApiError> {
    work(&app, move |app| {
        let revoked = app.revoke(Some(&id))?;
        if revoked == 0 {
            return Err(unknown(&id).into());
        }
        Ok(BrowsersRevoked { ok: true, revoked })
    })
    .await
}

async fn revoke_all(app: App, _: Caller, (): ()) -> Result<BrowsersRevoked, ApiError> {
    work(&app, move |app| Ok(BrowsersRevoked { ok: true, revoked: app.revoke(None)? })).await
}

fn unknown(id: &str) -> Fault {
    Fault::new(
        ErrorCode::NotFound,
        Text::new(
            format!("no browser with the ID `{id}` is signed in"),
            format!("没有 ID 为 `{id}` 的已登录浏览器"),
        ),
    )
    .code("unknown_browser")
    .hint(Text::fixed("look at `chatos browsers list`", "请查看 `chatos browsers list`"))
}

impl App {
    /// Signs one browser out, or all: their tokens end, their pages are told. Gives how many. Blocks.
    pub(crate) fn revoke(&self, only: Option<&str>) -> Result<usize, Fault> {
        let rows = self.browsers().revoke(only)?;
        for row in &rows {
            self.auth().end_browser(&row.id);
            self.tell_revoked(row, "browser_revoked");
        }
        Ok(rows.len())
    }

    /// Records that a browser was signed out, and tells every page.
    pub(super) fn tell_revoked(&self, row: &BrowserRow, kind: &str) {
        let mut fields = Map::new();
        fields.insert("browser".to_owned(), json!(row.id));
        fields.insert("name".to_owned(), json!(row.name));
        self.host().audit(kind, fields);
        let reused = kind == "cookie_reuse";
        let (id, name) = (row.id.clone(), row.name.clone());
        self.host().events().publish(HostEvent::BrowserRevoked(RevokedBrowser { id, name, reused }));
    }
}
