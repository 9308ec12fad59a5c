//! A question in two languages: asked in one, with the words of the other beside them, so that whoever reads it reads it in
//! theirs. Askers inside of the host make it, the inbox and the page choose.

use serde_json::{Map, Value};

use crate::text::Lang;

/// Where the words of the other language stand in a prompt: `{zh: {title, message, options: {value: label}}}`.
const WORDS: &str = "words";

/// The prompt of `lang`, with what reads otherwise in the other language in `words`.
pub fn in_both(lang: Lang, prompt: impl Fn(Lang) -> Value) -> Value {
    let other = if lang == Lang::Zh { Lang::En } else { Lang::Zh };
    let (mut asked, said) = (prompt(lang), prompt(other));
    let mut words = Map::new();
    for key in ["title", "message"] {
        if said[key].is_string() && said[key] != asked[key] {
            words.insert(key.to_owned(), said[key].clone());
        }
    }
    let labels: Map<String, Value> = said["options"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|option| Some((option["value"].as_str()?.to_owned(), option.get("label")?.clone())))
        .collect();
    if !labels.is_empty() {
        words.insert("options".to_owned(), Value::Object(labels));
    }
    if !words.is_empty() {
        asked[WORDS] = Value::Object(Map::from_iter([(other.as_str().to_owned(), Value::Object(words))]));
    }
    asked
}

/// Puts the words of `lang` into a prompt that has them; every other prompt stays as it is.
pub fn in_words_of(prompt: &mut Value, lang: Lang) {
    let Some(words) = prompt.get(WORDS).and_then(|words| words.get(lang.as_str())).cloned() else { return };
    for key in ["title", "message"] {
        if words[key].is_string() {
            prompt[key] = words[key].clone();
        }
    }
    for option in prompt["options"].as_array_mut().into_iter().flatten() {
        let label = option["value"].as_str().and_then(|value| words["options"].get(value)).cloned();
        if let Some(label) = label.filter(Value::is_string) {
            option["label"] = label;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn prompt(lang: Lang) -> Value {
        let zh = lang == Lang::Zh;
        json!({
            "kind": "choice", "title": if zh { "继续吗？" } else { "Keep going?" }, "message": "$2",
            "options": [{ "value": "go", "label": if zh { "继续" } else { "Continue" } }],
        })
    }

    #[test]
    fn who_reads_it_reads_it_in_their_language() {
        for asked in [Lang::En, Lang::Zh] {
            for read in [Lang::En, Lang::Zh] {
                let mut question = in_both(asked, prompt);
                in_words_of(&mut question, read);
                let said = prompt(read);
                assert_eq!((&question["title"], &question["options"]), (&said["title"], &said["options"]));
                assert_eq!(question["message"], "$2");
            }
        }
    }

    #[test]
    fn words_of_the_wrong_type_change_nothing() {
        let mut odd = json!({ "title": "t", "options": [{ "value": "a", "label": "A" }, 7],
            "words": { "zh": { "title": 1, "options": { "a": [] } } } });
        let before = odd.clone();
        in_words_of(&mut odd, Lang::Zh);
        assert_eq!(odd, before);
        let mut none = json!("a line");
        in_words_of(&mut none, Lang::Zh);
        assert_eq!(none, "a line");
    }
}
