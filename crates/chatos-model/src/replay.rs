//! Which vendor wants its thinking back, by its address (working-day §4). One that nobody knows shows it.

use chatos_store::ModelRecord;

use crate::Replay;

/// Parts of a host's name, and what its owner wants.
const HOSTS: &[(&str, Replay)] = &[
    ("openrouter.ai", Replay::Details),
    ("deepseek.com", Replay::Content),
    ("moonshot.", Replay::Content),
    ("bigmodel.cn", Replay::Content),
    ("z.ai", Replay::Content),
    ("aliyuncs.com", Replay::Content),
    ("minimax", Replay::Content),
    ("api.openai.com", Replay::Nothing),
    ("openai.azure.com", Replay::Nothing),
    ("mistral.ai", Replay::Nothing),
    ("groq.com", Replay::Nothing),
];

/// What a model wants of its thinking sent back.
pub fn replay_of(record: &ModelRecord) -> Replay {
    let rest = record.base_url.split_once("://").map_or(record.base_url.as_str(), |(_, rest)| rest);
    let host = rest.split(['/', ':']).next().unwrap_or_default().to_ascii_lowercase();
    HOSTS.iter().find(|(part, _)| host.contains(part)).map_or(Replay::Auto, |(_, replay)| *replay)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_by_the_host_alone() {
        let at = |url: &str| {
            let mut record = ModelRecord::new("m", "openai_compatible", "deepseek-reasoner");
            record.base_url = url.to_owned();
            replay_of(&record)
        };
        assert_eq!(at("https://api.deepseek.com/v1"), Replay::Content);
        assert_eq!(at("https://openrouter.ai/api/v1"), Replay::Details);
        assert_eq!(at("https://api.openai.com/v1"), Replay::Nothing);
        assert_eq!(at("http://127.0.0.1:8080/deepseek.com"), Replay::Auto);
    }
}
