//! Words of closed lists in columns: an unknown one is damage that is named, never a default.

use std::str::FromStr;

use chatos_wire::UnknownWord;
use rusqlite::Row;
use rusqlite::types::Type;

/// A column holds a word that is in no list of this version.
#[derive(Debug, thiserror::Error)]
#[error("{table} `{id}`: {unknown}")]
pub(crate) struct CorruptWord {
    table: &'static str,
    id: String,
    unknown: UnknownWord,
}

/// The word in a column of the row with this id.
pub(crate) fn word<T: FromStr<Err = UnknownWord>>(
    row: &Row<'_>,
    column: usize,
    table: &'static str,
    id: &str,
) -> rusqlite::Result<T> {
    row.get_ref(column)?.as_str()?.parse().map_err(|unknown| {
        let corrupt = CorruptWord { table, id: id.to_owned(), unknown };
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(corrupt))
    })
}

/// As [`word`], where an empty column means that there is none.
pub(crate) fn maybe_word<T: FromStr<Err = UnknownWord>>(
    row: &Row<'_>,
    column: usize,
    table: &'static str,
    id: &str,
) -> rusqlite::Result<Option<T>> {
    let empty = row.get_ref(column)?.as_str()?.is_empty();
    if empty { Ok(None) } else { word(row, column, table, id).map(Some) }
}

/// Words as a list in SQL. They are ours and hold no quotes.
pub(crate) fn in_sql(words: impl IntoIterator<Item = &'static str>) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| format!("'{word}'")).collect();
    quoted.join(", ")
}
