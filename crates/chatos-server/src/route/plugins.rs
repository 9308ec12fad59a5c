//! Plugins: the listing, what a person decides by, trusting, installing, removing.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequest, Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json};
use chatos_host::plugins_api::{DataChoice, Limits};
use chatos_host::{ErrorCode, Fault, Host, InstallOrder, Text};
use chatos_wire::operation::OperationView;
use chatos_wire::plugin::{
    AppAi, FileDiff, InstallBody, PluginDetails, PluginEntry, PluginFiles, PluginListing, PluginLog,
    PluginRemoved, RefreshBody, TrustBody, TrustSheet,
};
use http_body_util::BodyExt;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::io::AsyncWriteExt;

use crate::api::{ApiError, Body, Query, Routes, lang_of};
use crate::app::App;
use crate::narrow::AppCaller;

/// An upload that sends nothing for this long is given up.
const UPLOAD_IDLE: Duration = Duration::from_secs(30);

/// Options of an upload, in the query.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct UploadQuery {
    #[serde(default)]
    allow_problems: bool,
    #[serde(default)]
    dry_run: bool,
}

pub(crate) fn add(routes: &mut Routes) {
    routes.read::<PluginListing>("/api/v1/plugins", "All plugins, apps and problems", &[], get(list));
    let one = get(read).delete(remove);
    routes.read::<PluginDetails>("/api/v1/plugins/{id}", "One plugin in full", &[], one);
    routes.document_act::<PluginRemoved>(
        Method::DELETE,
        "/api/v1/plugins/{id}",
        "Remove a plugin (?data=keep|delete)",
    );
    routes.read::<PluginFiles>("/api/v1/plugins/{id}/files", "Files of a plugin", &[], get(files));
    routes.read::<TrustSheet>(
        "/api/v1/plugins/{id}/trust-sheet",
        "Everything to decide by, with what changed",
        &[],
        get(trust_sheet),
    );
    routes.read::<FileDiff>(
        "/api/v1/plugins/{id}/diff",
        "One file as trusted and as it is",
        &[("path", "Path of the file in the plugin")],
        get(diff),
    );
    routes.read::<PluginLog>(
        "/api/v1/plugins/{id}/log",
        "Newest output of its processes",
        &[("limit", "Lines at most, 500 by default")],
        get(log),
    );
    routes.write::<TrustBody, PluginEntry>(
        Method::POST,
        "/api/v1/plugins/{id}/trust",
        "Trust exactly these bytes",
        200,
        post(trust),
    );
    routes.write::<chatos_wire::status::Empty, PluginEntry>(
        Method::POST,
        "/api/v1/plugins/{id}/untrust",
        "Take trust back",
        200,
        post(untrust),
    );
    routes.write::<InstallBody, OperationView>(
        Method::POST,
        "/api/v1/plugins/install",
        "Install a package by path, or by a body of type application/zip",
        202,
        post(install).get(|State(app), headers| details(app, headers, "install".to_owned())),
    );
    routes.write::<RefreshBody, PluginListing>(
        Method::POST,
        "/api/v1/plugins/refresh",
        "Look at the plugin directories again",
        200,
        post(refresh).get(|State(app), headers| details(app, headers, "refresh".to_owned())),
    );
    routes.read::<Value>("/api/v1/plugins/{id}/apps/{app}/icon", "The image of an app", &[], get(icon));
    routes.read::<AppAi>(
        "/api/v1/apps/{app}/ai",
        "What an app (PLUGIN.APP) contributes",
        &[("preview", "true: also for an app nobody trusts")],
        get(ai),
    );
}

/// Runs work that waits for disk or database.
pub(crate) async fn blocking<T: Send + 'static>(
    app: &App,
    work: impl FnOnce(&Arc<Host>) -> Result<T, Fault> + Send + 'static,
) -> Result<T, ApiError> {
    let host = app.host().clone();
    let done = tokio::task::spawn_blocking(move || work(&host)).await;
    let done = done.map_err(|error| Fault::new(ErrorCode::Internal, Text::same(error.to_string())))?;
    Ok(done?)
}

/// A snapshot with its ETag; 304 for a caller that has it already.
fn tagged(headers: &HeaderMap, value: &impl Serialize) -> Result<Response, ApiError> {
    let body = serde_json::to_vec(value)
        .map_err(|error| Fault::new(ErrorCode::Internal, Text::same(error.to_string())))?;
    let digest: String = Sha256::digest(&body)[..12].iter().map(|byte| format!("{byte:02x}")).collect();
    let tag = format!("\"{digest}\"");
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut response = if known.split(',').any(|known| known.trim() == tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, "application/json")], body).into_response()
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}

async fn list(
    State(app): State<App>,
    headers: HeaderMap,
    caller: Option<Extension<AppCaller>>,
) -> Result<Response, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let listing = blocking(&app, move |host| {
        let desk = host.plugins()?;
        Ok(if caller.is_some() { desk.listing_for_app(lang) } else { desk.listing(lang) })
    })
    .await?;
    tagged(&headers, &listing)
}

async fn read(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<PluginDetails>, ApiError> {
    details(app, headers, id).await
}

async fn details(app: App, headers: HeaderMap, id: String) -> Result<Json<PluginDetails>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    blocking(&app, move |host| host.plugins()?.details(&id, lang)).await.map(Json)
}

async fn files(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<PluginFiles>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let details = blocking(&app, move |host| host.plugins()?.details(&id, lang)).await?;
    Ok(Json(PluginFiles { files: details.files }))
}

async fn trust_sheet(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<TrustSheet>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    blocking(&app, move |host| host.trust_sheet(&id, lang)).await.map(Json)
}

/// `?path=…`.
#[derive(Debug, Deserialize)]
struct PathQuery {
    path: String,
}

async fn diff(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<PathQuery>,
) -> Result<Json<FileDiff>, ApiError> {
    let path = query.path.clone();
    let found = blocking(&app, move |host| host.plugins()?.diff(&id, &path)).await?;
    found.map(Json).ok_or_else(|| {
        Fault::new(
            ErrorCode::NotFound,
            Text::new(
                format!("there is no file `{}` in the plugin", query.path),
                format!("插件中没有文件 `{}`", query.path),
            ),
        )
        .into()
    })
}

/// `?limit=…`.
#[derive(Debug, Deserialize)]
struct LimitQuery {
    #[serde(default = "LimitQuery::default_limit")]
    limit: usize,
}

impl LimitQuery {
    fn default_limit() -> usize {
        500
    }
}

async fn log(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<LimitQuery>,
) -> Result<Json<PluginLog>, ApiError> {
    blocking(&app, move |host| host.plugins()?.log(&id, query.limit.min(10_000))).await.map(Json)
}

async fn trust(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(body): Body<TrustBody>,
) -> Result<Json<PluginEntry>, ApiError> {
    blocking(&app, move |host| {
        host.trust_plugin(&id, &body.digest, body.allow_inside_network, body.allow.as_deref(), "person")
    })
    .await
    .map(Json)
}

async fn untrust(
    State(app): State<App>,
    Path(id): Path<String>,
    _body: Body<chatos_wire::status::Empty>,
) -> Result<Json<PluginEntry>, ApiError> {
    blocking(&app, move |host| host.untrust_plugin(&id, "person")).await.map(Json)
}

/// `?data=keep|delete`.
#[derive(Debug, Default, Deserialize)]
struct DataQuery {
    data: Option<String>,
}

async fn remove(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(query): Query<DataQuery>,
) -> Result<Json<Value>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let data = match query.data.as_deref() {
        None | Some("keep") => DataChoice::Keep,
        Some("delete") => DataChoice::Delete,
        Some(_) => {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("data is keep or delete", "data 只能是 keep 或 delete"),
            )
            .into());
        }
    };
    blocking(&app, move |host| host.uninstall_plugin(&id, data, lang)).await.map(Json)
}

async fn refresh(
    State(app): State<App>,
    headers: HeaderMap,
    Body(body): Body<RefreshBody>,
) -> Result<Json<PluginListing>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let listing = blocking(&app, move |host| {
        host.refresh_plugins(body.deep)?;
        Ok(host.plugins()?.listing(lang))
    });
    listing.await.map(Json)
}

/// Two forms, told apart by their type: JSON with a path, or the bytes of a zip file. A folder dropped
/// on the page is sent as a zip file the page makes.
async fn install(
    State(app): State<App>,
    Query(query): Query<UploadQuery>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let lang = lang_of(request.headers(), app.host().lang());
    let kind =
        request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let order = if kind.to_ascii_lowercase().starts_with("application/json") {
        let Body(body) = Body::<InstallBody>::from_request(request, &app).await?;
        if !body.path.is_absolute() {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("the path of a package must be absolute", "安装包的路径必须是绝对路径"),
            )
            .into());
        }
        InstallOrder {
            source: body.path,
            allow_problems: body.allow_problems,
            dry_run: body.dry_run,
            uploaded: false,
            lang,
        }
    } else {
        let source = receive(&app, request).await?;
        InstallOrder {
            source,
            allow_problems: query.allow_problems,
            dry_run: query.dry_run,
            uploaded: true,
            lang,
        }
    };
    let host = app.host().clone();
    let operation = host.install_plugin(order)?;
    Ok((StatusCode::ACCEPTED, Json(operation.view(lang))))
}

/// Streams an upload into staging; what is cut off there is removed at the next start.
async fn receive(app: &App, request: Request) -> Result<PathBuf, ApiError> {
    let limit = Limits::default().bytes;
    let declared = request
        .headers()
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if declared.is_some_and(|length| length > limit) {
        return Err(ApiError::Status(StatusCode::PAYLOAD_TOO_LARGE));
    }
    let path = blocking(app, |host| host.new_upload()).await?;
    let written = write_body(request, &path, limit).await;
    if let Err(error) = written {
        // The first failure is the one to tell; a leftover is removed at the next start.
        tokio::fs::remove_file(&path).await.ok();
        return Err(error);
    }
    Ok(path)
}

async fn write_body(request: Request, path: &std::path::Path, limit: u64) -> Result<(), ApiError> {
    let failed = |error: std::io::Error| {
        let class = match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                ErrorCode::ResourceExhausted
            }
            _ => ErrorCode::Unavailable,
        };
        Fault::new(class, Text::fixed("the upload cannot be stored", "无法保存上传的文件")).caused_by(&error)
    };
    let mut file = tokio::fs::OpenOptions::new().write(true).open(path).await.map_err(failed)?;
    let mut body = request.into_body();
    let mut received = 0_u64;
    loop {
        let frame = match tokio::time::timeout(UPLOAD_IDLE, body.frame()).await {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(_))) => return Err(ApiError::Status(StatusCode::BAD_REQUEST)),
            Err(_) => return Err(ApiError::Status(StatusCode::REQUEST_TIMEOUT)),
        };
        if let Ok(bytes) = frame.into_data() {
            received += bytes.len() as u64;
            if received > limit {
                return Err(ApiError::Status(StatusCode::PAYLOAD_TOO_LARGE));
            }
            file.write_all(&bytes).await.map_err(failed)?;
        }
    }
    file.flush().await.map_err(failed)?;
    Ok(())
}

async fn icon(
    State(app): State<App>,
    Path((id, app_id)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let found = blocking(&app, move |host| host.plugins()?.icon(&id, &app_id)).await?;
    match found {
        Some((bytes, kind)) => Ok(([(header::CONTENT_TYPE, kind)], bytes).into_response()),
        None => Err(ApiError::Status(StatusCode::NOT_FOUND)),
    }
}

/// `?preview=true`.
#[derive(Debug, Default, Deserialize)]
struct PreviewQuery {
    #[serde(default)]
    preview: bool,
}

async fn ai(
    State(app): State<App>,
    Path(key): Path<String>,
    Query(query): Query<PreviewQuery>,
) -> Result<Json<AppAi>, ApiError> {
    let found = blocking(&app, move |host| {
        let desk = host.plugins()?;
        let key = desk.app_key(&key)?;
        let (contribution, trusted) = desk.contribution(&key, query.preview)?;
        let contribution = contribution
            .map(serde_json::to_value)
            .transpose()
            .map_err(|error| Fault::new(ErrorCode::Internal, Text::same(error.to_string())))?;
        Ok(AppAi { plugin_id: key.plugin.to_string(), app_id: key.app.to_string(), trusted, contribution })
    });
    found.await.map(Json)
}
