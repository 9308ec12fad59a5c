//! The pages of frames. Of an app's every word is ours (host-api §2.4): a value of the address is one of a
//! few known words, or it is not used. A view of a tool server begins with our script.

use axum::http::{HeaderValue, header};
use axum::response::Response;

use super::typed;
use crate::app::App;
use crate::assets;

/// A view as its server wrote it, behind the script that takes away what no view may use (inbox §8.2, L4).
/// Views are HTML5, so a first line that says so changes nothing; it cannot be got ahead of.
pub(super) fn view(app: &App, html: &[u8]) -> Vec<u8> {
    let script = assets::file(app, "frame/confine.js").unwrap_or_default();
    let html = html.strip_prefix("\u{feff}".as_bytes()).unwrap_or(html);
    [b"<!doctype html><script>".as_slice(), &script, b"</script>\n", html].concat()
}

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
         <script src=\"confine.js\" crossorigin></script>\n\
         <script type=\"module\" src=\"bootstrap.js\" crossorigin></script>\n</head>\n\
         <body><header id=\"chatos-header\"></header><main id=\"chatos-body\"></main></body>\n</html>\n"
    );
    let mut response = typed(page, "text/html; charset=utf-8");
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
