//! The table of tools §6, row by row.

use std::io;

use rustix::io::Errno;
use serde_json::json;

use super::*;
use crate::tool_error::os::Opening;
use crate::validation::IssueCode;

fn every() -> Vec<(ToolError, &'static str, Value)> {
    let new = |reason| ToolError::new(reason, Text::same("x"));
    vec![
        (
            ToolError::invalid(vec![Issue::new("/a", IssueCode::Missing, Text::same("m"))]),
            "invalid_argument",
            json!({"issues": [{"path": "/a", "code": "missing", "message": "m"}]}),
        ),
        (
            new(Reason::NotFound {
                what: "task".into(),
                id: Some("t1".into()),
                path: None,
                nearest: vec!["t2".into()],
            }),
            "not_found",
            json!({"what": "task", "id": "t1", "nearest": ["t2"]}),
        ),
        (
            ToolError::denied(DenyRule::NoPerson, Text::same("x")),
            "permission_denied",
            json!({"rule": "no_person"}),
        ),
        (ToolError::timeout(1000, Phase::Prompt), "timeout", json!({"limitMs": 1000, "phase": "prompt"})),
        (
            new(Reason::ResourceExhausted { resource: Resource::Files, limit: Some(50_000), actual: None }),
            "resource_exhausted",
            json!({"resource": "files", "limit": 50000}),
        ),
        (
            new(Reason::Conflict {
                kind: ConflictKind::ChangedOnDisk,
                expected: Some(json!("a")),
                found: Some(json!("b")),
                path: Some("p".into()),
            }),
            "conflict",
            json!({"kind": "changed_on_disk", "expected": "a", "found": "b", "path": "p"}),
        ),
        (ToolError::canceled(CanceledBy::Caller), "canceled", json!({"by": "caller"})),
        (
            new(Reason::Unavailable { what: Needed::LanguageServer, install: Some("npm i x".into()) }),
            "unavailable",
            json!({"what": "language server", "install": "npm i x"}),
        ),
        (new(Reason::NotSupported { what: "fifo".into() }), "not_supported", json!({"what": "fifo"})),
        (new(Reason::RateLimited { retry_after_ms: 250 }), "rate_limited", json!({"retryAfterMs": 250})),
        (ToolError::internal("r-1"), "internal", json!({"ref": "r-1"})),
    ]
}

#[test]
fn code_and_details_follow_from_the_reason() {
    for (error, code, details) in every() {
        assert_eq!(error.code().as_str(), code);
        assert_eq!(error.details(Lang::En), details, "{code}");
    }
}

#[test]
fn every_message_is_there_in_both_languages() {
    for (error, ..) in every() {
        assert!(!error.message.en.is_empty() && !error.message.zh.is_empty());
    }
}

#[test]
fn system_errors_have_their_codes() {
    use ErrorCode as C;
    let rows = [
        (Errno::NOENT, C::NotFound),
        (Errno::ACCESS, C::PermissionDenied),
        (Errno::PERM, C::PermissionDenied),
        (Errno::ROFS, C::PermissionDenied),
        (Errno::XDEV, C::PermissionDenied),
        (Errno::LOOP, C::PermissionDenied),
        (Errno::EXIST, C::Conflict),
        (Errno::NOTEMPTY, C::Conflict),
        (Errno::TXTBSY, C::Conflict),
        (Errno::NOSPC, C::ResourceExhausted),
        (Errno::DQUOT, C::ResourceExhausted),
        (Errno::MFILE, C::ResourceExhausted),
        (Errno::NFILE, C::ResourceExhausted),
        (Errno::NOMEM, C::ResourceExhausted),
        (Errno::FBIG, C::ResourceExhausted),
        (Errno::ISDIR, C::InvalidArgument),
        (Errno::NOTDIR, C::InvalidArgument),
        (Errno::NAMETOOLONG, C::InvalidArgument),
        (Errno::INVAL, C::InvalidArgument),
        (Errno::TIMEDOUT, C::Timeout),
        (Errno::CONNREFUSED, C::Unavailable),
        (Errno::PIPE, C::Unavailable),
        (Errno::CONNRESET, C::Unavailable),
        (Errno::NXIO, C::Internal),
    ];
    let doing = Text::fixed("read", "读取");
    for (errno, code) in rows {
        let error = ToolError::from_os(&errno.into(), Opening::Confined, &doing, Some("a/b"), "r");
        assert_eq!(error.code(), code, "{errno:?}");
    }
    let plain = ToolError::from_os(&Errno::XDEV.into(), Opening::Plain, &doing, None, "r");
    assert_eq!(plain.code(), C::Internal, "only a confined opening explains EXDEV");
    let made = io::Error::from(io::ErrorKind::NotFound);
    assert_eq!(ToolError::from_os(&made, Opening::Plain, &doing, None, "r").code(), C::NotFound);
}

#[test]
fn an_unexpected_error_names_no_path() {
    let error = ToolError::from_os(
        &Errno::NXIO.into(),
        Opening::Plain,
        &Text::fixed("read", "读取"),
        Some("/etc/x"),
        "r9",
    );
    assert_eq!(error.to_string(), "the tool failed unexpectedly (log record r9)");
}
