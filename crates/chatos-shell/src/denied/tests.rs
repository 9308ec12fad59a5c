//! What programs really print when they are refused, and what is made of it.

use super::*;
use crate::sandbox::Kernel;

struct Scene {
    _dir: tempfile::TempDir,
    home: PathBuf,
    root: PathBuf,
    boundary: Boundary,
}

fn scene() -> Scene {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap();
    let root = home.join("project");
    for name in ["project", ".aws", "state", "notes with blanks"] {
        std::fs::create_dir(home.join(name)).unwrap();
    }
    for name in [".aws/config", "state/state.db", "notes with blanks/a", "project/own"] {
        std::fs::write(home.join(name), "x").unwrap();
    }
    let boundary = Boundary {
        proxy: None,
        kernel: Kernel { landlock: 7, seccomp: true },
        read: vec![PathBuf::from("/usr")],
        write: vec![root.clone()],
        devices: Vec::new(),
        opened: Vec::new(),
        own: Vec::new(),
        never: vec![home.join("state")],
        protected: vec![home.join("state"), home.join(".aws")],
        network: false,
    };
    Scene { _dir: dir, home, root, boundary }
}

fn look(scene: &Scene, code: i32, stderr: &str) -> Vec<Finding> {
    find(&Ended {
        exit_code: Some(code),
        stdout: "",
        stderr,
        cwd: &scene.root,
        home: Some(&scene.home),
        boundary: &scene.boundary,
        hosts: &[],
        lang: Lang::En,
    })
}

/// `access path setting` of each certain one.
fn seen(scene: &Scene, stderr: &str) -> Vec<String> {
    let show = |finding: Finding| match finding.denied {
        Some(denial) => {
            let path = denial.path.map(|path| path.replace(&scene.home.display().to_string(), "~"));
            let port = denial.port.map(|port| format!(":{port}")).unwrap_or_default();
            let what = path.or(denial.host.map(|host| host + &port)).unwrap_or_default();
            let sure = if denial.certain { "" } else { "?" };
            format!("{:?}{sure} {what} {}", denial.access, denial.setting.unwrap_or("-")).to_lowercase()
        }
        None => finding.id.to_owned(),
    };
    look(scene, 1, stderr).into_iter().map(show).collect()
}

#[test]
fn a_path_the_host_may_use_and_the_command_may_not_is_certain() {
    let scene = scene();
    let home = scene.home.display().to_string();
    for (stderr, expected) in [
        (format!("cat: {home}/.aws/config: Permission denied"), "read ~/.aws/config shellreadpaths"),
        ("cat: ../.aws/config: Permission denied".to_owned(), "read ~/.aws/config shellreadpaths"),
        ("cat: '~/.aws/config': 权限不够".to_owned(), "read ~/.aws/config shellreadpaths"),
        (
            format!("fatal: could not read '{home}/notes with blanks/a': Permission denied"),
            "read ~/notes with blanks/a shellreadpaths",
        ),
        (
            format!("Error: EACCES: permission denied, open '{home}/.aws/config'"),
            "read ~/.aws/config shellreadpaths",
        ),
        (format!("touch: cannot touch '{home}/new': Permission denied"), "write ~/new shellwritepaths"),
        (format!("sh: 1: cannot create {home}/new: Permission denied"), "write ~/new shellwritepaths"),
        (
            format!("/usr/bin/env: 1: cannot create {home}/new: Permission denied"),
            "write ~/new shellwritepaths",
        ),
        (format!("cat: {home}/state/state.db: Permission denied"), "read ~/state/state.db -"),
    ] {
        assert_eq!(seen(&scene, &stderr), [expected], "{stderr}");
    }
}

#[test]
fn what_the_boundary_allows_is_not_blamed_on_it() {
    let scene = scene();
    assert_eq!(seen(&scene, "cat: own: No such file or directory"), Vec::<String>::new());
    assert_eq!(seen(&scene, "./own: Permission denied"), ["sandbox_suspected"]);
    assert_eq!(seen(&scene, "kill: (1) - Operation not permitted"), ["sandbox_suspected"]);
    // A server of somebody's own is not on the computer that a command without a network sees.
    let alone = "curl: (7) Failed to connect to localhost port 3000 after 0 ms: Couldn't connect to server";
    assert_eq!(seen(&scene, alone), ["sandbox_suspected"]);
    assert_eq!(seen(&scene, "test failed: expected 3"), Vec::<String>::new());
    assert!(look(&scene, 0, "warning: ./own: Permission denied").is_empty(), "it went well");
    let certain = look(&scene, 0, &format!("rg: {}/.aws: Permission denied", scene.home.display()));
    assert_eq!(certain.len(), 1, "a marker with a path counts also when it went well");
}

#[test]
fn a_machine_that_was_not_reached_is_named() {
    let mut scene = scene();
    for (stderr, expected) in [
        ("curl: (6) Could not resolve host: example.com", "network example.com shellnetwork"),
        (
            "npm error request to https://registry.example.org/x failed, reason: getaddrinfo EAI_AGAIN registry.example.org",
            "network registry.example.org:443 shellnetwork",
        ),
        (
            "fatal: unable to access 'https://git.example.com/a/b/': Could not resolve host: git.example.com",
            "network git.example.com:443 shellnetwork",
        ),
        ("ping: Temporary failure in name resolution", "network?  shellnetwork"),
    ] {
        assert_eq!(seen(&scene, stderr), [expected], "{stderr}");
    }
    scene.boundary.network = true;
    assert_eq!(seen(&scene, "curl: (6) Could not resolve host: example.com"), Vec::<String>::new());
}

#[test]
fn there_are_never_more_than_eight() {
    let scene = scene();
    let many: String = (0..20)
        .map(|at| format!("touch: cannot touch '{}/n{at}': Permission denied\n", scene.home.display()))
        .collect();
    assert_eq!(look(&scene, 1, &many).len(), 8);
}
