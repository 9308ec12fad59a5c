//! Which existing servers and prompts a person may select for an app (ai-contributions §3). One
//! truth table for `mcpServers` and `prompts` alike; it enables nothing by itself.

use chatos_manifest::Exposure;
use serde::{Serialize, Serializer};

/// The result of the three layers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Exposed {
    /// Nothing: `null`.
    #[default]
    None,
    /// Everything there is when the editor opens: `true`.
    All,
    /// These names, present or not.
    List(Vec<String>),
}

impl Serialize for Exposed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Exposed::None => serializer.serialize_none(),
            Exposed::All => serializer.serialize_bool(true),
            Exposed::List(names) => names.serialize(serializer),
        }
    }
}

/// Which layer decided a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// No layer says anything.
    #[default]
    None,
    /// The manifest.
    Inline,
    /// The config file.
    File,
    /// The built-in default list.
    Default,
}

/// A result and who decided it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Outcome {
    /// What is exposed.
    pub exposed: Exposed,
    /// Who said so.
    pub decided_by: Layer,
}

/// The truth table (seed 000 §6).
pub fn combine(inline: &Exposure, file: &Exposure, default: &Exposure) -> Outcome {
    match (inline, file, default) {
        (Exposure::Off | Exposure::List(_), ..) => outcome(inline, Layer::Inline),
        // Without an explicit `true` in the manifest only the plugin's own file counts: a default
        // list never switches itself on.
        (Exposure::Unset, Exposure::Unset, _) => Outcome::default(),
        (Exposure::Unset | Exposure::All, file, _) if *file != Exposure::Unset => outcome(file, Layer::File),
        (_, _, Exposure::Unset) => outcome(inline, Layer::Inline),
        (_, _, default) => outcome(default, Layer::Default),
    }
}

fn outcome(value: &Exposure, decided_by: Layer) -> Outcome {
    let exposed = match value {
        Exposure::Unset | Exposure::Off => Exposed::None,
        Exposure::All => Exposed::All,
        Exposure::List(names) => Exposed::List(names.clone()),
    };
    Outcome { exposed, decided_by }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(name: &str) -> Exposure {
        Exposure::List(vec![name.to_owned()])
    }

    fn show(outcome: &Outcome) -> String {
        match &outcome.exposed {
            Exposed::None => "none".into(),
            Exposed::All => "all".into(),
            Exposed::List(names) => names.join(","),
        }
    }

    /// All 64 combinations, cell by cell, as the specification prints them.
    #[test]
    fn the_truth_table() {
        // Rows: inline, file, then the results for default unset, false, true, list.
        #[rustfmt::skip]
        let rows: &[(&str, &str, [&str; 4])] = &[
            ("false", "unset", ["none", "none", "none", "none"]),
            ("false", "false", ["none", "none", "none", "none"]),
            ("false", "true",  ["none", "none", "none", "none"]),
            ("false", "list",  ["none", "none", "none", "none"]),
            ("list",  "unset", ["I", "I", "I", "I"]),
            ("list",  "false", ["I", "I", "I", "I"]),
            ("list",  "true",  ["I", "I", "I", "I"]),
            ("list",  "list",  ["I", "I", "I", "I"]),
            ("unset", "unset", ["none", "none", "none", "none"]),
            ("unset", "false", ["none", "none", "none", "none"]),
            ("unset", "true",  ["all", "all", "all", "all"]),
            ("unset", "list",  ["F", "F", "F", "F"]),
            ("true",  "unset", ["all", "none", "all", "D"]),
            ("true",  "false", ["none", "none", "none", "none"]),
            ("true",  "true",  ["all", "all", "all", "all"]),
            ("true",  "list",  ["F", "F", "F", "F"]),
        ];
        let value = |word: &str, name: &str| match word {
            "unset" => Exposure::Unset,
            "false" => Exposure::Off,
            "true" => Exposure::All,
            _ => list(name),
        };
        let mut cells = 0;
        for (inline, file, results) in rows {
            for (default, expected) in ["unset", "false", "true", "list"].iter().zip(results) {
                let found = combine(&value(inline, "I"), &value(file, "F"), &value(default, "D"));
                assert_eq!(show(&found), *expected, "inline {inline}, file {file}, default {default}");
                cells += 1;
            }
        }
        assert_eq!(cells, 64);
    }

    #[test]
    fn who_decided() {
        let by = |inline, file, default| combine(&inline, &file, &default).decided_by;
        assert_eq!(by(Exposure::Off, list("F"), list("D")), Layer::Inline);
        assert_eq!(by(Exposure::All, Exposure::Unset, Exposure::Unset), Layer::Inline);
        assert_eq!(by(Exposure::All, Exposure::Off, list("D")), Layer::File);
        assert_eq!(by(Exposure::All, Exposure::Unset, Exposure::Off), Layer::Default);
        assert_eq!(by(Exposure::Unset, Exposure::Unset, list("D")), Layer::None);
    }

    #[test]
    fn wire_forms() {
        assert_eq!(serde_json::to_string(&Exposed::None).unwrap(), "null");
        assert_eq!(serde_json::to_string(&Exposed::All).unwrap(), "true");
        assert_eq!(serde_json::to_string(&Exposed::List(vec!["a".into()])).unwrap(), "[\"a\"]");
    }
}
