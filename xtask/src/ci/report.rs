//! The end of a run: every failure with its log, then the table, then one line.

use std::time::Duration;

use crate::ci::count::Count;
use crate::ci::step::Outcome;

#[derive(Default)]
pub(crate) struct Report {
    steps: Vec<(&'static str, Outcome)>,
}

impl Report {
    pub(crate) fn add(&mut self, name: &'static str, outcome: Outcome) {
        if let Outcome::Blocked(why) = &outcome {
            println!("– {name:<10} not run: {why}");
        }
        self.steps.push((name, outcome));
    }

    /// The first of these steps that was part of this run and did not pass.
    pub(crate) fn first_missing(&self, needs: &[&'static str]) -> Option<&'static str> {
        let missing = |need: &&'static str| {
            self.steps
                .iter()
                .any(|(name, outcome)| name == need && !matches!(outcome, Outcome::Passed { .. }))
        };
        needs.iter().copied().find(missing)
    }

    pub(crate) fn passed(&self) -> bool {
        self.steps.iter().all(|(_, outcome)| matches!(outcome, Outcome::Passed { .. }))
    }

    pub(crate) fn print(&self, total: Duration) {
        for (name, outcome) in &self.steps {
            if let Outcome::Failed { why, tail, log, .. } = outcome {
                println!("\n──── {name} failed: {why}\n{tail}\n──── whole log: {}", log.display());
            }
        }
        println!("\nstep        result   seconds  tests");
        for (name, outcome) in &self.steps {
            println!("{}", row(name, outcome));
        }
        for (name, outcome) in &self.steps {
            if let Outcome::Passed { notes, .. } | Outcome::Failed { notes, .. } = outcome {
                for note in notes {
                    println!("note: {name}: {note}");
                }
            }
        }
        let tests = self.tests();
        println!("\n{tests}");
        let verdict = if self.passed() { "all steps passed" } else { "NOT all steps passed" };
        println!("{verdict} in {} min {:02} s", total.as_secs() / 60, total.as_secs() % 60);
    }

    fn tests(&self) -> Count {
        let mut total = Count::default();
        for (_, outcome) in &self.steps {
            if let Outcome::Passed { count: Some(count), .. } | Outcome::Failed { count: Some(count), .. } =
                outcome
            {
                total += *count;
            }
        }
        total
    }
}

fn row(name: &str, outcome: &Outcome) -> String {
    let (result, took, count) = match outcome {
        Outcome::Passed { took, count, .. } => ("ok", Some(took), *count),
        Outcome::Failed { took, count, .. } => ("FAILED", Some(took), *count),
        Outcome::Blocked(_) => ("not run", None, None),
    };
    let took = took.map_or_else(|| String::from("–"), |took| format!("{:.1}", took.as_secs_f64()));
    let count = count.map(|count| count.to_string()).unwrap_or_default();
    format!("{name:<11} {result:<8} {took:>7}  {count}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(seconds: u64, count: Option<Count>) -> Outcome {
        Outcome::Passed { took: Duration::from_secs(seconds), count, notes: Vec::new() }
    }

    fn failed() -> Outcome {
        Outcome::Failed {
            took: Duration::from_secs(2),
            count: Some(Count { passed: 3, failed: 1, skipped: 0 }),
            notes: Vec::new(),
            why: String::from("x"),
            tail: String::new(),
            log: "x.log".into(),
        }
    }

    #[test]
    fn a_step_waits_only_for_what_it_needs() {
        let mut report = Report::default();
        report.add("fmt", failed());
        report.add("build", passed(1, None));
        assert_eq!(report.first_missing(&["build"]), None);
        assert_eq!(report.first_missing(&["build", "fmt"]), Some("fmt"));
        // Left out by --only or --skip: the person knows what they do.
        assert_eq!(report.first_missing(&["packages"]), None);
    }

    #[test]
    fn one_failure_or_blocked_step_fails_the_run() {
        let mut report = Report::default();
        report.add("build", passed(1, Some(Count { passed: 2, failed: 0, skipped: 4 })));
        assert!(report.passed());
        report.add("test", Outcome::Blocked(String::from("needs `build`")));
        assert!(!report.passed());
        report.add("e2e", failed());
        assert_eq!(report.tests(), Count { passed: 5, failed: 1, skipped: 4 });
    }

    #[test]
    fn rows_line_up() {
        assert_eq!(row("build", &passed(12, None)), "build       ok          12.0");
        assert_eq!(row("test", &failed()), "test        FAILED       2.0  3 passed, 1 failed, 0 skipped");
    }
}
