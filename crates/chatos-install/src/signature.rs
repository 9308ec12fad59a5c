//! The signature of a release: Ed25519 in the form of `minisign`, over the list of checksums.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chatos_tool::{ErrorCode, Fault, Text};
use ring::signature::{ED25519, UnparsedPublicKey};

/// Plain Ed25519, without a hash before it.
const ALGORITHM: &[u8] = b"Ed";
const ID: usize = 8;
const KEY: usize = 32;
const SIGNATURE: usize = 64;

/// The key releases are checked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    id: Vec<u8>,
    key: Vec<u8>,
}

impl PublicKey {
    /// Reads a key as `cargo xtask dist key` and `minisign` print it.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let (id, key) = parts(text.trim(), KEY).ok_or_else(|| {
            Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("this is not the public key of a release", "这不是发布所用的公钥"),
            )
            .code("release_key")
            .hint(Text::fixed("give the line that begins with RW", "请给出以 RW 开头的那一行"))
        })?;
        Ok(Self { id, key })
    }

    /// Checks a `.minisig` file against what it signs; gives its trusted comment, which is signed too.
    pub fn check(&self, content: &[u8], signature: &str) -> Result<String, Fault> {
        self.verified(content, signature).ok_or_else(|| {
            Fault::new(
                ErrorCode::Unavailable,
                Text::fixed(
                    "the signature of this release is not from whoever made this program; nothing was changed",
                    "此发布的签名与本程序的发布者不符；没有任何更改",
                ),
            )
            .code("release_signature")
            .hint(Text::fixed(
                "somebody may have changed the files on the way: report it, and do not install them",
                "文件可能在途中被篡改：请报告，不要安装",
            ))
        })
    }

    fn verified(&self, content: &[u8], signature: &str) -> Option<String> {
        let mut lines = signature.lines();
        lines.next()?.strip_prefix("untrusted comment:")?;
        let (id, signed) = parts(lines.next()?, SIGNATURE)?;
        let comment = lines.next()?.strip_prefix("trusted comment: ")?;
        let whole = STANDARD.decode(lines.next()?).ok()?;
        if id != self.id {
            return None;
        }
        let key = UnparsedPublicKey::new(&ED25519, &self.key);
        key.verify(content, &signed).ok()?;
        key.verify(&[signed.as_slice(), comment.as_bytes()].concat(), &whole).ok()?;
        Some(comment.to_owned())
    }
}

/// The key's id and what follows it, of a line with exactly so many bytes.
fn parts(line: &str, bytes: usize) -> Option<(Vec<u8>, Vec<u8>)> {
    let all = STANDARD.decode(line).ok()?;
    let rest = all.strip_prefix(ALGORITHM)?;
    (rest.len() == ID + bytes).then(|| (rest[..ID].to_vec(), rest[ID..].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (ring::signature::Ed25519KeyPair, PublicKey) {
        use ring::signature::KeyPair;
        let pair = ring::signature::Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
        let line = STANDARD.encode([b"Ed12345678".as_slice(), pair.public_key().as_ref()].concat());
        (pair, PublicKey::parse(&line).unwrap())
    }

    fn signed(pair: &ring::signature::Ed25519KeyPair, id: &[u8], content: &[u8], comment: &str) -> String {
        let signature = pair.sign(content);
        let whole = pair.sign(&[signature.as_ref(), comment.as_bytes()].concat());
        let line = STANDARD.encode([b"Ed".as_slice(), id, signature.as_ref()].concat());
        format!("untrusted comment: x\n{line}\ntrusted comment: {comment}\n{}\n", STANDARD.encode(whole))
    }

    #[test]
    fn only_the_very_bytes_and_the_very_comment_of_this_key_pass() {
        let (pair, key) = pair();
        let good = signed(&pair, b"12345678", b"sums", "chatos 1.0.0");
        assert_eq!(key.check(b"sums", &good).unwrap(), "chatos 1.0.0");
        assert_eq!(key.check(b"sumz", &good).unwrap_err().code, "release_signature");
        assert!(key.check(b"sums", &good.replace("chatos 1.0.0", "chatos 9.0.0")).is_err());
        assert!(key.check(b"sums", &signed(&pair, b"87654321", b"sums", "c")).is_err(), "another key's id");
        let stranger = ring::signature::Ed25519KeyPair::from_seed_unchecked(&[8; 32]).unwrap();
        assert!(key.check(b"sums", &signed(&stranger, b"12345678", b"sums", "c")).is_err());
    }

    #[test]
    fn what_is_not_a_signature_or_a_key_is_refused() {
        let (pair, key) = pair();
        let good = signed(&pair, b"12345678", b"sums", "c");
        for cut in 0..good.len() - 1 {
            assert!(key.check(b"sums", &good[..cut]).is_err(), "cut at {cut}");
        }
        for text in ["", "RW", "not base64 at all", &STANDARD.encode([0; 42])] {
            assert_eq!(PublicKey::parse(text).unwrap_err().code, "release_key");
        }
    }
}
