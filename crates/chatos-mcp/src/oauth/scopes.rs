//! Scopes as strangers write them, made into those that may be asked for.

/// Most scopes that are asked for.
const SCOPES: usize = 100;
/// Longest scope.
const SCOPE_BYTES: usize = 256;

/// Scopes that can be written in a request, each once.
pub(super) fn clean(scopes: Vec<String>) -> Vec<String> {
    let writable = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    let mut kept: Vec<String> = Vec::new();
    for scope in scopes {
        let fits = !scope.is_empty() && scope.len() <= SCOPE_BYTES && scope.bytes().all(writable);
        if fits && kept.len() < SCOPES && !kept.contains(&scope) {
            kept.push(scope);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_that_could_split_a_request_are_left_out() {
        let scopes = ["a", "b c", "a", "\"", "\\", "é", "", "mcp:x/y"].map(str::to_owned).to_vec();
        assert_eq!(clean(scopes), ["a", "mcp:x/y"]);
        assert_eq!(clean(vec!["x".repeat(SCOPE_BYTES + 1)]), Vec::<String>::new());
        assert_eq!(clean((0..500).map(|n| n.to_string()).collect()).len(), SCOPES);
    }
}
