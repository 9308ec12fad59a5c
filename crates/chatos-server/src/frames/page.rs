//! The bootstrap page of a frame (host-api §2.4). Every word in it is ours: a value of the address is
//! one of a few known words, or it is not used.

use axum::http::{HeaderValue, header};
use axum::response::Response;

use super::typed;
use crate::app::App;

pub(super) fn frame(app: &App, query: &str) -> Response {
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map_or("", |(_, value)| value)
    };
    let one_of = |given: &str, known: &[&'static str]| {
        known.iter().copied().find(|word| *word == given).unwrap_or(known[0])
    };
    let lang = one_of(value("lang"), &["en", "zh"]);
    let theme = one_of(value("theme"), &["light", "dark"]);
    let surface = one_of(value("surface"), &["full", "compact"]);
    // Only a nonce that was minted here is repeated; a page opened in any other way has none, and
    // no handshake comes of it.
    let nonce = Some(value("nonce")).filter(|nonce| app.host().apps().knows_nonce(nonce)).unwrap_or_default();
    let lang_tag = if lang == "zh" { "zh-CN" } else { "en" };
    let page = format!(
        "<!doctype html>\n<html lang=\"{lang_tag}\" data-theme=\"{theme}\" data-surface=\"{surface}\">\n<head>\n\
         <meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"chatos-nonce\" content=\"{nonce}\">\n<title>ChatOS</title>\n\
         <link rel=\"stylesheet\" href=\"frame.css\" crossorigin>\n\
         <script type=\"module\" src=\"bootstrap.js\" crossorigin></script>\n</head>\n\
         <body><header id=\"chatos-header\"></header><main id=\"chatos-body\"></main></body>\n</html>\n"
    );
    let mut response = typed(page, "text/html; charset=utf-8");
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
