//! Sign-in codes, session tokens and WebSocket tickets (security T1, T2.7). All in memory, all
//! compared as digests in constant time, none ever logged. Which browsers may have a token without a code is
//! the business of `chatos-browsers`.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

const CODE_LIFE: Duration = Duration::from_secs(60);
/// How long a WebSocket ticket may wait for its socket.
pub(crate) const TICKET_LIFE: Duration = Duration::from_secs(30);
/// A token lasts this long; a browser that stays signed in renews it unseen.
pub(crate) const SESSION_LIFE: Duration = Duration::from_secs(12 * 3600);
/// More browser sessions than this and the oldest is signed out: memory stays bounded.
const SESSIONS: usize = 64;
const CODES: usize = 32;
const TICKETS: usize = 256;
/// Failed sign-ins in one minute; more are refused without being looked at further or recorded.
const FAILURES: u32 = 60;

/// Which session a request belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionId(pub(crate) u64);

/// The session of the token in `host.json`.
pub(crate) const HOST_SESSION: SessionId = SessionId(0);

type Fingerprint = [u8; 32];

/// Everything that opens the API during this start.
pub(crate) struct Auth {
    state: Mutex<State>,
}

struct Session {
    token: Fingerprint,
    id: SessionId,
    made: Instant,
    // It was given to a browser that stays signed in.
    browser: Option<String>,
    // Ends the sockets of this session when it is signed out or pushed out.
    over: CancellationToken,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

#[derive(Default)]
struct State {
    // Of `host.json`, the newest last; two only while the file is being rewritten.
    tokens: Vec<Fingerprint>,
    // Ends the sockets that were opened with them.
    host_over: CancellationToken,
    next_session: u64,
    sessions: Vec<Session>,
    codes: Vec<(Fingerprint, Instant)>,
    tickets: Vec<(Fingerprint, SessionId, Instant)>,
    failures: Option<(Instant, u32)>,
}

impl Auth {
    /// Accepts `token` and what is derived from it by signing in.
    pub(crate) fn new(token: &str) -> Self {
        let state = State { tokens: vec![fingerprint(token)], ..State::default() };
        Self { state: Mutex::new(state) }
    }

    /// Makes another token that counts beside the one before; see [`Auth::end_former`].
    pub(crate) fn next_token(&self) -> String {
        let token = random(32);
        self.lock().tokens.push(fingerprint(&token));
        token
    }

    /// Only the newest token counts from now on. What may have been gained with a former one ends: its
    /// sockets, codes and tickets, and every sign-in since this moment; `browsers` are those signed in since. A
    /// browser that was signed in before has shown its own halves for its token.
    pub(crate) fn end_former(&self, since: Instant, browsers: &[String]) {
        let mut state = self.lock();
        let newest = state.tokens.pop();
        state.tokens.clear();
        state.tokens.extend(newest);
        std::mem::take(&mut state.host_over).cancel();
        state.codes.clear();
        state.sessions.retain(|session| match &session.browser {
            Some(browser) => !browsers.contains(browser),
            None => session.made < since,
        });
        let kept: Vec<SessionId> = state.sessions.iter().map(|session| session.id).collect();
        state.tickets.retain(|(_, id, _)| kept.contains(id));
    }

    /// The session a bearer token belongs to.
    pub(crate) fn session(&self, token: &str) -> Option<SessionId> {
        let given = fingerprint(token);
        let state = self.lock();
        let mut found = None;
        for token in &state.tokens {
            if same(&given, token) {
                found = Some(HOST_SESSION);
            }
        }
        for session in &state.sessions {
            if same(&given, &session.token) && session.made.elapsed() < SESSION_LIFE {
                found = Some(session.id);
            }
        }
        found
    }

    /// Makes a one-time sign-in code of 128 bits.
    pub(crate) fn new_code(&self) -> String {
        let code = random(16);
        let mut state = self.lock();
        state.codes.retain(|(_, made)| made.elapsed() < CODE_LIFE);
        if state.codes.len() >= CODES {
            state.codes.remove(0);
        }
        state.codes.push((fingerprint(&code), Instant::now()));
        code
    }

    /// Uses up a code. A used, expired or wrong code is the same nothing.
    pub(crate) fn take_code(&self, code: &str) -> bool {
        let given = fingerprint(code);
        let mut state = self.lock();
        let Some(place) = state.codes.iter().position(|(known, _)| same(&given, known)) else { return false };
        state.codes.remove(place).1.elapsed() < CODE_LIFE
    }

    /// A token for whoever was let in: a browser that stays signed in, or one page.
    pub(crate) fn begin(&self, browser: Option<String>) -> String {
        let token = random(32);
        let mut state = self.lock();
        state.next_session += 1;
        let id = SessionId(state.next_session);
        state.sessions.retain(|session| session.made.elapsed() < SESSION_LIFE);
        if state.sessions.len() >= SESSIONS {
            // A browser that stays signed in comes back by itself.
            let place = state.sessions.iter().position(|session| session.browser.is_some());
            state.sessions.remove(place.unwrap_or(0));
        }
        let (print, made, over) = (fingerprint(&token), Instant::now(), CancellationToken::new());
        state.sessions.push(Session { token: print, id, made, browser, over });
        token
    }

    /// The browser a session was given to.
    pub(crate) fn browser_of(&self, session: SessionId) -> Option<String> {
        self.lock().sessions.iter().find(|known| known.id == session)?.browser.clone()
    }

    /// Ends every session of a browser.
    pub(crate) fn end_browser(&self, browser: &str) {
        let mut state = self.lock();
        state.sessions.retain(|known| known.browser.as_deref() != Some(browser));
        let kept: Vec<SessionId> = state.sessions.iter().map(|session| session.id).collect();
        state.tickets.retain(|(_, id, _)| *id == HOST_SESSION || kept.contains(id));
    }

    /// A sign-in failed; says whether there were not too many of them lately. What is right is let in all the same.
    pub(crate) fn failed(&self) -> bool {
        let mut state = self.lock();
        let (since, count) = state
            .failures
            .filter(|(since, _)| since.elapsed() < Duration::from_secs(60))
            .unwrap_or((Instant::now(), 0));
        state.failures = Some((since, count.saturating_add(1)));
        count < FAILURES
    }

    /// Makes a ticket with which this session may open one WebSocket.
    pub(crate) fn new_ticket(&self, session: SessionId) -> String {
        let ticket = random(16);
        let mut state = self.lock();
        state.tickets.retain(|(_, _, made)| made.elapsed() < TICKET_LIFE);
        if state.tickets.len() >= TICKETS {
            state.tickets.remove(0);
        }
        state.tickets.push((fingerprint(&ticket), session, Instant::now()));
        ticket
    }

    /// Uses up a ticket. Two sockets with one ticket: exactly one wins, because both take this lock.
    pub(crate) fn take_ticket(&self, ticket: &str) -> Option<SessionId> {
        let given = fingerprint(ticket);
        let mut state = self.lock();
        let place = state.tickets.iter().position(|(known, _, _)| same(&given, known))?;
        let (_, session, made) = state.tickets.remove(place);
        (made.elapsed() < TICKET_LIFE).then_some(session)
    }

    /// Cancelled when the session ends. The session of `host.json` ends with its token; one that is
    /// already over is cancelled from the start.
    pub(crate) fn over(&self, session: SessionId) -> CancellationToken {
        let state = self.lock();
        if session == HOST_SESSION {
            return state.host_over.clone();
        }
        let known = state.sessions.iter().find(|known| known.id == session).map(|s| s.over.clone());
        known.unwrap_or_else(|| {
            let over = CancellationToken::new();
            over.cancel();
            over
        })
    }

    /// Ends a browser session.
    pub(crate) fn sign_out(&self, session: SessionId) {
        let mut state = self.lock();
        state.sessions.retain(|known| known.id != session);
        state.tickets.retain(|(_, id, _)| *id != session);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `bytes` random bytes as URL-safe text.
///
/// A system without random bytes cannot keep any promise about tokens; the text is then one that no
/// client can know either, because its fingerprint is refused.
pub(crate) fn random(bytes: usize) -> String {
    let mut buffer = vec![0; bytes];
    if let Err(error) = getrandom::fill(&mut buffer) {
        tracing::error!(%error, "the system gives no random bytes");
        return String::new();
    }
    URL_SAFE_NO_PAD.encode(buffer)
}

fn fingerprint(text: &str) -> Fingerprint {
    Sha256::digest(text.as_bytes()).into()
}

/// Compares without stopping at the first difference. The empty text matches nothing.
fn same(left: &Fingerprint, right: &Fingerprint) -> bool {
    let difference = left.iter().zip(right).fold(0, |sum, (a, b)| sum | (a ^ b));
    difference == 0 && *left != fingerprint("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_works_once_and_gives_a_session() {
        let auth = Auth::new("host-token");
        let code = auth.new_code();
        assert!(auth.take_code(&code));
        assert!(!auth.take_code(&code));
        let token = auth.begin(None);
        assert!(auth.session(&token).is_some());
        assert_eq!(auth.session("host-token"), Some(HOST_SESSION));
        for wrong in ["", "host-toke", "host-token ", &code] {
            assert_eq!(auth.session(wrong), None, "{wrong}");
        }
        auth.sign_out(auth.session(&token).unwrap());
        assert_eq!(auth.session(&token), None);
    }

    #[test]
    fn a_ticket_opens_one_socket() {
        let auth = Auth::new("t");
        let ticket = auth.new_ticket(HOST_SESSION);
        assert_eq!(auth.take_ticket(&ticket), Some(HOST_SESSION));
        assert_eq!(auth.take_ticket(&ticket), None);
        assert_eq!(auth.take_ticket(""), None);
    }

    #[test]
    fn codes_and_tickets_expire() {
        let auth = Auth::new("t");
        let (code, ticket) = (auth.new_code(), auth.new_ticket(HOST_SESSION));
        let long_ago = |life: Duration| Instant::now().checked_sub(life).unwrap();
        auth.lock().codes[0].1 = long_ago(CODE_LIFE);
        auth.lock().tickets[0].2 = long_ago(TICKET_LIFE);
        assert!(!auth.take_code(&code));
        assert_eq!(auth.take_ticket(&ticket), None);
    }

    #[test]
    fn a_session_that_ends_takes_its_sockets_along() {
        let auth = Auth::new("t");
        let first = auth.begin(None);
        let session = auth.session(&first).unwrap();
        let over = auth.over(session);
        assert!(!over.is_cancelled());
        // Pushed out by newer ones counts as ended.
        for _ in 0..SESSIONS {
            auth.begin(None);
        }
        assert!(over.is_cancelled());
        assert!(auth.over(session).is_cancelled());
        assert!(!auth.over(HOST_SESSION).is_cancelled());
    }

    #[test]
    fn a_renewed_token_ends_what_the_former_one_opened() {
        let auth = Auth::new("former");
        let (page, known) = (auth.begin(None), Some("known".to_owned()));
        let since = Instant::now();
        // Whoever read the file could have done all this with it.
        let (code, ticket) = (auth.new_code(), auth.new_ticket(HOST_SESSION));
        let stranger = [auth.begin(None), auth.begin(Some("new".to_owned()))];
        let renewed = auth.begin(known);
        let over = auth.over(HOST_SESSION);
        let next = auth.next_token();
        assert!(auth.session("former").is_some(), "until the file says the new one");
        auth.end_former(since, &["new".to_owned()]);
        assert_eq!(auth.session("former"), None);
        assert_eq!(auth.session(&next), Some(HOST_SESSION));
        assert!(auth.session(&page).is_some(), "signed in before anything was open");
        assert!(auth.session(&renewed).is_some(), "its browser was signed in before");
        assert!(stranger.iter().all(|token| auth.session(token).is_none()));
        assert_eq!((auth.take_code(&code), auth.take_ticket(&ticket)), (false, None));
        assert!(over.is_cancelled() && !auth.over(HOST_SESSION).is_cancelled());
    }

    #[test]
    fn a_browser_that_is_signed_out_loses_every_session_and_nobody_else_any() {
        let auth = Auth::new("t");
        let (one, other) = (Some("one".to_owned()), Some("other".to_owned()));
        let tokens = [auth.begin(one.clone()), auth.begin(one), auth.begin(other), auth.begin(None)];
        let first = auth.session(&tokens[0]).unwrap();
        assert_eq!(auth.browser_of(first).as_deref(), Some("one"));
        let (over, ticket, own) = (auth.over(first), auth.new_ticket(first), auth.new_ticket(HOST_SESSION));
        auth.end_browser("one");
        assert!(
            over.is_cancelled() && auth.take_ticket(&ticket).is_none() && auth.take_ticket(&own).is_some()
        );
        let known: Vec<bool> = tokens.iter().map(|token| auth.session(token).is_some()).collect();
        assert_eq!(known, [false, false, true, true]);
    }

    #[test]
    fn a_token_ends_by_itself_and_the_session_of_one_page_is_pushed_out_last() {
        let auth = Auth::new("t");
        let page = auth.begin(None);
        for _ in 0..SESSIONS {
            auth.begin(Some("b".to_owned()));
        }
        assert!(auth.session(&page).is_some());
        auth.lock().sessions[0].made = Instant::now().checked_sub(SESSION_LIFE).unwrap();
        assert_eq!(auth.session(&page), None);
    }

    #[test]
    fn failures_are_counted_and_forgotten() {
        let auth = Auth::new("t");
        for _ in 0..FAILURES {
            assert!(auth.failed());
        }
        assert!(!auth.failed());
        assert!(auth.take_code(&auth.new_code()));
        auth.lock().failures = Some((Instant::now().checked_sub(Duration::from_secs(60)).unwrap(), 1000));
        assert!(auth.failed());
    }

    #[test]
    fn an_empty_token_never_matches() {
        assert_eq!(Auth::new("").session(""), None);
    }
}
