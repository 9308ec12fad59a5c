//! servers §13: each row of the table of defects is an acceptance test. Those that need the whole program
//! and have no better place are here; the table says where all of them are proven.
//!
//! | row | proven by |
//! |---|---|
//! | 1 | `chatos_files::commit` a_fault_at_any_call…, a_death_at_any_call…; `chatos_files::plan` a_patch_that_fails… |
//! | 2 | `chatos_files::patch` counts_that_do_not_fit…, inserted_lines_are_whole_lines…, the_friendly_form… |
//! | 3 | `chatos_files::edit` the_replacement_takes_the_blocks_indentation, the_number_of_matches… |
//! | 4 | `chatos_files::plan` deleting_removes…, moving_and_copying…; `mcp_files` no_path_trick… |
//! | 5 | `chatos_files::resolve`, `chatos_files::walk` a_directory_that_becomes_a_link…; `mcp_files` no_path_trick… |
//! | 6 | `shell::check` row_6…, `shell::tests::boundary` row_6…; `mcp_shell` the_boundary_holds_for_root_and… |
//! | 7 | `shell::check` row_7… |
//! | 8 | `shell::command` only_shells…, variables_that_load_code…; `shell::tests::sessions` names_are_found… |
//! | 9, 10 | `shell::tests::sessions` a_program_that_asks…; `shell::tests::commands` input_is_empty… |
//! | 11 | `shell::tests::commands` changes_are_found_recorded_and_never_put_back |
//! | 12 | `shell::tests::commands` a_command_answers…, floods_are_read…, the_deadline_ends… |
//! | 13 | `shell::tests::endings` a_recycled_number_is_never_hit |
//! | 14 | `shell::tests::sessions` another_process_finds…, output_is_paged…, an_ended_session_is_kept… |
//! | 15 | `chatos_files::search` limits_deadlines_and_cancels…; `chatos_files::walk` ignore_files_hold… |
//! | 16 | here; `chatos-store` settings flag_beats_environment… |
//! | 17, 18 | here |
//! | 19 | `mcp_prompts` a_withdrawn_call…, a_client_that_hangs_up…, time_runs_out…; `tools_terminal` |
//! | 20 | `chatos-prompts` (the log is only appended to), `mcp_prompts` secrets_reach_neither… |
//! | 21 | `mcp_prompts` minimal_log_mode… |
//! | 22 | `mcp_prompts` secrets_reach_neither…; `ui_prompt` secret_values_stay… |
//! | 23 | `mcp_prompts` time_runs_out… |
//! | 24 | `chatos-prompts` response; `prompts_terminal` choices_by_number… |
//! | 25 | `chatos-store` tasks two_connections_add_and_clear_at_once |
//! | 26 | here |
//! | 27 | `tasks` lists_are_scoped_paged_and_newest_first |
//! | 28 | `tasks` one_key_makes_one_task…; `tools` two_server_processes_and_a_host… |
//! | 29 | `journal` facts_are_merged_and_overwriting_keeps_iterations |
//! | 30 | here; `chatos-tool` tool_error |
//! | 31 | here; `mcp_files` special_files…, a_full_and_a_read_only_disk… |
//! | 32 | `catalog` every_server_keeps_the_rules…; `tests/mcp-peers` every tool of every built-in server |
//! | 33 | `chatos-tool` call_record; `layer` the_host_hears_of_every_call |
//! | 34 | `chatos-tool` redact the_table_of_the_specification |
//! | 35 | `log` both_limits_rotate_by_rename… |
//! | 36 | `layer` log_levels_differ |
//! | 37 | here |
//! | 38 | `chatos-tool` validation an_unknown_key…; `mcp_stdio` wrong_arguments… |
//! | 39 | `files` payloads_are_exactly_one_and_decodable; `mcp_files` special_files… |
//! | 40, 41, 43, 44 | `runs`, `agents` (the subagent router) |
//! | 42 | `chatos-policy` |
//! | 45 | `progress`, `clock`, `layer` the_clocks_end_a_call… |
//! | 46 | `bridge` problems_are_waited_for_and_fresh_or_not |
//! | 47 | `bridge` files_are_made_moved_and_removed…, what_must_not_be_applied… |
//! | 48 | `chatos-lsp` frame; documents a_hundred_files_stay_open… |
//! | 49 | `mcp_shell` a_command_runs_inside…; `shell::command` a_command_gets_no_secret… |
//! | 50 | `chatos_files::plan` a_record_that_cannot_be_stored… |
//! | 51 | `mcp_prompts` a_line_written_by_another_program… |
//! | 52 | `mcp_files` the_state_directory_is_closed…; `shell::tests::boundary` a_state_directory_inside… |
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use std::time::{Duration, Instant};

use chatos_testkit::{McpClient, McpEra, Sandbox};
use serde_json::{Value, json};

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    std::fs::create_dir(sandbox.root().join("work")).unwrap();
    sandbox
}

fn connect(sandbox: &Sandbox, server: &str, more: &[&str]) -> McpClient {
    let mut args = vec!["mcp", server];
    args.extend(more);
    McpClient::connect(sandbox.command(&args), McpEra::Legacy, json!({})).0
}

#[test]
fn row_16_a_size_setting_has_its_whole_range_and_a_flag_beats_it() {
    let mut sandbox = sandbox();
    let line = "0123456789 and some more text on this line\n";
    let whole = line.repeat(900_000 / line.len());
    std::fs::write(sandbox.root().join("work/big.txt"), &whole).unwrap();
    let read = |sandbox: &Sandbox, more: &[&str]| {
        let mut flags = vec!["--root", "work", "--max-result-chars", "1000000"];
        flags.extend(more);
        let mut client = connect(sandbox, "code_maintainer", &flags);
        let result = client.call("read_file_raw", json!({ "path": "big.txt" }));
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (text, result["structuredContent"]["data"]["truncated"] == true)
    };
    assert!(read(&sandbox, &[]).1, "the default cuts");
    assert_eq!(sandbox.run(&["settings", "set", "filesystemMaxFileBytes", "52428800"]).status, 0);
    let (text, cut) = read(&sandbox, &[]);
    assert!(!cut && text == whole, "the setting counts, far above the default");
    sandbox.set_variable("CHATOS_SET_FILESYSTEM_MAX_FILE_BYTES", "2048");
    let (text, cut) = read(&sandbox, &[]);
    assert!(cut && text.len() < 4096, "the environment beats the setting");
    let (text, cut) = read(&sandbox, &["--max-bytes", "1000000"]);
    assert!(!cut && text == whole, "the flag beats the environment");
}

#[test]
fn rows_17_and_18_a_switch_makes_every_server_in_every_process_ask() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let set = |key: &str, value: Value| {
        let put = host.ask("PUT", &format!("/api/v1/settings/{key}"), Some(&json!({ "value": value })));
        assert!(put.status < 300, "{put:?}");
    };
    let switch = |key: &str, on: bool| set(key, json!(on));
    switch("confirmFileChanges", false);
    let files = ["--root", "work", "--write"];
    let mut writer = connect(&sandbox, "code_writer", &files);
    let mut maintainer = connect(&sandbox, "code_maintainer", &files);
    let mut shell = connect(&sandbox, "shell_tasks", &["--root", "work"]);
    let mut tasks = connect(&sandbox, "task_manager", &[]);
    let write = |name: &str| json!({ "path": name, "contents": "x" });
    assert_eq!(writer.call("write_file", write("one"))["structuredContent"]["status"], "ok");
    assert_eq!(maintainer.call("write_file", write("two"))["structuredContent"]["status"], "ok");
    assert_eq!(tasks.call("add_task", json!({ "title": "free" }))["structuredContent"]["status"], "ok");

    switch("confirmFileChanges", true);
    switch("confirmMainTaskCreate", true);
    set("shellConfirm", json!("always"));
    let calls = [
        writer.begin_call("write_file", write("asked-1")),
        maintainer.begin_call("copy_path", json!({ "from": "one", "to": "asked-2" })),
        shell.begin_call("run_shell_command", json!({ "command": "touch asked-3" })),
        tasks.begin_call("add_task", json!({ "title": "asked" })),
    ];
    let began = Instant::now();
    let items = loop {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        let items = list["items"].as_array().unwrap().clone();
        if items.len() == calls.len() {
            break items;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "not every server asks: {list}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let mut sources: Vec<&str> = items.iter().map(|item| item["source"].as_str().unwrap()).collect();
    sources.sort_unstable();
    assert_eq!(
        sources,
        ["code_maintainer/copy_path", "code_writer/write_file", "main", "shell_tasks/run_shell_command"]
    );
    for item in &items {
        let answer = json!({ "response": { "status": "canceled" }, "shown": item["shown"] });
        let path = format!("/api/v1/prompts/{}/response", item["requestId"].as_str().unwrap());
        assert_eq!(host.ask("POST", &path, Some(&answer)).status, 200);
    }
    let clients = [&mut writer, &mut maintainer, &mut shell, &mut tasks];
    for (client, call) in clients.into_iter().zip(calls) {
        let result = client.answer(call);
        assert_eq!(result["structuredContent"]["status"], "canceled", "{result}");
    }
    for name in ["asked-1", "asked-2", "asked-3"] {
        assert!(!sandbox.root().join("work").join(name).exists(), "{name}");
    }
    assert!(host.stop().success());
}

#[test]
fn row_26_a_row_with_odd_texts_is_read_like_any_other() {
    let sandbox = sandbox();
    let mut client = connect(&sandbox, "task_manager", &[]);
    client.call("add_task", json!({ "title": "whole" }));
    #[expect(clippy::disallowed_methods, reason = "writes what no version of the program would")]
    let database = rusqlite::Connection::open(sandbox.state().join("state.db")).unwrap();
    database.busy_timeout(Duration::from_secs(30)).unwrap();
    let odd = [
        ("title", "''"),
        ("details", "'x'"),
        ("status", "'someday'"),
        ("priority", "''"),
        ("tags", "'not json'"),
    ];
    let mut written = 0;
    for (column, value) in odd {
        client.call("add_task", json!({ "title": format!("odd {column}") }));
        let set = format!("UPDATE tasks SET {column} = {value} WHERE title = 'odd {column}'");
        // A column may refuse what it must not hold; then such a row cannot exist.
        written += database.execute(&set, []).unwrap_or_default();
    }
    assert!(written >= 2, "texts of any length are rows");
    let list = client.call("list_tasks", json!({ "allSessions": true, "allRuns": true }));
    let envelope = &list["structuredContent"];
    assert_eq!(
        (&envelope["status"], &envelope["data"]["total"]),
        (&json!("ok"), &json!(1 + odd.len())),
        "{list}"
    );
    assert_eq!(envelope["data"]["tasks"].as_array().unwrap().len(), 1 + odd.len());
}

#[test]
fn row_30_codes_are_the_same_in_every_language_and_texts_are_not() {
    let sandbox = sandbox();
    std::fs::write(sandbox.root().join("work/a.txt"), "one\n").unwrap();
    let tries = [
        ("read_file", json!({ "path": "missing" })),
        ("read_file", json!({ "path": "../x" })),
        ("read_file", json!({ "path": "." })),
        ("read_file", json!({ "pth": "a.txt" })),
        ("edit_file", json!({ "path": "a.txt", "old_string": "two", "new_string": "three" })),
        ("write_file", json!({ "path": "a.txt", "contents": "x", "mode": "create" })),
        ("write_file", json!({ "path": "b.txt", "contents": "x".repeat(2000) })),
        ("copy_path", json!({ "from": "nothing", "to": "b" })),
    ];
    let answers = |lang: &str| -> Vec<(Value, Value, String)> {
        let flags = [
            "--root",
            "work",
            "--write",
            "--lang",
            lang,
            "--confirm-file-changes=false",
            "--max-write-bytes=1024",
        ];
        let mut client = connect(&sandbox, "code_maintainer", &flags);
        let call = |(tool, arguments): &(&str, Value)| {
            let result = client.call(tool, arguments.clone());
            let envelope = &result["structuredContent"];
            let message =
                envelope["error"]["message"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned();
            (envelope["status"].clone(), envelope["code"].clone(), message)
        };
        tries.iter().map(call).collect()
    };
    let (en, zh) = (answers("en"), answers("zh"));
    for ((en, zh), (tool, arguments)) in en.iter().zip(&zh).zip(&tries) {
        assert_eq!((&en.0, &en.1), (&zh.0, &zh.1), "{tool} {arguments}");
        assert_ne!(en.1, "internal", "{tool} {arguments}");
        assert_ne!(en.2, zh.2, "{tool} {arguments}: the message is translated");
    }
}

#[test]
fn row_31_a_database_that_stays_locked_is_unavailable() {
    let sandbox = sandbox();
    let mut client = connect(&sandbox, "task_manager", &["--lang", "en"]);
    assert_eq!(client.call("add_task", json!({ "title": "first" }))["structuredContent"]["status"], "ok");
    #[expect(clippy::disallowed_methods, reason = "another program that holds the database")]
    let database = rusqlite::Connection::open(sandbox.state().join("state.db")).unwrap();
    database.busy_timeout(Duration::from_secs(30)).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    let result = client.call("add_task", json!({ "title": "second" }));
    let error = &result["structuredContent"]["error"];
    assert_eq!((&error["type"], &error["retryable"]), (&json!("unavailable"), &json!(true)), "{result}");
    database.execute_batch("ROLLBACK").unwrap();
    assert_eq!(client.call("add_task", json!({ "title": "second" }))["structuredContent"]["status"], "ok");
}

#[test]
fn row_37_everything_after_the_first_equals_sign_is_the_value() {
    let sandbox = sandbox();
    for (flag, name) in [("--name=a=b", "a=b"), ("--name==", "="), ("--name=-x", "-x")] {
        let command = sandbox.command(&["mcp", "task_manager", flag]);
        let (_, hello) = McpClient::connect(command, McpEra::Legacy, json!({}));
        assert_eq!(hello["serverInfo"]["name"], name, "{flag}");
    }
    let called = sandbox.run(&["tools", "call", "task_manager", "add_task", "title=a=b=c", "--json"]);
    assert_eq!(called.json()["structuredContent"]["data"]["created"][0]["title"], "a=b=c", "{called:?}");
}
