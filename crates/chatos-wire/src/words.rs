//! Closed lists of words: an enum whose values have one spelling on the wire and in the database.

/// A text that is none of the words of a list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no {list}")]
pub struct UnknownWord {
    /// The name of the list.
    pub list: &'static str,
    /// The text that was read.
    pub word: String,
}

/// Makes an enum with `ALL`, `as_str`, `Display`, `FromStr`, serde and a JSON schema from one table, so that
/// no two of them can disagree.
macro_rules! words {
    (
        $(#[$about:meta])*
        $name:ident {
            $($(#[$meaning:meta])* $value:ident = $word:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord,
            serde::Serialize, serde::Deserialize, $crate::described::JsonSchema,
        )]
        pub enum $name {
            $($(#[$meaning])* #[serde(rename = $word)] $value,)+
        }

        impl $name {
            /// Every value, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$value,)+];

            /// The word on the wire and in the database.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($word => Ok(Self::$value),)+
                    _ => Err($crate::UnknownWord { list: stringify!($name), word: word.to_owned() }),
                }
            }
        }
    };
}

pub(crate) use words;

#[cfg(test)]
mod tests {
    use crate::{RunState, StepKind, UnknownWord};

    #[test]
    fn a_word_is_the_same_for_serde_display_and_parsing() {
        for state in RunState::ALL {
            let json = serde_json::to_string(state).unwrap();
            assert_eq!(json, format!("\"{state}\""));
            assert_eq!(serde_json::from_str::<RunState>(&json).unwrap(), *state);
            assert_eq!(state.as_str().parse::<RunState>().unwrap(), *state);
        }
        let unknown = UnknownWord { list: "StepKind", word: "Tool".to_owned() };
        assert_eq!("Tool".parse::<StepKind>(), Err(unknown));
    }

    #[cfg(feature = "schema")]
    #[test]
    fn the_schema_names_every_word() {
        let schema = serde_json::to_string(&schemars::schema_for!(RunState)).unwrap();
        for state in RunState::ALL {
            assert!(schema.contains(&format!("\"{state}\"")), "{schema}");
        }
    }
}
