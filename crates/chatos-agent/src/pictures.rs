//! Pictures in the result of a tool (working-day §7): made ready once, when the result comes, and named in its text. What
//! is kept is what is sent, so every later request says the same.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chatos_mcp::Block;
use chatos_pictures::{PER_RESULT, Picture, in_words, prepare};
use chatos_tool::{Content, Text};

use crate::dispatch::{CallEnd, text_of};

/// The pictures of a result as models take them, and its text with what became of each.
pub fn with_pictures(text: String, end: &CallEnd) -> (String, Vec<Picture>) {
    let mut text = text;
    let mut pictures = Vec::new();
    // Behind the picture that was named last.
    let mut from = 0;
    for (what, mime, data, place) in returned(end) {
        let words = if pictures.len() == PER_RESULT {
            format!("[{what} {mime}: left out, a result shows at most {PER_RESULT} pictures]")
        } else {
            let made = STANDARD.decode(data.trim()).map_err(|_| "it is not Base64".to_owned());
            match made.and_then(|bytes| prepare(&bytes).map_err(|why| why.to_string())) {
                Ok(picture) => {
                    let words = in_words(picture.mime, Some(picture.size), picture.bytes.len());
                    pictures.push(picture);
                    format!("[{what} {words}]")
                }
                Err(why) => format!("[{what} {mime}: not shown, {why}]"),
            }
        };
        match text[from..].find(&place).filter(|_| !place.is_empty()) {
            Some(at) => {
                text.replace_range(from + at..from + at + place.len(), &words);
                from += at + words.len();
            }
            None => add_line(&mut text, &words),
        }
    }
    (text, pictures)
}

/// What a model that cannot see reads in the place of a picture.
pub fn unseen(text: &mut String, words: &str, blob: &str) {
    let said = format!("{words}: this model cannot see pictures; blob {blob}]");
    match text.find(&format!("{words}]")) {
        Some(at) => text.replace_range(at..=at + words.len(), &said),
        None => add_line(text, &format!("[image {said}")),
    }
}

/// What a person is told about a picture that the model cannot see.
pub fn blind() -> Text {
    Text::fixed(
        "a tool returned a picture, and this model cannot see pictures; choose a model that sees",
        "工具返回了图片，但此模型看不到图片；请选择能看图片的模型",
    )
}

fn add_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// What each picture is called, its type, its Base64, and the words that stand for it in the text.
fn returned(end: &CallEnd) -> Vec<(String, &str, &str, String)> {
    let place = |block: &Block| text_of(std::slice::from_ref(block), None, &[]);
    let blocks = end.blocks.iter().filter_map(|block| match block {
        Block::Image { data, mime } => Some(("image".to_owned(), mime.as_str(), data.as_str(), place(block))),
        Block::Resource { uri, mime: Some(mime), blob: Some(blob), text: None, .. }
            if mime.starts_with("image/") =>
        {
            Some((format!("resource {uri},"), mime.as_str(), blob.as_str(), place(block)))
        }
        _ => None,
    });
    // Our own servers say their pictures beside the text.
    let own = end.envelope.parts.iter().filter_map(|part| match part {
        Content::Image { data, mime_type } => {
            Some(("image".to_owned(), mime_type.as_str(), data.as_str(), String::new()))
        }
        _ => None,
    });
    blocks.chain(own).collect()
}

#[cfg(test)]
mod tests {
    use chatos_tool::{Answer, CanceledBy, Envelope, Lang, Stamp, TextLimits, ToolError, Trace};
    use serde_json::json;

    use super::*;

    /// One dark pixel.
    const DOT: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    fn end(blocks: Vec<Block>) -> CallEnd {
        let stamp = Stamp {
            server: "s".to_owned(),
            tool: "t".to_owned(),
            trace: Trace::default(),
            elapsed_ms: 0,
            ts: String::new(),
        };
        let envelope = Envelope::seal(
            Answer::failed(ToolError::canceled(CanceledBy::Caller)),
            stamp,
            TextLimits::default(),
            Lang::En,
        );
        let extra = chatos_mcp::Extra::default();
        CallEnd { envelope, blocks, structured: None, extra, is_error: false, elapsed_ms: 0, certain: true }
    }

    fn image(data: &str, mime: &str) -> Block {
        Block::Image { data: data.to_owned(), mime: mime.to_owned() }
    }

    #[test]
    fn pictures_are_named_where_they_stood_and_what_is_none_says_why() {
        let blocks = vec![
            Block::Text("before".to_owned()),
            image(DOT, "image/png"),
            image("PHN2Zy8+", "image/svg+xml"),
            Block::Text("after".to_owned()),
            image(DOT, "image/png"),
        ];
        let text = text_of(&blocks, None, &[]);
        let (text, pictures) = with_pictures(text, &end(blocks));
        assert_eq!(pictures.len(), 2);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "before",
                "[image image/png, 1×1, 1 KB]",
                "[image image/svg+xml: not shown, only PNG, JPEG, GIF and WebP are shown]",
                "after",
                "[image image/png, 1×1, 1 KB]",
            ]
        );
        let mut blind = text;
        for blob in ["b1", "b2"] {
            unseen(&mut blind, "image/png, 1×1, 1 KB", blob);
        }
        assert!(
            blind.contains("before\n[image image/png, 1×1, 1 KB: this model cannot see pictures; blob b1]")
        );
        assert!(
            blind.ends_with("after\n[image image/png, 1×1, 1 KB: this model cannot see pictures; blob b2]")
        );
        let mut cut = "much".to_owned();
        unseen(&mut cut, "image/png, 1×1, 1 KB", "b");
        assert_eq!(cut, "much\n[image image/png, 1×1, 1 KB: this model cannot see pictures; blob b]");
    }

    #[test]
    fn a_result_shows_four_pictures_and_says_what_it_left_out() {
        let resource = Block::Resource {
            uri: "shot://5".to_owned(),
            mime: Some("image/png".to_owned()),
            text: None,
            blob: Some(DOT.to_owned()),
            raw: json!({}),
        };
        let mut blocks = vec![image(DOT, "image/png"); 3];
        blocks.push(resource);
        blocks.push(image(DOT, "image/png"));
        let text = text_of(&blocks, None, &[]);
        let (text, pictures) = with_pictures(text, &end(blocks));
        assert_eq!(pictures.len(), 4);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[3], "[resource shot://5, image/png, 1×1, 1 KB]");
        assert_eq!(lines[4], "[image image/png: left out, a result shows at most 4 pictures]");
    }
}
