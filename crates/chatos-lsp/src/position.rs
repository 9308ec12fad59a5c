//! Places in a text: lines, and columns in the units a side counts in.
//!
//! Tools speak of lines and columns from 1, in UTF-16 (servers §1); a language server counts from 0 in the
//! encoding it negotiated. Everything between the two goes through here.

use serde::{Deserialize, Serialize};

/// What a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Encoding {
    Utf8,
    /// Code units of UTF-16: the protocol's own, where nothing was negotiated.
    #[default]
    Utf16,
    Utf32,
}

impl Encoding {
    pub(crate) fn parse(word: &str) -> Self {
        match word {
            "utf-8" => Self::Utf8,
            "utf-32" => Self::Utf32,
            _ => Self::Utf16,
        }
    }

    fn width(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// How long a line is.
    pub(crate) fn units(self, line: &str) -> usize {
        match self {
            Self::Utf8 => line.len(),
            _ if line.is_ascii() => line.len(),
            _ => line.chars().map(|c| self.width(c)).sum(),
        }
    }

    /// The byte at a column; nothing past the end. Inside a character is its beginning.
    pub(crate) fn byte(self, line: &str, column: usize) -> Option<usize> {
        if line.is_ascii() {
            return (column <= line.len()).then_some(column);
        }
        let mut passed = 0;
        for (at, c) in line.char_indices() {
            let next = passed + self.width(c);
            if column < next {
                return Some(at);
            }
            passed = next;
        }
        (column == passed).then_some(line.len())
    }

    /// A column of this encoding in another one; past the end is the end.
    pub(crate) fn convert(self, line: &str, column: usize, to: Self) -> usize {
        if self == to || line.is_ascii() {
            return column;
        }
        let byte = self.byte(line, column).unwrap_or(line.len());
        to.units(&line[..byte])
    }
}

/// A place as the protocol has it: from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Position {
    pub(crate) line: u32,
    pub(crate) character: u32,
}

/// From a place to a place, the last not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) start: Position,
    pub(crate) end: Position,
}

/// A text whose lines are known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1));
        Self { starts }
    }

    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    /// A line without its end; counted from 0.
    pub(crate) fn get<'a>(&self, text: &'a str, line: usize) -> Option<&'a str> {
        let start = *self.starts.get(line)?;
        let end = self.starts.get(line + 1).map_or(text.len(), |next| next - 1);
        text.get(start..end)
    }

    /// The byte of a place that a server names: a column past the end of a line is its end, as the protocol says,
    /// and the line after the last one is the end of the text.
    pub(crate) fn byte(&self, text: &str, at: Position, encoding: Encoding) -> Option<usize> {
        let line = at.line as usize;
        if line == self.starts.len() && at.character == 0 {
            return Some(text.len());
        }
        let own = self.get(text, line)?;
        Some(self.starts[line] + encoding.byte(own, at.character as usize).unwrap_or(own.len()))
    }

    /// The place of a byte.
    pub(crate) fn place(&self, text: &str, byte: usize, encoding: Encoding) -> Position {
        let line = self.starts.partition_point(|start| *start <= byte).saturating_sub(1);
        let before = text.get(self.starts[line]..byte).unwrap_or_default();
        Position { line: line as u32, character: encoding.units(before) as u32 }
    }
}

/// The one stretch in which two texts differ: bytes of the old one, and what stands there in the new one.
pub(crate) fn difference<'a>(old: &str, new: &'a str) -> (std::ops::Range<usize>, &'a str) {
    let same = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let mut from = same;
    while !old.is_char_boundary(from) || !new.is_char_boundary(from) {
        from -= 1;
    }
    let most = old.len().min(new.len()) - from;
    let mut back = old.bytes().rev().zip(new.bytes().rev()).take(most).take_while(|(a, b)| a == b).count();
    while !old.is_char_boundary(old.len() - back) || !new.is_char_boundary(new.len() - back) {
        back -= 1;
    }
    (from..old.len() - back, &new[from..new.len() - back])
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "a中😀b";

    #[test]
    fn a_column_means_the_same_character_in_every_encoding() {
        for (utf16, utf8, utf32) in [(0, 0, 0), (1, 1, 1), (2, 4, 2), (4, 8, 3), (5, 9, 4)] {
            assert_eq!(Encoding::Utf16.convert(LINE, utf16, Encoding::Utf8), utf8);
            assert_eq!(Encoding::Utf8.convert(LINE, utf8, Encoding::Utf32), utf32);
            assert_eq!(Encoding::Utf32.convert(LINE, utf32, Encoding::Utf16), utf16);
        }
        assert_eq!(Encoding::Utf16.byte(LINE, 3), Some(4), "inside a pair is the character");
        assert_eq!(Encoding::Utf16.byte(LINE, 6), None);
        assert_eq!(Encoding::Utf8.byte("abc", 4), None);
        assert_eq!(Encoding::Utf16.units(LINE), 5);
    }

    #[test]
    fn places_and_bytes_are_each_others_way_back() {
        let text = "one\n中two\n\nend";
        let lines = Lines::of(text);
        assert_eq!(lines.count(), 4);
        assert_eq!(lines.get(text, 1), Some("中two"));
        assert_eq!(
            (lines.get(text, 2), lines.get(text, 3), lines.get(text, 4)),
            (Some(""), Some("end"), None)
        );
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            for (byte, _) in text.char_indices() {
                let place = lines.place(text, byte, encoding);
                assert_eq!(lines.byte(text, place, encoding), Some(byte), "{place:?}");
            }
        }
        let past = |line, character| lines.byte(text, Position { line, character }, Encoding::Utf16);
        assert_eq!(
            (past(0, 99), past(4, 0), past(4, 1), past(9, 0)),
            (Some(3), Some(text.len()), None, None)
        );
    }

    #[test]
    fn a_difference_is_one_stretch_of_whole_characters() {
        for (old, new) in [
            ("", ""),
            ("same", "same"),
            ("a中b", "a文b"),
            ("aaa", "aaaa"),
            ("abc", ""),
            ("", "abc"),
            ("x\ny\nz", "x\nY\ny\nz"),
            ("😀", "😁"),
        ] {
            let (range, text) = difference(old, new);
            let made = format!("{}{text}{}", &old[..range.start], &old[range.end..]);
            assert_eq!(made, new);
        }
        assert_eq!(difference("abc", "abXc"), (2..2, "X"));
    }
}
