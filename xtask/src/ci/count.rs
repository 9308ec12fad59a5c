//! How many tests a step ran, read from what the runner printed.

use std::fmt;

/// Tests that passed, failed, and could not run here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

impl Count {
    /// Takes tests out of the passed ones that said they could not run: their runner cannot know.
    pub(crate) fn without(mut self, skipped: usize) -> Self {
        let skipped = (skipped as u64).min(self.passed);
        self.passed -= skipped;
        self.skipped += skipped;
        self
    }
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// nextest: `Summary [ 1.2s] 12 tests run: 11 passed (1 slow), 1 failed, 0 skipped`.
/// Failures that are not assertions have their own words; what it calls skipped was not asked for.
pub(crate) fn nextest(log: &str) -> Option<Count> {
    let line = log.lines().rev().find(|line| line.contains("Summary [") && line.contains(" run: "))?;
    let (_, tail) = line.split_once(" run: ")?;
    let mut count = Count::default();
    for part in tail.split(", ") {
        match words(part) {
            Some((n, "passed")) => count.passed += n,
            Some((n, "failed" | "timed")) => count.failed += n,
            _ => {}
        }
    }
    Some(count)
}

/// libtest: `test result: ok. 3 passed; 0 failed; …`, one line per test binary.
pub(crate) fn libtest(log: &str) -> Option<Count> {
    let mut total = None;
    for line in log.lines().filter_map(|line| line.trim().strip_prefix("test result: ")) {
        let total = total.get_or_insert_with(Count::default);
        for part in line.split(['.', ';']) {
            match words(part) {
                Some((n, "passed")) => total.passed += n,
                Some((n, "failed")) => total.failed += n,
                Some((n, "ignored")) => total.skipped += n,
                _ => {}
            }
        }
    }
    total
}

/// Either Rust runner; which one ran depends on the machine.
pub(crate) fn rust(log: &str) -> Option<Count> {
    nextest(log).or_else(|| libtest(log))
}

/// Our own tools: a line `4 passed, 0 failed`.
pub(crate) fn plain(log: &str) -> Option<Count> {
    let line = log.lines().rev().find(|line| line.contains(" passed, ") && line.ends_with(" failed"))?;
    let (passed, failed) = line.split_once(", ")?;
    match (words(passed)?, words(failed)?) {
        ((passed, "passed"), (failed, "failed")) => Some(Count { passed, failed, skipped: 0 }),
        _ => None,
    }
}

/// node's own runner, in both of its reporters: `ℹ pass 12` and `# pass 12`.
pub(crate) fn node(log: &str) -> Option<Count> {
    let number = |word: &str| {
        let lines = log.lines().filter_map(|line| line.trim().strip_prefix(['ℹ', '#']));
        let values =
            lines.filter_map(|line| line.trim().strip_prefix(word)).filter_map(|n| n.trim().parse().ok());
        values.fold(None, |sum: Option<u64>, n: u64| Some(sum.unwrap_or(0) + n))
    };
    let skipped = number("skipped ").unwrap_or(0);
    Some(Count { passed: number("pass ")?, failed: number("fail ")?, skipped })
}

/// vitest: `Tests  1 failed | 12 passed (13)`; Playwright: `  12 passed (3.4s)`, `  1 failed`.
pub(crate) fn browser(log: &str) -> Option<Count> {
    let plain = without_colours(log);
    if let Some(line) = plain.lines().rev().find_map(|line| line.trim().strip_prefix("Tests ")) {
        let mut count = Count::default();
        for part in line.split('|') {
            match words(part) {
                Some((n, "passed")) => count.passed += n,
                Some((n, "failed")) => count.failed += n,
                Some((n, "skipped")) => count.skipped += n,
                _ => {}
            }
        }
        return Some(count);
    }
    let mut count = None;
    for line in plain.lines() {
        let slot = match words(line) {
            Some((n, "passed")) => Count { passed: n, ..Count::default() },
            Some((n, "failed")) => Count { failed: n, ..Count::default() },
            Some((n, "skipped")) => Count { skipped: n, ..Count::default() },
            _ => continue,
        };
        *count.get_or_insert_with(Count::default) += slot;
    }
    count
}

/// `"  12 passed (3.4s)"` → `(12, "passed")`.
fn words(text: &str) -> Option<(u64, &str)> {
    let mut words = text.split_whitespace();
    let number = words.next()?.parse().ok()?;
    Some((number, words.next()?))
}

/// The text without terminal colour sequences.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            // ESC [ … letter
            chars.by_ref().find(|c| c.is_ascii_alphabetic());
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(passed: u64, failed: u64, skipped: u64) -> Count {
        Count { passed, failed, skipped }
    }

    #[test]
    fn nextest_summary() {
        let log =
            "     Summary [   0.512s] 14 tests run: 11 passed (1 slow), 2 failed, 1 timed out, 0 skipped\n";
        assert_eq!(rust(log), Some(count(11, 3, 0)));
    }

    #[test]
    fn libtest_lines_add_up() {
        let log = "test result: ok. 3 passed; 0 failed; 0 ignored\ntest result: FAILED. 4 passed; 1 failed; 0 ignored\n";
        assert_eq!(rust(log), Some(count(7, 1, 0)));
        assert_eq!(rust("nothing ran"), None);
    }

    #[test]
    fn node_reporters() {
        assert_eq!(node("# pass 12\n# fail 1\n"), Some(count(12, 1, 0)));
        assert_eq!(node("ℹ pass 2\nℹ fail 0\n"), Some(count(2, 0, 0)));
    }

    #[test]
    fn browser_runners() {
        let vitest = " Test Files  1 passed (1)\n\u{1b}[2m      Tests \u{1b}[22m \u{1b}[31m1 failed\u{1b}[39m | 12 passed (13)\n";
        assert_eq!(browser(vitest), Some(count(12, 1, 0)));
        assert_eq!(browser("  1 failed\n    x.spec.ts\n  7 passed (4.2s)\n"), Some(count(7, 1, 0)));
    }

    #[test]
    fn what_could_not_run_is_not_among_the_passed() {
        let log = "     Summary [   0.512s] 14 tests run: 14 passed, 3 skipped\n";
        assert_eq!(rust(log).map(|count| count.without(2)), Some(count(12, 0, 2)));
        assert_eq!(count(1, 1, 0).without(9), count(0, 1, 1), "never more than there were");
        assert_eq!(node("# pass 12\n# fail 0\n# skipped 3\n"), Some(count(12, 0, 3)));
        assert_eq!(browser("  2 skipped\n  7 passed (4.2s)\n"), Some(count(7, 0, 2)));
        assert_eq!(browser("      Tests  12 passed | 1 skipped (13)\n"), Some(count(12, 0, 1)));
        assert_eq!(count(7, 0, 2).to_string(), "7 passed, 0 failed, 2 skipped");
    }

    #[test]
    fn our_own_tools() {
        let log = "ok      manifest   9 inputs\nFAILED  archive    it panicked\n3 passed, 1 failed\n";
        assert_eq!(plain(log), Some(count(3, 1, 0)));
        assert_eq!(plain("nothing was passed, nothing failed"), None);
        assert_eq!(plain(""), None);
    }
}
