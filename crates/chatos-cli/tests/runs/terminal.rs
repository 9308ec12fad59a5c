//! `chatos chat` on a real terminal: lines, commands, questions, and every row of Ctrl-C (working-day §9).

#[path = "../support/terminal.rs"]
pub(crate) mod pty;

use std::time::Duration;

use chatos_testkit::{Script, eventually};
use serde_json::{Value, json};

use self::pty::Terminal;
use crate::support::{Stand, last, messages, offered, send, session, until};

fn decide(request: &Value) -> Script {
    let (role, text) = last(request);
    if role == "tool" {
        return Script::say(format!("got: {text}"));
    }
    if text.contains("steady") {
        return Script::say(format!("steered by {text}"));
    }
    if text == "looks" {
        let text = "# Title\n\n- **bold** and `code`\n\n| a | b |\n|---|---|\n| 1 | 语 |\n\n\u{1b}[2J\u{1b}]0;mine\u{7}last";
        return Script::Slow {
            pieces: text.chars().map(String::from).collect(),
            pause: Duration::from_millis(1),
        };
    }
    match text.split_once(' ') {
        Some(("count", key)) => {
            Script::call("call-1", offered(request, "count").unwrap(), &json!({ "key": key }))
        }
        Some(("slowly", _)) => {
            let pieces = (0..600).map(|number| format!("piece{number} ")).collect();
            Script::Slow { pieces, pause: Duration::from_millis(100) }
        }
        _ => Script::say(format!("you said {text}.")),
    }
}

fn chat(stand: &Stand, more: &[&str]) -> Terminal {
    let args: Vec<&str> = ["chat", "--agent", "counter"].iter().chain(more).copied().collect();
    let mut terminal = Terminal::start_as(&stand.sandbox, &args, "xterm");
    terminal.expect("/help lists commands").expect("> ");
    terminal
}

const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";

#[test]
fn commands_do_what_help_says() {
    let stand = Stand::new(decide);
    let notes = stand.sandbox.root().join("a note.txt");
    std::fs::write(&notes, "noted").unwrap();
    let mut terminal = chat(&stand, &[]);
    terminal.enter("/help").expect("/attach FILE").expect("/quit").expect("> ");
    terminal.enter("/hlep").expect("there is no command `/hlep`").expect("did you mean `/help`");
    terminal.enter("hello").expect("you said hello.").expect("> ");
    terminal.enter("//call x").expect("you said /call x.").expect("> ");
    terminal.enter(&format!("/attach {}", notes.display())).expect("Goes with your next message: a note.txt");
    terminal.enter("read it").expect("you said").expect("> ");
    let asked = stand.model.requests().last().unwrap()["messages"].to_string();
    assert!(asked.contains("a note.txt") && asked.contains("noted"), "{asked}");
    terminal.enter("/attach nothing-here").expect("cannot read nothing-here");
    terminal.enter("/agent").expect("* ").expect("> ");
    terminal.enter("/model").expect("* ").expect("Demo").expect("> ");
    terminal.enter("/agent nobody").expect("there is no agent `nobody`");
    terminal.enter("/model scrip").expect("> ");
    terminal.enter("/retry").expect("you said").expect("> ");
    terminal.enter("/export chat.md").expect("Written to chat.md");
    terminal.enter("/export chat.md").expect("cannot write chat.md");
    terminal.enter("/export chat.html").expect("Written to chat.html");
    terminal.enter("/retry scripted").expect("you said").expect("> ");
    terminal.enter("/agent Counter").expect("> ");
    terminal.enter("/compact keep the names").expect("> ");
    terminal.enter("/fork 1").expect("A new chat that begins with this one").expect("> ");
    terminal.enter("/chats").expect("* ").expect("> ");
    terminal.enter("/resume").expect("read it").expect("> ");
    terminal.enter("/new").expect("New chat.").expect("> ");
    terminal.enter("/stop").expect("Nothing to stop");
    terminal.enter("/prompts").expect("Nothing needs you");
    terminal.enter("/steer what now").expect("you said what now.").expect("> ");
    terminal.enter("/queue and then").expect("you said and then.").expect("> ");
    terminal.enter("/quit");
    let (status, screen) = terminal.end();
    assert_eq!(status, Some(0), "{screen}");
    let chats = stand.sandbox.run(&["chats", "list", "--json"]).json();
    assert_eq!(chats["items"].as_array().unwrap().len(), 3, "{chats}");
    let forked =
        stand.sandbox.run(&["chats", "show", chats["items"][1]["id"].as_str().unwrap(), "--json"]).json();
    assert!(forked["messages"].as_array().unwrap().len() >= 4, "{forked}");
}

#[test]
fn the_line_above_says_how_full_the_window_is() {
    let stand = Stand::speaking(&json!({ "contextTokens": 64_000 }), |request| {
        Script::counted(decide(request), 26_240)
    });
    let mut terminal = chat(&stand, &[]);
    let before = terminal.screen();
    assert!(before.contains("counter · scripted · ") && !before.contains("ctx "), "{before}");
    terminal.enter("hello").expect("you said hello.").expect("counter · scripted · ").expect(" · ctx 41%");
    terminal.enter("/quit");
    assert_eq!(terminal.end().0, Some(0));
}

#[test]
fn ctrl_c_clears_then_asks_then_leaves_and_ctrl_d_leaves() {
    let stand = Stand::new(decide);
    let mut terminal = chat(&stand, &[]);
    terminal.press("half a line").expect("half a line").press(CTRL_C);
    terminal.enter("hello").expect("you said hello.").expect("> ");
    terminal.press(CTRL_C).expect("Ctrl-C again to leave").press(CTRL_C);
    let (status, screen) = terminal.end();
    assert_eq!(status, Some(0), "{screen}");
    let mut terminal = chat(&stand, &["--session", "last"]);
    terminal.press(CTRL_D);
    assert_eq!(terminal.end().0, Some(0));
    let mut dumb = Terminal::start(&stand.sandbox, &["chat", "--lang", "zh"]);
    dumb.expect("/help 列出命令").expect("> ").press(CTRL_C).expect("再按一次 Ctrl-C 离开").press(CTRL_C);
    assert_eq!(dumb.end().0, Some(0));
}

#[test]
fn ctrl_c_stops_the_agent_and_what_was_said_stays() {
    let stand = Stand::new(decide);
    let host = stand.sandbox.serve();
    let mut terminal = chat(&stand, &[]);
    terminal.enter("slowly please").expect("piece2 ").press(CTRL_C).expect("Stopped.").expect("> ");
    let id = host.ask("GET", "/api/v1/sessions", None).json()["items"][0]["id"].as_str().unwrap().to_owned();
    assert!(messages(&host, &id)[1]["content"].as_str().unwrap().contains("piece2"));
    terminal.enter("hello").expect("you said hello.").expect("> ");
    terminal.enter("slowly again").expect("piece1 ").press(CTRL_C).expect("Stopped.").press(CTRL_C);
    let (status, screen) = terminal.end();
    // The second one came while the first was heard, or at the empty line: both leave.
    assert_eq!(status, Some(0), "{screen}");
    let runs = host.ask("GET", "/api/v1/runs?limit=1", None).json();
    assert_eq!(runs["items"][0]["state"], "aborted", "{runs}");
}

#[test]
fn lines_typed_meanwhile_wait_their_turn_and_an_exclamation_mark_steers() {
    let stand = Stand::new(decide);
    let host = stand.sandbox.serve();
    let mut terminal = chat(&stand, &[]);
    terminal.enter("slowly please").expect("piece1 ");
    terminal.enter("and then this").expect("Queued");
    terminal.enter("/new").expect("the agent is at work").expect("`/stop` stops it");
    terminal.enter("!steady now").expect("The agent is told").expect("steered by");
    terminal.expect("> and then this").expect("you said and then this.").expect("> ");
    terminal.enter("slowly again").expect("piece1 ").enter("/stop").expect("Stopped.").expect("> ");
    terminal.enter("slowly once more").expect("piece1 ").enter("/quit").expect("The agent goes on");
    let (status, screen) = terminal.end();
    assert_eq!(status, Some(0), "{screen}");
    let run = host.ask("GET", "/api/v1/runs?limit=1", None).json()["items"][0].clone();
    assert_eq!(run["state"], "running", "{run}");
    // Coming back, the run is followed.
    let mut terminal = Terminal::start_as(&stand.sandbox, &["chat", "--session", "last"], "xterm");
    terminal.expect("slowly once more").expect("piece").press(CTRL_C).expect("Stopped.").press(CTRL_D);
    assert_eq!(terminal.end().0, Some(0));
}

#[test]
fn a_question_is_answered_or_left_open_and_asked_again() {
    let stand = Stand::asking("count", decide);
    let host = stand.sandbox.serve();
    let mut terminal = chat(&stand, &[]);
    terminal.enter("count one").expect("c = ").press("a").press(CTRL_C).expect("Left open");
    assert_eq!(stand.counted("one"), 0, "nothing typed is used");
    terminal
        .enter("/prompts")
        .expect("c = ")
        .enter("1")
        .expect("Answered")
        .expect("got: counted one")
        .expect("> ");
    assert_eq!(stand.counted("one"), 1);
    terminal.press(CTRL_D);
    assert_eq!(terminal.end().0, Some(0));
    // Without a host this terminal is the host, and asks all the same.
    host.stop();
    let mut terminal = chat(&stand, &[]);
    terminal
        .enter("count two")
        .expect("c = ")
        .enter("1")
        .expect("got: counted two")
        .expect("> ")
        .press(CTRL_D);
    assert_eq!(terminal.end().0, Some(0));
    assert_eq!(stand.counted("two"), 1);
}

#[test]
fn the_arrow_keys_bring_back_what_was_said_before() {
    let stand = Stand::new(decide);
    let host = stand.sandbox.serve();
    let earlier = session(&host, &stand.agent);
    until(&host, &send(&host, &earlier, "the earlier words"), &["done"]);
    let mut terminal = chat(&stand, &[]);
    terminal
        .press("\u{1b}[A")
        .expect("the earlier words")
        .enter("")
        .expect("you said the earlier words.")
        .expect("> ");
    // A paste of several lines is one message, and so are lines joined with Alt+Enter.
    terminal
        .press("\u{1b}[200~first\nsecond\u{1b}[201~")
        .enter("")
        .expect("you said first")
        .expect("second.")
        .expect("> ");
    terminal
        .press("one\u{1b}\rtwo")
        .enter("")
        .expect("you said one")
        .expect("two.")
        .expect("> ")
        .press(CTRL_D);
    assert_eq!(terminal.end().0, Some(0));
    let asked = eventually("the last request", || stand.model.requests().last().cloned());
    assert!(asked["messages"].to_string().contains("first\\nsecond"), "{asked}");
}

#[test]
fn markdown_has_looks_on_a_terminal_and_is_as_it_was_written_elsewhere() {
    let mut stand = Stand::new(decide);
    let mut terminal = chat(&stand, &[]);
    terminal.enter("looks").expect("\u{1b}[1;4mTitle\u{1b}[0m").expect("\u{1b}[2m• \u{1b}[0m");
    terminal
        .expect("\u{1b}[1mbold\u{1b}[0m and \u{1b}[36mcode\u{1b}[0m")
        .expect("──┼───")
        .expect("│ \u{1b}[0m语");
    terminal.expect("last").expect("> ");
    let screen = terminal.screen();
    assert!(
        !screen.contains("**bold**") && !screen.contains("\u{1b}[2J") && !screen.contains("\u{1b}]0"),
        "{screen}"
    );
    terminal.press(CTRL_D);
    assert_eq!(terminal.end().0, Some(0));
    // Coming back, what was said looks the same; without colours and in a pipe it is what the model wrote.
    let mut terminal = Terminal::start_as(&stand.sandbox, &["chat", "--session", "last"], "xterm");
    terminal.expect("\u{1b}[1;4mTitle\u{1b}[0m").expect("> ").press(CTRL_D);
    assert_eq!(terminal.end().0, Some(0));
    let piped = stand.sandbox.run(&["chat", "--agent", "counter", "-p", "looks"]);
    assert!(piped.stdout.starts_with("# Title\n\n- **bold** and `code`\n"), "{piped:?}");
    assert!(!piped.stdout.contains('\u{1b}'), "{piped:?}");
    stand.sandbox.set_variable("NO_COLOR", "1");
    let mut plain = chat(&stand, &[]);
    plain.enter("looks").expect("- **bold** and `code`").expect("| 1 | 语 |").expect("last").expect("> ");
    assert!(!plain.screen().contains("\u{1b}[1m") && !plain.screen().contains("\u{1b}[2J"));
    plain.press(CTRL_D);
    assert_eq!(plain.end().0, Some(0));
}

#[test]
fn a_message_is_edited_in_the_editor_of_the_person_and_takes_the_place_of_the_old_one() {
    let mut stand = Stand::new(decide);
    let editor = stand.sandbox.root().join("my editor.sh");
    std::fs::write(&editor, "sed 's/hello/good evening/' \"$1\" > \"$1.new\" && mv \"$1.new\" \"$1\"\n")
        .unwrap();
    stand.sandbox.set_variable("EDITOR", format!("sh '{}'", editor.display()));
    let mut terminal = chat(&stand, &[]);
    terminal.enter("/edit").expect("there is no such message").expect("> ");
    terminal.enter("hello you").expect("you said hello you.").expect("> ");
    terminal.enter("something else").expect("you said something else.").expect("> ");
    terminal.enter("/edit").expect("Nothing was changed").expect("> ");
    terminal.enter("/edit 2").expect("good evening you").expect("you said good evening you.").expect("> ");
    terminal.enter("/edit none").expect("use `/edit [N]`").expect("> ").press(CTRL_D);
    let (status, screen) = terminal.end();
    assert_eq!(status, Some(0), "{screen}");
    let shown = stand.sandbox.run(&["chats", "show", "last", "--json"]).json();
    let said: Vec<&str> = shown["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "user")
        .filter_map(|message| message["content"].as_str())
        .collect();
    assert_eq!(said, ["good evening you"], "{shown}");
}

#[test]
fn tools_and_access_say_what_the_agent_may_do() {
    let stand = Stand::asking("count", decide);
    let mut terminal = chat(&stand, &[]);
    // The tools of a server are known once it was used.
    terminal.enter("count one").expect("c = ").enter("y").expect("got: counted one").expect("> ");
    assert_eq!(stand.counted("one"), 1);
    terminal
        .enter("/tools")
        .expect("counter")
        .expect("count?")
        .expect("asks you before each call")
        .expect("> ");
    terminal.enter("/access").expect("Permissions profile").expect("counting").expect("Asks you before");
    terminal.expect("agent explain 'counter'").expect("> ");
    terminal.enter("count two").expect("c = ").enter("r").expect("Remark").enter("not today");
    terminal.expect("c = ").enter("n").expect("not today").expect("> ").press(CTRL_D);
    let (status, screen) = terminal.end();
    assert_eq!(status, Some(0), "{screen}");
    assert_eq!(stand.counted("two"), 0);
}
