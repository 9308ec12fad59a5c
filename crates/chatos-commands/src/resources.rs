//! Resources of granted servers behind `@`: found by letters of their address or title, and read for a message as text or
//! as a picture (packages §5.3, decision 0050).

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chatos_mcp::{Resource, plain_for_model};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::command::{Completions, MentionKind, MentionView};
use chatos_wire::session::Attachment;
use serde_json::Value;

use crate::desk::{Desk, PATIENCE, object};
use crate::mentions::{FILE_BYTES, OFFERED, attachment, kind, score};
use crate::prompts::typed_name;

impl Desk<'_> {
    /// The resources and templates that match what was typed, and the servers that have not told theirs yet. `wait`:
    /// how long servers may take; without it none is asked.
    pub async fn find_resources(
        &self,
        wanted: &str,
        wait: Duration,
    ) -> Result<(Vec<MentionView>, Vec<String>), Fault> {
        let (found, late) = self.servers.resources(self.outcome, wait.min(PATIENCE)).await?;
        let letters: Vec<char> = wanted.chars().flat_map(char::to_lowercase).collect();
        let mut all: Vec<(i64, MentionView)> = Vec::new();
        for of in &found {
            let kinds =
                [(MentionKind::Resource, &of.list.resources), (MentionKind::Template, &of.list.templates)];
            for (kind, list) in kinds {
                let fitting = list.iter().filter_map(|one| fit(&of.server, kind, one, wanted, &letters));
                all.extend(fitting);
            }
        }
        all.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        Ok((all.into_iter().take(OFFERED).map(|(_, view)| view).collect(), late))
    }

    /// The server and the address that a text behind `@` names, where it begins with the name of a granted server.
    pub fn resource_of<'p>(&self, path: &'p str) -> Option<(&str, &'p str)> {
        self.outcome.grants.values().find_map(|grant| {
            let uri = path.strip_prefix(&typed_name(&grant.server))?.strip_prefix(':')?;
            (!uri.is_empty()).then_some((grant.server.as_str(), uri))
        })
    }

    /// What is at an address, as a message carries it. `None`: this server has no resources at all.
    pub async fn read_resource(&self, server: &str, uri: &str) -> Result<Option<Vec<Attachment>>, Fault> {
        match self.servers.read_granted(self.outcome, server, uri).await {
            Ok(result) => attachments(server, uri, &result).map(Some),
            Err(fault) if fault.class == ErrorCode::NotSupported => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// What a server suggests for a variable of its template.
    pub(crate) async fn complete_template(
        &self,
        path: &str,
        variable: (&str, &str),
        others: BTreeMap<String, String>,
    ) -> Result<Completions, Fault> {
        let (server, template) = self.resource_of(path).ok_or_else(|| {
            let shown = line(path);
            Fault::new(
                ErrorCode::NotFound,
                Text::new(format!("there is no template `@{shown}`"), format!("没有模板 `@{shown}`")),
            )
        })?;
        let (values, more) =
            self.servers.complete_template(self.outcome, server, template, variable, object(others)).await?;
        Ok(Completions { values: values.iter().map(|value| plain_for_model(value)).collect(), more })
    }
}

fn line(text: &str) -> String {
    plain_for_model(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A resource as the list shows it, with how well it fits what was typed.
fn fit(
    server: &str,
    kind: MentionKind,
    resource: &Resource,
    wanted: &str,
    letters: &[char],
) -> Option<(i64, MentionView)> {
    // What hides in an address, or has a space in it, cannot be typed.
    if resource.uri.chars().any(char::is_whitespace) || plain_for_model(&resource.uri) != resource.uri {
        return None;
    }
    let path = format!("{}:{}", typed_name(server), resource.uri);
    let title = line(resource.title.as_deref().unwrap_or(&resource.name));
    let by_title = || {
        let there = !wanted.is_empty() && title.to_lowercase().contains(&wanted.to_lowercase());
        there.then_some(20)
    };
    let score = score(&path, letters).or_else(by_title)?;
    let view = MentionView {
        path,
        kind,
        title: if title == resource.uri { String::new() } else { title },
        description: line(&resource.description),
        source: server.to_owned(),
    };
    Some((score, view))
}

/// What `resources/read` gave, as attachments: text and pictures.
fn attachments(server: &str, uri: &str, result: &Value) -> Result<Vec<Attachment>, Fault> {
    let shown = line(uri);
    let contents = result["contents"].as_array().map(Vec::as_slice).unwrap_or_default();
    if contents.is_empty() {
        return Err(Fault::new(
            ErrorCode::Unavailable,
            Text::new(
                format!("`{server}` gave nothing for `{shown}`"),
                format!("`{server}` 没有给出 `{shown}` 的内容"),
            ),
        ));
    }
    let mut read = Vec::new();
    let mut size = 0;
    for content in contents {
        let (mime, bytes) = content_of(content).ok_or_else(|| {
            let mime = line(content["mimeType"].as_str().unwrap_or("application/octet-stream"));
            Fault::new(
                ErrorCode::InvalidArgument,
                Text::new(
                    format!("`{shown}` of `{server}` is neither text nor a picture: {mime}"),
                    format!("`{server}` 的 `{shown}` 既不是文本也不是图片：{mime}"),
                ),
            )
            .code("unsupported_resource")
            .hint(Text::fixed(
                "text in UTF-8 and PNG, JPEG, GIF or WebP images can be attached; remove it from the message",
                "可附上 UTF-8 文本，或 PNG、JPEG、GIF、WebP 图片；请从消息中移除它",
            ))
        })?;
        size += bytes.len() as u64;
        if size > FILE_BYTES {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::new(
                    format!("`{shown}` of `{server}` is larger than 10 MiB"),
                    format!("`{server}` 的 `{shown}` 超过 10 MiB"),
                ),
            )
            .code("attachment_too_large"));
        }
        let name = content["uri"].as_str().map(line).filter(|name| !name.is_empty());
        let mut file = attachment(name.as_deref().unwrap_or(&shown), &mime, &bytes);
        file.origin = Some(line(server));
        read.push(file);
    }
    Ok(read)
}

/// Type and bytes of one part; nothing for what no model reads.
fn content_of(content: &Value) -> Option<(String, Vec<u8>)> {
    let told = content["mimeType"].as_str().unwrap_or_default();
    let text_mime = || if told.starts_with("text/") { line(told) } else { "text/plain".to_owned() };
    if let Some(text) = content["text"].as_str() {
        return Some((text_mime(), plain_for_model(text).into_bytes()));
    }
    let bytes = STANDARD.decode(content["blob"].as_str()?.trim()).ok()?;
    match kind(&bytes)? {
        "text/plain" => {
            let text = String::from_utf8(bytes).ok()?;
            Some((text_mime(), plain_for_model(&text).into_bytes()))
        }
        picture => Some((picture.to_owned(), bytes)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resource(uri: &str, title: &str) -> Resource {
        Resource {
            uri: uri.to_owned(),
            name: String::new(),
            title: Some(title.to_owned()),
            description: "two\nlines \u{202e}".to_owned(),
            mime: None,
            size: None,
            raw: Value::Null,
        }
    }

    #[test]
    fn a_resource_is_found_by_its_address_or_its_title_and_what_cannot_be_typed_is_not() {
        let found = |uri: &str, wanted: &str| {
            let letters: Vec<char> = wanted.chars().collect();
            fit("my notes", MentionKind::Resource, &resource(uri, "Weekly plan"), wanted, &letters)
        };
        let (_, view) = found("memo://plans/7", "plan").unwrap();
        assert_eq!((view.path.as_str(), view.title.as_str()), ("my_notes:memo://plans/7", "Weekly plan"));
        assert_eq!((view.description.as_str(), view.source.as_str()), ("two lines", "my notes"));
        assert!(found("memo://x", "week").is_some() && found("memo://x", "zebra").is_none());
        for odd in ["memo://a b", "memo://a\u{202e}b"] {
            assert!(found(odd, "").is_none(), "{odd}");
        }
    }

    #[test]
    fn text_and_pictures_are_attached_and_the_rest_is_refused_with_its_type() {
        let read = |contents: Value| attachments("notes", "memo://1", &json!({ "contents": contents }));
        let png = STANDARD.encode(b"\x89PNG\r\n\x1a\nrest");
        let files = read(json!([
            { "uri": "memo://1", "mimeType": "text/markdown", "text": "# One\u{202e}\n" },
            { "mimeType": "application/octet-stream", "blob": png },
        ]))
        .unwrap();
        assert_eq!((files[0].name.as_str(), files[0].mime.as_str()), ("memo://1", "text/markdown"));
        assert_eq!(STANDARD.decode(files[0].data.as_ref().unwrap()).unwrap(), b"# One\n");
        assert_eq!((files[1].mime.as_str(), files[1].origin.as_deref()), ("image/png", Some("notes")));
        let blob = |mime: &str, bytes: &[u8]| json!([{ "mimeType": mime, "blob": STANDARD.encode(bytes) }]);
        let pdf = read(blob("application/pdf", b"%PDF-1.7\x00\xff")).unwrap();
        assert_eq!(pdf[0].mime, "application/pdf", "documents are read like those of a person");
        let fault = read(blob("audio/wav", b"RIFF\x00\xff")).unwrap_err();
        assert_eq!(fault.code, "unsupported_resource");
        assert!(fault.message.en.contains("audio/wav"), "{}", fault.message.en);
        assert!(read(json!([])).is_err());
        let large = json!([{ "text": "x".repeat(26 << 20) }]);
        assert_eq!(read(large).unwrap_err().code, "attachment_too_large");
    }
}
