//! Tests of location rules and of taking possession of a directory.

use super::*;

fn inputs() -> PathInputs {
    PathInputs { home: Some("/home/li".into()), current_dir: "/srv/project".into(), ..PathInputs::default() }
}

#[test]
fn defaults_come_from_home() {
    let places = Locations::resolve(&inputs()).unwrap();
    assert_eq!(places.state_dir, Path::new("/home/li/.chatos/chatos"));
    assert_eq!(places.legacy_dir.as_deref(), Some(Path::new("/home/li/.deepseek_cli/chatos")));
    assert_eq!(places.key_dir, Path::new("/home/li/.config/chatos/keys"));
}

#[test]
fn the_flag_wins_over_the_environment_and_switches_the_legacy_move_off() {
    let places = Locations::resolve(&PathInputs {
        state_dir_flag: Some("state".into()),
        state_dir_env: Some("/elsewhere".into()),
        ..inputs()
    })
    .unwrap();
    assert_eq!(places.state_dir, Path::new("/srv/project/state"));
    assert_eq!(places.legacy_dir, None);
}

#[test]
fn host_app_separates_states_and_is_checked() {
    let named = |name: &str| Locations::resolve(&PathInputs { host_app_env: Some(name.into()), ..inputs() });
    assert_eq!(named("other").unwrap().state_dir, Path::new("/home/li/.chatos/other"));
    for bad in ["..", "a/b", ".x", "a..b", "-x", "x."] {
        assert!(matches!(named(bad), Err(PathError::HostApp { .. })), "{bad}");
    }
}

#[test]
fn a_missing_home_is_an_error_with_advice_unless_everything_is_named() {
    let homeless = PathInputs { home: None, ..inputs() };
    let error = Locations::resolve(&homeless).unwrap_err();
    assert!(error.to_string().contains("HOME"));
    assert!(error.hint().contains("--state-dir"));
    let named = PathInputs {
        state_dir_flag: Some("/var/chatos".into()),
        config_home: Some("/etc/xdg".into()),
        ..homeless
    };
    assert_eq!(Locations::resolve(&named).unwrap().key_dir, Path::new("/etc/xdg/chatos/keys"));
}

#[test]
fn a_wide_directory_is_narrowed_with_one_notice() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state");
    fs::create_dir(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let (state, notices) = StateDir::prepare(&path, false).unwrap();
    assert_eq!(notices.len(), 1);
    assert_eq!(fs::metadata(state.path()).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(StateDir::prepare(&path, false).unwrap().1.is_empty());
}

#[test]
fn a_file_in_the_place_of_the_directory_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state");
    fs::write(&path, "x").unwrap();
    assert!(matches!(StateDir::prepare(&path, false), Err(PathError::NotADirectory { .. })));
    assert!(matches!(StateDir::prepare(&path.join("below"), false), Err(PathError::NotADirectory { .. })));
    assert_eq!(fs::read(&path).unwrap(), b"x");
}
