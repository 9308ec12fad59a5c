//! Plugins: the listing, what a person decides by, trusting, installing, removing.

use std::path::PathBuf;
use std::time::Duration;

use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use chatos_plugins::{DataChoice, InstallOrder, Limits};
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::operation::OperationView;
use chatos_wire::plugin::{
    AppAi, FileDiff, InstallBody, LogQuery, PluginDetails, PluginDiffQuery, PluginEntry, PluginFiles,
    PluginListing, PluginLog, PluginRemoved, PreviewQuery, RefreshBody, RemoveQuery, TrustBody, TrustSheet,
    UploadQuery,
};
use http_body_util::BodyExt;
use tokio::io::AsyncWriteExt;

use crate::answer::{Accepted, Output, Tagged, typed};
use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Path, Query, Upload};
use crate::table::Routes;

/// An upload that sends nothing for this long is given up.
const UPLOAD_IDLE: Duration = Duration::from_secs(30);

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/plugins", "All plugins, apps and problems", list);
    routes.get("/api/v1/plugins/{id}", "One plugin in full", read);
    routes.delete("/api/v1/plugins/{id}", "Remove a plugin (?data=keep|delete)", remove);
    routes.get("/api/v1/plugins/{id}/files", "Files of a plugin", files);
    routes.get("/api/v1/plugins/{id}/trust-sheet", "Everything to decide by, with what changed", trust_sheet);
    routes.get("/api/v1/plugins/{id}/diff", "One file as trusted and as it is", diff);
    routes.get("/api/v1/plugins/{id}/log", "Newest output of its processes", log);
    routes.post("/api/v1/plugins/{id}/trust", "Trust exactly these bytes", trust);
    routes.post("/api/v1/plugins/{id}/untrust", "Take trust back", untrust);
    routes.post(
        "/api/v1/plugins/install",
        "Install a package by path, or by a body of type application/zip",
        install,
    );
    routes.post("/api/v1/plugins/refresh", "Look at the plugin directories again", refresh);
    routes.bytes("/api/v1/plugins/{id}/apps/{app}/icon", icon);
    routes.bytes("/api/v1/plugins/install", |app, cx, (): ()| named_as_a_route(app, cx, "install"));
    routes.bytes("/api/v1/plugins/refresh", |app, cx, (): ()| named_as_a_route(app, cx, "refresh"));
    routes.get("/api/v1/apps/{app}/ai", "What an app (PLUGIN.APP) contributes", ai);
}

async fn list(app: App, cx: Caller, (): ()) -> Result<Tagged<PluginListing>, ApiError> {
    let caller = cx.app;
    let lang = cx.lang;
    let listing = blocking(app.host(), move |host| {
        if caller.is_some() {
            Ok(host.plugins()?.listing_for_app(lang))
        } else {
            host.apps().plugin_listing(lang)
        }
    })
    .await?;
    Ok(Tagged(listing))
}

async fn read(app: App, cx: Caller, Path(id): Path<String>) -> Result<PluginDetails, ApiError> {
    details(&app, cx.lang, id).await
}

async fn details(app: &App, lang: Lang, id: String) -> Result<PluginDetails, ApiError> {
    blocking(app.host(), move |host| host.apps().plugin_details(&id, lang)).await
}

/// A plugin whose id is the last word of another route.
async fn named_as_a_route(app: App, cx: Caller, id: &str) -> Result<Response, ApiError> {
    Ok(details(&app, cx.lang, id.to_owned()).await?.answer(&cx))
}

async fn files(app: App, cx: Caller, Path(id): Path<String>) -> Result<PluginFiles, ApiError> {
    let lang = cx.lang;
    let details = blocking(app.host(), move |host| host.plugins()?.details(&id, lang)).await?;
    Ok(PluginFiles { files: details.files })
}

async fn trust_sheet(app: App, cx: Caller, Path(id): Path<String>) -> Result<TrustSheet, ApiError> {
    let lang = cx.lang;
    blocking(app.host(), move |host| host.trust_sheet(&id, lang)).await
}

async fn diff(
    app: App,
    _: Caller,
    (Path(id), Query(query)): (Path<String>, Query<PluginDiffQuery>),
) -> Result<FileDiff, ApiError> {
    let path = query.path.clone();
    let found = blocking(app.host(), move |host| host.plugins()?.diff(&id, &path)).await?;
    found.ok_or_else(|| {
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

async fn log(
    app: App,
    _: Caller,
    (Path(id), Query(query)): (Path<String>, Query<LogQuery>),
) -> Result<PluginLog, ApiError> {
    blocking(app.host(), move |host| host.plugins()?.log(&id, query.limit.unwrap_or(500).min(10_000))).await
}

async fn trust(
    app: App,
    _: Caller,
    (Path(id), Body(body)): (Path<String>, Body<TrustBody>),
) -> Result<PluginEntry, ApiError> {
    blocking(app.host(), move |host| {
        host.trust_plugin(&id, &body.digest, body.allow_inside_network, body.allow.as_deref(), "person")
    })
    .await
}

async fn untrust(
    app: App,
    _: Caller,
    (Path(id), _body): (Path<String>, Body<chatos_wire::status::Empty>),
) -> Result<PluginEntry, ApiError> {
    blocking(app.host(), move |host| host.untrust_plugin(&id, "person")).await
}

async fn remove(
    app: App,
    cx: Caller,
    (Path(id), Query(query)): (Path<String>, Query<RemoveQuery>),
) -> Result<PluginRemoved, ApiError> {
    let lang = cx.lang;
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
    typed(blocking(app.host(), move |host| host.uninstall_plugin(&id, data, lang)).await?)
}

async fn refresh(app: App, cx: Caller, Body(body): Body<RefreshBody>) -> Result<PluginListing, ApiError> {
    let lang = cx.lang;
    let listing = blocking(app.host(), move |host| {
        host.refresh_plugins(body.deep)?;
        Ok(host.plugins()?.listing(lang))
    });
    listing.await
}

/// Two forms, told apart by their type: JSON with a path, or the bytes of a zip file. A folder dropped
/// on the page is sent as a zip file the page makes.
async fn install(
    app: App,
    cx: Caller,
    (Query(query), Upload(request, _)): (Query<UploadQuery>, Upload<InstallBody>),
) -> Result<Accepted<OperationView>, ApiError> {
    let lang = cx.lang;
    let kind = cx.header(&header::CONTENT_TYPE).unwrap_or_default();
    let order = if kind.to_ascii_lowercase().starts_with("application/json") {
        let Body(body) = Body::<InstallBody>::of(request).await?;
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
    Ok(Accepted(operation.view(lang)))
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
    let path = blocking(app.host(), |host| host.new_upload()).await?;
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

async fn icon(app: App, _: Caller, Path((id, app_id)): Path<(String, String)>) -> Result<Response, ApiError> {
    let found = blocking(app.host(), move |host| host.plugins()?.icon(&id, &app_id)).await?;
    match found {
        Some((bytes, kind)) => Ok(([(header::CONTENT_TYPE, kind)], bytes).into_response()),
        None => Err(ApiError::Status(StatusCode::NOT_FOUND)),
    }
}

async fn ai(
    app: App,
    _: Caller,
    (Path(key), Query(query)): (Path<String>, Query<PreviewQuery>),
) -> Result<AppAi, ApiError> {
    let found = blocking(app.host(), move |host| {
        let desk = host.plugins()?;
        let key = desk.app_key(&key)?;
        let (contribution, trusted) = desk.contribution(&key, query.preview)?;
        let contribution = contribution
            .map(serde_json::to_value)
            .transpose()
            .map_err(|error| Fault::new(ErrorCode::Internal, Text::same(error.to_string())))?;
        Ok(AppAi { plugin_id: key.plugin.to_string(), app_id: key.app.to_string(), trusted, contribution })
    });
    found.await
}
