//! Parts of a result besides its text: pictures, sounds and documents, as MCP writes them.

use serde::Serialize;

/// One part. Binary data is base64 already: nothing here knows where it came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// A text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    #[serde(rename_all = "camelCase")]
    Image {
        /// Base64.
        data: String,
        /// Such as `image/png`.
        mime_type: String,
    },
    /// A sound.
    #[serde(rename_all = "camelCase")]
    Audio {
        /// Base64.
        data: String,
        /// Such as `audio/wav`.
        mime_type: String,
    },
    /// A document inside the result.
    Resource {
        /// The document.
        resource: Document,
    },
}

impl Content {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A document inside the result.
    pub fn document(document: Document) -> Self {
        Self::Resource { resource: document }
    }
}

/// What an address leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// Its address.
    pub uri: String,
    /// Such as `text/plain`.
    pub mime_type: String,
    /// What it holds.
    #[serde(flatten)]
    pub body: DocumentBody,
}

/// What a document holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentBody {
    /// Text.
    Text(String),
    /// Base64.
    Blob(String),
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_are_written_as_the_protocol_has_them() {
        let picture = Content::Image { data: "AA==".to_owned(), mime_type: "image/png".to_owned() };
        assert_eq!(json!(picture), json!({"type": "image", "data": "AA==", "mimeType": "image/png"}));
        let document = Content::document(Document {
            uri: "test://a".to_owned(),
            mime_type: "text/plain".to_owned(),
            body: DocumentBody::Text("hello".to_owned()),
        });
        assert_eq!(
            json!(document),
            json!({"type": "resource", "resource": {"uri": "test://a", "mimeType": "text/plain", "text": "hello"}})
        );
    }
}
