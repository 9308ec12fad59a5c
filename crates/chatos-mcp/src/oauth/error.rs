//! Why a sign-in did not come about, in two languages.

use std::fmt;

use chatos_tool::{ErrorCode, Fault, Text};

use crate::failure::Failure;

/// Longest text of a stranger that is repeated.
const QUOTED: usize = 200;

/// Which document or step it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    /// The server's description of its sign-in (RFC 9728).
    Resource,
    /// The authorization server's description of itself (RFC 8414, OpenID Connect).
    Server,
    /// Making us known there (RFC 7591).
    Registration,
    /// Exchanging a code or renewing a token (RFC 6749).
    Token,
    /// Ending a grant (RFC 7009).
    Revocation,
}

impl Document {
    fn text(self) -> (&'static str, &'static str) {
        match self {
            Self::Resource => ("the server's description of its sign-in", "服务器的登录说明"),
            Self::Server => ("the description of the authorization server", "授权服务器的说明"),
            Self::Registration => ("the registration at the authorization server", "在授权服务器的注册"),
            Self::Token => ("the authorization server's answer with tokens", "授权服务器返回的令牌"),
            Self::Revocation => ("the sign-out at the authorization server", "在授权服务器的退出登录"),
        }
    }
}

/// Why a sign-in did not come about.
#[derive(Debug, Clone, PartialEq)]
pub enum SignInError {
    /// The server names no authorization server anywhere.
    NotOffered,
    /// An address that is neither encrypted nor on this machine.
    Insecure {
        /// The address, shortened.
        address: String,
    },
    /// Something that is no address where one is needed.
    BadAddress {
        /// Of what.
        document: Document,
        /// Which field.
        field: &'static str,
    },
    /// The other side cannot be reached, or may not be.
    Net {
        /// On the way to what.
        document: Document,
        /// Why.
        failure: Failure,
    },
    /// A document that cannot be used.
    Unusable {
        /// Which.
        document: Document,
        /// What is wrong with it.
        detail: String,
    },
    /// The description is about another server than the one it was asked for (RFC 9728 §3.3).
    OtherResource {
        /// Which one it names.
        found: String,
    },
    /// Somebody else answers than was asked (RFC 8414 §3.3, RFC 9207).
    OtherIssuer {
        /// Who was asked.
        expected: String,
        /// Who answered; `None` when the answer does not say, although it should.
        found: Option<String>,
    },
    /// A client id of one issuer would have to go to another one (SEP-2352).
    OtherClientIssuer {
        /// Who gave the id.
        expected: String,
        /// Who would get it.
        found: String,
    },
    /// The server does not name the issuer that somebody wants to sign in at.
    IssuerNotOffered {
        /// Which one.
        wanted: String,
        /// Those it names.
        offered: Vec<String>,
    },
    /// The authorization server cannot do what keeps a code from being stolen (RFC 7636).
    NoPkce,
    /// It knows us by none of the ways, so a person has to register a client.
    NoRegistration,
    /// The options of the sign-in cannot be used.
    Options {
        /// Why.
        detail: &'static str,
    },
    /// What the browser came back with cannot be used.
    Answer {
        /// Why.
        detail: &'static str,
    },
    /// The browser came back with another sign-in's answer, or with one that was used.
    OtherState,
    /// The sign-in was begun too long ago.
    TooLate,
    /// The authorization server, or the person there, said no.
    Refused {
        /// One of the protocol's words.
        error: String,
        /// In its own words.
        description: Option<String>,
    },
    /// No random numbers, or another fault of this machine.
    Internal {
        /// What.
        detail: String,
    },
}

impl SignInError {
    pub(super) fn refused(error: &str, description: Option<String>) -> Self {
        Self::Refused {
            error: quote(error),
            description: description.map(|text| quote(&text)).filter(|text| !text.is_empty()),
        }
    }

    pub(super) fn unusable(document: Document, detail: impl Into<String>) -> Self {
        Self::Unusable { document, detail: detail.into() }
    }

    /// The general code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Options { .. } | Self::NoRegistration | Self::IssuerNotOffered { .. } => {
                ErrorCode::InvalidArgument
            }
            Self::Net { failure, .. } => failure.code(),
            Self::NotOffered => ErrorCode::NotSupported,
            Self::Refused { .. } | Self::OtherState => ErrorCode::PermissionDenied,
            Self::TooLate => ErrorCode::Timeout,
            Self::Internal { .. } => ErrorCode::Internal,
            _ => ErrorCode::Unavailable,
        }
    }

    /// The domain code.
    pub fn domain_code(&self) -> &'static str {
        match self {
            Self::NotOffered => "sign_in_not_offered",
            Self::NoRegistration => "sign_in_client_needed",
            Self::Refused { .. } => "sign_in_refused",
            Self::OtherState => "sign_in_state",
            Self::TooLate => "sign_in_expired",
            Self::OtherIssuer { .. } | Self::OtherClientIssuer { .. } | Self::IssuerNotOffered { .. } => {
                "sign_in_issuer"
            }
            Self::Net { failure: failure @ Failure::AddressRefused { .. }, .. } => failure.domain_code(),
            _ => "sign_in_failed",
        }
    }

    /// What happened.
    pub fn text(&self) -> Text {
        match self {
            Self::NotOffered => Text::fixed("it does not say where to sign in", "它没有说明在哪里登录"),
            Self::Insecure { address } => Text::new(
                format!("`{address}` is neither encrypted nor on this machine, so nothing secret goes there"),
                format!("`{address}` 既未加密也不在本机，不会向其发送机密"),
            ),
            Self::BadAddress { document, field } => {
                let (en, zh) = document.text();
                Text::new(
                    format!("{en}: `{field}` is not a usable address"),
                    format!("{zh}：`{field}` 不是可用的地址"),
                )
            }
            Self::Net { document, failure } => {
                let ((en, zh), why) = (document.text(), failure.text());
                Text::new(format!("{en}: {}", why.en), format!("{zh}：{}", why.zh))
            }
            Self::Unusable { document, detail } => {
                let (en, zh) = document.text();
                Text::new(format!("{en}: {detail}"), format!("{zh}：{detail}"))
            }
            Self::OtherResource { found } => Text::new(
                format!("its description is about another server, `{found}`"),
                format!("其说明针对的是另一个服务器 `{found}`"),
            ),
            Self::OtherIssuer { expected, found: Some(found) } => Text::new(
                format!("`{found}` answered in place of `{expected}`"),
                format!("应答者是 `{found}`，而不是 `{expected}`"),
            ),
            Self::OtherIssuer { expected, found: None } => Text::new(
                format!("the answer does not say that it is from `{expected}`, although it should"),
                format!("应答没有表明来自 `{expected}`，但它应当表明"),
            ),
            Self::OtherClientIssuer { expected, found } => Text::new(
                format!("the client id belongs to `{expected}`, but the server now names `{found}`"),
                format!("客户端 ID 属于 `{expected}`，但服务器现在指定的是 `{found}`"),
            ),
            Self::IssuerNotOffered { wanted, .. } => Text::new(
                format!("the server does not name `{wanted}` as a place to sign in"),
                format!("服务器没有把 `{wanted}` 列为登录处"),
            ),
            Self::NoPkce => Text::fixed(
                "the authorization server does not protect codes (PKCE with S256)",
                "授权服务器不支持保护授权码（PKCE S256）",
            ),
            Self::NoRegistration => Text::fixed(
                "the authorization server accepts only clients that were registered there",
                "授权服务器只接受已在其处注册的客户端",
            ),
            Self::Options { detail } => {
                Text::new(format!("the sign-in cannot begin: {detail}"), format!("无法开始登录：{detail}"))
            }
            Self::Answer { detail } => Text::new(
                format!("what the browser came back with cannot be used: {detail}"),
                format!("浏览器带回的应答无法使用：{detail}"),
            ),
            Self::OtherState => Text::fixed(
                "the answer belongs to no sign-in that was begun here",
                "该应答不属于在此开始的任何登录",
            ),
            Self::TooLate => Text::fixed("the sign-in was begun too long ago", "登录开始得太久，已过期"),
            Self::Refused { error, description: None } => Text::new(
                format!("the authorization server refused (`{error}`)"),
                format!("授权服务器拒绝了（`{error}`）"),
            ),
            Self::Refused { error, description: Some(description) } => Text::new(
                format!("the authorization server refused (`{error}`): {description}"),
                format!("授权服务器拒绝了（`{error}`）：{description}"),
            ),
            Self::Internal { detail } => {
                Text::new(format!("the sign-in failed here: {detail}"), format!("登录在本机失败：{detail}"))
            }
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<Text> {
        Some(match self {
            Self::NotOffered => Text::fixed(
                "give the server a token or headers in its settings instead",
                "请改为在该服务器的设置中填写令牌或请求头",
            ),
            Self::NoRegistration => Text::fixed(
                "register a client there, then write its id (and secret) into the settings of this server",
                "请先在其处注册一个客户端，再把它的 ID（和密钥）填入该服务器的设置",
            ),
            Self::OtherClientIssuer { .. } => Text::fixed(
                "register a client at the new authorization server, or remove the client id from the settings",
                "请在新的授权服务器注册客户端，或从设置中删除该客户端 ID",
            ),
            Self::IssuerNotOffered { offered, .. } if !offered.is_empty() => {
                let list = offered.join("`, `");
                Text::new(format!("it names `{list}`"), format!("它列出的是 `{list}`"))
            }
            Self::Refused { error, .. } if error == "access_denied" => {
                Text::fixed("sign in again and agree there", "请重新登录并在其处同意")
            }
            Self::Refused { error, .. } if error == "invalid_client" || error == "unauthorized_client" => {
                Text::fixed(
                    "sign out and sign in again; check the client id and secret if you wrote them yourself",
                    "请退出后重新登录；如果客户端 ID 和密钥是你填写的，请检查它们",
                )
            }
            Self::OtherState | Self::TooLate | Self::Answer { .. } => {
                Text::fixed("begin the sign-in again", "请重新开始登录")
            }
            Self::Net { failure: Failure::AddressRefused { .. }, .. } => Text::fixed(
                "a server elsewhere may not send you to a machine inside your network",
                "外部服务器不得把你引到你网络内部的机器",
            ),
            Self::OtherResource { .. } | Self::OtherIssuer { .. } | Self::NoPkce | Self::Insecure { .. } => {
                Text::fixed(
                    "tell whoever runs the server; signing in would not be safe",
                    "请告知该服务器的运营者；现在登录不安全",
                )
            }
            _ => return None,
        })
    }

    /// As an error of the command line and the API; `server` is the name a person knows it by.
    pub fn fault(&self, server: &str) -> Fault {
        let text = self.text();
        let message = Text::new(
            format!("signing in to `{server}`: {}", text.en),
            format!("登录 `{server}`：{}", text.zh),
        );
        let fault = Fault::new(self.code(), message).code(self.domain_code());
        match self.hint() {
            Some(hint) => fault.hint(hint),
            None => fault,
        }
    }
}

impl fmt::Display for SignInError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text().en)
    }
}

impl std::error::Error for SignInError {}

/// A stranger's text: short, on one line.
pub(super) fn quote(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(QUOTED).collect()
}
