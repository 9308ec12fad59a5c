//! A host, a root, and servers of their own that change files in it.

use std::fs;
use std::path::PathBuf;

use chatos_testkit::{Answer, McpClient, McpEra, RunningHost, Sandbox};
use serde_json::{Value, json};

/// A home with a root to work in.
pub(crate) struct Ground {
    pub(crate) sandbox: Sandbox,
    pub(crate) host: RunningHost,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
        fs::create_dir(sandbox.root().join("work")).unwrap();
        let host = sandbox.serve();
        Self { sandbox, host }
    }

    pub(crate) fn path(&self, rel: &str) -> PathBuf {
        self.sandbox.root().canonicalize().unwrap().join("work").join(rel)
    }

    pub(crate) fn root(&self) -> String {
        self.path("").display().to_string().trim_end_matches('/').to_owned()
    }

    pub(crate) fn write(&self, rel: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(rel), bytes).unwrap();
    }

    pub(crate) fn read(&self, rel: &str) -> String {
        fs::read_to_string(self.path(rel)).unwrap_or_else(|error| panic!("{rel}: {error}"))
    }

    /// A server in a process of its own that changes files without asking.
    pub(crate) fn server(&self, name: &str) -> McpClient {
        let args = ["mcp", name, "--root", "work", "--write", "--confirm-file-changes=false"];
        McpClient::connect(self.sandbox.command(&args), McpEra::Modern, json!({})).0
    }

    /// The host changes files, in a run.
    pub(crate) fn host_call(&self, tool: &str, arguments: Value, run: &str) {
        let off = json!({ "value": false });
        assert!(self.host.ask("PUT", "/api/v1/settings/confirmFileChanges", Some(&off)).status < 300);
        let body = json!({ "arguments": arguments, "root": self.path(""), "meta": { "runId": run } });
        let path = format!("/api/v1/tools/code_maintainer/{tool}/call");
        let result = self.host.ask("POST", &path, Some(&body)).json();
        assert_eq!(result["isError"], false, "{result}");
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.host.ask("GET", path, None)
    }

    /// A page of changes.
    pub(crate) fn list(&self, query: &str) -> Vec<Value> {
        let answer = self.get(&format!("/api/v1/changes?{query}"));
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        answer.json()["changes"].as_array().unwrap().clone()
    }

    /// The newest change of a path.
    pub(crate) fn newest(&self, path: &str) -> String {
        let found = self.list(&format!("path={path}&limit=1"));
        found[0]["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn detail(&self, id: &str) -> Value {
        self.get(&format!("/api/v1/changes/{id}")).json()
    }

    pub(crate) fn undo(&self, body: &Value) -> Answer {
        self.host.ask("POST", "/api/v1/changes/undo", Some(body))
    }

    /// Undoes, and gives what was done to which file.
    pub(crate) fn undone(&self, body: &Value) -> (Vec<(String, String)>, Vec<String>) {
        let answer = self.undo(body);
        assert_eq!(answer.status, 200, "{body}: {}", answer.text());
        let answer = answer.json();
        assert_eq!(answer["warnings"], json!([]), "{answer}");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let steps = answer["steps"].as_array().unwrap();
        let mut steps: Vec<_> =
            steps.iter().map(|step| (text(&step["path"]), text(&step["action"]))).collect();
        steps.sort();
        let changes = answer["changes"].as_array().unwrap();
        (steps, changes.iter().map(|change| text(&change["id"])).collect())
    }

    /// Asks in Chinese.
    pub(crate) fn in_chinese(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let text = body.map(Value::to_string).unwrap_or_default();
        let kind = if body.is_some() { "Content-Type: application/json\r\n" } else { "" };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nAccept-Language: zh-CN\r\n\
             {kind}Content-Length: {}\r\n\r\n",
            self.host.authority(),
            self.host.token,
            text.len()
        );
        self.host.connect().raw(&head, text.as_bytes()).unwrap()
    }
}

/// The call did what it should.
pub(crate) fn done(result: &Value) {
    assert_eq!(result["structuredContent"]["status"], "ok", "{result}");
    let warnings = &result["structuredContent"]["data"]["warnings"];
    assert!(warnings.is_null() || *warnings == json!([]), "{result}");
}

/// `(path, action)` as texts.
pub(crate) fn steps(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(path, action)| ((*path).to_owned(), (*action).to_owned())).collect()
}
