//! The cookie of a browser: its name, how it is set, and which one a request shows.

/// How long a browser keeps it unused, in seconds: as long as the sign-in lasts.
const MAX_AGE: u64 = 30 * 24 * 3600;
/// The only routes a browser sends it to.
const PATH: &str = "/api/v1/auth";
/// More cookies of one name than this are not looked at.
const MOST: usize = 8;

/// `HttpOnly`: no script sees it; `Strict`: no other site makes the browser send it; no `Domain`: this name alone.
pub(crate) fn set(name: &str, value: &str) -> String {
    format!("{name}={value}; HttpOnly; SameSite=Strict; Path={PATH}; Max-Age={MAX_AGE}")
}

/// Takes it away.
pub(crate) fn unset(name: &str) -> String {
    format!("{name}=; HttpOnly; SameSite=Strict; Path={PATH}; Max-Age=0")
}

/// The values a `Cookie` header has for this name. Another server on this computer can plant a second one.
pub(crate) fn shown<'a>(header: &'a str, name: &str) -> Vec<&'a str> {
    let pairs = header.split(';').filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(key, _)| *key == name).map(|(_, value)| value.trim()).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cookie_of_the_name_is_found_and_no_other() {
        let header = "other=1; chatos_ab=one;chatos_abc=no; chatos_ab=two=2 ; xchatos_ab=no";
        assert_eq!(shown(header, "chatos_ab"), ["one", "two=2"]);
        assert!(shown("", "chatos_ab").is_empty() && shown(";;=;chatos_ab", "chatos_ab").is_empty());
        assert_eq!(shown(&"chatos_ab=x;".repeat(1000), "chatos_ab").len(), MOST);
    }

    #[test]
    fn it_goes_to_the_sign_in_routes_alone() {
        let text = set("c", "v");
        for part in ["HttpOnly", "SameSite=Strict", "Path=/api/v1/auth", "Max-Age=2592000"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(!text.contains("Domain") && unset("c").contains("Max-Age=0"));
    }
}
