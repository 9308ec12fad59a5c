//! Walking through XML: names without prefixes, text with its entities resolved. Entities a document declares itself
//! are not known here, so none can grow.

use quick_xml::events::attributes::Attributes;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use super::Unread;

/// Deeper than any honest document.
const DEPTH: usize = 512;

/// A step of the walk.
pub(super) enum Step<'a> {
    Open(&'a str, &'a Given<'a>),
    Text(&'a str),
    Close(&'a str),
}

/// What an element was given.
pub(super) struct Given<'a>(Attributes<'a>);

impl Given<'_> {
    /// The value of the attribute with this name, whatever its prefix.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.find(|key| key.rsplit(':').next() == Some(name))
    }

    /// The same, with the prefix written out.
    pub(super) fn exactly(&self, name: &str) -> Option<String> {
        self.find(|key| key == name)
    }

    fn find(&self, wanted: impl Fn(&str) -> bool) -> Option<String> {
        let found = self.0.clone().flatten().find(|one| wanted(one.key.as_ref()))?;
        Some(
            quick_xml::escape::unescape(&found.value)
                .map_or_else(|_| found.value.to_string(), |text| text.into_owned()),
        )
    }

    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.get(name)?.trim().parse().ok()
    }
}

/// Walks through a document to its end.
pub(super) fn walk(bytes: &[u8], mut each: impl FnMut(Step<'_>) -> Result<(), Unread>) -> Result<(), Unread> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|_| Unread::damaged("its text is not UTF-8"))?;
    let mut reader = Reader::from_str(text);
    let mut depth = 0_usize;
    loop {
        match reader.read_event().map_err(Unread::damaged)? {
            Event::Start(start) => {
                depth += 1;
                if depth > DEPTH {
                    return Err(Unread::damaged("its parts lie in one another too deeply"));
                }
                open(&start, &mut each)?;
            }
            Event::Empty(start) => {
                open(&start, &mut each)?;
                each(Step::Close(start.local_name().as_ref()))?;
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                each(Step::Close(end.local_name().as_ref()))?;
            }
            Event::Text(text) => each(Step::Text(&text.xml10_content()))?,
            Event::CData(text) => each(Step::Text(&text.xml10_content()))?,
            Event::GeneralRef(name) => {
                let mut buffer = [0; 4];
                if let Some(c) = entity(&name) {
                    each(Step::Text(c.encode_utf8(&mut buffer)))?;
                }
            }
            Event::Eof if depth > 0 => return Err(Unread::damaged("it ends too early")),
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

fn open(start: &BytesStart<'_>, each: &mut impl FnMut(Step<'_>) -> Result<(), Unread>) -> Result<(), Unread> {
    let given = Given(start.attributes());
    each(Step::Open(start.local_name().as_ref(), &given))
}

fn entity(name: &BytesRef<'_>) -> Option<char> {
    if let Ok(Some(c)) = name.resolve_char_ref() {
        return Some(c);
    }
    match name.xml10_content().as_ref() {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_resolved_and_what_a_document_declares_does_not_grow() {
        let mut said = String::new();
        let xml = br#"<!DOCTYPE a [<!ENTITY b "bomb">]><w:a x:k="1 &amp; 2">3 &lt; &#x4e2d;&b;<c/></w:a>"#;
        walk(xml, |step| {
            match step {
                Step::Open(name, given) => said.push_str(&format!("<{name} {:?}>", given.get("k"))),
                Step::Text(text) => said.push_str(text),
                Step::Close(name) => said.push_str(&format!("</{name}>")),
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(said, r#"<a Some("1 & 2")>3 < 中<c None></c></a>"#);
    }

    #[test]
    fn what_is_cut_off_or_too_deep_is_an_error() {
        assert!(walk(b"<a><b>", |_| Ok(())).is_err());
        let deep = "<a>".repeat(600) + &"</a>".repeat(600);
        assert!(walk(deep.as_bytes(), |_| Ok(())).is_err());
    }
}
