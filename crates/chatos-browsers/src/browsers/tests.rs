//! Browsers as they behave: both halves, parallel tabs, answers that never arrive, copies of profiles, clocks.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chatos_store::OpenOptions;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};

use super::*;

const ORIGIN: &str = "http://127.0.0.1:7878";
const DAY: i64 = 24 * 3600 * 1000;

struct Place {
    dir: tempfile::TempDir,
    store: Store,
    clock: Arc<Mutex<Moment>>,
    browsers: Browsers,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(OpenOptions {
            path: dir.path().join("state.db"),
            backups: dir.path().join("backups"),
            migrate: true,
            wal: true,
            used: false,
            check: false,
        })
        .unwrap();
        let clock = Moment { wall_ms: 1_700_000_000_000, boot_id: "first".to_owned(), boot_ms: 5_000 };
        let clock = Arc::new(Mutex::new(clock));
        let browsers = open(&store, &clock);
        Self { dir, store, clock, browsers }
    }

    /// The host is started anew; the machine is not.
    fn restart(&mut self) {
        self.browsers = open(&self.store, &self.clock);
    }

    fn pass(&self, ms: i64) {
        let mut clock = self.clock.lock().unwrap();
        clock.wall_ms += ms;
        clock.boot_ms += ms;
    }

    fn jump(&self, ms: i64) {
        self.clock.lock().unwrap().wall_ms += ms;
    }

    fn reboot(&self) {
        let mut clock = self.clock.lock().unwrap();
        clock.boot_id.push('+');
        clock.boot_ms = 0;
    }
}

fn open(store: &Store, clock: &Arc<Mutex<Moment>>) -> Browsers {
    let clock = Arc::clone(clock);
    Browsers::new(store.clone(), "an instance", move || clock.lock().unwrap().clone())
}

/// A profile of a browser: a key, and the cookie it was given last.
struct Profile {
    key: EcdsaKeyPair,
    id: String,
    jar: String,
}

impl Profile {
    fn new() -> Self {
        let random = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, made.as_ref(), &random).unwrap();
        let id = proof::name_of(key.public_key().as_ref());
        Self { key, id, jar: String::new() }
    }

    fn sign_in(&mut self, place: &Place) {
        let key = URL_SAFE_NO_PAD.encode(self.key.public_key().as_ref());
        let done = place.browsers.sign_in(&key, "Chromium on Linux", "").unwrap();
        assert_eq!(done.browser, self.id);
        self.keep(&done);
    }

    fn keep(&mut self, done: &Renewed) {
        self.jar = done.set_cookie.split(';').next().unwrap().to_owned();
    }

    fn sign(&self, origin: &str, challenge: &str) -> String {
        let text = proof::statement(origin, &self.id, challenge);
        URL_SAFE_NO_PAD.encode(self.key.sign(&SystemRandom::new(), text.as_bytes()).unwrap())
    }

    /// Shows these cookies; what it is given is not kept.
    fn show(&self, place: &Place, cookies: &str) -> Result<Renewed, Refusal> {
        let challenge = place.browsers.challenge().unwrap();
        let sig = self.sign(ORIGIN, &challenge);
        place.browsers.renew(&Renewal {
            browser: &self.id,
            challenge: &challenge,
            sig: &sig,
            origin: ORIGIN,
            cookies,
            address: "",
        })
    }

    fn renew(&mut self, place: &Place) -> Result<(), Refusal> {
        let done = self.show(place, &self.jar.clone())?;
        self.keep(&done);
        Ok(())
    }
}

fn is_unknown<T>(result: &Result<T, Refusal>) -> bool {
    matches!(result, Err(Refusal::Unknown))
}

#[test]
fn both_halves_renew_over_restarts_and_each_alone_does_nothing() {
    let mut place = Place::new();
    let (mut one, mut other) = (Profile::new(), Profile::new());
    one.sign_in(&place);
    other.sign_in(&place);
    for _ in 0..5 {
        one.renew(&place).unwrap();
        place.restart();
    }
    // The key without a cookie, with another browser's, and with something made up beside the right one.
    assert!(is_unknown(&one.show(&place, "")) && is_unknown(&one.show(&place, "unrelated=1")));
    let (name, _) = one.jar.split_once('=').unwrap();
    let planted = format!("{name}=planted; {}", one.jar);
    assert!(one.show(&place, &planted).is_ok(), "another server on this computer can plant cookies");
    place.restart();
    // The cookie with another key, and with a signature for another page or another challenge.
    let jar = one.jar.clone();
    assert!(is_unknown(&Profile { key: other.key, id: one.id.clone(), jar: jar.clone() }.show(&place, &jar)));
    let challenge = place.browsers.challenge().unwrap();
    let more = place.browsers.challenge().unwrap();
    let wrong = [
        (challenge.as_str(), one.sign("http://localhost:7878", &challenge)),
        (more.as_str(), one.sign(ORIGIN, "another")),
        ("", one.sign(ORIGIN, "")),
    ];
    for (challenge, sig) in wrong {
        let asked =
            Renewal { browser: &one.id, challenge, sig: &sig, origin: ORIGIN, cookies: &jar, address: "" };
        assert!(is_unknown(&place.browsers.renew(&asked)), "{challenge}");
    }
    assert!(one.renew(&place).is_ok(), "none of that has changed anything");
}

#[test]
fn a_challenge_is_used_once_and_within_a_minute() {
    let place = Place::new();
    let mut one = Profile::new();
    one.sign_in(&place);
    let jar = one.jar.clone();
    let challenge = place.browsers.challenge().unwrap();
    let sig = one.sign(ORIGIN, &challenge);
    let asked = Renewal {
        browser: &one.id,
        challenge: &challenge,
        sig: &sig,
        origin: ORIGIN,
        cookies: &jar,
        address: "",
    };
    assert!(place.browsers.renew(&asked).is_ok());
    assert!(is_unknown(&place.browsers.renew(&asked)));
    let late = place.browsers.challenge().unwrap();
    let sig = one.sign(ORIGIN, &late);
    place.pass(CHALLENGE_MS);
    assert!(is_unknown(&place.browsers.renew(&Renewal { challenge: &late, sig: &sig, ..asked })));
    for _ in 0..MOST_CHALLENGES + 5 {
        place.browsers.challenge().unwrap();
    }
    assert_eq!(place.browsers.lock().challenges.len(), MOST_CHALLENGES);
}

#[test]
fn tabs_that_ask_at_once_and_answers_that_never_arrive_lock_nobody_out() {
    let mut place = Place::new();
    let mut one = Profile::new();
    one.sign_in(&place);
    for _ in 0..3 {
        place.pass(GRACE_MS * 2);
        // Seven tabs show the cookie that was there when the host came back; the browser keeps any one answer.
        let jar = one.jar.clone();
        let answers: Vec<_> = (0..7).map(|_| one.show(&place, &jar).unwrap()).collect();
        one.keep(&answers[3]);
        one.renew(&place).unwrap();
        // The last of them was slow.
        one.show(&place, &jar).unwrap();
        // Killed between the commit and the answer, twice.
        for _ in 0..2 {
            place.pass(GRACE_MS * 2);
            one.show(&place, &one.jar.clone()).unwrap();
            place.restart();
        }
        one.renew(&place).unwrap();
        one.renew(&place).unwrap();
    }
}

#[test]
fn a_copy_of_a_profile_is_noticed_and_both_are_signed_out() {
    let place = Place::new();
    let mut one = Profile::new();
    one.sign_in(&place);
    let stolen = one.jar.clone();
    for _ in 0..2 {
        place.pass(GRACE_MS + 1);
        one.renew(&place).unwrap();
    }
    one.renew(&place).unwrap();
    // Without the key the old cookie is nothing, and signs nobody out.
    let mut thief = Profile::new();
    thief.id.clone_from(&one.id);
    assert!(is_unknown(&thief.show(&place, &stolen)));
    one.renew(&place).unwrap();
    let refused = one.show(&place, &stolen);
    assert!(matches!(&refused, Err(Refusal::Reused(row)) if row.name == "Chromium on Linux"), "{refused:?}");
    assert!(is_unknown(&one.renew(&place)) && place.browsers.list().unwrap().is_empty());
    // A person's code signs the same browser in again.
    one.sign_in(&place);
    one.renew(&place).unwrap();
}

#[test]
fn the_cookie_before_is_over_a_minute_after_the_newer_one_was_seen() {
    let place = Place::new();
    let mut one = Profile::new();
    one.sign_in(&place);
    place.pass(GRACE_MS);
    let before = one.jar.clone();
    one.renew(&place).unwrap();
    assert_ne!(one.jar, before);
    place.pass(GRACE_MS * 10);
    assert!(one.show(&place, &before).is_ok(), "the newer one was never seen: perhaps it never arrived");
    let before = one.jar.clone();
    one.keep(&one.show(&place, &before).unwrap());
    one.renew(&place).unwrap();
    place.pass(GRACE_MS - 1);
    assert!(one.show(&place, &before).is_ok());
    place.pass(1);
    assert!(matches!(one.show(&place, &before), Err(Refusal::Reused(_))));
}

#[test]
fn a_clock_set_anywhere_signs_nobody_out_and_keeps_nobody_for_ever() {
    let place = Place::new();
    let mut one = Profile::new();
    one.sign_in(&place);
    for jump in [-10 * DAY, 3_650 * DAY, -7_300 * DAY, i64::MAX / 4] {
        place.jump(jump);
        one.renew(&place).unwrap();
        assert_eq!(place.browsers.list().unwrap().len(), 1);
        place.jump(-jump);
    }
    // Unused, it is over after thirty days that passed, whatever the clock says.
    place.pass(30 * DAY - 1);
    place.jump(-300 * DAY);
    one.renew(&place).unwrap();
    place.jump(300 * DAY);
    place.pass(30 * DAY);
    assert!(is_unknown(&one.renew(&place)) && place.browsers.list().unwrap().is_empty());
    // Used every day, after a hundred and eighty.
    one.sign_in(&place);
    let mut days = 0;
    while one.renew(&place).is_ok() {
        place.pass(DAY);
        days += 1;
        if days % 40 == 0 {
            place.reboot();
        }
    }
    assert_eq!(days, 180);
    // Across a restart of the machine the clock decides; set back, it lets no time pass.
    one.sign_in(&place);
    place.reboot();
    place.jump(-5 * DAY);
    one.renew(&place).unwrap();
    place.reboot();
    place.jump(31 * DAY);
    assert!(is_unknown(&one.renew(&place)));
}

#[test]
fn one_or_all_are_signed_out_and_a_copy_of_the_database_signs_nobody_in() {
    let place = Place::new();
    let mut all: Vec<Profile> = (0..3).map(|_| Profile::new()).collect();
    let began = Instant::now();
    for one in &mut all {
        one.sign_in(&place);
        place.pass(10);
    }
    assert_eq!(place.browsers.signed_in_since(began).len(), 3);
    assert!(place.browsers.signed_in_since(Instant::now()).is_empty());
    let listed: Vec<String> = place.browsers.list().unwrap().into_iter().map(|(row, _)| row.id).collect();
    assert_eq!(listed, [all[2].id.clone(), all[1].id.clone(), all[0].id.clone()]);
    assert!(place.browsers.revoke(Some("nobody")).unwrap().is_empty());
    assert_eq!(place.browsers.revoke(Some(&all[1].id)).unwrap().len(), 1);
    assert!(is_unknown(&all[1].renew(&place)));
    all[0].renew(&place).unwrap();
    let copy = place.dir.path().join("copy.db");
    place.store.backup_to(&copy).unwrap();
    let copy = Store::open(OpenOptions {
        path: copy,
        backups: place.dir.path().join("backups"),
        migrate: true,
        wal: false,
        used: true,
        check: false,
    })
    .unwrap();
    assert!(copy.browsers().unwrap().is_empty() && place.store.browsers().unwrap().len() == 2);
    assert_eq!(place.browsers.revoke(None).unwrap().len(), 2);
    assert!(is_unknown(&all[0].renew(&place)) && is_unknown(&all[2].renew(&place)));
}

#[test]
fn nothing_at_rest_signs_in_and_what_strangers_send_is_no_key() {
    let place = Place::new();
    let mut one = Profile::new();
    one.sign_in(&place);
    one.renew(&place).unwrap();
    let (_, value) = one.jar.split_once('=').unwrap();
    for file in std::fs::read_dir(place.dir.path()).unwrap().flatten().filter(|file| file.path().is_file()) {
        let bytes = std::fs::read(file.path()).unwrap();
        assert!(!bytes.windows(value.len()).any(|part| part == value.as_bytes()), "{file:?}");
    }
    let long = "A".repeat(1_000_000);
    for key in ["", "x", "====", &long, &URL_SAFE_NO_PAD.encode([4; 64]), &URL_SAFE_NO_PAD.encode([3; 65])] {
        assert!(matches!(place.browsers.sign_in(key, "", ""), Err(SignInError::Key)));
    }
    let asked =
        Renewal { browser: &long, challenge: &long, sig: &long, origin: &long, cookies: &long, address: "" };
    assert!(is_unknown(&place.browsers.renew(&asked)));
    // A name is text of a stranger.
    let key = URL_SAFE_NO_PAD.encode(one.key.public_key().as_ref());
    place.browsers.sign_in(&key, &format!("\u{202e}evil\n\u{1b}[31m{long}"), "").unwrap();
    let name = place.browsers.list().unwrap()[0].0.name.clone();
    assert!(name.starts_with("evil[31mA") && name.chars().count() == NAME_CHARS, "{name}");
}

#[test]
fn there_are_at_most_so_many_and_the_one_away_longest_makes_room() {
    let place = Place::new();
    let mut first = Profile::new();
    first.sign_in(&place);
    let mut second = Profile::new();
    place.pass(1);
    second.sign_in(&place);
    for _ in 0..MOST_BROWSERS - 1 {
        place.pass(1);
        Profile::new().sign_in(&place);
    }
    assert_eq!(place.browsers.list().unwrap().len(), MOST_BROWSERS);
    assert!(is_unknown(&first.renew(&place)) && second.renew(&place).is_ok());
}
