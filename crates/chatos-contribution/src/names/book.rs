//! The book of allocated names (ai-contributions §4.3), kept in `ui_apps/names.json`. What is
//! written in it never changes because another plugin arrives: later ones get the suffix.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{ServerIdentity, first_free, normalize_server};

/// A server that needs a normalized name.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Its identity.
    pub identity: ServerIdentity,
    /// Its display name: `<pluginId>.<appId>`, or the name a person gave it.
    pub name: String,
    /// Servers of built-in plugins are served first.
    pub builtin: bool,
}

/// An app prompt that needs its names.
#[derive(Debug, Clone)]
pub struct WantedPrompt {
    /// Identity of the app's server, whether or not it has one.
    pub identity: ServerIdentity,
    /// The normalized name of that server.
    pub normalized: String,
    /// Prompts of built-in plugins are served first.
    pub builtin: bool,
}

/// The names of an app's prompt in its two languages.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the two languages")]
pub struct PromptNames {
    pub zh: String,
    pub en: String,
}

/// Two servers whose names normalize alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collision {
    /// The one that came later and got a suffix.
    pub identity: ServerIdentity,
    /// What it got.
    pub got: String,
    /// Who has the plain name.
    pub holder: ServerIdentity,
}

/// Why `names.json` could not be used.
#[derive(Debug, thiserror::Error)]
pub enum NameBookError {
    /// Not the expected JSON.
    #[error("names.json is not readable: {0}")]
    Syntax(#[from] serde_json::Error),
    /// Made by a newer host.
    #[error("names.json has version {0}; this host writes version 1")]
    Version(u64),
}

/// Allocated names. Serialises as `{"version":1,"servers":{identity: n}}`; prompt names are stored
/// only where they differ from the derived ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NameBook {
    servers: BTreeMap<ServerIdentity, String>,
    prompts: BTreeMap<ServerIdentity, PromptNames>,
}

#[derive(Serialize, Deserialize)]
struct File {
    version: u64,
    #[serde(default)]
    servers: BTreeMap<ServerIdentity, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    prompts: BTreeMap<ServerIdentity, PromptNames>,
}

impl NameBook {
    /// Reads `names.json`.
    pub fn parse(bytes: &[u8]) -> Result<Self, NameBookError> {
        let file: File = serde_json::from_slice(bytes)?;
        if file.version != 1 {
            return Err(NameBookError::Version(file.version));
        }
        Ok(Self { servers: file.servers, prompts: file.prompts })
    }

    /// The content of `names.json`.
    pub fn to_json(&self) -> String {
        let file = File { version: 1, servers: self.servers.clone(), prompts: self.prompts.clone() };
        // Maps of strings always serialise; an empty text would be refused when read back.
        serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
    }

    /// The normalized name of a server.
    pub fn normalized(&self, identity: &ServerIdentity) -> Option<&str> {
        self.servers.get(identity).map(String::as_str)
    }

    /// Gives every wanted server a name that no other has. Servers already in the book keep theirs;
    /// new ones are served built-ins first, then by identity bytes. Returns the collisions among the
    /// wanted ones, old and new.
    pub fn allocate(&mut self, wanted: &[Wanted]) -> Vec<Collision> {
        let mut order: Vec<&Wanted> = wanted.iter().collect();
        order.sort_by(|a, b| b.builtin.cmp(&a.builtin).then_with(|| a.identity.cmp(&b.identity)));
        order.dedup_by(|a, b| a.identity == b.identity);

        // A user-added server that was renamed gives its old name back.
        for server in &order {
            let base = normalize_server(&server.name);
            if self.servers.get(&server.identity).is_some_and(|n| !is_form_of(n, &base)) {
                self.servers.remove(&server.identity);
            }
        }
        let mut taken: HashSet<String> = self.servers.values().cloned().collect();
        for server in &order {
            if !self.servers.contains_key(&server.identity) {
                let n = first_free(&normalize_server(&server.name), |name| taken.contains(name));
                taken.insert(n.clone());
                self.servers.insert(server.identity.clone(), n);
            }
        }

        let by_name: HashMap<&str, &ServerIdentity> =
            self.servers.iter().map(|(identity, n)| (n.as_str(), identity)).collect();
        let wanted_ids: HashSet<&ServerIdentity> = order.iter().map(|server| &server.identity).collect();
        order
            .iter()
            .filter_map(|server| {
                let base = normalize_server(&server.name);
                let got = self.servers.get(&server.identity)?;
                let holder = *by_name.get(base.as_str())?;
                (*got != base && wanted_ids.contains(holder)).then(|| Collision {
                    identity: server.identity.clone(),
                    got: got.clone(),
                    holder: holder.clone(),
                })
            })
            .collect()
    }

    /// Prompt names for each wanted app, in one namespace with `admin_prompts` (compared without
    /// case, as the Admin DB does): a name already taken gets `_2` before `__en`.
    pub fn allocate_prompts(
        &mut self,
        wanted: &[WantedPrompt],
        admin_prompts: &HashSet<String>,
    ) -> HashMap<ServerIdentity, PromptNames> {
        let mut order: Vec<&WantedPrompt> = wanted.iter().collect();
        order.sort_by(|a, b| b.builtin.cmp(&a.builtin).then_with(|| a.identity.cmp(&b.identity)));
        let mut taken: HashSet<String> = admin_prompts.iter().map(|name| name.to_lowercase()).collect();
        let mut given = HashMap::new();
        // Names in the book first: they were given earlier and stay.
        let (kept, fresh): (Vec<_>, Vec<_>) =
            order.into_iter().partition(|prompt| self.prompts.contains_key(&prompt.identity));
        for prompt in kept {
            let names = self.prompts[&prompt.identity].clone();
            taken.insert(names.zh.to_lowercase());
            taken.insert(names.en.to_lowercase());
            given.insert(prompt.identity.clone(), names);
        }
        for prompt in fresh {
            let base = format!("mcp_{}", prompt.normalized);
            let zh = first_free(&base, |name| taken.contains(name));
            taken.insert(zh.clone());
            let en = first_free(&base, |name| taken.contains(&format!("{name}__en"))) + "__en";
            taken.insert(en.clone());
            let derived = PromptNames { en: format!("{base}__en"), zh: base };
            let names = PromptNames { zh, en };
            if names != derived {
                self.prompts.insert(prompt.identity.clone(), names.clone());
            }
            given.insert(prompt.identity.clone(), names);
        }
        given
    }

    /// Frees the names of one server.
    pub fn forget(&mut self, identity: &ServerIdentity) {
        self.servers.remove(identity);
        self.prompts.remove(identity);
    }

    /// Frees the names of all identities for which `keep` is false.
    pub fn retain(&mut self, mut keep: impl FnMut(&ServerIdentity) -> bool) {
        self.servers.retain(|identity, _| keep(identity));
        self.prompts.retain(|identity, _| keep(identity));
    }
}

/// True for `base` and `base_<digits>`.
fn is_form_of(name: &str, base: &str) -> bool {
    name == base
        || name
            .strip_prefix(base)
            .and_then(|rest| rest.strip_prefix('_'))
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wanted(identity: &str, name: &str, builtin: bool) -> Wanted {
        let identity: ServerIdentity = serde_json::from_value(identity.into()).unwrap();
        Wanted { identity, name: name.into(), builtin }
    }

    fn of(book: &NameBook, identity: &str) -> String {
        book.normalized(&serde_json::from_value(identity.into()).unwrap()).unwrap().to_owned()
    }

    #[test]
    fn the_worked_example() {
        let mut book = NameBook::default();
        let first = wanted("app:com.example/ok.a", "com.example.ok.a", false);
        let second = wanted("app:com.example.ok/a", "com.example.ok.a", false);
        let collisions = book.allocate(&[second.clone(), first.clone()]);
        // `.` (0x2e) sorts before `/` (0x2f), so com.example.ok is first by identity bytes.
        assert_eq!(of(&book, "app:com.example.ok/a"), "com_example_ok_a");
        assert_eq!(of(&book, "app:com.example/ok.a"), "com_example_ok_a_2");
        assert_eq!(collisions.len(), 1);
        assert_eq!((&collisions[0].identity, &collisions[0].holder), (&first.identity, &second.identity));

        // Allocated one after the other, the earlier keeps the plain name.
        let mut book = NameBook::default();
        assert!(book.allocate(std::slice::from_ref(&first)).is_empty());
        book.allocate(&[first, second]);
        assert_eq!(of(&book, "app:com.example/ok.a"), "com_example_ok_a");
        assert_eq!(of(&book, "app:com.example.ok/a"), "com_example_ok_a_2");
    }

    #[test]
    fn built_ins_first_and_third_gets_three() {
        let mut book = NameBook::default();
        book.allocate(&[
            wanted("app:a/b.c", "a.b.c", false),
            wanted("app:a.b/c", "a.b.c", true),
            wanted("admin:1", "A B C", false),
        ]);
        assert_eq!(of(&book, "app:a.b/c"), "a_b_c");
        assert_eq!(of(&book, "admin:1"), "a_b_c_2");
        assert_eq!(of(&book, "app:a/b.c"), "a_b_c_3");
    }

    #[test]
    fn renamed_admin_servers_are_named_again() {
        let mut book = NameBook::default();
        book.allocate(&[wanted("admin:1", "old", false)]);
        book.allocate(&[wanted("admin:1", "new", false), wanted("admin:2", "old", false)]);
        assert_eq!((of(&book, "admin:1"), of(&book, "admin:2")), ("new".into(), "old".into()));
    }

    #[test]
    fn round_trip_and_bad_files() {
        let mut book = NameBook::default();
        book.allocate(&[wanted("app:p/a", "p.a", false)]);
        assert_eq!(
            book.to_json(),
            "{\n  \"version\": 1,\n  \"servers\": {\n    \"app:p/a\": \"p_a\"\n  }\n}\n"
        );
        assert_eq!(NameBook::parse(book.to_json().as_bytes()).unwrap(), book);
        assert!(matches!(NameBook::parse(b"{"), Err(NameBookError::Syntax(_))));
        assert!(matches!(NameBook::parse(br#"{"version":2}"#), Err(NameBookError::Version(2))));
        book.forget(&serde_json::from_value("app:p/a".into()).unwrap());
        assert_eq!(book, NameBook::default());
    }

    fn prompt(identity: &str, n: &str) -> WantedPrompt {
        WantedPrompt {
            identity: serde_json::from_value(identity.into()).unwrap(),
            normalized: n.into(),
            builtin: false,
        }
    }

    #[test]
    fn prompt_names_share_one_namespace() {
        let mut book = NameBook::default();
        let admin = HashSet::from(["MCP_p_a".to_owned(), "mcp_p_b__en".to_owned()]);
        let given = book.allocate_prompts(&[prompt("app:p/a", "p_a"), prompt("app:p/b", "p_b")], &admin);
        let a = &given[&serde_json::from_value::<ServerIdentity>("app:p/a".into()).unwrap()];
        let b = &given[&serde_json::from_value::<ServerIdentity>("app:p/b".into()).unwrap()];
        assert_eq!((a.zh.as_str(), a.en.as_str()), ("mcp_p_a_2", "mcp_p_a__en"));
        assert_eq!((b.zh.as_str(), b.en.as_str()), ("mcp_p_b", "mcp_p_b_2__en"));
        // The admin prompt goes away; the given names stay.
        let again = book.allocate_prompts(&[prompt("app:p/a", "p_a")], &HashSet::new());
        assert_eq!(again.values().next().unwrap(), a);
        // An app called `a__en` runs into the English name of `a`.
        let given = NameBook::default()
            .allocate_prompts(&[prompt("app:q/a", "q_a"), prompt("app:q/a__en", "q_a__en")], &HashSet::new());
        let all: HashSet<&String> = given.values().flat_map(|names| [&names.zh, &names.en]).collect();
        assert_eq!(all.len(), 4);
    }

    proptest! {
        /// Names are unique, and nobody's name changes when others arrive.
        #[test]
        fn stable_and_unique(ids in prop::collection::vec(("[ab.]{1,4}", "[ab.]{1,4}", any::<bool>()), 1..12), split in 0_usize..12) {
            let all: Vec<Wanted> = ids.iter().map(|(p, a, builtin)| {
                wanted(&format!("app:{p}/{a}"), &format!("{p}.{a}"), *builtin)
            }).collect();
            let mut book = NameBook::default();
            book.allocate(&all[..split.min(all.len())]);
            let before = book.clone();
            book.allocate(&all);
            for (identity, n) in &before.servers {
                prop_assert_eq!(book.normalized(identity), Some(n.as_str()));
            }
            let names: HashSet<&String> = book.servers.values().collect();
            prop_assert_eq!(names.len(), book.servers.len());
        }
    }
}
